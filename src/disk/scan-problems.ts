/** Collects the problems of a scan, so that one error reports all of them. */
import type { MetainfoErrorCode } from '../errors/codes.ts';
import { MetainfoError } from '../errors/errors.ts';

/** Errors about a single file or folder: the scan goes on after them. */
const FILE_ERRORS: ReadonlySet<MetainfoErrorCode> = new Set([
  'ERR_BROKEN_LINK',
  'ERR_DUPLICATE_PATH',
  'ERR_LINK_LOOP',
  'ERR_LINK_OUTSIDE',
  'ERR_NAME',
  'ERR_NOT_A_FILE',
  'ERR_NOT_FOUND',
  'ERR_UNREADABLE',
]);
const MAX_LISTED = 10;

/** The problems of a scan. */
export class ScanProblems {
  readonly #listed: MetainfoError[] = [];
  #count = 0;
  /** Whether a filter can leave out a file with a problem. It cannot leave out files that are named outright. */
  #canExclude = false;

  /** @throws the error, if it is not about a single file */
  add(error: unknown, { canExclude = true } = {}): void {
    if (!(error instanceof MetainfoError && FILE_ERRORS.has(error.code))) throw error;
    this.#count += 1;
    this.#canExclude ||= canExclude;
    if (this.#listed.length < MAX_LISTED) this.#listed.push(error);
  }

  /** @throws {MetainfoError} with the code and path of the first problem, and a message that lists the problems */
  throwIfAny(): void {
    const [first] = this.#listed;
    if (!first) return;
    const { code, path, cause } = first;
    const hint = this.#canExclude ? ' To leave out files and folders, use `exclude`.' : '';
    if (this.#count === 1) throw new MetainfoError(code, `${first.message}${hint}`, { path, cause });
    const messages = this.#listed.map(({ message }) => message.replace(/\.$/, ''));
    const unlisted = this.#count - messages.length;
    const more = unlisted > 0 ? `; and ${unlisted} more` : '';
    const message = `${this.#count} files or folders cannot be added: ${messages.join('; ')}${more}.${hint}`;
    throw new MetainfoError(code, message, { path, cause: new AggregateError(this.#listed, message) });
  }
}

/** Collects the problems of a scan, so that one error reports all of them. */
import type { MetainfoErrorCode } from '../errors/codes.ts';
import { MetainfoError } from '../errors/errors.ts';
import { joinFirst } from '../text/printable.ts';

/** Errors about a single file or folder: the scan goes on after them. */
const FILE_ERRORS: ReadonlySet<MetainfoErrorCode> = new Set([
  'ERR_BROKEN_LINK',
  'ERR_DUPLICATE_PATH',
  'ERR_LINK',
  'ERR_LINK_LOOP',
  'ERR_LINK_OUTSIDE',
  'ERR_NAME',
  'ERR_NOT_A_FILE',
  'ERR_NOT_FOUND',
  'ERR_READ',
  'ERR_UNREADABLE',
]);
/** The advice for errors, and the options that it means. */
export type AdviceByCode = {
  readonly [Code in MetainfoErrorCode]?: { readonly advice: string; readonly option?: MetainfoError['option'] };
};

/** The advice for errors of the disk. */
export const DISK_ADVICE: AdviceByCode = {
  ERR_BROKEN_LINK: {
    advice: 'Restore the target, leave the link out, or skip all links.',
    option: { exclude: true, symlinks: 'skip' },
  },
  ERR_LINK: {
    advice: 'Leave the link out, or follow, skip or store links.',
    option: { exclude: true, symlinks: 'skip' },
  },
  ERR_LINK_LOOP: { advice: 'Leave the link out, or skip all links.', option: { exclude: true, symlinks: 'skip' } },
  ERR_LINK_OUTSIDE: {
    advice: 'Follow links to the outside, copy the target, or leave the link out.',
    option: { symlinks: 'follow', followOutside: true, exclude: true },
  },
  ERR_NOT_A_FILE: { advice: 'Move it away, or leave it out.', option: { exclude: true } },
  ERR_NOT_FOUND: { advice: 'Check the path.' },
  ERR_OUTPUT_IS_INPUT: { advice: 'Choose another output.' },
  ERR_UNREADABLE: {
    advice: 'Change its permissions, leave it out, or skip everything that is unreadable.',
    option: { exclude: true, skipUnreadable: true },
  },
  ERR_WRITE: { advice: 'Choose another output.' },
};

/** The problems that the error holds, and those that its message lists. */
const MAX_HELD = 1000;
const MAX_LISTED = 10;

/** Takes a problem; a filter can leave out its file or folder if `canExclude`. */
export type OnProblem = (error: MetainfoError, about: { canExclude: boolean }) => void;

/** A problem of a plan. */
export interface Problem {
  error: MetainfoError;
  /** Whether a filter can leave out the file or folder that it is about. */
  canExclude: boolean;
}

/** The problems of a scan. */
export class ScanProblems {
  readonly #held: MetainfoError[] = [];
  #count = 0;
  /** Whether a filter can leave out a file with a problem. It cannot leave out files that are named outright. */
  #canExclude = false;

  readonly #onProblem: OnProblem | undefined;

  /** @param onProblem Takes the problems one by one: then {@link throwIfAny} never throws. */
  constructor(onProblem?: OnProblem) {
    this.#onProblem = onProblem;
  }

  /** @throws the error, if it is not about a single file, or if a file changed and nobody takes the problems */
  add(error: unknown, { canExclude = true } = {}): void {
    if (!(error instanceof MetainfoError)) throw error;
    const isTaken = this.#onProblem !== undefined && error.code === 'ERR_FILE_CHANGED';
    if (!isTaken && !FILE_ERRORS.has(error.code)) throw error;
    if (this.#onProblem) {
      this.#onProblem(error, { canExclude });
      return;
    }
    this.#count += 1;
    this.#canExclude ||= canExclude;
    if (this.#held.length < MAX_HELD) this.#held.push(error);
  }

  /** @throws {MetainfoError} with the code and path of the first problem, and a message that lists the problems */
  throwIfAny(): void {
    const [first] = this.#held;
    if (!first) return;
    const { code, path, cause } = first;
    const isUnreadable = this.#held.some((error) => error.code === 'ERR_UNREADABLE');
    const skip = isUnreadable ? ' To skip what is unreadable, use the option skipUnreadable.' : '';
    const hint = this.#canExclude ? ` To leave out files and folders, use the option exclude.${skip}` : '';
    const option = this.#canExclude ? { exclude: null, ...(isUnreadable && { skipUnreadable: null }) } : undefined;
    if (this.#count === 1) throw new MetainfoError(code, `${first.message}${hint}`, { path, cause, option });
    const texts = this.#held.map((error) => error.message);
    const list = joinFirst(texts, MAX_LISTED, this.#count);
    const message = `${this.#count} files or folders cannot be added: ${list}.${hint}`;
    throw new MetainfoError(code, message, { path, cause: new AggregateError(this.#held, message), option });
  }
}

/** Throws the problems of a plan, if any, as one error: problems with files together, any other by itself. */
export function throwProblems(found: readonly Problem[]): void {
  const problems = new ScanProblems();
  for (const { error, canExclude } of found) if (FILE_ERRORS.has(error.code)) problems.add(error, { canExclude });
  problems.throwIfAny();
  if (found[0]) throw found[0].error;
}

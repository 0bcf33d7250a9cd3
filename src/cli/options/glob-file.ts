/** Reads the globs of `--exclude-from`. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { invalidArgument } from '../../errors/guard.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { joinFirst } from '../../text/printable.ts';
import { ofRun } from '../run.ts';
import { isStdin } from '../terminal/standard-input.ts';
import { globMatcher } from './glob.ts';
import { collect, parseFile } from './option-values.ts';

/** The problems that a message lists. */
const MAX_LISTED = 10;

/** Appends one file of globs. */
export function collectGlobFile(text: string, before?: string[]): string[] {
  if (isStdin(text)) throw new InvalidArgumentError('Expected a file, not standard input (-).');
  return collect(parseFile(text), before);
}

/** The globs of each file: many torrents share them, and a pipe can be read only once. */
const knownGlobs = ofRun(() => new Map<string, readonly string[]>());

/**
 * The globs of some files: one per line, without blank lines and comments, which begin with `#`.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` with all problems, each with its file and line
 */
export function globsOfFiles(files: readonly string[]): string[] {
  const known = knownGlobs();
  const problems: string[] = [];
  for (const file of files) if (!known.has(file)) known.set(file, globsOf(file, problems));
  if (problems.length > 0) throw invalidArgument(`--exclude-from: ${joinFirst(problems, MAX_LISTED)}`);
  return files.flatMap((file) => known.get(file) ?? []);
}

function globsOf(file: string, problems: string[]): string[] {
  const found: string[] = [];
  let line = 0;
  try {
    for (const text of readFileSync(file, 'latin1').split('\n')) {
      line += 1;
      try {
        found.push(...globOf(Buffer.from(text, 'latin1')));
      } catch (error) {
        if (!(error instanceof InvalidArgumentError)) throw error;
        problems.push(`${file}:${line}: ${error.message}`);
      }
    }
  } catch (error) {
    problems.push((fromSystemError(error, file, 'read') as Error).message);
  }
  return found;
}

/** The glob of a line; none for a blank line or a comment. */
function globOf(bytes: Buffer): string[] {
  if (!isUtf8(bytes)) throw new InvalidArgumentError('This line is not UTF-8.');
  const line = bytes.toString().replace(/^\uFEFF|\r$/g, '');
  // As in gitignore, blanks at the end do not count, unless one is escaped.
  const trimmed = line.trimEnd();
  const glob = /(?<!\\)(?:\\\\)*\\$/.test(trimmed) ? line.slice(0, trimmed.length + 1) : trimmed;
  if (glob === '' || glob.startsWith('#')) return [];
  if (glob.startsWith('!'))
    throw new InvalidArgumentError(
      'A ! would leave out all other files: use --include, or write \\! for the character.',
    );
  if (glob.startsWith('/')) throw new InvalidArgumentError('A path begins without a slash.');
  globMatcher(glob);
  return [glob];
}

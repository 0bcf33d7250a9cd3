/** The options that choose content, and the scan filter that `--exclude` and `--include` give. */
import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { componentsWithin } from '../../disk/path-within.ts';
import type { ScanFilter, ScanPolicies, SymlinkPolicy } from '../../disk/scan.ts';
import { type MetainfoError, shown } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { globMatcher } from './glob.ts';
import { collectGlobFile, globsOfFiles } from './glob-file.ts';
import { collect } from './option-values.ts';

/** The options that choose content. */
export interface ContentOptions {
  exclude?: string[];
  include?: string[];
  excludeFrom?: string[];
  ignoreCase?: boolean;
  symlinks?: SymlinkPolicy;
  followOutside?: boolean;
  skipUnreadable?: boolean;
  /** False with `--no-hidden`. */
  hidden?: boolean;
  /** False with `--no-system-files`. */
  systemFiles?: boolean;
  attributes?: boolean;
}

/** Adds {@link ContentOptions} to a command. `byDefault` says what happens to symlinks without the option. */
export function contentOptions(command: Command, byDefault = 'follow them'): Command {
  return command
    .optionsGroup('Content:')
    .option('--exclude <glob>', 'skip matching files and folders (repeatable)', collectGlob)
    .option('--include <glob>', 'add only matching files (repeatable)', collectGlob)
    .option('--exclude-from <file>', 'skip what the globs of a file match, one per line (repeatable)', collectGlobFile)
    .option('--ignore-case', 'match globs in any letter case')
    .addOption(
      new Option(
        '--symlinks <policy>',
        `what to do with symlinks in folders; by default, ${byDefault}; store keeps them as links (BEP 47)`,
      ).choices(['follow', 'skip', 'store', 'error']),
    )
    .option('--follow-outside', 'also follow symlinks that lead out of the folder')
    .option('--skip-unreadable', 'leave out files and folders that cannot be read')
    .option('--no-hidden', 'leave out names that begin with a dot')
    .option('--no-system-files', 'leave out @eaDir, ._* and the like, and unfinished *.part')
    .option('--attributes', 'mark executable and hidden files (BEP 47)');
}

/** The policies for links, unreadable, hidden and system files, as fields of the draft. */
export function policiesOf(options: ContentOptions): ScanPolicies & { attributes: boolean | undefined } {
  const { symlinks, followOutside, skipUnreadable, hidden, systemFiles, attributes } = options;
  return { symlinks, followOutside, skipUnreadable, hidden, systemFiles, attributes };
}

/** Appends one glob. */
export function collectGlob(text: string, before?: string[]): string[] {
  globMatcher(text);
  return collect(text, before);
}

/** A glob that no file or folder has matched. */
export interface UnmatchedGlob {
  option: '--exclude' | '--include';
  glob: string;
  /** A path that the glob would match in another letter case; null for none. */
  otherCase: string | null;
}

/** A scan filter, and the globs that it has not used. */
export interface CountingFilter {
  filter: ScanFilter;
  /** The globs that have matched nothing so far. */
  unmatched: () => UnmatchedGlob[];
}

/**
 * Makes a scan filter that notes which globs match. Globs without a slash match names in any folder. A glob that ends with a slash
 * matches only folders, with everything in them, as in gitignore.
 *
 * @param skipped Paths that never belong to the torrent: the torrent file, the output and the cache.
 */
export async function countingFilter(
  { exclude = [], include = [], excludeFrom = [], ignoreCase }: ContentOptions,
  pathRoot: string,
  skipped: readonly string[],
): Promise<CountingFilter> {
  const relative = await Promise.all(skipped.map((file) => relativeTo(pathRoot, file)));
  const skippedPaths = new Set(relative.filter((file) => file !== null));
  if (exclude.length + excludeFrom.length + include.length === 0) {
    // Without a filter, native threads scan everything at once.
    return {
      filter: skippedPaths.size === 0 ? {} : { exclude: (file) => skippedPaths.has(file) },
      unmatched: () => [],
    };
  }
  const isFolder = (file: string) => isFolderAt(path.join(pathRoot, file));
  const matchers = {
    '--exclude': matcher(exclude, isFolder, ignoreCase),
    '--include': matcher(include, isFolder, ignoreCase),
  };
  // A list that many torrents share need not match anything in each of them.
  const shared = matcher(globsOfFiles(excludeFrom), isFolder, ignoreCase);
  return {
    filter: {
      exclude: (file) => skippedPaths.has(file) || matchers['--exclude'].matches(file) || shared.matches(file),
      ...(include.length > 0 && { include: matchers['--include'].matches }),
    },
    unmatched: () =>
      (['--exclude', '--include'] as const).flatMap((option) =>
        [...matchers[option].unmatched].map(([glob, otherCase]) => ({ option, glob, otherCase })),
      ),
  };
}

/** Tells which files globs match. While globs are unmatched, each of them looks at each file. */
function matcher(
  globs: readonly string[],
  isFolder: (file: string) => boolean,
  ignoreCase = false,
  testOf: typeof fileTest = fileTest,
) {
  const unmatched = new Map<string, string | null>(globs.map((glob) => [glob, null]));
  const compiled = globs.map((glob) => ({
    glob,
    isMatch: testOf(glob, isFolder, ignoreCase),
    isOtherCase: ignoreCase ? () => false : testOf(glob, isFolder, true),
  }));
  const matches = (file: string): boolean => {
    let isMatch = false;
    for (const { glob, isMatch: test, isOtherCase } of compiled) {
      if (isMatch && !unmatched.has(glob)) continue;
      if (!test(file)) {
        if (unmatched.get(glob) === null && isOtherCase(file)) unmatched.set(glob, file);
        continue;
      }
      isMatch = true;
      unmatched.delete(glob);
    }
    return isMatch;
  };
  return { matches, unmatched };
}

/** Makes a test of files of one glob. */
function fileTest(glob: string, isFolder: (file: string) => boolean, ignoreCase: boolean): (file: string) => boolean {
  const pattern = glob.length > 1 && glob.endsWith('/') ? glob.slice(0, -1) : glob;
  const test = globMatcher(pattern, ignoreCase);
  const isNamed = pattern.includes('/') ? test : (file: string) => test(path.posix.basename(file));
  if (pattern === glob) return isNamed;
  const isBelow = belowTest(pattern, ignoreCase);
  const isInFolder = (file: string) => file.includes('/') && isBelow(file.slice(0, file.lastIndexOf('/')));
  return (file) => isInFolder(file) || (isNamed(file) && isFolder(file));
}

/** Makes a test of paths: whether a glob matches one of them, or a folder above it. */
function belowTest(glob: string, ignoreCase: boolean): (file: string) => boolean {
  const test = globMatcher(glob, ignoreCase, true);
  return glob.includes('/') ? test : (file) => file.split('/').some(test);
}

/** Makes a test of files that one glob of `--files` chooses. A folder that a negated glob does not name may hold files that it does. */
function chosenTest(glob: string, isFolder: (file: string) => boolean, ignoreCase: boolean): (file: string) => boolean {
  if (glob.startsWith('!') || glob.endsWith('/')) return fileTest(glob, isFolder, ignoreCase);
  const isBelow = belowTest(glob, ignoreCase);
  return (file) => file === glob || file.startsWith(`${glob}/`) || isBelow(file);
}

/** The globs of `--files` that match nothing, each with a path that it would match in another letter case. */
type UnmatchedFiles = Map<string, string | null>;

/**
 * Chooses files of a torrent (`--files`): as `--exclude` would match them, those that are named outright, and all files of the folders
 * that match.
 *
 * @returns Their paths (null for all), the number of the others, and the globs that match nothing.
 */
export function chosenFiles(
  torrent: Torrent,
  { files: globs, ignoreCase }: { files?: readonly string[]; ignoreCase?: boolean },
) {
  const { matches, unmatched } = matcher(globs ?? [], () => false, ignoreCase, chosenTest);
  if (!globs) return { files: null, unwantedFiles: 0, unmatched };
  const files = torrent.files.map(({ path: file }) => file).filter(matches);
  return { files, unwantedFiles: torrent.nFiles - files.length, unmatched };
}

/** The error about globs of `--files` that match nothing. */
export function unmatchedFiles(globs: UnmatchedFiles): MetainfoError {
  const list = [...globs.keys()].map((glob) => shown(glob)).join(', ');
  const otherCase = [...globs.values()].find((path) => path !== null);
  const advice = otherCase
    ? `${shown(otherCase)} matches in another letter case: add --ignore-case`
    : 'List them with metainfo show -v';
  return invalidArgument(`--files matches no file of the torrent: ${list}. ${advice}`);
}

function isFolderAt(place: string): boolean {
  try {
    return statSync(place).isDirectory();
  } catch {
    return false;
  }
}

/** The path of a file relative to the path root, after resolving symlinks in both; null for a file outside it. */
export async function relativeTo(pathRoot: string, file: string): Promise<string | null> {
  const root = await realpath(pathRoot).catch(() => pathRoot);
  const folder = await realpath(path.dirname(file)).catch(() => path.dirname(file));
  return componentsWithin(root, path.join(folder, path.basename(file)))?.join('/') ?? null;
}

/**
 * Findings that only Node has, because they need a disk or would make the bundle for browsers larger: links, entries that were left out or
 * hardly belong to a torrent, season packs, and personal keys in trackers.
 */
import { isSystemFile, strayKind } from '../../disk/entry-names.ts';
import type { LeftOutReason } from '../../disk/scan.ts';
import { shown } from '../../errors/errors.ts';
import { type FileTable, pathsAt } from '../../layout/file-table.ts';
import { PathPrefixes } from '../../layout/path-prefixes.ts';
import { nextRound } from '../../platform/node.ts';
import type { Draft } from '../draft-fields.ts';
import type { LaidOutFile, TorrentLayout } from '../torrent-layout.ts';
import { SeasonPacks } from './episode-findings.ts';
import { type Finding, listed, MAX_LISTED, warning } from './findings.ts';
import { personalFindings, secretFindings } from './secret-findings.ts';
import { trackersOf } from './tracker-findings.ts';

/** Files that are checked before the event loop runs again: it takes a few milliseconds. */
const FILES_PER_SLICE = 2048;

/** Findings about files, entries left out and keys in trackers. @param layout Null if the files could not be listed. */
export async function nodeFindings(
  { fields, info }: Pick<Draft, 'fields' | 'info'>,
  layout: TorrentLayout | null,
  leftOut: readonly LeftOut[],
): Promise<Finding[]> {
  const ofFiles = layout && !layout.isSingleFile ? await fileFindings(layout.files) : [];
  const links = layout ? linkFindings(layout.files) : [];
  // Others are left out by an option.
  const isAlwaysLeftOut = ({ path, reason }: LeftOut) => reason !== 'system' || isSystemFile(nameOf(path));
  const byOption = leftOut.filter((entry) => !isAlwaysLeftOut(entry));
  return [
    ...personalFindings(info.private, trackersOf(fields)),
    ...secretFindings({ fields, info }, layout),
    ...links,
    ...ofFiles,
    ...entryFindings(leftOut.filter(isAlwaysLeftOut)),
    ...entryFindings(byOption, BY_OPTION),
  ];
}

/** Season packs that are not whole, and entries that hardly belong to a torrent. */
async function fileFindings({ columns, length }: FileTable<LaidOutFile>): Promise<Finding[]> {
  const packs = new SeasonPacks();
  /** The topmost such entry of each path, with its kind. */
  const strays = new Map<string, 'system' | 'unfinished'>();
  for (let first = 0; first < length; first += FILES_PER_SLICE) {
    if (first > 0) await nextRound();
    for (const path of pathsAt(columns.paths, first, first + FILES_PER_SLICE)) {
      const depth = path.findIndex((name) => strayKind(name) !== null);
      if (depth < 0) packs.add(path);
      else strays.set(path.slice(0, depth + 1).join('/'), strayKind(path[depth] as string) as 'system' | 'unfinished');
    }
  }
  const entries = Array.from(strays, ([path, reason]) => ({ path, reason }));
  return [...packs.finish(), ...entryFindings(entries, STRAY, 'in the torrent')];
}

/** As many links lead from one to the next at most, as in Linux. */
const MAX_LINKS = 40;

const ABOUT = { advice: 'Add the target, or leave the link out.', option: { exclude: true } } as const;

/** The stored links whose target is not in the torrent: a filter or a policy has left it out. */
export function linkFindings(files: FileTable<LaidOutFile>): Finding[] {
  // Stored links are not on disk, so a table of columns has none.
  if (files.onDisk) return [];
  const links = new Map<string, string>();
  for (const { path, symlinkPath } of files) if (symlinkPath) links.set(path.join('/'), symlinkPath.join('/'));
  if (links.size === 0) return [];
  const places = new PathPrefixes(links.keys());
  const targets = new Map([...links.keys()].map((link) => [link, resolved(link, links, places)]));
  const wanted = new Set(targets.values());
  const prefixes = new PathPrefixes(wanted);
  for (const { path } of files) for (const prefix of prefixes.of(path.join('/'))) wanted.delete(prefix);
  const lost = [...targets].filter(([, target]) => wanted.has(target));
  const findings = lost.slice(0, MAX_LISTED).map(([link, target]) => {
    const message = `The stored link ${shown(link)} leads to ${shown(target)}, which the torrent does not have.`;
    return warning('link_target', link, message, ABOUT);
  });
  return listed(findings, lost.length, 'links to missing files');
}

/** Where a link leads to, through all other links. */
function resolved(link: string, links: ReadonlyMap<string, string>, places: PathPrefixes): string {
  let path = links.get(link) as string;
  for (let followed = 0; followed < MAX_LINKS; followed += 1) {
    const through = [...places.of(path)].at(-1);
    if (through === undefined) return path;
    path = `${links.get(through)}${path.slice(through.length)}`;
  }
  return path;
}

/** The most names that a message lists. */
const MAX_NAMES = 3;

/** An entry that the scan left out. */
export interface LeftOut {
  path: string;
  reason: LeftOutReason;
}

/** How a finding speaks of entries. */
type About = Omit<Finding, 'path' | 'message'> & { what: string };

/** How findings speak of entries that were left out. */
const LEFT_OUT: Record<LeftOutReason, About> = {
  unreadable: {
    code: 'left_out',
    severity: 'warning',
    what: 'without permission to read',
    advice: 'Change the permissions if they belong to the torrent.',
  },
  link: { code: 'left_out', severity: 'hint', what: 'that are symbolic links', advice: '' },
  hidden: { code: 'left_out', severity: 'hint', what: 'with hidden names', advice: '' },
  torrent: {
    code: 'torrent_files',
    severity: 'hint',
    what: 'named like torrents, which may have passkeys of trackers,',
    advice: 'Use include to add them.',
    option: { include: null },
  },
  unfinished: {
    code: 'unfinished_files',
    severity: 'hint',
    what: 'of unfinished downloads',
    advice: 'Finish them if they belong to the torrent.',
  },
  system: {
    code: 'system_files',
    severity: 'hint',
    what: 'of operating systems, or unfinished outputs of metainfo,',
    advice: 'Name such a file as a path to add it.',
  },
};

const SYSTEM: About = {
  code: 'system_files',
  severity: 'hint',
  what: 'of NAS or operating systems',
  advice: 'Leave them out.',
  option: { systemFiles: null },
};

/** How findings speak of entries that are in the torrent and hardly belong to it. */
const STRAY: Partial<Record<LeftOutReason, About>> = {
  unfinished: {
    code: 'unfinished_files',
    severity: 'warning',
    what: 'of unfinished downloads',
    advice: 'Finish them, or leave them out.',
    option: { exclude: true, systemFiles: null },
  },
  system: SYSTEM,
};

/** How findings speak of entries that the scan leaves out only because of an option. */
const BY_OPTION: Partial<Record<LeftOutReason, About>> = {
  system: { ...SYSTEM, advice: 'To add them, omit systemFiles.' },
};

/** The last name of a path. */
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** One finding for all entries with the same reason. */
export function entryFindings(
  leftOut: readonly LeftOut[],
  about: Partial<Record<LeftOutReason, About>> = LEFT_OUT,
  end = 'left out',
): Finding[] {
  return Object.entries(about).flatMap(([reason, { what, ...finding }]) => {
    const paths = leftOut.flatMap((entry) => (entry.reason === reason ? [entry.path] : []));
    const [first] = paths;
    if (first === undefined) return [];
    const names = [...new Set(paths.map(nameOf))];
    const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
    const count = paths.length === 1 ? '1 entry' : `${paths.length} entries`;
    const message = `${count} ${what} ${end}: ${names.slice(0, MAX_NAMES).join(', ')}${more}.`;
    return [{ ...finding, path: first, message }];
  });
}

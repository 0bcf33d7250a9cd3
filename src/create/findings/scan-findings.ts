/** Findings that only a scan of a disk has: links whose target is missing, and entries that were left out. */
import type { LeftOutReason } from '../../disk/scan.ts';
import { shown } from '../../errors/errors.ts';
import type { FileTable } from '../../layout/file-table.ts';
import type { LaidOutFile } from '../torrent-layout.ts';
import { type Finding, listed, MAX_LISTED, warning } from './findings.ts';

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
  const targets = new Map([...links.keys()].map((link) => [link, resolved(link, links)]));
  const wanted = new Set(targets.values());
  for (const { path } of files)
    for (let depth = path.length; depth > 0; depth -= 1) wanted.delete(path.slice(0, depth).join('/'));
  const lost = [...targets].filter(([, target]) => wanted.has(target));
  const findings = lost.slice(0, MAX_LISTED).map(([link, target]) => {
    const message = `The stored link ${shown(link)} leads to ${shown(target)}, which the torrent does not have.`;
    return warning('link_target', link, message, ABOUT);
  });
  return listed(findings, lost.length, 'links to missing files');
}

/** Where a link leads to, through all other links. */
function resolved(link: string, links: ReadonlyMap<string, string>): string {
  let path = links.get(link) as string;
  for (let followed = 0; followed < MAX_LINKS; followed += 1) {
    const through = linkIn(path, links);
    if (through === null) return path;
    path = `${links.get(through)}${path.slice(through.length)}`;
  }
  return path;
}

/** The first link in a path: the path itself, or a folder above it. */
function linkIn(path: string, links: ReadonlyMap<string, string>): string | null {
  for (let end = path.indexOf('/'); ; end = path.indexOf('/', end + 1)) {
    const start = end < 0 ? path : path.slice(0, end);
    if (links.has(start)) return start;
    if (end < 0) return null;
  }
}

/** The most names that a message lists. */
const MAX_NAMES = 3;

/** An entry that the scan left out. */
export interface LeftOut {
  path: string;
  reason: LeftOutReason;
}

/** How findings speak of entries that were left out. */
const LEFT_OUT: Record<LeftOutReason, Pick<Finding, 'code' | 'severity' | 'advice'> & { what: string }> = {
  unreadable: {
    code: 'left_out',
    severity: 'warning',
    what: 'without permission to read',
    advice: 'Change the permissions if they belong to the torrent.',
  },
  link: { code: 'left_out', severity: 'hint', what: 'that are symbolic links', advice: '' },
  hidden: { code: 'left_out', severity: 'hint', what: 'with hidden names', advice: '' },
  system: {
    code: 'system_files',
    severity: 'hint',
    what: 'of operating systems, or unfinished outputs,',
    advice: 'Name such a file as a path to add it.',
  },
};

/** One finding for all entries that were left out for the same reason. */
export function leftOutFindings(leftOut: readonly LeftOut[]): Finding[] {
  return (Object.keys(LEFT_OUT) as LeftOutReason[]).flatMap((reason) => {
    const paths = leftOut.flatMap((entry) => (entry.reason === reason ? [entry.path] : []));
    const [first] = paths;
    if (first === undefined) return [];
    const { what, ...finding } = LEFT_OUT[reason];
    const names = [...new Set(paths.map((path) => path.slice(path.lastIndexOf('/') + 1)))];
    const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
    const count = paths.length === 1 ? '1 entry' : `${paths.length} entries`;
    const message = `${count} ${what} left out: ${names.slice(0, MAX_NAMES).join(', ')}${more}.`;
    return [{ ...finding, path: first, message }];
  });
}

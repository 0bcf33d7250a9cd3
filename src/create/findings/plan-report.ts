/** Describes the layout of a torrent as plain data: everything that can be known before a byte of content is read. */
import { type AdviceByCode, DISK_ADVICE, type Problem } from '../../disk/scan-problems.ts';
import { MetainfoError } from '../../errors/errors.ts';
import type { Checked } from '../../errors/guard.ts';
import type { TorrentVersion } from '../../model/discriminator.ts';
import { sourceFiles } from '../../sources/sources.ts';
import type { Draft } from '../draft-fields.ts';
import { type ReusePlan, reusePlan } from '../known/known.ts';
import type { GenerateOptions } from '../options.ts';
import { checkVersion, hasAllSizes, type TriedLayout, tryLayOut } from '../torrent-layout.ts';
import type { Finding } from './findings.ts';
import { hashRate } from './hash-rate.ts';
import { nameFindings } from './name-findings.ts';
import { limitFindings } from './reader-limits.ts';
import { nodeFindings } from './scan-findings.ts';
import { SizesOf } from './torrent-sizes.ts';
import { trackerFindings } from './tracker-findings.ts';

/** A torrent as it would be made: plain data, known before any content is read. */
export interface PlanReport {
  /** The version of the torrent. */
  version: TorrentVersion;
  /** The name of the torrent; null if no name is possible. */
  name: string | null;
  /** The folder or file whose content the torrent has, absolute; null if all of it comes from sources. */
  pathRoot: string | null;
  /** The number of files, without pad files. */
  files: number;
  /** Bytes of all files; null if a size is unknown. */
  totalSize: number | null;
  /** Bytes; null if the files could not be listed, or cannot make a torrent. */
  pieceLength: number | null;
  /** The number of pieces; null if a size is unknown. A v2 piece never spans two files. */
  pieces: number | null;
  /** The number of pad files. */
  padFiles: number;
  /** Bytes of all pad files. */
  padBytes: number;
  /** Estimated bytes of the `.torrent` file; null if a size is unknown. Equal files make it smaller. */
  torrentSize: number | null;
  /** The measured rate of hashing from memory, in bytes per second; null unless a rate was asked for, and in browsers. A disk may be slower. */
  bytesPerSecond: number | null;
  /**
   * Estimated seconds: of hashing at that rate, and of opening the files, by how long it took to list them. Null if the rate or a size is
   * unknown.
   */
  seconds: number | null;
  /** The entries that were left out because of what they are, as paths with `/`: at most 1,000. */
  leftOut: string[];
  /** The hashes that `reuse` can save, by the sizes and names of files; null without it, and for streams. */
  reuse: ReusePlan | null;
  /** All findings, errors first. Creating the torrent fails if one is an error. */
  findings: Finding[];
}

/** @internal Describes a layout, or what is known without one. May add a problem that it finds. */
export async function describeLayout(
  draft: Draft,
  { layout, problems, leftOut }: TriedLayout,
  options: Checked<GenerateOptions>,
): Promise<PlanReport> {
  const sized = layout && hasAllSizes(layout) && layout.files.length > 0 ? layout : null;
  const measured = sized && new SizesOf(sized);
  const findings = await findingsOf(draft, { layout, problems, leftOut }, measured);
  const estimate = await measured?.torrent();
  return {
    version: checkVersion(options.version),
    name: draft.info.name ?? null,
    pathRoot: draft.fields.sources && !draft.fields.paths ? null : draft.pathRoot,
    files: layout?.files.length ?? 0,
    totalSize: layout && !hasAllSizes(layout) ? null : (layout?.files.totalLength ?? 0),
    pieceLength: layout?.pieceLength ?? null,
    pieces: estimate?.pieces ?? null,
    padFiles: estimate && layout ? estimate.files - layout.files.length : 0,
    padBytes: estimate?.padding ?? 0,
    torrentSize: estimate?.bytes ?? null,
    bytesPerSecond: null,
    seconds: null,
    leftOut: leftOut.slice(0, MAX_LEFT_OUT).map(({ path }) => path),
    reuse: await reusePlan(layout, options),
    findings,
  };
}

/** @internal The layout of a draft, with a measured rate of hashing: {@link TorrentCreate.plan}. Throws as {@link tryLayOut}. */
export async function planOf(draft: Draft, options: Checked<GenerateOptions>): Promise<PlanReport> {
  const sources = sourceFiles(draft.fields.sources ?? []);
  const started = performance.now();
  const tried = await tryLayOut(draft, { ...options, sources });
  const listing = (performance.now() - started) / 1000;
  const description = await describeLayout(draft, tried, options);
  const { totalSize, pathRoot } = description;
  if (!tried.layout || tried.layout.files.totalLength === 0) return description;
  const bytesPerSecond = await hashRate(description.version, options);
  // Sources are not opened here.
  const opening = pathRoot === null ? 0 : OPENING_BY_LISTING * listing;
  const seconds = totalSize === null || bytesPerSecond === null ? null : totalSize / bytesPerSecond + opening;
  return { ...description, bytesPerSecond, seconds };
}

/** To open, read and close a small file takes this many times as long as to list it. */
const OPENING_BY_LISTING = 3;

const MAX_LEFT_OUT = 1000;

const RANKS = { error: 0, warning: 1, hint: 2 } as const;

/** @param sizes Null if a size is unknown, or there are no files. */
async function findingsOf(
  draft: Draft,
  { layout, problems, leftOut }: TriedLayout,
  sizes: SizesOf | null,
): Promise<Finding[]> {
  const warnings = sizes ? await warningFindings(sizes, problems) : [];
  const names = layout ? await nameFindings(layout.files, layout.name, layout.isSingleFile) : [];
  const errors = problems.map(({ error }) => findingOfError(error));
  // Private trackers accept some clients only, and old versions among them.
  const clients = layout && draft.info.private ? clientFindings(layout.version) : [];
  const ofNode = await nodeFindings(draft, layout, leftOut);
  const findings = [...errors, ...warnings, ...trackerFindings(draft), ...ofNode, ...names, ...clients];
  return findings.sort((a, b) => RANKS[a.severity] - RANKS[b.severity]);
}

/** The warnings of a layout; the error of a file tree that is too deep joins the problems. */
async function warningFindings(sizes: SizesOf, problems: Problem[]): Promise<Finding[]> {
  try {
    return await limitFindings(sizes);
  } catch (error) {
    if (!(error instanceof MetainfoError)) throw error;
    problems.push({ error, canExclude: false });
    return [];
  }
}

/** The advice for errors that need no disk. */
const ADVICE: AdviceByCode = {
  ERR_DUPLICATE_PATH: { advice: 'Name it only once.' },
  ERR_NAME: { advice: 'Rename it, or leave it out.', option: { exclude: true } },
  ERR_NO_DATA: { advice: 'A torrent needs at least one byte of content.' },
  ERR_NO_FILES: { advice: 'Name a folder that has files, or check the filters.' },
  ERR_PIECE_LENGTH: { advice: 'Change the piece length or its limits.' },
};

/** @internal The finding of an error with which the creation fails. */
export function findingOfError({ code, message, path, option: named }: MetainfoError): Finding {
  const isName = code === 'ERR_NAME' && path === undefined;
  const { advice: usual = '', option: advised } = ADVICE[code] ?? DISK_ADVICE[code] ?? {};
  const option = isName ? named : (named ?? advised);
  const advice = isName ? 'Choose another name.' : usual;
  return { code, severity: 'error', path: path ?? null, message, advice, ...(option && { option }) };
}

/** The clients that cannot read a version, and what to do about them. All of them read v1. */
const CLIENTS: Readonly<Record<TorrentVersion, readonly [message: string, advice: string] | null>> = {
  v1: null,
  v2: [
    'rtorrent, Transmission, aria2 and WebTorrent do not support v2 torrents.',
    'Make a hybrid, or make a v1 torrent, if such clients must read it.',
  ],
  hybrid: [
    'Transmission 3 cannot parse a hybrid torrent, and aria2 1.36 computes a wrong infohash for one.',
    'Make a v1 torrent if such clients must read it.',
  ],
};

/** One hint at the clients that cannot read a torrent of a version; nothing for v1. */
export function clientFindings(version: TorrentVersion): Finding[] {
  const client = CLIENTS[version];
  if (!client) return [];
  const [message, advice] = client;
  return [{ code: 'old_clients', severity: 'hint', path: null, message, advice, option: { version: 'v1' } }];
}

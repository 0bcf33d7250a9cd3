/** The options of a creation. */
import type { BeneathOptions } from '../disk/held-folder.ts';
import { Callback, expected, Flag, type OptionStructs, orNull, Path, pathOrNull, Unchecked } from '../errors/guard.ts';
import { AnyEngine, type Engine } from '../hash/engine.ts';
import { RESOURCES, type ResourceOptions } from '../hash/hash-request.ts';
import { WATCH, type WatchOptions } from '../jobs/watch.ts';
import { PAD_NAMES, type PadNames } from '../layout/padding.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import { LENGTH_LIMITS, type PieceLengthLimits } from './choose-length.ts';
import type { PlanReport } from './findings/plan-report.ts';
import type { WarningOptions } from './findings/warnings.ts';
import { REUSE, type ReuseOptions } from './known/known.ts';

/** A cache of digests: `auto` for the user's cache folder, another folder, or false for none. */
export type CacheChoice = 'auto' | (string & {}) | URL | false;

/** Checks a {@link CacheChoice}. */
export const CACHE = expected<CacheChoice>(
  'auto, a folder or false',
  (value) => value === false || Boolean(pathOrNull(value)),
  (value) => pathOrNull(value) ?? false,
);

/** The options of {@link TorrentCreate.generate}. */
export interface GenerateOptions
  extends ResourceOptions,
    WatchOptions,
    WarningOptions,
    PieceLengthLimits,
    BeneathOptions,
    ReuseOptions {
  /**
   * The version of the torrent.
   *
   * @default 'hybrid'
   */
  version?: TorrentVersion;
  /**
   * v1: add pad files, so that every file starts at a piece boundary (BEP 47). A hybrid always has them.
   *
   * @default false
   */
  padding?: boolean;
  /**
   * Add a pad file after the last file too, as libtorrent 2.0.8 and later do.
   *
   * @default true
   */
  tailPad?: boolean;
  /**
   * How to name pad files. `auto`: as libtorrent, but no path repeats, which Transmission 4.1.1 and later require. `libtorrent`: always the
   * same infohash as libtorrent's.
   *
   * @default 'auto'
   */
  padNames?: PadNames | undefined;
  /**
   * Where the torrent will be written. `generate` does not write it, but fails with `ERR_OUTPUT_IS_INPUT` if the output is
   * one of the files, under any name or link.
   *
   * @default null
   */
  outputPath?: string | URL | null | undefined;
  /**
   * Keep the digests of files of at least 1 MiB in a cache, and take them from there as long as the files are unchanged.
   * Drafts with streams among their sources do not use it.
   *
   * @default false
   */
  cache?: CacheChoice | undefined;
  /**
   * Called with the plan before the first file is hashed; few files with at most 64 KiB together are read before. With it, the
   * plan lists every problem, and its findings replace the calls of `onWarning`. If it throws or returns a promise that rejects, the
   * job fails with that error, and no other file is hashed. If a finding is an error, the job fails after the call.
   */
  onPlan?: ((plan: PlanReport) => unknown) | undefined;
  /**
   * The engine that hashes.
   *
   * @default the engine that METAINFO_ENGINE names, else `nativeEngine()`, or `nodeEngine()` if the addon does not load
   */
  engine?: Engine | undefined;
}

/** The structs of {@link GenerateOptions}, except those for torrents to reuse. */
export const WITHOUT_REUSE: OptionStructs<Omit<GenerateOptions, keyof ReuseOptions>> = {
  // `checkVersion` checks it.
  version: Unchecked,
  cache: CACHE,
  padding: Flag,
  tailPad: Flag,
  padNames: PAD_NAMES,
  onWarning: Callback,
  onPlan: Callback,
  outputPath: orNull(Path),
  beneath: Path,
  engine: AnyEngine,
  ...LENGTH_LIMITS,
  ...RESOURCES,
  ...WATCH,
};

/** The structs of {@link GenerateOptions}. */
export const GENERATE: OptionStructs<GenerateOptions> = { ...WITHOUT_REUSE, ...REUSE };

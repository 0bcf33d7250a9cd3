/** The draft of a torrent: its fields, checked once, and its methods. */
import { MetainfoError, shown } from '../errors/errors.ts';
import { checkOptions, Flag, type OptionStructs, readSafely, Signal } from '../errors/guard.ts';
import { drafts } from '../errors/shared.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import type { DumpedDictionary } from '../model/dump.ts';
import type { InfoDictHybridCreate } from '../model/info-dict.ts';
import { isDictionary } from '../model/input.ts';
import type { TorrentOf } from '../model/torrent/torrent.ts';
import { basename, currentFolder } from '../platform/node.ts';
import { sourceFiles } from '../sources/sources.ts';
import { CREATED_BY } from '../text/version.ts';
import { checkedFields, type Draft, infoOf, type TorrentCreateFields } from './draft-fields.ts';
import type { TorrentCreateInput } from './draft-input.ts';
import { type FileTimes, fileTimesOf } from './file-times.ts';
import { findFiles, namedPaths, namesSingleFile } from './find-files.ts';
import type { PlanReport } from './findings/plan-report.ts';
import { generate, type MadeTorrent } from './generate.ts';
import type { GenerateExtOptions } from './libtorrent.ts';
import { loadLibtorrent, loadPlanReport } from './load.ts';
import { GENERATE, type GenerateOptions } from './options.ts';
import { type TrackerFields, trackerFields } from './other-fields.ts';

/** The options of {@link TorrentCreate.getPaths}. */
export interface GetPathsOptions {
  /**
   * Leave out the files that operating systems put into folders (.DS_Store, Icon\r, Thumbs.db, desktop.ini) unless the draft names
   * them, and sort the paths.
   *
   * @default true
   */
  clean?: boolean;
  /**
   * Use v1 order instead of the order of a v2 tree. The order of a file list in `info` is kept.
   *
   * @default false
   */
  v1Order?: boolean;
  /** Cancels the scan, which then rejects with an {@link AbortError}. */
  signal?: AbortSignal | undefined;
}

const GET_PATHS: OptionStructs<GetPathsOptions> = { clean: Flag, v1Order: Flag, signal: Signal };

/** A torrent that was just made, and the times of its files. */
export interface GenerateResult<V extends TorrentVersion = TorrentVersion> {
  /** The torrent. */
  torrent: TorrentOf<V>;
  /** When its files were last changed, for a later {@link update}. */
  fileTimes: FileTimes;
}

/**
 * A torrent under construction. It is checked when it is made and never changes. `generate` turns shorthands into fields of the
 * specification: `trackers` into `announce` and `announce-list`, for example.
 *
 * @example
 * ```ts
 * import path from 'node:path';
 * import { TorrentCreate } from 'metainfo';
 *
 * const draft = new TorrentCreate({
 *   pathRoot: path.resolve('album'),
 *   trackers: ['udp://tracker.example:6969/announce'],
 *   comment: 'Live in 1973',
 *   info: { private: true },
 * });
 * const torrent = await draft.generate({ threads: null });
 * await torrent.write('draft.torrent');
 * ```
 */
export class TorrentCreate implements Draft {
  /** The fields as they were given, under their property names. */
  readonly fields: Readonly<TorrentCreateFields>;
  /** The folder that holds the files, or a single file; absolute. */
  readonly pathRoot: string;
  /** The known part of the info dictionary; it always has a name. */
  readonly info: Readonly<InfoDictHybridCreate>;
  /** The program that makes the torrent; null leaves it out. */
  readonly createdBy: string | null;

  /**
   * @param input The fields. Without `pathRoot`, `paths` and `sources`, the draft is of the current folder.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for anything but a plain object or a Map; `ERR_NAME` if nothing gives the
   *   torrent a name
   * @throws {ValidationError} with every rule that the fields break
   */
  constructor(input: TorrentCreateInput | ReadonlyMap<string | Uint8Array, unknown> = {}) {
    const { fields, pathRoot, info, createdBy } = checkedDraft(input);
    this.fields = fields;
    this.pathRoot = pathRoot;
    this.info = info;
    this.createdBy = createdBy;
    drafts.add(this);
  }

  /** Accepts drafts of another copy of this package in the process too. */
  static [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a class of a caller that extends this one inherits the method
    if (this !== TorrentCreate) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && drafts.has(value);
  }

  /**
   * Like `new TorrentCreate(fields).plan(options)`, but invalid URLs are findings too. The constructor refuses them.
   *
   * @param fields The fields of the draft.
   * @throws {MetainfoError} as the constructor and {@link plan}
   * @throws {ValidationError} with every other rule that the fields break
   * @throws {AbortError} if the signal fires; its reason is the `cause`
   * @example
   * ```ts
   * import path from 'node:path';
   * import { TorrentCreate } from 'metainfo';
   *
   * const trackers = ['tracker.example', 'http://'];
   * const { findings } = await TorrentCreate.plan({ pathRoot: path.resolve('album'), trackers });
   * for (const { severity, message } of findings) console.log(severity, message);
   * ```
   */
  static async plan(
    fields: TorrentCreateInput | ReadonlyMap<string | Uint8Array, unknown>,
    options: GenerateOptions = {},
  ): Promise<PlanReport> {
    return planDraft(checkedDraft(fields, { anyUrl: true }), options);
  }

  /**
   * Plans the torrent without reading any content: its sizes, and everything that would make the creation fail or that some
   * reader would refuse. The files are listed as {@link generate} lists them.
   *
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for wrong options; every problem of the files is a finding
   * @throws {AbortError} if the signal fires; its reason is the `cause`
   * @example
   * ```ts
   * import path from 'node:path';
   * import { TorrentCreate } from 'metainfo';
   *
   * const draft = new TorrentCreate({ pathRoot: path.resolve('album') });
   * const { files, pieces, findings } = await draft.plan({ version: 'v2' });
   * console.log(files, pieces);
   * for (const { severity, message, advice } of findings) console.log(severity, message, advice);
   * ```
   */
  async plan(options: GenerateOptions = {}): Promise<PlanReport> {
    return planDraft(this, options);
  }

  /**
   * Hashes the files and makes the torrent.
   *
   * @throws {MetainfoError} see docs/errors.md
   * @throws {AbortError} if the signal fires; its reason is the `cause`
   * @example
   * ```ts
   * import { TorrentCreate } from 'metainfo';
   *
   * const data = Buffer.from('hello');
   * const draft = new TorrentCreate({ sources: [{ path: 'hello.txt', data }] });
   * const torrent = await draft.generate({ version: 'v2' });
   * console.log(torrent.infohashV2);
   * ```
   */
  async generate<V extends TorrentVersion = 'hybrid'>(
    options: GenerateOptions & { version?: V } = {},
  ): Promise<TorrentOf<V>> {
    const { torrent } = await this.#generate(options);
    return torrent as TorrentOf<V>;
  }

  /**
   * Like {@link generate}, and also returns the times of the files: `update` reads only files whose times differ from these.
   *
   * @throws {MetainfoError} see docs/errors.md
   * @throws {AbortError} if the signal fires; its reason is the `cause`
   */
  async generateWithTimes<V extends TorrentVersion = 'hybrid'>(
    options: GenerateOptions & { version?: V } = {},
  ): Promise<GenerateResult<V>> {
    const { torrent, files } = await this.#generate(options);
    return { torrent: torrent as TorrentOf<V>, fileTimes: fileTimesOf(files) };
  }

  async #generate(options: GenerateOptions): Promise<MadeTorrent> {
    return generate(this, checkOptions(options, GENERATE, { example: "{ version: 'v1' }" }));
  }

  /**
   * Makes the same torrent with libtorrent, through an optional addon (`npm run build:libtorrent`).
   *
   * @returns The torrent as a dictionary (see {@link Torrent.modelDumpTorrent}), or with `bencode: true` as bytes.
   * @throws {MetainfoError} `ERR_MAKER_UNAVAILABLE` if the addon is not built; `ERR_MAKER` if libtorrent fails; else as
   *   {@link generate}
   * @example
   * <!-- not run: needs the libtorrent addon -->
   * ```ts
   * import { TorrentCreate } from 'metainfo';
   *
   * const draft = new TorrentCreate({ pathRoot: '/srv/album' });
   * const bytes = await draft.generateExt({ version: 'hybrid', bencode: true });
   * ```
   */
  generateExt(options: GenerateExtOptions & { bencode: true }): Promise<Uint8Array<ArrayBuffer>>;
  generateExt(options?: GenerateExtOptions & { bencode?: false }): Promise<DumpedDictionary>;
  generateExt(options?: GenerateExtOptions & { bencode?: boolean }): Promise<Uint8Array | DumpedDictionary>;
  async generateExt(options: GenerateExtOptions & { bencode?: boolean } = {}) {
    const { GENERATE_EXT, generateExt } = await loadLibtorrent();
    const checked = checkOptions(options, GENERATE_EXT, { example: "{ version: 'v1' }" });
    const { output, force = false, bencode = false } = checked;
    const torrent = await generateExt(this, checked);
    if (output != null) await torrent.write(output, { force });
    return bencode ? torrent.bencode() : torrent.modelDumpTorrent();
  }

  /** The trackers as they will be written: `announce`, and `announce-list` for more than one (BEP 12). */
  getTrackers(): TrackerFields {
    return trackerFields(this.fields);
  }

  /**
   * The paths of the files relative to the path root, with `/`. They come from the first of these that is given: `paths`,
   * `info.fileTree`, `info.files`, `info.name` with `info.length`; else all files beneath the path root are listed.
   *
   * @throws {MetainfoError} for files that cannot be read
   */
  async getPaths(options: GetPathsOptions = {}): Promise<string[]> {
    const { clean = true, v1Order = false, signal } = checkOptions(options, GET_PATHS, { example: '{ clean: false }' });
    const named = namedPaths(this);
    const sources = sourceFiles(this.fields.sources ?? []);
    if ((named || sources.length > 0) && !clean)
      return [...(named ?? []), ...sources.map(({ path: parts }) => parts)].map((parts) => parts.join('/'));
    const { isSingleFile, files } = await findFiles(this, { v1Order, anyFiles: !clean, sources, signal });
    const single = namesSingleFile(this) ? (this.info.name as string) : basename(this.pathRoot);
    return files.map((file) => file.path.join('/') || (isSingleFile ? single : ''));
  }
}

/** The checked draft of some input. */
function checkedDraft(input: object, { anyUrl = false } = {}): Draft {
  const fields = readSafely('fields', () => {
    requireFields(input);
    return checkedFields(input, { anyUrl });
  });
  const pathRoot = fields.pathRoot ?? currentFolder();
  const info = infoOf(fields, pathRoot);
  return { fields, pathRoot, info, createdBy: fields.createdBy === undefined ? CREATED_BY : fields.createdBy };
}

async function planDraft(draft: Draft, options: GenerateOptions): Promise<PlanReport> {
  const checked = checkOptions(options, GENERATE, { example: "{ version: 'v1' }" });
  const { planOf } = await loadPlanReport();
  return planOf(draft, checked);
}

/** Refuses values that look like the fields of a draft. */
function requireFields(input: object): void {
  if (isDictionary(input) && !('infoBytes' in input) && !(input instanceof TorrentCreate)) return;
  const problem =
    'infoBytes' in Object(input)
      ? 'not a torrent: pass the fields to copy from it, such as { info: torrent.info }'
      : `not ${shown(input)}`;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `The fields of a draft must be a plain object or a Map, ${problem}.`);
}

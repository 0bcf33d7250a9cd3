/** Joins the hashed parts of a plan to its torrent. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { assemble } from '../create/assemble.ts';
import { encodedFileList } from '../create/file-list.ts';
import type { BeneathOptions } from '../disk/held-folder.ts';
import { requireNoInput } from '../disk/output-not-input.ts';
import { throwIfAborted, untilAbort } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import {
  Bytes,
  Callback,
  type Checked,
  checkArgument,
  checkOptions,
  Flag,
  type OptionStructs,
  Path,
  Signal,
} from '../errors/guard.ts';
import { forEachConcurrently } from '../hash/for-each-concurrently.ts';
import { factsOfLayout, type Job, track } from '../jobs/track.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import type { TorrentOf } from '../model/torrent/torrent.ts';
import { JoinedDigests } from './joined-digests.ts';
import type { PartsPlan } from './plan.ts';
import { diskPathOf, type OpenObject, openPlanned, PLACE, realRoot } from './planned-files.ts';
import { type CheckedPlan, checkedPlan, isOnDisk } from './read-plan.ts';
import { PartError, payloadBytes, SEAL_BYTES, unsealed } from './sealed-part.ts';

/** Gives the sealed part at an index; null if it has not been hashed yet. A part of more than `most` bytes is damaged. */
export type GetPart = (
  index: number,
  most: number,
) => Uint8Array | null | undefined | Promise<Uint8Array | null | undefined>;

/** Options of {@link joinParts}. */
export interface JoinPartsOptions extends BeneathOptions {
  /**
   * Where the path root of the plan is on this machine.
   *
   * @default the path root of the plan
   */
  root?: string | URL | undefined;
  /** Opens the objects of the plan, to compare their sizes and entity tags. */
  open?: OpenObject | undefined;
  /**
   * Opens all files with `open`, also those that were planned on disk. Only their sizes are compared.
   *
   * @default false
   */
  openAll?: boolean | undefined;
  /**
   * Compare the size, mtime and ctime of every file with the plan before the parts are trusted, and the size and entity tag of every
   * object. False for a machine that cannot see the content: then nobody notices a file that changed between two parts.
   *
   * @default true
   */
  recheck?: boolean | undefined;
  /**
   * Where the torrent will be written. `joinParts` does not write it, but fails with `ERR_OUTPUT_IS_INPUT` if the output is one of the
   * files of the plan, under any name or link. A machine that cannot see the content cannot replace it.
   *
   * @default undefined
   */
  outputPath?: string | URL | undefined;
  /** Cancels the job, which then rejects with an {@link AbortError}. */
  signal?: AbortSignal | undefined;
}

const JOIN_PARTS: OptionStructs<JoinPartsOptions> = { ...PLACE, recheck: Flag, outputPath: Path, signal: Signal };

const PARTS_AT_ONCE = 16;

/**
 * Makes the torrent of a plan from its hashed parts: the same bytes that `generate` would make.
 *
 * @param plan The plan whose parts were hashed.
 * @param get Gives the sealed part at an index, or null; a whole one has no more bytes than its second argument. It is called for several parts at once.
 * @throws {PartError} `ERR_PART_MISSING` with the indexes of all missing parts; `ERR_PART` with those of all parts that are damaged,
 *   belong elsewhere, or contradict the plan
 * @throws {MetainfoError} `ERR_FILE_CHANGED` for files that changed after they were planned; `ERR_OUTPUT_IS_INPUT`; `ERR_PLAN`, also
 *   for the plan of a {@link partsEngine}
 * @throws {AbortError} if the signal fires; its reason is the `cause`
 * @example
 * ```ts
 * import path from 'node:path';
 * import { folderStore, joinParts, planParts, storePart, TorrentCreate } from 'metainfo';
 *
 * const plan = await planParts(new TorrentCreate({ pathRoot: path.resolve('album') }));
 * const store = folderStore('parts');
 * for (let index = 0; index < plan.parts; index += 1) await storePart(plan, index, store);
 * const torrent = await joinParts(plan, (index) => store.get(plan.id, index));
 * await torrent.write('joined.torrent');
 * ```
 */
export async function joinParts(
  plan: PartsPlan,
  get: GetPart,
  options: JoinPartsOptions = {},
): Promise<TorrentOf<TorrentVersion>> {
  checkArgument('get', get, Callback);
  const checked = checkOptions(options, JOIN_PARTS, { example: '{ recheck: false }' });
  return track('joinParts', (job) => join(plan, get, checked, job));
}

async function join(
  plan: PartsPlan,
  get: GetPart,
  options: Checked<JoinPartsOptions>,
  job: Job,
): Promise<TorrentOf<TorrentVersion>> {
  const { recheck = true, outputPath, signal } = options;
  job.begin();
  throwIfAborted(signal);
  const found = await checkedPlan(plan);
  const { layout } = found;
  if (!layout)
    throw new MetainfoError('ERR_PLAN', 'The plan of an engine has no torrent: joinParts needs one of planParts.');
  job.describe(factsOfLayout(layout));
  if (outputPath !== undefined) await requireNotPlanned(outputPath, found, options);
  const joined = await fetchParts(found, get, signal);
  if (recheck) await openPlanned(found, [...found.files.path.keys()], options);
  const digests = { lengths: null, ...(await joined.finish()) };
  throwIfAborted(signal);
  const torrent = await assemble(layout, digests, { fileList: await encodedFileList(layout) });
  return torrent as TorrentOf<TorrentVersion>;
}

/** Throws `ERR_OUTPUT_IS_INPUT` for an output that is a file of the plan. */
async function requireNotPlanned(
  output: string,
  { root, files }: CheckedPlan,
  options: Checked<JoinPartsOptions>,
): Promise<void> {
  const real = await realRoot(options.root ?? root, {}).catch(() => null);
  if (real === null) return;
  const withLength = (length: number) =>
    [...files.length.keys()]
      .filter((file) => files.length[file] === length && isOnDisk(files, file))
      .map((file) => ({ diskPath: diskPathOf(files, file, real) }));
  await requireNoInput(output, { withLength });
}

async function fetchParts(plan: CheckedPlan, get: GetPart, signal: AbortSignal | undefined): Promise<JoinedDigests> {
  const { id, parts } = plan;
  const joined = new JoinedDigests(plan);
  const missing: number[] = [];
  const damaged: PartError[] = [];
  const options = { concurrency: PARTS_AT_ONCE, signal };
  await forEachConcurrently(Array(parts.count).keys(), options, async (index, _index, stop) => {
    try {
      const length = payloadBytes(plan, index);
      const sealed = await untilAbort(stop, Promise.resolve(get(index, length + SEAL_BYTES)));
      if (sealed === null || sealed === undefined) return void missing.push(index);
      const bytes = checkArgument(`part ${index}`, sealed, Bytes);
      joined.add(index, unsealed(bytes, { id, index, length }));
    } catch (error) {
      if (!(error instanceof PartError)) throw error;
      damaged.push(error);
    }
    await nextRound();
  });
  throwParts(damaged, missing, parts.count);
  return joined;
}

function throwParts(damaged: PartError[], missing: number[], count: number): void {
  const order = (a: number, b: number) => a - b;
  if (damaged.length > 0) {
    const indexes = damaged.flatMap((error) => error.indexes).sort(order);
    if (damaged.length === 1) throw damaged[0];
    const message = `${damaged.length} parts cannot be used (${listed(indexes)}): delete them and hash them again. The first: ${damaged[0]?.message}`;
    throw new PartError('ERR_PART', message, indexes);
  }
  if (missing.length === 0) return;
  missing.sort(order);
  const all = `${missing.length} of ${count} parts are missing (${listed(missing)}): hash them`;
  const message = missing.length === 1 ? `Part ${missing[0]} is missing: hash it` : all;
  throw new PartError('ERR_PART_MISSING', `${message}, then join again.`, missing);
}

const MAX_LISTED = 10;

function listed(indexes: readonly number[]): string {
  const more = indexes.length > MAX_LISTED ? ` and ${indexes.length - MAX_LISTED} more` : '';
  return `${indexes.slice(0, MAX_LISTED).join(', ')}${more}`;
}

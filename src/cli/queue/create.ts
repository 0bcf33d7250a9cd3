/** `metainfo create --queue`: plans a torrent, lets workers hash and write it, and shows their progress. */
import type { JoinedTorrent, QueuedTorrent, QueueProgress } from '../../bullmq/index.ts';
import { AbortError } from '../../errors/cancel.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { progressBar } from '../../jobs/progress-bar.ts';
import { formatBytes, plural } from '../../text/format.ts';
import type { CreateOptions } from '../create/options.ts';
import { showPlan } from '../create/plan-report.ts';
import { targetFor } from '../create/run-create.ts';
import { infohashLines, infohashOf } from '../create/summary.ts';
import { fileOf, isStdout, nameOfTarget, realFile, requireWritable } from '../options/target.ts';
import { planned } from '../parts/plan-in-parts.ts';
import { storeOf } from '../parts/store-of.ts';
import { flagText, toPlain } from '../terminal/messages.ts';
import { stderr, writeLines, writeResult } from '../terminal/output.ts';
import { interrupted } from './interrupted.ts';
import { waitNotices } from './notices.ts';
import { loadQueue, type QueueTarget } from './options.ts';
import { nameOfConnection, placeWithin, realPath, realRoots } from './places.ts';

/** Creates a torrent with the workers of a queue. */
export async function createInQueue(
  paths: readonly string[],
  options: CreateOptions & { partSize: number | 'auto' | undefined },
  { connection, folder, roots }: QueueTarget,
  signal: AbortSignal,
): Promise<void> {
  refuseLocalOptions(options);
  if (options.dryRun) return showPlan(paths, options, signal);
  const { TorrentQueue } = await loadQueue();
  const target = await targetFor(paths, options);
  if (isStdout(target)) throw invalidArgument('A worker writes the torrent: name a file beneath a --root with -o');
  await requireWritable(target, { ...options, output: options.output ?? target });
  const real = await realRoots(roots);
  const output = placeWithin(real, (await realFile(target)) as string);
  const { plan, findings, web } = await planned(paths, options, {
    output: fileOf(target),
    signal,
    nameOf: async (pathRoot) => placeWithin(real, await realPath(pathRoot)),
  });
  if (web) throw invalidArgument('Workers read files on disk: create a torrent of a URL without --queue');
  const queue = new TorrentQueue({ connection, store: storeOf(folder) });
  const server = nameOfConnection(connection);
  const notices = waitNotices(queue, { root: output.split('/', 1)[0] as string, server, json: options.json });
  try {
    const started = process.uptime();
    const queued = await queue.addTorrent(plan, { output, force: options.force });
    if (!options.json && !options.quiet) {
      const what = queued.attached ? 'attached to' : 'queued';
      // A part has whole pieces, so its size may differ from --part-size.
      const parts = `${plural(plan.parts, 'part')} of at most ${formatBytes(plan.partSize)}`;
      await writeLines([`${what} ${parts} at ${server}`], stderr);
    }
    const joined = await followed(queued, options, { signal, onNoWorker: notices.onNoWorker });
    const seconds = process.uptime() - started;
    const { version, files, totalSize } = joined;
    const about = {
      path: target,
      output,
      plan: queued.id,
      parts: plan.parts,
      partSize: plan.partSize,
      version,
      infohash: infohashOf(joined),
    };
    const rest = { files, totalSize, seconds, warnings: findings.map(toPlain) };
    const summary = `${nameOfTarget(target)}: ${version}, ${plural(files, 'file')}, ${formatBytes(totalSize)}, from ${plural(plan.parts, 'part')}`;
    await writeResult(options, { ...about, ...rest }, [summary, ...infohashLines(joined)]);
  } finally {
    notices.close();
    await queue.close();
  }
}

/** Refuses the options that workers would ignore. Values of the configuration file apply where they fit, so they are not refused. */
function refuseLocalOptions({ magnet, linkFile, cache, cacheDir, reuse, fromConfig }: CreateOptions): void {
  const given = { magnet, linkFile, cache, cacheDir, reuse };
  for (const key of Object.keys(given) as (keyof typeof given)[])
    if (given[key] !== undefined && given[key] !== false && !fromConfig?.has(key))
      throw invalidArgument(`${flagText(key)} does not work with --queue: omit one of them`);
}

/** Waits for a torrent, and shows its progress. After Ctrl-C, asks what becomes of it. */
async function followed(
  queued: QueuedTorrent,
  { json, quiet }: CreateOptions,
  watch: { signal: AbortSignal; onNoWorker: (root: string) => Promise<void> },
): Promise<JoinedTorrent> {
  const bar = json || quiet ? null : progressBar(stderr());
  const started = process.uptime();
  let first: { bytes: number; seconds: number } | undefined;
  const onProgress = ({ bytes, totalBytes, hashed, parts, state }: QueueProgress) => {
    const file = state === 'joining' ? 'joining' : `${hashed} of ${parts} parts`;
    const seconds = process.uptime() - started;
    // An earlier run may have hashed many parts.
    first ??= { bytes, seconds };
    const rate = seconds > first.seconds ? (bytes - first.bytes) / (seconds - first.seconds) : 0;
    bar?.update({ bytes, totalBytes, file, seconds, rate });
  };
  try {
    return await queued.done({ ...watch, onProgress });
  } catch (error) {
    bar?.finish();
    if (!(error instanceof AbortError)) throw error;
    const cancel = async () =>
      (await queued.cancel()) ? 'cancelled: no torrent is written' : 'too late to cancel: the torrent has ended';
    return await interrupted(error, { what: 'torrent', json, cancel });
  } finally {
    bar?.finish();
  }
}

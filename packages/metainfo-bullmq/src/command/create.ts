/** `metainfo create --queue`: queues a plan, lets workers hash and write its torrent, and shows their progress. */
import { AbortError, type PartStore, type TorrentPlan } from 'metainfo';
import type { DoneOptions, JoinedTorrent, QueuedTorrent, QueueProgress } from '../queued.ts';
import { TorrentQueue } from '../torrent-queue.ts';
import { interrupted } from './interrupted.ts';
import { waitNotices } from './notices.ts';
import { nameOfConnection } from './server-name.ts';
import type { PrintOptions, ProgressBar } from './terminal.ts';

interface CreateOptions extends PrintOptions {
  connection: string;
  store: PartStore;
  /** The file that a worker writes, as `NAME/path`. */
  output: string;
  force?: boolean | undefined;
  priority?: number | undefined;
  quiet?: boolean | undefined;
  bar: ProgressBar | null;
  signal: AbortSignal;
}

interface Made {
  /** The id of the plan. */
  id: string;
  joined: JoinedTorrent;
  seconds: number;
}

/** Creates the torrent of a plan with the workers of a queue, and reports it. After Ctrl-C, asks what becomes of it. */
export async function createByWorkers(
  plan: TorrentPlan,
  options: CreateOptions,
  report: (made: Made) => Promise<void>,
): Promise<void> {
  const { connection, store, output, force, priority, terminal, json, quiet } = options;
  const queue = new TorrentQueue({ connection, store });
  const server = nameOfConnection(connection);
  const notices = waitNotices(queue, { root: output.split('/', 1)[0] as string, server, json, terminal });
  try {
    const started = process.uptime();
    const queued = await queue.addTorrent(plan, { output, force, priority });
    if (!json && !quiet) {
      const what = queued.attached ? 'attached to' : 'queued';
      // A part has whole pieces, so its size may differ from --part-size.
      const parts = `${terminal.plural(plan.parts, 'part')} of at most ${terminal.formatBytes(plan.partSize)}`;
      await terminal.writeLines([`${what} ${parts} at ${server}`], terminal.stderr);
    }
    const joined = await followed(queued, { ...options, onNoWorker: notices.onNoWorker });
    await report({ id: queued.id, joined, seconds: process.uptime() - started });
  } finally {
    notices.close();
    await queue.close();
  }
}

/** Waits for a torrent, and shows its progress. After Ctrl-C, asks what becomes of it. */
async function followed(
  queued: QueuedTorrent,
  { json, bar, terminal, signal, onNoWorker }: CreateOptions & Pick<DoneOptions, 'onNoWorker'>,
): Promise<JoinedTorrent> {
  let started: number | undefined;
  const onProgress = ({ bytes, totalBytes, hashed, parts, state }: QueueProgress) => {
    const file = state === 'joining' ? 'joining' : `${hashed} of ${parts} parts`;
    // An earlier run may have hashed many parts: the bar takes the pace from the first state on.
    started ??= process.uptime();
    bar?.update({ bytes, totalBytes, file, seconds: process.uptime() - started, isRemote: true });
  };
  try {
    return await queued.done({ signal, onNoWorker, onProgress });
  } catch (error) {
    bar?.finish();
    if (!(error instanceof AbortError)) throw error;
    const cancel = async () =>
      (await queued.cancel()) ? 'cancelled: no torrent is written' : 'too late to cancel: the torrent has ended';
    return await interrupted(error, { what: 'torrent', json, terminal, cancel });
  } finally {
    bar?.finish();
  }
}

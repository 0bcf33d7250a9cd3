/** A run of a hash job whose parts workers hash. The same job can attach to it after it was cancelled or killed. */
import { createHash, randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from 'bullmq';
import type { Engine, PartsEngineOptions, PartsPlan, RunPartContext } from 'metainfo';
import { notInStore } from './failures.ts';
import type { OnNoWorker } from './job-waits.ts';
import { forEachIndex, type IndexedData } from './jobs.ts';
import { bytesOf, type Producer } from './queued-torrent.ts';
import { KEEP, partJobId, priorityOf, RETRIES } from './settings.ts';
import { throwIfAborted, withDeadline } from './with-deadline.ts';

interface RequestedFile {
  path: string | Uint8Array | null;
  offset: number;
  length: number;
}

/** A hash request, as far as it names a job. */
export interface HashRequest {
  version: string;
  pieceLength: number;
  paddedFiles?: number | undefined;
  files: Iterable<RequestedFile>;
}

/** A hash job that runs. */
export interface HashJob {
  readonly done: Promise<unknown>;
  progress(): unknown;
  cancel(): void;
}

/** Starts a hash job. The public interface of engines leaves out the method, and this package passes on what it takes and gives. */
export function startJob(engine: Engine, request: HashRequest): HashJob {
  return (engine as unknown as { start(request: HashRequest): HashJob }).start(request);
}

/** Milliseconds for which an interrupted run can be attached to. */
const KEPT_MS = 24 * 3600 * 1000;

/** Milliseconds within which a second change may leave the times of a file as they are, where they have whole seconds and elsewhere. */
const COARSE_TICK_MS = 2500;
const TICK_MS = 100;

/** How often a part is tried, if its result is lost or damaged. */
const TRIES = 3;
const AT_ONCE = 32;

/** Milliseconds for which the server may be silent when a part is removed. */
const DROP_MS = 2000;

/** How a run works. */
export interface RunOptions {
  /** The root of the content on the workers. */
  root: string;
  /** Whether the same job can attach to it. */
  attach: boolean;
  onNoWorker: OnNoWorker | undefined;
  /** Lets the queue wait for work when it is closed. */
  track: <T>(work: Promise<T>) => Promise<T>;
}

/** A run. The server knows its random nonce until it ends: nobody who can only write to the store can prepare parts for it. */
export class EngineRun {
  readonly #producer: Producer;
  readonly #options: RunOptions;
  readonly #parts = new Set<Promise<unknown>>();
  #key: string | undefined;
  #plan: PartsPlan | undefined;
  #stored: Promise<void> | undefined;

  constructor(producer: Producer, options: RunOptions) {
    this.#producer = producer;
    this.#options = options;
  }

  /** The nonce of the same run that was interrupted, else a new one. */
  async nonce(request: HashRequest, about: readonly unknown[]): Promise<string> {
    const { server, queues } = this.#producer;
    const runs = queues.get('run', this.#options.root);
    const { version, pieceLength, paddedFiles } = request;
    const key = await keyOf(request.files, [version, pieceLength, paddedFiles, ...about]);
    await server.answer(runs.clean(KEPT_MS, 0, 'wait'));
    // Now there is something to forget. A server that never answered would be waited for twice.
    this.#key = key;
    const nonce = randomBytes(16).toString('hex');
    // It changes nothing if there is one already.
    await server.answer(runs.add('run', { nonce }, { jobId: key }));
    const { nonce: found } = Object(await server.answer(runs.getJob(key))).data ?? {};
    return typeof found === 'string' && /^[0-9a-f]{32}$/.test(found) ? found : nonce;
  }

  /** Has a part hashed. */
  readonly part: PartsEngineOptions['run'] = (...given) => {
    const part = this.#options.track(this.#part(...given));
    this.#parts.add(part);
    return part.finally(() => this.#parts.delete(part));
  };

  /** If a result of an earlier run is damaged or lost, the part is hashed again: the same run may have ended elsewhere. */
  async #part(plan: PartsPlan, index: number, context: RunPartContext): Promise<Uint8Array> {
    const { store, server, queues } = this.#producer;
    const { root, attach } = this.#options;
    this.#plan = plan;
    for (let tries = 1; ; tries += 1) {
      try {
        this.#stored ??= store.put(plan.id, 'plan', Buffer.from(JSON.stringify(plan)));
        await this.#stored;
        const sealed = await this.#hashed(plan, index, context);
        if (attach) context.check(sealed);
        return sealed;
      } catch (error) {
        const { code } = Object(error);
        // Somebody else who verifies the same may have discarded it.
        const isLost = attach && ['ERR_PART', 'ERR_QUEUE', 'ERR_ABORTED'].includes(code);
        if (tries === TRIES || context.signal.aborted || !isLost) throw error;
        this.#stored = undefined;
        await server.answer(queues.get('part', root).remove(partJobId(plan.id, index)), context.signal);
      }
    }
  }

  async #hashed({ id }: PartsPlan, index: number, { signal, onProgress }: RunPartContext): Promise<Uint8Array> {
    const { server, store, queues, waits } = this.#producer;
    const { root, attach, onNoWorker } = this.#options;
    const queue = queues.get('part', root);
    const opts = { ...RETRIES, ...KEEP, jobId: partJobId(id, index), priority: priorityOf(0, index) };
    throwIfAborted(signal);
    const adding = queue.add('part', { plan: id, index }, opts);
    const job = await server.answer(adding, signal).catch(async (error: unknown) => {
      // The part may still be added: a worker would look for a plan that is gone.
      if (!attach)
        await withDeadline(
          DROP_MS,
          adding.then((late) => this.#drop(late)),
        ).catch(() => {});
      throw error;
    });
    try {
      await waits.withWorkers([root], { signal, onNoWorker }, (signal) =>
        waits.ended(job, queue, { signal, onPoll: (now) => onProgress(bytesOf(now)) }),
      );
    } catch (error) {
      // An interrupted run keeps its parts.
      if (!attach) await this.#drop(job);
      throw error;
    }
    if (!attach) await job.remove().catch(() => {});
    const sealed = await server.wait(store.get(id, index), signal);
    if (!attach) await store.delete?.(id, index).catch(() => {});
    if (sealed) return sealed;
    throw notInStore(`part ${index}, which was hashed`);
  }

  /** Removes a part that nobody waits for. One that runs is locked: its worker sees the mark, and stores nothing. */
  async #drop(job: Job): Promise<void> {
    const { plan, index } = job.data as IndexedData;
    const drop = async () => {
      try {
        await job.remove();
      } catch {
        await job.updateData({ plan, index, cancelled: true } satisfies IndexedData);
        await this.#producer.store.delete?.(plan, index);
      }
    };
    await withDeadline(DROP_MS, drop()).catch(() => {});
  }

  /** A job that ends this run when it ends. One that is cancelled leaves a run that can be attached to. */
  watched(job: HashJob, onEnd: () => unknown): HashJob {
    const { attach, track } = this.#options;
    let isCancelled = false;
    const done = job.done.then(
      async (digests) => {
        await this.forget();
        onEnd();
        return digests;
      },
      async (error: unknown) => {
        if (!attach) void track(this.forget());
        else if (!isCancelled) await this.forget().then(onEnd, () => {});
        throw error;
      },
    );
    done.catch(() => {});
    const cancel = () => {
      isCancelled = true;
      job.cancel();
    };
    return { done, cancel, progress: () => job.progress() };
  }

  /** Removes everything: the next run of the job starts anew. */
  async forget(): Promise<void> {
    const { server, queues, store } = this.#producer;
    const { root, attach } = this.#options;
    if (this.#key) await server.answer(queues.get('run', root).remove(this.#key));
    if (!this.#plan) return;
    const { id, parts } = this.#plan;
    const forget = async (index: number) => {
      const job = await server.answer(queues.get('part', root).getJob(partJobId(id, index)));
      if (job) await this.#drop(job);
      await store.delete?.(id, index).catch(() => {});
    };
    if (attach) await server.wait(forEachIndex(parts, forget));
    await Promise.allSettled(this.#parts);
    // Nobody asks for it again. A store that cannot delete keeps it.
    await store.delete?.(id, 'plan').catch(() => {});
  }
}

/** Names a hash job by everything that changes with its content. It waits until any further change shows in the times of the files. */
async function keyOf(files: HashRequest['files'], about: readonly unknown[]): Promise<string> {
  let settled = 0;
  const facts = async ({ path, offset, length }: RequestedFile) => {
    const found = path === null ? null : await stat(path as string, { bigint: true }).catch(() => null);
    if (!found) return [offset, length];
    const { size, ino, mtimeNs, ctimeNs } = found;
    settled = Math.max(settled, Number(ctimeNs / 1_000_000n) + (ctimeNs % 1_000_000_000n ? TICK_MS : COARSE_TICK_MS));
    return [Buffer.from(path as string).toString('hex'), offset, length, size, ino, mtimeNs, ctimeNs].map(String);
  };
  const hash = createHash('sha256').update(JSON.stringify(about));
  const all: AsyncIterable<unknown> = Readable.from(files).map(facts, { concurrency: AT_ONCE });
  for await (const fact of all) hash.update(`\n${JSON.stringify(fact)}`);
  await delay(Math.min(COARSE_TICK_MS, Math.max(0, settled - Date.now())));
  return hash.digest('hex');
}

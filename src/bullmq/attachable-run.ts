/** A run of a hash job that the same job can attach to after it was cancelled or killed. */
import { createHash, randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from 'bullmq';
import type { Engine, PartsPlan, RunPartContext } from '../index.ts';
import type { BullQueue } from './backend.ts';
import type { Producer } from './queued-torrent.ts';
import { partJobId } from './settings.ts';

export type HashRequest = Parameters<Engine['start']>[0];
type HashJob = ReturnType<Engine['start']>;

/** Milliseconds for which an interrupted run can be attached to. */
const KEPT_MS = 24 * 3600 * 1000;

/** Milliseconds within which a second change may leave the times of a file as they are, where they have whole seconds and elsewhere. */
const COARSE_TICK_MS = 2500;
const TICK_MS = 100;

/** How often a part is tried, if its result is lost or damaged. */
const TRIES = 3;
const AT_ONCE = 32;

/** A run. The server knows its random nonce until it ends, so nobody who can only write to the store can prepare parts for it. */
export class AttachableRun {
  readonly #root: string;
  readonly #producer: Producer & { drop: (job: Job) => Promise<void> };
  readonly #runs: BullQueue;
  #key: string | undefined;
  #plan: PartsPlan | undefined;
  #stored: Promise<void> | undefined;

  constructor(root: string, producer: Producer & { drop: (job: Job) => Promise<void> }) {
    this.#root = root;
    this.#producer = producer;
    this.#runs = producer.queues.get('run', root);
  }

  /** The nonce of the same run that was interrupted, else a new one. */
  async nonce(request: HashRequest, about: readonly unknown[]): Promise<string> {
    const { server } = this.#producer;
    const { version, pieceLength, paddedFiles } = request;
    const key = await keyOf(request.files, [version, pieceLength, paddedFiles, ...about]);
    this.#key = key;
    await server.answer(this.#runs.clean(KEPT_MS, 0, 'wait'));
    const nonce = randomBytes(16).toString('hex');
    // It changes nothing if there is one already.
    await server.answer(this.#runs.add('run', { nonce }, { jobId: key }));
    const { nonce: found } = Object(await server.answer(this.#runs.getJob(key))).data ?? {};
    return typeof found === 'string' && /^[0-9a-f]{32}$/.test(found) ? found : nonce;
  }

  /** Takes the result of a part. If it is damaged or lost, the part is hashed again: the same run may have ended elsewhere. */
  async part(
    plan: PartsPlan,
    index: number,
    { signal, check }: RunPartContext,
    hash: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    this.#plan = plan;
    for (let tries = 1; ; tries += 1) {
      try {
        this.#stored ??= this.#producer.store.put(plan.id, 'plan', Buffer.from(JSON.stringify(plan)));
        await this.#stored;
        const sealed = await hash();
        check(sealed);
        return sealed;
      } catch (error) {
        const { code } = Object(error);
        if (tries === TRIES || signal.aborted || (code !== 'ERR_PART' && code !== 'ERR_QUEUE')) throw error;
        this.#stored = undefined;
        const { server, queues } = this.#producer;
        await server.answer(queues.get('part', this.#root).remove(partJobId(plan.id, index)), signal);
      }
    }
  }

  /** A job that ends this run when it ends, unless it is cancelled. */
  watched(job: HashJob, onEnd: () => unknown): HashJob {
    let isCancelled = false;
    const done = job.done.then(
      async (digests) => {
        await this.forget();
        onEnd();
        return digests;
      },
      async (error: unknown) => {
        if (!isCancelled) await this.forget().then(onEnd, () => {});
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
    const { server, queues, store, drop } = this.#producer;
    if (this.#key) await server.answer(this.#runs.remove(this.#key));
    if (!this.#plan) return;
    const { id, parts } = this.#plan;
    const forget = async (index: number) => {
      const job = await server.answer(queues.get('part', this.#root).getJob(partJobId(id, index)));
      if (job) await drop(job);
      await store.delete?.(id, index).catch(() => {});
    };
    await server.wait(Readable.from(Array(parts).keys()).forEach(forget, { concurrency: AT_ONCE }));
    await store.delete?.(id, 'plan').catch(() => {});
  }
}

/** Names a hash job by everything that changes with its content. It waits until any further change shows in the times of the files. */
async function keyOf(files: HashRequest['files'], about: readonly unknown[]): Promise<string> {
  let settled = 0;
  const facts = async ({ path, offset, length }: NonNullable<ReturnType<typeof files.at>>) => {
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

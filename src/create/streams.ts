import type { Engine } from '../hash/engine.ts';
import { type FileDigests, joinTrees, splitDigests } from '../hash/file-digests.ts';
import { alignedPlanFiles, memoryPlanFile, padAfter, splitPlanFiles, toPlanFile } from '../hash/file-plan.ts';
import type { Digests, PlanFile } from '../hash/plan.ts';
import type { RunningJob } from '../jobs/watch.ts';
import type { ContentFile, Hashed } from './content.ts';
import type { SourceFile } from './sources.ts';
import { Jobs, type StreamedContent } from './stream-jobs.ts';

// Content that comes in streams. It is gathered in segments of memory, and a segment is hashed like any content that is
// in memory. In v2 and hybrid, and in v1 with pads, files begin with a piece: each is hashed by itself, several at once.
// In v1 without pads a piece may hold the end of one and the beginning of another: all are hashed in a row.

/** What a stream hashes to, and how long it was. */
interface StreamDigests extends FileDigests {
  length: number;
}

/** Hashes files of which some are streams. */
export function hashStreams(engine: Engine, content: StreamedContent): RunningJob<Hashed> {
  const jobs = new Jobs(engine, content);
  const run = content.version === 'v1' && !content.isPadded ? hashInARow(jobs) : hashEach(jobs);
  return {
    done: run.catch((error) => jobs.fail(error)),
    progress: () => jobs.progress(),
    cancel: () => jobs.cancel(),
  };
}

/** Every file by itself: those that are there in one job, the streams some at a time. */
async function hashEach(jobs: Jobs): Promise<Hashed> {
  const { files, streams, version } = jobs.content;
  const places = new Map<ContentFile, number>(files.map((file, index) => [file, index]));
  const digests = new Map<ContentFile, StreamDigests>();
  const queue = streams.values();
  const readers = Array.from({ length: jobs.streamsAtOnce }, async () => {
    for (const stream of queue) digests.set(stream, await hashStream(jobs, stream, places.get(stream) as number));
  });
  await Promise.all([hashStill(jobs, digests), ...readers]);
  const each = files.map((file) => digests.get(file) as StreamDigests);
  return {
    lengths: each.map(({ length }) => length),
    pieces: version === 'v2' ? null : Buffer.concat(each.map(({ pieces }) => pieces)),
    trees: version === 'v1' ? null : each,
  };
}

/** Files on disk and in memory: one job for all. */
async function hashStill(jobs: Jobs, digests: Map<ContentFile, StreamDigests>): Promise<void> {
  const { files, pieceLength } = jobs.content;
  const still = files.flatMap((file, index) =>
    file.stream ? [] : [{ file, plan: toPlanFile(file), isPadded: isPadded(jobs, index) }],
  );
  if (still.length === 0) return;
  const each = splitDigests(still, await jobs.startLarge(alignedPlanFiles(still, pieceLength)), jobs.content);
  for (const [i, { file, plan }] of still.entries())
    digests.set(file, { ...(each[i] as FileDigests), length: plan.length });
}

function isPadded({ content }: Jobs, index: number): boolean {
  return content.isPadded?.(index) ?? false;
}

async function hashStream(jobs: Jobs, file: SourceFile, index: number): Promise<StreamDigests> {
  const { version, pieceLength } = jobs.content;
  const parts: Promise<Digests>[] = [];
  const sizes: number[] = [];
  const hash = (segment: Buffer, pad: PlanFile[], size: number) => {
    sizes.push(size);
    const part = jobs.startSmall([memoryPlanFile(segment, 0, size), ...pad]).finally(() => jobs.segments.give(segment));
    // It is awaited when the stream has ended, or was stopped because of it.
    part.catch(() => {});
    parts.push(part);
  };
  let segment: Buffer | null = null;
  let filled = 0;
  const { reader, close } = jobs.open(file);
  try {
    for (let chunk = await reader.next(); chunk; chunk = await reader.next()) {
      if (file.length === null) jobs.cameUnannounced(chunk.length);
      for (let at = 0; at < chunk.length && !jobs.signal.aborted; ) {
        segment ??= await jobs.segments.take();
        const part = reader.part(at, at + segment.length - filled);
        segment.set(part, filled);
        filled += part.length;
        at += part.length;
        if (filled < segment.length) continue;
        hash(segment, [], filled);
        segment = null;
        filled = 0;
      }
    }
    if (segment) hash(segment, isPadded(jobs, index) ? padAfter(reader.length, pieceLength) : [], filled);
    segment = null;
  } finally {
    close();
    if (segment) jobs.segments.give(segment);
    // A part that fails stops them all: here, where it is awaited, is what it failed with.
    await Promise.allSettled(parts);
  }
  const { length } = reader;
  const digests = await Promise.all(parts);
  const pieces = Buffer.concat(digests.map(({ v1 }) => v1 ?? new Uint8Array()));
  const trees = digests.map(({ v2 }) => ({
    root: v2?.roots.subarray(0, 32) ?? null,
    layer: v2?.layers ?? new Uint8Array(),
  }));
  const tree = version === 'v1' ? null : joinTrees(trees, sizes, { pieceLength, segmentSize: jobs.segmentSize });
  return { length, pieces, root: tree?.root ?? null, layer: tree?.layer ?? new Uint8Array() };
}

/** v1 without pads: whole pieces of what has come, and the rest with what comes next. */
async function hashInARow(jobs: Jobs): Promise<Hashed> {
  const { files } = jobs.content;
  const row = new Row(jobs);
  const lengths: number[] = [];
  for (const file of files) lengths.push(await row.add(file));
  return { lengths, pieces: await row.finish(), trees: null };
}

class Row {
  readonly #jobs: Jobs;
  readonly #pieces: Promise<Uint8Array>[] = [];
  /** What is not in a job yet: less than a piece after each job. */
  #rest: PlanFile[] = [];
  #restBytes = 0;
  /** What the last of the rest is in, while a stream is read. */
  #segment: Buffer | null = null;
  #filled = 0;

  constructor(jobs: Jobs) {
    this.#jobs = jobs;
  }

  /** Adds a file; gives its length. */
  async add(file: ContentFile): Promise<number> {
    if (file.stream) return this.#addStream(file as SourceFile);
    this.#push(toPlanFile(file));
    return file.length as number;
  }

  async finish(): Promise<Uint8Array> {
    await this.#hash(true);
    return Buffer.concat(await Promise.all(this.#pieces));
  }

  #push(file: PlanFile): void {
    const last = this.#rest.at(-1);
    // A stream may come byte by byte.
    if (last?.data && last.data === file.data && last.offset + last.length === file.offset) last.length += file.length;
    else this.#rest.push(file);
    this.#restBytes += file.length;
  }

  async #addStream(file: SourceFile): Promise<number> {
    // What is there already need not wait for it.
    if (this.#restBytes >= this.#jobs.segmentSize) await this.#hash(false);
    const { reader, close } = this.#jobs.open(file);
    try {
      for (let chunk = await reader.next(); chunk; chunk = await reader.next()) {
        if (file.length === null) this.#jobs.cameUnannounced(chunk.length);
        for (let at = 0; at < chunk.length && !this.#jobs.signal.aborted; ) {
          this.#segment ??= await this.#jobs.segments.take();
          const segment = this.#segment;
          const part = reader.part(at, at + segment.length - this.#filled);
          segment.set(part, this.#filled);
          this.#push(memoryPlanFile(segment, this.#filled, part.length));
          this.#filled += part.length;
          at += part.length;
          if (this.#filled === segment.length) await this.#hash(false);
        }
      }
      return reader.length;
    } finally {
      close();
    }
  }

  /** Starts a job of all whole pieces, or of everything. */
  async #hash(all: boolean): Promise<void> {
    const { pieceLength } = this.#jobs.content;
    const whole = this.#restBytes - (this.#restBytes % pieceLength);
    // At the end empty files are looked at too.
    if (all ? this.#rest.length === 0 : whole === 0) return;
    const [first, rest] = all ? [this.#rest, []] : splitPlanFiles(this.#rest, whole);
    const segment = this.#segment;
    const isSmall = first.every(({ data }) => data === segment);
    const job = (isSmall ? this.#jobs.startSmall(first) : this.#jobs.startLarge(first))
      .then(({ v1 }) => v1 as Uint8Array)
      .finally(() => {
        if (segment) this.#jobs.segments.give(segment);
      });
    this.#pieces.push(job);
    // It is thrown when all are awaited; the run has stopped by then.
    job.catch(() => {});
    this.#segment = null;
    this.#filled = 0;
    this.#rest = [];
    this.#restBytes = 0;
    for (const file of rest) {
      // What is left in the segment goes to the next one: this one is free when the job is done.
      if (file.data && file.data === segment) this.#push(await this.#moved(file));
      else this.#push(file);
    }
  }

  async #moved({ data, offset, length }: PlanFile): Promise<PlanFile> {
    this.#segment ??= await this.#jobs.segments.take();
    const segment = this.#segment;
    segment.set((data as Uint8Array).subarray(offset, offset + length), this.#filled);
    this.#filled += length;
    return memoryPlanFile(segment, this.#filled - length, length);
  }
}

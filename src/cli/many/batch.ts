/** Reads the jobs of `metainfo create --batch`: a JSON array, a file of NDJSON, or a stream of NDJSON that has no bounds. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { onAbort, throwIfAborted, untilAbort } from '../../errors/cancel.ts';
import { fromSystemError, MetainfoError, withPath } from '../../errors/errors.ts';
import type { CommandLine } from '../config/command-line.ts';
import { isStdin, named, nameOfInput, openStdin } from '../standard-input.ts';
import { OutputHashes } from './distinct-outputs.ts';
import { type CreateJob, type ListedJob, nameOfJob, outputsOf, requireDistinct, sameOutput } from './job-list.ts';
import { type JsonRecord, jsonRecords } from './json-records.ts';
import { jobParser, type ParseJob } from './parse-job.ts';
import { type JobQueue, listQueue } from './run-jobs.ts';

/** The largest array, and the longest line, in bytes. */
const LIMITS = { array: 64 * 2 ** 20, line: 2 ** 20 };
/** The problems that a message lists. */
const MAX_LISTED = 10;

/**
 * The jobs of a list. All jobs of an array or of a regular file are checked before this returns. Of anything else, such as a
 * pipe, each job is read when it is about to start, and may be a `BrokenJob`.
 *
 * @param optionsFor Completes the options of a job with those of the command line and of the configuration.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` with every problem; `ERR_LIMIT`; the error of reading the file
 */
export async function jobsOfFile(
  file: string,
  optionsFor: CommandLine['optionsFor'],
  signal: AbortSignal,
): Promise<JobQueue<ListedJob>> {
  const batch: Batch = { file, parse: jobParser(optionsFor), signal };
  const canReadAgain = !isStdin(file) && (await isRegular(file));
  const records = jsonRecords(chunksOf(batch), LIMITS);
  const first = await untilAbort(signal, records.next());
  if (first.done) throw invalidList(file, ['there is no job']);
  if (first.value.isArray) return listQueue(await jobsOfArray(first.value, batch));
  if (!canReadAgain) return { jobs: entriesOf(following(first.value, records), batch), count: null };
  const count = await checkAll(following(first.value, records), batch);
  return { jobs: entriesOf(jsonRecords(chunksOf(batch), LIMITS), batch), count };
}

interface Batch {
  file: string;
  parse: ParseJob;
  signal: AbortSignal;
}

async function isRegular(file: string): Promise<boolean> {
  return stat(file).then(
    (status) => status.isFile(),
    () => false,
  );
}

/** The bytes of the list. */
async function* chunksOf({ file, signal }: Batch): AsyncGenerator<Buffer> {
  const example = 'cat jobs.json | metainfo create --batch -';
  const stream = isStdin(file) ? openStdin(example) : createReadStream(file);
  // A pipe whose writer goes on would keep the process.
  const removeListener = onAbort(signal, () => stream.destroy());
  let isEmpty = true;
  try {
    for await (const chunk of stream) {
      isEmpty = false;
      yield chunk as Buffer;
    }
  } catch (error) {
    throwIfAborted(signal);
    throw named(withPath(fromSystemError(error, file, 'read'), file));
  } finally {
    removeListener();
    stream.destroy();
  }
  throwIfAborted(signal);
  if (isEmpty && isStdin(file))
    throw named(new MetainfoError('ERR_NO_DATA', `${file}: it is empty: pipe a list of jobs to it.`, { path: file }));
}

async function* following(first: JsonRecord, rest: AsyncIterable<JsonRecord>): AsyncGenerator<JsonRecord> {
  yield first;
  yield* rest;
}

async function* entriesOf(records: AsyncIterable<JsonRecord>, batch: Batch): AsyncGenerator<ListedJob> {
  for await (const record of records) yield await entryOf(record, batch);
}

async function entryOf({ line, text }: JsonRecord, { parse }: Batch): Promise<ListedJob> {
  try {
    if (text === null) throw tooLong('the line', LIMITS.line);
    return await parse(parsedJson(text));
  } catch (error) {
    if (error instanceof MetainfoError) return { place: { line }, error };
    throw error;
  }
}

async function jobsOfArray({ text }: JsonRecord, { file, parse }: Batch): Promise<CreateJob[]> {
  if (text === null) throw tooLong(`The array in ${nameOfInput(file)}`, LIMITS.array, '; write one job a line instead');
  const jobs: CreateJob[] = [];
  const problems: string[] = [];
  const add = async (place: string, action: () => Promise<unknown>) => {
    await action().catch((error: unknown) => {
      if (!(error instanceof MetainfoError)) throw error;
      problems.push(problemOf(place, error));
    });
  };
  let values: unknown[] = [];
  await add('the array', async () => {
    values = parsedJson(text) as unknown[];
  });
  for (const [index, value] of values.entries()) await add(`job ${index}`, async () => jobs.push(await parse(value)));
  if (jobs.length + problems.length === 0) problems.push('there is no job');
  if (problems.length > 0) throw invalidList(file, problems);
  requireDistinct(jobs);
  return jobs;
}

/** Checks all lines of a file without keeping them, and returns their number. */
async function checkAll(records: AsyncIterable<JsonRecord>, batch: Batch): Promise<number> {
  const problems: string[] = [];
  const hashes = new OutputHashes();
  let [count, broken] = [0, 0];
  for await (const entry of entriesOf(records, batch)) {
    count += 1;
    if ('error' in entry) {
      broken += 1;
      if (problems.length < MAX_LISTED) problems.push(problemOf(nameOfJob(entry), entry.error));
    } else for (const output of outputsOf(entry)) hashes.add(output);
  }
  if (broken > 0) throw invalidList(batch.file, problems, broken);
  const mayRepeat = hashes.repeated();
  if (mayRepeat) await refuseRepeated(mayRepeat, batch);
  return count;
}

/** Reads the list again to find the jobs of outputs that may be repeated. */
async function refuseRepeated(mayRepeat: (output: string) => boolean, batch: Batch): Promise<void> {
  const outputs = new Map<string, CreateJob>();
  for await (const entry of entriesOf(jsonRecords(chunksOf(batch), LIMITS), batch)) {
    if ('error' in entry) continue;
    for (const output of outputsOf(entry).filter(mayRepeat)) {
      const other = outputs.get(output);
      if (other && other !== entry) throw sameOutput(other, entry, output);
      outputs.set(output, entry);
    }
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new MetainfoError('ERR_INVALID_ARGUMENT', (error as SyntaxError).message);
  }
}

function problemOf(place: string, { message }: MetainfoError): string {
  return `${place}: ${message.replace(/\.$/, '')}`;
}

function invalidList(file: string, problems: readonly string[], count = problems.length): MetainfoError {
  const more = count > MAX_LISTED ? `; and ${count - MAX_LISTED} more` : '';
  const list = `${problems.slice(0, MAX_LISTED).join('; ')}${more}`;
  const message = `The list of jobs in ${nameOfInput(file)} is not valid: ${list}.`;
  return new MetainfoError('ERR_INVALID_ARGUMENT', message, { path: file });
}

function tooLong(what: string, most: number, advice = ''): MetainfoError {
  return new MetainfoError('ERR_LIMIT', `${what} has more than ${most / 2 ** 20} MiB${advice}.`);
}

/** `metainfo worker`: hashes the jobs of a queue until it is stopped. */
import { type Command, InvalidArgumentError } from 'commander';
import type { EndedJob, Workers } from '../../bullmq/index.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { folderStore } from '../../parts/store.ts';
import { printable } from '../../text/printable.ts';
import { exitCodeOf } from '../exit.ts';
import {
  collectRoot,
  type HashingOptions,
  hashingOptions,
  type NamedRoot,
  parseCount,
  parseFolder,
} from '../options/option-values.ts';
import { loadQueue, rootsOf } from '../queue/options.ts';
import { nameOfConnection } from '../queue/places.ts';
import { printableJson } from '../terminal/json.ts';
import { stderr, writeLines } from '../terminal/output.ts';

interface WorkerOptions extends HashingOptions {
  redis?: string;
  queue?: string;
  root: NamedRoot[];
  store: string;
  concurrency?: number;
  grace?: number;
  quiet?: boolean;
  json?: boolean;
}

const EXAMPLES = `
Examples:
  metainfo worker --redis redis://10.0.0.5 --root media=/srv --store /shared
  metainfo worker --queue postgres://10.0.0.5/jobs --root media=/srv --store /s
  metainfo worker --redis redis://10.0.0.5 --root in=/a --root out=/b --store /s

The worker reads and writes beneath its roots only: jobs name their content and
outputs as NAME/path. All workers share the store, and the roots' content.
Queues need packages beside metainfo: npm install bullmq ioredis (or pg).
QUEUE_URL in the environment keeps a password out of the list of processes.

SIGTERM and Ctrl-C end the worker: it takes no more jobs, and gives those that
run back to the queue after the grace time. A second signal ends that time.

Exit codes: 0 stopped by a signal, 1 failure, 2 wrong usage.`;

export function addWorker(program: Command): void {
  const command = program
    .command('worker')
    .description('hash parts and batches of a queue, until it is stopped')
    .option('--redis <url>', 'the server of the queue: redis://, rediss:// or valkey://')
    .option('--queue <url>', 'the same for any server: also postgres:// (default: QUEUE_URL in the environment)')
    .requiredOption('--root <name=path>', 'a folder with content or outputs, and its name (repeatable)', collectRoot)
    .requiredOption('--store <folder>', 'the folder of plans and parts that all workers share', parseFolder)
    .option('--concurrency <n>', 'jobs of each kind at once; each uses all threads (default: 1)', parseCount)
    .option('--grace <duration>', 'time for running jobs to end, such as 30s or 5m (default: 0s)', parseDuration)
    .option('-q, --quiet', 'print nothing but errors')
    .option('--json', 'print one JSON object for each job that has ended');
  hashingOptions(command).addHelpText('after', EXAMPLES).action(work);
}

/** Parses `500ms`, `30s`, `5m` or `1h`; a bare number is seconds. */
function parseDuration(text: string): number {
  const [, number, unit = 's'] = /^(\d+)(ms|s|m|h)?$/.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError('Expected a duration such as 30s or 5m.');
  return Number(number) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit as 'ms'];
}

async function work(options: WorkerOptions): Promise<void> {
  const { redis, queue, root, store, threads = null, memoryLimit, concurrency, grace, quiet, json } = options;
  const connection = redis ?? queue ?? process.env['QUEUE_URL'];
  if (!connection) throw invalidArgument('Name the server of the queue: --redis URL, or --queue URL');
  const { createWorkers } = await loadQueue();
  let lost = '';
  const workers = createWorkers({
    connection,
    roots: rootsOf(root),
    store: folderStore(store),
    threads,
    memoryLimit,
    concurrency,
    onError: ({ message }) => {
      // A lost connection fails every second: say so once.
      if (message !== lost) stderr().write(`error: ${printable(message)}\n`);
      lost = message;
    },
    onJob: (job) => void report(job, { quiet, json }).catch(() => {}),
  });
  const stopped = stopSignal();
  const ready = workers.ready().then(
    () => 'ready',
    (error: unknown) => ({ error }),
  );
  const state = await Promise.race([ready, stopped]);
  // The connections of BullMQ would keep the process alive.
  if (typeof state === 'object') process.exit(await exitCodeOf(state.error));
  if (state === 'ready' && !quiet && !json)
    await writeLines([`working for ${nameOfConnection(connection)}, until SIGTERM or Ctrl-C`], stderr);
  // Without a connection, no job runs that could be given back.
  if (state !== 'ready') process.exit(0);
  await stopped;
  await end(workers, grace);
}

/** Resolves with the first signal that stops the worker. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
  });
}

async function end(workers: Workers, grace: number | undefined): Promise<void> {
  const ended = workers.close({ grace });
  // A second signal ends the grace time: running jobs still go back to the queue.
  await Promise.race([ended, stopSignal()]);
  await workers.close();
  process.exit(0);
}

async function report(
  { kind, plan, index, error }: EndedJob,
  { quiet, json }: { quiet?: boolean | undefined; json?: boolean | undefined },
): Promise<void> {
  if (json) return writeLines([printableJson({ kind, plan, index, error })]);
  if (quiet && error === null) return;
  const what = `${kind}${index === null ? '' : ` ${index}`} of ${plan.slice(0, 8)}`;
  await writeLines([error === null ? `${what}: done` : `${what}: ${printable(error)}`]);
}

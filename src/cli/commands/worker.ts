/** `metainfo worker`: hashes the jobs of a queue until it is stopped. */
import { type Command, InvalidArgumentError } from 'commander';
import { collectRoot, hashingOptions, parseCount, parseDuration, parseStore, STORE } from '../options/option-values.ts';
import type { WorkerOptions } from '../queue/queue.ts';

const EXAMPLES = `
Examples:
  metainfo worker --redis redis://10.0.0.5 --root media=/srv --store /shared
  metainfo worker --queue postgres://10.0.0.5/jobs --root media=/srv --store /s
  metainfo worker --redis redis://10.0.0.5 --root in=/a --root out=/b --store /s

The worker reads and writes beneath its roots only: jobs name their content and
outputs as NAME/path. All workers share the store, and the roots' content.
Queues need a package beside metainfo: npm install metainfo-bullmq.
QUEUE_URL in the environment keeps a password out of the list of processes.

SIGTERM and Ctrl-C end the worker: it takes no more jobs, and gives those that
run back to the queue after the grace time. A second signal ends that time.

A worker whose disk, mount or store fails passes its jobs on to others, and
rests, for up to two minutes.

/healthz answers 200 while the worker can take jobs: while it is connected, does
not rest, and until it ends. --json prints { kind, root, plan, index, error,
seconds, bytes, attempt } for each job, and events such as outages on standard
error.

Exit codes: 0 stopped by a signal, 1 failure, 2 wrong usage.`;

export function addWorker(program: Command): void {
  const command = program
    .command('worker')
    .description('hash parts and batches of a queue, until it is stopped')
    .option('--redis <url>', 'the server of the queue: redis://, rediss:// or valkey://')
    .option('--queue <url>', 'the same for any server: also postgres:// (default: QUEUE_URL in the environment)')
    .requiredOption('--root <name=path>', 'a folder with content or outputs, and its name (repeatable)', collectRoot)
    .requiredOption('--store <store>', `plans and parts that all workers share: ${STORE}`, parseStore)
    .option('--concurrency <n>', 'jobs of each kind at once; each uses all threads (default: 1)', parseCount)
    .option('--grace <duration>', 'time for running jobs to end, such as 30s or 5m (default: 25s)', parseDuration)
    .option(
      '--require <file>',
      'wait until a root has this file, which tells that it is mounted: NAME/path, or for all roots',
    )
    .option(
      '--stall <duration>',
      'give up a job that makes no progress, for other workers (default: 10m)',
      parseDuration,
    )
    .option('--metrics <host:port>', 'serve /metrics to Prometheus, and /healthz to probes', parseAddress)
    .option('-q, --quiet', 'print nothing but errors')
    .option('--json', 'print one JSON object for each job that has ended');
  hashingOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (options: WorkerOptions) => {
      const { work } = await import('../queue/queue.ts');
      await work(options);
    });
}

/** Parses `HOST:PORT`; an IPv6 address has brackets. Port 0 is any free one. */
function parseAddress(text: string): { host: string; port: number } {
  const [, ip6, name, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = ip6 ?? name;
  if (host === undefined || Number(port) > 65535)
    throw new InvalidArgumentError('Expected HOST:PORT such as 127.0.0.1:9464 or [::1]:9464.');
  return { host, port: Number(port) };
}

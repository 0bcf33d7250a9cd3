/** `create --queue`, `verify --queue` and `worker`: load the package metainfo-bullmq, which works with queues, and lend it the terminal. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Terminal } from 'metainfo-bullmq/command';
import { isWithin } from '../../disk/path-within.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { throwSystemError } from '../../errors/system-error.ts';
import type { Engine } from '../../hash/engine.ts';
import { variable } from '../../platform/node.ts';
import { formatBytes, plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { VERSION } from '../../text/version.ts';
import type { CreateOptions } from '../create/options.ts';
import { showPlan } from '../create/plan-report.ts';
import { prepare } from '../create/prepare.ts';
import { contentPathOf, infohashOf, joinedLines } from '../create/summary.ts';
import { exitCodeOf, exitCodeOfSignal, writeJson } from '../exit.ts';
import type { HashingOptions, NamedRoot } from '../options/option-values.ts';
import { isStdout, realFile } from '../options/target.ts';
import { type PartsOfCreation, planned } from '../parts/plan-in-parts.ts';
import { storeOf } from '../parts/read-plan.ts';
import { flagText, toPlain } from '../terminal/messages.ts';
import { colorsFor, fitted, printableJson, recordJson, stderr, writeLines, writeResult } from '../terminal/output.ts';
import { barFor } from '../terminal/progress.ts';
import { type QueueTarget, rootsOf } from './options.ts';

/** The output, texts and exit codes of the command, for the package. */
const terminal: Terminal = {
  ...{ stderr, writeLines, colorsFor, fitted, printable, printableJson },
  writeJson: (code, message) => writeJson({ code, message, path: null }),
  ...{ formatBytes, plural, exitCodeOf, exitCodeOfSignal },
};

/** @throws {MetainfoError} `ERR_QUEUE` if the package is not installed, or has another version */
async function loadQueue(): Promise<typeof import('metainfo-bullmq/command')> {
  const queue = await import('metainfo-bullmq/command').catch((cause: Error) => {
    if (!/Cannot find (module|package) 'metainfo-bullmq/.test(cause.message)) throw cause;
    const message = 'Queues need a package that is not installed: npm install metainfo-bullmq, beside metainfo.';
    throw new MetainfoError('ERR_QUEUE', message, { cause });
  });
  if (queue.VERSION === VERSION) return queue;
  const message = `metainfo-bullmq has version ${queue.VERSION}, and metainfo ${VERSION}: npm install metainfo-bullmq@${VERSION}.`;
  throw new MetainfoError('ERR_QUEUE', message);
}

const realPath = (file: string): Promise<string> => realpath(file).catch(throwSystemError(file, 'read'));

async function realRoots(roots: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const entries = Object.entries(roots).map(async ([name, folder]) => [name, await realPath(folder)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** The place of a path of this machine beneath the closest of its roots. Throws `ERR_PATH_OUTSIDE` for a path beneath none. */
export function placeWithin(roots: Readonly<Record<string, string>>, file: string): string {
  const target = path.resolve(file);
  const within = Object.entries(roots).filter(([, folder]) => isWithin(folder, target));
  const [closest] = within.sort(([, a], [, b]) => b.length - a.length);
  if (!closest) {
    const message = `${target} is beneath no root of the workers: name one that contains it.`;
    throw new MetainfoError('ERR_PATH_OUTSIDE', message, { path: target });
  }
  const [name, folder] = closest;
  const below = path.relative(folder, target).split(path.sep).join('/');
  return below === '' ? name : `${name}/${below}`;
}

/** Creates a torrent with the workers of a queue: plans it, and lets them hash and write it. */
export async function createInQueue(
  paths: readonly string[],
  options: PartsOfCreation & { priority?: number | undefined },
  { connection, folder, roots }: QueueTarget,
  signal: AbortSignal,
): Promise<void> {
  refuseLocalOptions(options);
  if (options.dryRun) return showPlan(paths, options, signal);
  const { createByWorkers } = await loadQueue();
  if (isStdout(options.output))
    throw invalidArgument('A worker writes the torrent: name a file beneath a --root with -o');
  const prepared = await prepare(paths, options, { signal });
  const { target, fields } = prepared;
  if (prepared.web) throw invalidArgument('Workers read files on disk: create a torrent of a URL without --queue');
  const real = await realRoots(roots);
  const output = placeWithin(real, (await realFile(target)) as string);
  const root = placeWithin(real, await realPath(fields.pathRoot as string));
  const { plan, findings } = await planned(prepared, options, root);
  const { force, json, quiet, priority } = options;
  const queued = {
    connection,
    store: storeOf(folder),
    output,
    force,
    priority,
    signal,
    json,
    quiet,
    bar: await barFor(options),
    terminal,
  };
  await createByWorkers(plan, queued, async ({ id, joined, seconds }) => {
    const { version, files, totalSize } = joined;
    const { parts, partSize } = plan;
    const place = { torrent: target, path: contentPathOf(paths), output };
    const about = { plan: id, parts, partSize, version, infohash: infohashOf(joined) };
    const rest = { files, totalSize, seconds, warnings: findings.map(toPlain) };
    await writeResult(options, recordJson(place, { ...about, ...rest }), joinedLines(target, joined, parts));
  });
}

/** Refuses the options that workers would ignore. Values of the configuration file apply where they fit, so they are not refused. */
function refuseLocalOptions({ magnet, linkFile, cache, cacheDir, reuse, fromConfig }: CreateOptions): void {
  const given = { magnet, linkFile, cache, cacheDir, reuse };
  for (const key of Object.keys(given) as (keyof typeof given)[])
    if (given[key] !== undefined && given[key] !== false && !fromConfig?.has(key))
      throw invalidArgument(`${flagText(key)} does not work with --queue: omit one of them`);
}

/** Verifies with the engine of a queue. All content must be below one of the named folders. */
export async function verifyInQueue(
  { connection, folder, roots }: QueueTarget,
  content: string,
  { partSize, json }: { partSize?: number | 'auto' | undefined; json?: boolean | undefined },
  verify: (engine: Engine) => Promise<void>,
): Promise<void> {
  const { verifyByWorkers } = await loadQueue();
  const real = await realRoots(roots);
  const [remoteRoot = ''] = placeWithin(real, await realPath(content)).split('/');
  const root = real[remoteRoot] as string;
  await verifyByWorkers({ connection, store: storeOf(folder), root, remoteRoot, partSize, json, terminal }, verify);
}

/** The options of `metainfo worker`. */
export interface WorkerOptions extends HashingOptions {
  redis?: string;
  queue?: string;
  root: NamedRoot[];
  store: string;
  concurrency?: number;
  grace?: number;
  require?: string;
  stall?: number;
  metrics?: { host: string; port: number };
  quiet?: boolean;
  json?: boolean;
}

/** Works until a signal stops it, and ends the process. */
export async function work({ redis, queue, root, store, require, ...options }: WorkerOptions): Promise<void> {
  const connection = redis ?? queue ?? variable('QUEUE_URL');
  if (!connection) throw invalidArgument('Name the server of the queue: --redis URL, or --queue URL');
  const { runWorker } = await loadQueue();
  await runWorker({
    ...options,
    requiredFile: require,
    connection,
    roots: rootsOf(root),
    store: storeOf(store),
    terminal,
  });
}

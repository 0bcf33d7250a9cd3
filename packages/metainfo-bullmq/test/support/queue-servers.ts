/** The servers of queues that tests run on, and a queue with workers for a small torrent. */
import path from 'node:path';
import type { TestContext } from 'node:test';
import { folderStore, planParts, TorrentCreate } from 'metainfo';
import { temporaryFolder, writeTree } from '../../../../test/support/tree.ts';
import { createWorkers, type EndedJob, TorrentQueue, type Workers, type WorkersOptions } from '../../src/index.ts';
import { RESTS } from '../../src/passing.ts';
import { postgresMissing, postgresServer } from './postgres.ts';
import { redisMissing, redisServer } from './redis.ts';

const KIB = 1024;

/** Redis and PostgreSQL: why a test must skip, and how to start a server that ends with the test. */
export const SERVERS = [
  { name: 'Redis', skip: redisMissing(), start: async (t: TestContext) => (await redisServer(t)).url },
  { name: 'PostgreSQL', skip: await postgresMissing(), start: (t: TestContext) => postgresServer(t) },
] as const;

/** A server, the roots `media` and `out`, the plan of a torrent of four parts, and ways to open queues and to start workers. */
export async function setUpQueue(t: TestContext, start: (t: TestContext) => Promise<string>) {
  const opened: { close(): Promise<void> }[] = [];
  t.after(async () => {
    for (const one of opened.reverse()) await one.close();
  });
  const [connection, folder] = [await start(t), await temporaryFolder(t)];
  await writeTree(folder, { 'media/set/a': 100 * KIB, 'media/set/b': 70 * KIB, 'out/keep': 1 });
  const store = folderStore(path.join(folder, 'store'));
  const shared = { connection, store };
  // Content that is missing ends its job at once, unless a test is about that.
  Object.assign(RESTS, { first: 100, lone: 0 });
  const producer = (): TorrentQueue => {
    const queue = new TorrentQueue(shared);
    opened.push(queue);
    return queue;
  };
  const ended: EndedJob[] = [];
  const errors: Error[] = [];
  const events = { onJob: (job: EndedJob) => ended.push(job), onError: (error: Error) => errors.push(error) };
  /** Workers of some roots, which need not be ready. */
  const workers = (names = ['media'], options: Partial<WorkersOptions> = {}): Workers => {
    const roots = Object.fromEntries(names.map((name) => [name, path.join(folder, name)]));
    const made = createWorkers({ ...shared, roots, ...events, ...options });
    opened.push(made);
    return made;
  };
  /** The same, when they are ready. */
  const work = async (names = ['media'], options: Partial<WorkersOptions> = {}): Promise<Workers> => {
    const made = workers(names, options);
    await made.ready();
    return made;
  };
  const draft = new TorrentCreate({ pathRoot: path.join(folder, 'media/set'), pieceLength: 16 * KIB });
  const plan = await planParts(draft, { root: 'media/set', partSize: 48 * KIB });
  return { connection, folder, store, producer, workers, work, ended, errors, draft, plan };
}

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile } from 'node:child_process';
import { tracingChannel } from 'node:diagnostics_channel';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  findMoved,
  folderStore,
  HybridHasher,
  hashPart,
  type JobEvent,
  joinParts,
  planParts,
  storePart,
  type Torrent,
  TorrentCreate,
  update,
  upgrade,
  verify,
} from '../../src/index.ts';
import { jobLimiter } from '../../src/jobs/job-limiter.ts';
import { ROOT } from '../support/pages.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const channel = tracingChannel<unknown, JobEvent>('metainfo:job');

/** An event: its name, and the message as it was then. */
type Seen = [event: string, message: JobEvent, copy: JobEvent];

/** Runs something, and returns the events of all jobs meanwhile. */
async function watched(run: () => unknown): Promise<Seen[]> {
  const seen: Seen[] = [];
  const subscriber = (event: string) => (message: unknown) =>
    void seen.push([event, message as JobEvent, { ...(message as JobEvent) }]);
  const all = {
    start: subscriber('start'),
    end: subscriber('end'),
    asyncStart: subscriber('asyncStart'),
    asyncEnd: subscriber('asyncEnd'),
    error: subscriber('error'),
  };
  channel.subscribe(all);
  try {
    await run();
  } finally {
    channel.unsubscribe(all);
  }
  return seen;
}

const ended = (seen: readonly Seen[]) =>
  seen
    .filter(([event]) => event === 'asyncEnd')
    .map(([, { operation, version, bytes, files }]) => [operation, version, bytes, files]);

const memory = (size: number) => new TorrentCreate({ sources: [{ path: 'a', data: Buffer.alloc(size, 1) }] });

describe('the tracing channel metainfo:job', () => {
  it('reports every job once, with what it knows about the content', async (test) => {
    const folder = await temporaryFolder(test);
    const album = path.join(folder, 'album');
    const short = path.join(folder, 'short');
    await writeTree(folder, { short: 'content', 'album/a': 100_000, 'album/b': 50_000 });
    const draft = new TorrentCreate({ pathRoot: album });
    const v1 = await draft.generate({ version: 'v1' });
    const hybrid = await draft.generate();
    const plan = await planParts(draft, { version: 'v2', partSize: 2 ** 17 });
    assert.equal(plan.parts, 2);
    const parts = [await hashPart(plan, 0), await hashPart(plan, 1)];
    const store = folderStore(path.join(folder, 'store'));
    async function* stream() {
      yield Buffer.alloc(70_000);
    }
    const ALL = [150_000, 2];
    const CASES: readonly (readonly [name: string, run: () => Promise<unknown>, ...events: unknown[]])[] = [
      ['short memory', () => memory(7).generate({ version: 'v2' }), ['create', 'v2', 7, 1]],
      ['memory', () => memory(100_000).generate(), ['create', 'hybrid', 100_000, 1]],
      ['short file', () => new TorrentCreate({ pathRoot: short }).generate(), ['create', 'hybrid', 7, 1]],
      ['folder', () => draft.generateWithTimes({ version: 'v1' }), ['create', 'v1', ...ALL]],
      [
        'stream of unknown size',
        () => new TorrentCreate({ sources: [{ path: 'a', data: stream() }] }).generate(),
        ['create', 'hybrid', 70_000, 1],
      ],
      ['verify', () => verify(hybrid, album), ['verify', 'hybrid', ...ALL]],
      ['findMoved', () => findMoved(hybrid, album, []), ['findMoved', 'hybrid', ...ALL]],
      ['update', () => update(hybrid, album), ['update', 'hybrid', ...ALL]],
      ['upgrade', () => upgrade(v1, album), ['upgrade', 'hybrid', ...ALL]],
      ['planParts', () => planParts(draft), ['planParts', 'hybrid', ...ALL]],
      ['hashPart', () => hashPart(plan, 1), ['hashPart', 'v2', 33_616, 1]],
      ['storePart', () => storePart(plan, 0, store), ['hashPart', 'v2', 116_384, 2]],
      // The part is there already: nothing is hashed.
      ['storePart again', () => storePart(plan, 0, store)],
      ['joinParts', () => joinParts(plan, (index) => parts[index] ?? null), ['joinParts', 'v2', ...ALL]],
      [
        'process',
        () => new HybridHasher({ paths: ['a', 'b'], pathRoot: album, pieceLength: 16_384 }).process(),
        ['process', null, ...ALL],
      ],
      // These are no jobs: they hash nothing.
      ['plan', () => draft.plan()],
      ['getPaths', () => draft.getPaths()],
    ];
    for (const [name, run, ...events] of CASES) {
      const seen = await watched(run);
      assert.deepEqual(ended(seen), events, name);
      const names = events.length > 0 ? ['start', 'end', 'asyncStart', 'asyncEnd'] : [];
      assert.deepEqual(
        seen.map(([event]) => event),
        names,
        name,
      );
      assert.equal(new Set(seen.map(([, message]) => message)).size, events.length, name);
      for (const [event, , { queueSeconds, operation }] of seen) {
        assert.equal(operation, (events[0] as unknown[])[0]);
        if (event === 'asyncEnd') assert.ok((queueSeconds as number) >= 0, name);
      }
    }
  });

  it('gives the result or the error that the caller gets', async () => {
    let torrent: unknown;
    const [, , , [, done] = []] = await watched(async () => {
      torrent = await memory(100).generate();
    });
    assert.ok(done?.result && (done.result as { torrent: unknown }).torrent === torrent);
    assert.ok(!('error' in (done as object)));
    const missing = new TorrentCreate({ pathRoot: '/nowhere/at/all' });
    let failure: unknown;
    const seen = await watched(async () => {
      failure = await missing.generate().catch((error: unknown) => error);
    });
    assert.deepEqual(
      seen.map(([event]) => event),
      ['start', 'end', 'error', 'asyncStart', 'asyncEnd'],
    );
    for (const [event, message] of seen) assert.ok(message.error === failure, event);
    assert.ok(seen.every(([, message]) => !('result' in message)));
  });

  it('does not report calls with invalid arguments, which never become jobs', async () => {
    const torrent = await memory(100).generate();
    const source = { path: 'a', data: Buffer.alloc(100) };
    const seen = await watched(async () => {
      const calls = [
        verify({} as Torrent, '.'),
        verify(torrent, ''),
        verify(torrent, '.', { files: ['absent'] }),
        verify(torrent, [source], { files: ['absent'] }),
        findMoved(torrent, '.', [], { files: ['absent'] }),
      ];
      await Promise.all(calls.map((call) => assert.rejects(call, { code: 'ERR_INVALID_ARGUMENT' })));
    });
    assert.deepEqual(seen, []);
  });

  it('reports verifications of streams that were read before, as creations', async () => {
    const torrent = await memory(100).generate();
    const data = Readable.from([Buffer.alloc(100)]);
    await verify(torrent, data);
    const seen = await watched(async () => {
      await assert.rejects(verify(torrent, data), { code: 'ERR_SOURCE' });
      await assert.rejects(new TorrentCreate({ sources: [{ path: 'a', data }] }).generate(), { code: 'ERR_SOURCE' });
    });
    assert.deepEqual(ended(seen), [
      ['verify', null, null, null],
      ['create', null, null, null],
    ]);
  });

  it('tells how long a job has waited, and null if it was cancelled while it waited', async () => {
    const taken: number[] = [];
    while (jobLimiter.take(0)) taken.push(1);
    const stop = new AbortController();
    const seen = await watched(async () => {
      const cancelled = memory(100).generate({ signal: stop.signal });
      const waits = memory(200).generate();
      stop.abort();
      await assert.rejects(cancelled, { code: 'ERR_ABORTED' });
      for (const _ of taken) jobLimiter.give();
      await waits;
    });
    const ends = seen.filter(([event]) => event === 'asyncEnd').map(([, message]) => message);
    assert.equal(ends[0]?.queueSeconds, null);
    assert.ok((ends[1]?.queueSeconds as number) > 0);
  });

  it('gives jobs the context that a subscriber binds, as tracers do', async () => {
    const storage = new AsyncLocalStorage<{ name: string }>();
    channel.start.bindStore(storage, (message) => ({ name: (message as JobEvent).operation }));
    const seen: unknown[] = [];
    async function* stream() {
      seen.push(storage.getStore());
      yield Buffer.from('content');
    }
    try {
      await new TorrentCreate({ sources: [{ path: 'a', data: stream() }] }).generate();
    } finally {
      channel.start.unbindStore(storage);
    }
    assert.deepEqual(seen, [{ name: 'create' }]);
  });

  it('goes on when a subscriber comes or leaves while a job runs', async () => {
    const events: string[] = [];
    const late = { asyncEnd: () => events.push('late') };
    async function* stream() {
      channel.subscribe(late as never);
      yield Buffer.from('content');
    }
    const draft = () => new TorrentCreate({ sources: [{ path: 'a', data: stream() }] });
    await draft().generate();
    // A job is watched from its start, or not at all.
    assert.deepEqual(events, []);
    await memory(10).generate();
    assert.deepEqual(events, ['late']);
    channel.unsubscribe(late as never);
    assert.equal(channel.hasSubscribers, false);
  });

  it('makes the torrent although a subscriber throws: Node reports its error as uncaught', async () => {
    const program = `
      import { tracingChannel } from 'node:diagnostics_channel';
      import { TorrentCreate } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
      const events = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];
      const uncaught = [];
      process.on('uncaughtException', ({ message }) => uncaught.push(message));
      const thrower = (name) => () => { throw new Error(name); };
      tracingChannel('metainfo:job').subscribe(Object.fromEntries(events.map((name) => [name, thrower(name)])));
      const draft = new TorrentCreate({ sources: [{ path: 'a', data: Buffer.from('content') }] });
      const { name } = await draft.generate();
      const failure = await new TorrentCreate({ pathRoot: '/nowhere/at/all' }).generate().catch(({ code }) => code);
      setImmediate(() => console.log(JSON.stringify([name, failure, [...new Set(uncaught)].sort()])));
    `;
    const args = ['--import', './scripts/ts.mjs', '--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
    assert.deepEqual(JSON.parse(stdout), ['a', 'ERR_NOT_FOUND', ['asyncEnd', 'asyncStart', 'end', 'error', 'start']]);
  });
});

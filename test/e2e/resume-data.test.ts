// Clients accept resume data without a check of their own: damage that comes after the verification goes unnoticed, and so does a
// repair. A client that reads the files would see both.
import assert from 'node:assert/strict';
import { cp, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { metainfoProcess } from '../cli/run.ts';
import {
  assertWhole,
  feed,
  Libtorrent,
  type Scope,
  type Shared,
  scopeOf,
  share,
  TEST_TIMEOUT,
  until,
  VERSIONS,
  type Version,
} from '../support/clients.ts';
import { libtorrentMissing } from '../support/external.ts';
import { tried } from '../support/interop.ts';
import { QBittorrent, qbittorrentMissing } from '../support/qbittorrent.ts';
import { Rtorrent, rtorrentMissing } from '../support/rtorrent.ts';
import { temporaryFolder } from '../support/tree.ts';

const timeout = TEST_TIMEOUT;
/** rtorrent refuses a torrent without a tracker. Nothing listens on this port. */
const TRACKER = ['-t', 'http://127.0.0.1:1/announce'];
const DAMAGED = 'folder of café/large & more';
const what = 'accepts resume data without a check';

/** A client that runs with resume data. */
interface Resumed {
  client: string;
  version: string;
  /** The share of the content that it has, from 0 to 1; null before it is known. */
  progress(): Promise<number | null>;
  log(): Promise<string>;
}

/** Inverts a byte of a file without a trace in its size and times. */
async function invert(file: string, at = 0): Promise<void> {
  const { atime, mtime } = await stat(file);
  const handle = await open(file, 'r+');
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at);
  await handle.write(Uint8Array.of((buffer[0] as number) ^ 0xff), 0, 1, at);
  await handle.close();
  await utimes(file, atime, mtime);
}

/** Runs `metainfo verify --resume-data` and returns the folder with its output, and the share of good bytes. */
async function resumeFiles(
  scope: Scope,
  { file }: Shared,
  content: string,
  client: string,
): Promise<{ output: string; share: number; files: string[] }> {
  const output = await temporaryFolder(scope);
  const args = ['verify', file, content, '--resume-data', client, '-o', output, '--json'];
  const { stdout, stderr } = await metainfoProcess(args, { cwd: output });
  const report = JSON.parse(stdout);
  assert.ok(report.resumeFiles, stdout + stderr);
  assert.deepEqual(report.resumeFiles.map((one: string) => path.basename(one)).sort(), (await readdir(output)).sort());
  return { output, share: report.goodBytes / report.totalSize, files: report.resumeFiles };
}

async function startQBittorrent(scope: Scope, output: string): Promise<Resumed> {
  const qBittorrent = await QBittorrent.start(scope, (backup) => cp(output, backup, { recursive: true }));
  return {
    client: 'qBittorrent',
    version: await qBittorrent.version(),
    progress: async () => {
      const [torrent] = (await (await qBittorrent.get('torrents/info')).json()) as {
        progress: number;
        state: string;
      }[];
      if (!torrent || /checking|metaDL|moving/.test(torrent.state)) return null;
      assert.match(torrent.state, /^(stalled|queued|uploading|downloading|stopped)/);
      return torrent.progress;
    },
    log: async () => JSON.stringify(await (await qBittorrent.get('torrents/info')).json()) + (await qBittorrent.log()),
  };
}

async function startLibtorrent(scope: Scope, output: string): Promise<Resumed> {
  const [name] = await readdir(output);
  const session = await Libtorrent.resume(scope, path.join(output, name as string));
  return {
    client: 'libtorrent',
    version: session.version,
    progress: async () => (await session.status()).progress,
    log: () => session.log(),
  };
}

async function startRtorrent(scope: Scope, output: string): Promise<Resumed> {
  const folder = await temporaryFolder(scope);
  return Rtorrent.resume(scope, (session) => cp(output, session, { recursive: true }), folder);
}

interface Client {
  start: (scope: Scope, output: string) => Promise<Resumed>;
  skip: string | false;
  versions: readonly Version[];
  /** Sizes of the files, where other content is needed. */
  sizes?: (version: Version) => Record<string, number> | undefined;
}

const CLIENTS: Record<string, Client> = {
  qbittorrent: { start: startQBittorrent, skip: qbittorrentMissing(), versions: VERSIONS },
  libtorrent: { start: startLibtorrent, skip: libtorrentMissing(), versions: VERSIONS },
  rtorrent: {
    start: startRtorrent,
    skip: rtorrentMissing(),
    versions: ['v1', 'hybrid'],
    // rtorrent 0.9 knows no pad files, so in a hybrid every file must end with a piece.
    sizes: (version) => (version === 'hybrid' ? { empty: 0, one: 32_768, [DAMAGED]: 32_768 * 20 } : undefined),
  },
};

/** Waits until the client has the expected share, and makes sure that it stays so. */
async function assertShare(resumed: Resumed, expected: number): Promise<void> {
  let last: number | null = null;
  const isSo = async () => {
    last = await resumed.progress();
    return last !== null && Math.abs(last - expected) < 1e-6;
  };
  const log = async () => `${last} instead of ${expected}\n${await resumed.log()}`;
  await until(`${expected} of the content`, isSo, log);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.ok(await isSo(), await log());
}

for (const [name, { start, skip, versions, sizes }] of Object.entries(CLIENTS)) {
  describe(`resume data for ${name}`, { skip, concurrency: 2 }, () => {
    for (const version of versions) {
      it(`of ${version}: complete content is not read again`, { timeout }, async (t) => {
        const scope = scopeOf(t);
        const shared = await share(scope, version, TRACKER, sizes?.(version));
        const content = path.join(shared.parent, 'content');
        const { output, share: good } = await resumeFiles(scope, shared, content, name);
        assert.equal(good, 1);
        await invert(path.join(content, DAMAGED));
        const resumed = await start(scope, output);
        await assertShare(resumed, 1);
        tried({ client: resumed.client, version: resumed.version, torrentVersion: version, what });
      });

      it(`of ${version}: bad and missing pieces are not claimed, and a renamed folder is found`, {
        timeout,
      }, async (t) => {
        const scope = scopeOf(t);
        const shared = await share(scope, version, TRACKER, sizes?.(version));
        const content = path.join(shared.parent, 'other name');
        await rename(path.join(shared.parent, 'content'), content);
        const damaged = path.join(content, DAMAGED);
        await invert(damaged, 5 * 32_768);
        const gone = (await readdir(content)).find((one) => one.startsWith('one')) as string;
        await rm(path.join(content, gone));
        const { output, share: good } = await resumeFiles(scope, shared, content, name);
        assert.ok(good > 0.5 && good < 1);
        await invert(damaged, 5 * 32_768);
        await assertShare(await start(scope, output), good);
      });
    }
  });
}

describe('resume data for libtorrent', { skip: libtorrentMissing(), concurrency: 2 }, () => {
  for (const version of VERSIONS) {
    it(`of ${version} has files with names that libtorrent would change`, { timeout }, async (t) => {
      const scope = scopeOf(t);
      const sizes = { Case: 100_000, case: 100_001, 'bidi\u202egnp.txt': 5, 'b/x': 40_000 };
      const shared = await share(scope, version, ['-q'], sizes);
      const { output, share: good } = await resumeFiles(
        scope,
        shared,
        path.join(shared.parent, 'content'),
        'libtorrent',
      );
      assert.equal(good, 1);
      await invert(path.join(shared.parent, 'content', 'case'));
      await assertShare(await startLibtorrent(scope, output), 1);
    });

    it(`of ${version} is all that a seed needs`, { timeout }, async (t) => {
      const scope = scopeOf(t);
      const shared = await share(scope, version);
      const { files } = await resumeFiles(scope, shared, path.join(shared.parent, 'content'), 'libtorrent');
      const seed = await Libtorrent.resume(scope, files[0] as string);
      const folder = await shared.newFolder();
      const peer = await Libtorrent.start(scope, shared.torrent.magnet(), folder);
      await feed(seed, [peer]);
      await assertWhole(shared, folder);
    });
  }
});

describe('resume data for rtorrent', { skip: rtorrentMissing() }, () => {
  // docs/guides/verifying.md states this.
  it('claims pieces with padding, which rtorrent 0.9 drops', { timeout }, async (t) => {
    const scope = scopeOf(t);
    const sizes = { large: 20 * 32_768 + 5, 'one more': 32_768 + 1 };
    const shared = await share(scope, 'hybrid', TRACKER, sizes);
    const { output, share: good } = await resumeFiles(scope, shared, path.join(shared.parent, 'content'), 'rtorrent');
    assert.equal(good, 1);
    // Of 23 pieces, the last one of each file has padding.
    await assertShare(await startRtorrent(scope, output), 21 / 23);
  });

  it('is void for a file that is modified later', { timeout }, async (t) => {
    const scope = scopeOf(t);
    const shared = await share(scope, 'v1', TRACKER);
    const content = path.join(shared.parent, 'content');
    const { output } = await resumeFiles(scope, shared, content, 'rtorrent');
    const damaged = path.join(content, DAMAGED);
    await invert(damaged);
    await utimes(damaged, 1, 1);
    const resumed = await startRtorrent(scope, output);
    await until('a check', async () => ((await resumed.progress()) ?? 1) < 1, resumed.log);
  });
});

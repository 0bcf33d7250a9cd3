/** Runs the program of docs/guides/seeding.md that moves the trackers of clients to another domain, on torrents with tiers. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { TorrentCreate } from '../../src/index.ts';
import { finish, startProgram } from '../cli/run.ts';
import { scopeOf, TEST_TIMEOUT, Transmission, until } from '../support/clients.ts';
import { clientMissing } from '../support/external.ts';
import { pageText } from '../support/pages.ts';
import { QBittorrent, qbittorrentMissing } from '../support/qbittorrent.ts';
import { temporaryFolder } from '../support/tree.ts';

const TRACKERS = [
  ['https://old.example/KEY/announce', 'https://b.example/announce'],
  ['udp://old.example:6969'],
  ['udp://new.example:6969'],
];
const MOVED = ['https://b.example/announce', 'https://new.example/KEY/announce', 'udp://new.example:6969'];

/** Writes the program and a torrent with the trackers. Returns a function that runs the program. */
async function prepare(folder: string) {
  const [, program = ''] =
    /^cat > move-trackers\.mjs <<'EOF'\n([\s\S]*?)^EOF$/m.exec(pageText('docs/guides/seeding.md')) ?? [];
  const file = path.join(folder, 'move-trackers.mjs');
  await writeFile(file, program);
  const draft = new TorrentCreate({ sources: [{ path: 'a', data: Buffer.alloc(20_000) }], announceList: TRACKERS });
  const torrent = path.join(folder, 'a.torrent');
  await (await draft.generate({ version: 'v1' })).write(torrent);
  const run = async (env: Record<string, string>) => {
    const { code, stdout, stderr } = await finish(
      startProgram([process.execPath, file, 'old.example', 'new.example'], { cwd: folder, env }),
    );
    assert.equal(code, 0, stderr);
    return stdout;
  };
  return { torrent, run };
}

describe('move-trackers.mjs of docs/guides/seeding.md', { timeout: TEST_TIMEOUT }, () => {
  it('changes each tracker of qBittorrent once, and keeps the others', { skip: qbittorrentMissing() }, async (t) => {
    const client = await QBittorrent.start(scopeOf(t));
    const folder = await temporaryFolder(t);
    const { torrent, run } = await prepare(folder);
    const form = new FormData();
    form.set('torrents', new Blob([await readFile(torrent)]), 'a.torrent');
    form.set('savepath', folder);
    await client.post('torrents/add', form);
    type Listed = { hash: string; url: string };
    const listed = async (): Promise<Listed[]> => (await client.get('torrents/info')).json() as Promise<Listed[]>;
    await until(
      'a torrent in qBittorrent',
      async () => (await listed()).length === 1,
      () => client.log(),
    );
    assert.match(await run({ QBITTORRENT: client.address }), /^trackers in qBittorrent: 2 changed, 0 left$/m);
    const hash = (await listed())[0]?.hash as string;
    const trackers = (await (await client.get('torrents/trackers', { hash })).json()) as Listed[];
    // The others are DHT and the like.
    const urls = trackers.map(({ url }) => url).filter((url) => url.includes('://'));
    assert.deepEqual(urls.sort(), MOVED);
    assert.match(await run({ QBITTORRENT: client.address }), /: 0 changed, 0 left$/m);
  });

  it('changes each tracker of Transmission once, and keeps the tiers', {
    skip: clientMissing('transmission-daemon'),
  }, async (t) => {
    const folder = await temporaryFolder(t);
    const { torrent, run } = await prepare(folder);
    const client = await Transmission.start(scopeOf(t), torrent, folder);
    assert.match(await run({ TRANSMISSION: client.rpc }), /^torrents in Transmission: 1 changed, 0 left$/m);
    assert.deepEqual((await client.trackers()).split('\n').sort().filter(Boolean), MOVED);
    assert.equal((await client.trackers()).trim().split('\n\n').length, 2);
    assert.match(await run({ TRANSMISSION: client.rpc }), /: 0 changed, 0 left$/m);
  });
});

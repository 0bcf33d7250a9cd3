import assert from 'node:assert/strict';
import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { scopeOf, share, TEST_TIMEOUT, Transmission, until, VERSIONS } from '../support/clients.ts';
import { clientMissing } from '../support/external.ts';
import { tried } from '../support/interop.ts';
import { QBittorrent, qbittorrentMissing } from '../support/qbittorrent.ts';

/** A torrent in the answer to `torrents/info`. */
interface State {
  hash: string;
  infohash_v1: string;
  infohash_v2: string;
  progress: number;
  state: string;
}

/** Adds a torrent without starting it. */
async function add(
  qBittorrent: QBittorrent,
  file: string,
  folder: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<void> {
  const form = new FormData();
  form.set('torrents', new Blob([await readFile(file)]), 'x.torrent');
  form.set('savepath', folder);
  form.set('stopped', 'true');
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  assert.equal(await (await qBittorrent.post('torrents/add', form)).text(), 'Ok.');
}

const recheck = (qBittorrent: QBittorrent) => qBittorrent.post('torrents/recheck', { hashes: 'all' });

/** Waits until it is idle and has found the expected share of the files. */
async function found(qBittorrent: QBittorrent, isSo: (progress: number) => boolean): Promise<State> {
  let last: State | undefined;
  const isChecked = async () => {
    [last] = (await (await qBittorrent.get('torrents/info')).json()) as State[];
    return last?.state.startsWith('stopped') === true && isSo(last.progress);
  };
  await until('qBittorrent checks the files', isChecked, async () =>
    [JSON.stringify(last), await qBittorrent.log()].join('\n'),
  );
  return last as State;
}

describe('qBittorrent', {
  skip: qbittorrentMissing(),
  concurrency: 3,
}, () => {
  for (const torrentVersion of VERSIONS) {
    it(`finds all files of ${torrentVersion}, and notices a wrong byte`, { timeout: TEST_TIMEOUT }, async (t) => {
      const scope = scopeOf(t);
      const { torrent, file, parent } = await share(scope, torrentVersion);
      const qBittorrent = await QBittorrent.start(scope);
      await add(qBittorrent, file, parent);
      await found(qBittorrent, () => true);
      await recheck(qBittorrent);
      const { infohash_v1, infohash_v2 } = await found(qBittorrent, (progress) => progress === 1);
      assert.deepEqual([infohash_v1, infohash_v2], [torrent.infohashV1 ?? '', torrent.infohashV2 ?? '']);

      const exact = await open(path.join(parent, 'content', 'exact'), 'r+');
      const { buffer } = await exact.read(Buffer.alloc(1), 0, 1, 0);
      const write = (byte: number) => exact.write(Uint8Array.of(byte), 0, 1, 0);
      try {
        const right = buffer[0] as number;
        await write(right ^ 1);
        await recheck(qBittorrent);
        await found(qBittorrent, (progress) => progress > 0 && progress < 1);
        await write(right);
        await recheck(qBittorrent);
        await found(qBittorrent, (progress) => progress === 1);
      } finally {
        await exact.close();
      }
      tried({
        client: 'qBittorrent',
        version: await qBittorrent.version(),
        torrentVersion,
        what: 'checks the files',
      });
    });
  }

  // docs/guides/seeding.md states this.
  it('takes damaged content for complete with skip_checking', { timeout: TEST_TIMEOUT }, async (t) => {
    const scope = scopeOf(t);
    const { file, parent } = await share(scope, 'v1');
    await writeFile(path.join(parent, 'content', 'exact'), Buffer.alloc(32_768));
    const qBittorrent = await QBittorrent.start(scope);
    await add(qBittorrent, file, parent, { skip_checking: 'true' });
    await found(qBittorrent, (progress) => progress === 1);
    await recheck(qBittorrent);
    await found(qBittorrent, (progress) => progress > 0 && progress < 1);
  });
});

describe('Transmission', { skip: clientMissing('transmission-daemon') }, () => {
  // docs/guides/seeding.md states this.
  it('checks the files of a torrent that is added', { timeout: TEST_TIMEOUT }, async (t) => {
    const scope = scopeOf(t);
    const { file, parent } = await share(scope, 'v1');
    await writeFile(path.join(parent, 'content', 'exact'), Buffer.alloc(32_768));
    const transmission = await Transmission.start(scope, file, parent);
    let last: number | null = null;
    const isChecked = async () => {
      last = await transmission.progress();
      return last !== null && last > 0.5;
    };
    await until('Transmission checks the files', isChecked, async () => `${last}\n${await transmission.log()}`);
    assert.ok((last as number | null) !== 1, String(last));
  });
});

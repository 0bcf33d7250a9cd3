import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { TorrentCreate } from '../../../src/create/draft.ts';
import type { Finding } from '../../../src/create/findings/findings.ts';
import { personalFindings } from '../../../src/create/findings/secret-findings.ts';
import { update } from '../../../src/edit/update.ts';
import { withinCpu } from '../../support/timing.ts';
import { temporaryFolder } from '../../support/tree.ts';

const KEY = '0123456789abcdef0123456789ABCDEF';
const PERSONAL = [
  `https://tracker.example/${KEY}/announce`,
  `https://tracker.example:8443/announce/${KEY}`,
  `https://tracker.example/announce.php?passkey=${KEY}`,
  'https://tracker.example/announce?torrent_pass=a1b2c3d4e5',
  'https://tracker.example/announce?uk=a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6',
  'https://tracker.example/announce?a=1&authkey=12345678',
  'https://tracker.example/a/01234567-89ab-cdef-0123-456789abcdef',
  'https://tracker.example/abcdefghijklmnopqrstuvwx12345678/announce',
  `udp://tracker.example:80/${KEY}`,
  `wss://tracker.example/?KEY=${KEY}`,
  'https://user:12345678@tracker.example/announce',
];
const PUBLIC = [
  'udp://open.example:1337/announce',
  'http://open.example:80/announce.php?uk=',
  'https://open.example/announce?passkey=',
  'https://open.example/announce?event=started&compact=1&numwant=200',
  'https://open.example/a-tracker-with-a-rather-long-path-of-2024/announce',
  'https://open.example/%E2%98%83/averyveryverylongwordwithoutdigits/announce',
  `https://${KEY}.example/announce`,
  'http://[2001:db8::1]:6969/announce',
];

describe('personalFindings', () => {
  const of = (isPrivate: boolean | null, ...trackers: string[]) => personalFindings(isPrivate, trackers);

  it('finds personal URLs in a torrent that is not private, without showing the key', () => {
    for (const url of PERSONAL)
      for (const isPrivate of [false, null]) {
        const [finding, ...others] = of(isPrivate, url);
        assert.deepEqual([finding?.code, finding?.severity, others], ['personal_tracker', 'warning', []], url);
        assert.deepEqual([finding?.path, finding?.option], ['tracker.example', { private: true }]);
        assert.doesNotMatch(JSON.stringify(finding), /0123|a1b2|12345678/i);
        assert.match(finding?.message ?? '', /tracker\.example has a personal key, but the torrent is not private\.$/);
      }
    assert.deepEqual(of(true, ...PERSONAL), []);
    assert.equal(of(false, ...PERSONAL).length, 1);
  });

  it('finds nothing personal in the URLs of public trackers', () => {
    for (const url of PUBLIC) assert.deepEqual(of(false, url), [], url);
    assert.deepEqual(of(false, 'not a URL', ''), []);
  });

  it('finds trackers of a private torrent that lack the key which another one has', () => {
    const [finding, ...others] = of(true, 'udp://open.example:1337/announce', PERSONAL[0] as string);
    assert.deepEqual([finding?.code, finding?.path, others], ['public_tracker', 'open.example', []]);
    assert.doesNotMatch(JSON.stringify(finding), /0123/);
    // One host may have both: without a key, it tells users by their address.
    assert.deepEqual(of(true, 'https://tracker.example/announce', PERSONAL[0] as string), []);
  });

  it('finds trackers of a private torrent that are hardly those of a private site', () => {
    for (const url of ['udp://open.example:1337/announce', 'WSS://open.example', ' udp://open.example']) {
      const [finding, ...others] = of(true, url, 'https://open.example/announce', 'https://other.example/announce');
      assert.deepEqual([finding?.code, finding?.path, others], ['public_tracker', 'open.example', []], url);
      assert.equal(finding?.message, 'The tracker open.example may be public: its URL has no personal key.');
    }
    for (const url of PUBLIC.slice(1)) assert.deepEqual(of(true, url), [], url);
  });

  it('takes linear time for long URLs', () => {
    withinCpu(5, () => {
      for (const text of ['a', '1', 'a1', '-', '/', '/a1', '&passkey=a', '?'])
        of(
          false,
          `https://tracker.example/?${text.repeat(200_000)}`,
          `https://tracker.example/${text.repeat(200_000)}`,
        );
    });
  });
});

describe('warnings of generate about secrets', () => {
  const warningsOf = async (draft: TorrentCreate) => {
    const found: Finding[] = [];
    await draft.generate({ version: 'v1', onWarning: (finding) => void found.push(finding) });
    return found.map(({ code, path: at }) => `${code} ${at}`);
  };
  const data = Buffer.from('x');

  it('name torrents among the content: on disk, as sources, and as the only file', async (t) => {
    const root = await temporaryFolder(t);
    await mkdir(path.join(root, 'sub'));
    for (const name of ['a', 'b.torrent', 'sub/c.TORRENT']) await writeFile(path.join(root, name), name);
    const [below, named] = ['torrent_files sub/c.TORRENT', 'torrent_files b.torrent'];
    assert.deepEqual(await warningsOf(new TorrentCreate({ pathRoot: root })), [below]);
    assert.deepEqual(await warningsOf(new TorrentCreate({ pathRoot: root, include: () => true })), [named, below]);
    assert.deepEqual(await warningsOf(new TorrentCreate({ pathRoot: root, paths: ['b.torrent', 'a'] })), [named]);
    assert.deepEqual(await warningsOf(new TorrentCreate({ pathRoot: path.join(root, 'b.torrent') })), [named]);
    const sources = [{ path: 'b.torrent', data }];
    assert.deepEqual(await warningsOf(new TorrentCreate({ name: 'x', sources })), [named]);
    assert.deepEqual(await warningsOf(new TorrentCreate({ name: 'b.torrent', sources })), [named]);
  });

  it('name the host of a webseed with a secret, unless the torrent is private', async () => {
    const fields = {
      name: 'a',
      sources: [{ path: 'a', data }],
      urlList: ['https://u:p@w.example/', 'https://o.example/'],
    };
    assert.deepEqual(await warningsOf(new TorrentCreate(fields)), ['webseed_secret w.example']);
    assert.deepEqual(await warningsOf(new TorrentCreate({ ...fields, private: true })), []);
    const seeds = { ...fields, urlList: null, httpseeds: ['https://h.example/?token=abc'] };
    assert.deepEqual(await warningsOf(new TorrentCreate(seeds)), ['webseed_secret h.example']);
  });

  it('an update keeps the torrents at the top that the torrent has, and adds no others', async (t) => {
    const root = await temporaryFolder(t);
    for (const name of ['a', 'b.torrent']) await writeFile(path.join(root, name), name);
    const torrent = await new TorrentCreate({ pathRoot: root, include: () => true }).generate({ onWarning: () => {} });
    for (const name of ['c', 'd.torrent']) await writeFile(path.join(root, name), name);
    const { added, removed } = await update(torrent, root, { onWarning: () => {} });
    assert.deepEqual([added, removed], [['c'], []]);
  });
});

// Files of a user are listed and verified; handles and entries are plain objects, and Blobs are those of Node.
import assert from 'node:assert/strict';
import { File } from 'node:buffer';
import { describe, it } from 'node:test';
import { filesFrom, type GivenFiles, type NamedBlob } from '../../src/browser/folders.ts';
import { verify } from '../../src/browser/verify.ts';
import { webEngine } from '../../src/browser/web-engine.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';

const fileOf = (name: string, text = name) => new File([text], name) as NamedBlob;
const failure = () => Promise.reject(new DOMException('gone', 'NotFoundError'));
const handle = (name: string, getFile: () => Promise<unknown> = async () => fileOf(name)) => ({
  ...{ kind: 'file' as const, name, getFile },
});
async function* listed(inner: readonly unknown[]) {
  yield* inner;
}
const directory = (name: string, inner: readonly unknown[]) => ({
  ...{ kind: 'directory' as const, name, values: () => listed(inner) },
});
const inV2 = (draft: ConstructorParameters<typeof TorrentCreate>[0]) =>
  new TorrentCreate(draft).generate({ version: 'v2' });
const check = async (torrent: Torrent, given: Parameters<typeof verify>[1]) => {
  const { ok, files, extraFiles } = await verify(torrent, given, { engine: webEngine() });
  return { ok, statuses: files.map(({ status }) => status), extraFiles };
};

describe('filesFrom', () => {
  it('takes the files of a drop that have no entry, and no text', async () => {
    const items = [
      { kind: 'string', webkitGetAsEntry: () => null, getAsFile: () => null },
      { kind: 'file', webkitGetAsEntry: () => null, getAsFile: () => fileOf('pasted.png') },
    ];
    for (const given of [{ items }, items]) {
      const { name, sources } = await filesFrom(given);
      assert.deepEqual([name, sources.map(({ path }) => path)], ['pasted.png', ['pasted.png']]);
    }
  });

  it('names no torrent after a folder whose name is empty or that of a drive', async () => {
    for (const name of ['', 'C:', 'C:\\', '/']) {
      const found = await filesFrom(directory(name, [handle('a'), handle('b')]));
      assert.equal(found.name, null, name);
    }
    const root = await filesFrom(directory('', [handle('a'), directory('c', [handle('b')])]));
    assert.deepEqual(root.sources.map(({ path }) => path).sort(), ['a', 'c/b']);
  });

  it('leaves out torrents at the top of the only folder, as the library in Node does', async () => {
    const album = directory('album', [handle('a'), handle('b.TORRENT'), directory('sub', [handle('c.torrent')])]);
    const pathsOf = async (given: GivenFiles) => (await filesFrom(given)).sources.map(({ path }) => path).sort();
    assert.deepEqual(await pathsOf(album), ['a', 'sub/c.torrent']);
    assert.deepEqual(await pathsOf([handle('b.torrent')]), ['b.torrent']);
    assert.deepEqual(await pathsOf([handle('b.torrent'), handle('a')]), ['a', 'b.torrent']);
    const full = directory('album', [handle('a'), handle('b.torrent'), handle('Thumbs.db')]);
    const { sources } = await filesFrom(full, { everything: true });
    assert.deepEqual(sources.map(({ path }) => path).sort(), ['Thumbs.db', 'a', 'b.torrent']);
  });

  it('says which file or folder cannot be read', async () => {
    const gone = { ...directory('sub', []), values: () => ({ [Symbol.asyncIterator]: () => ({ next: failure }) }) };
    const entry = {
      isDirectory: false,
      name: 'x',
      file: (_: unknown, fail: (error: Error) => void) => fail(Error('gone')),
    };
    const cases: [GivenFiles, string][] = [
      [directory('album', [handle('x', failure)]), 'album/x'],
      [directory('album', [gone]), 'album/sub'],
      [[entry], 'x'],
    ];
    for (const [given, path] of cases)
      await assert.rejects(filesFrom(given), { name: 'MetainfoError', code: 'ERR_READ', path });
  });
});

describe('verify of metainfo/browser', () => {
  it('reports every file that cannot be read', async () => {
    const names = Array.from({ length: 130 }, (_, i) => `${i}`);
    const sources = names.map((path) => ({ path, data: fileOf(path) }));
    const torrent = await inV2({ name: 'many', sources });
    let reads = 0;
    const bad = sources.map(({ path, data }, i) => {
      if (i >= 120) return { path, data };
      const arrayBuffer = () => {
        reads += 1;
        return failure();
      };
      const slice = () => ({ arrayBuffer });
      return { path, data: Object.assign(fileOf(path), { slice, arrayBuffer }) };
    });
    const { statuses } = await check(torrent, { sources: bad as never });
    assert.deepEqual([statuses.filter((one) => one === 'unreadable').length, statuses.length], [120, 130]);
    assert.ok(reads < 500, `${reads} reads`);
  });

  it('reports a file of a folder that cannot be opened', async () => {
    const sources = [
      { path: 'a', data: fileOf('a') },
      { path: 'b', data: fileOf('b') },
      { path: 'empty', data: fileOf('empty', '') },
    ];
    const torrent = await inV2({ name: 'album', sources });
    const given = directory('album', [handle('a'), handle('b', failure), handle('empty', failure)]);
    for (const content of [given, await filesFrom(given, { everything: true })])
      assert.deepEqual(await check(torrent, content), {
        ok: false,
        statuses: ['complete', 'unreadable', 'unreadable'],
        extraFiles: [],
      });
    await assert.rejects(filesFrom(given), { code: 'ERR_READ' });
  });

  it('takes bytes, and refuses streams and malformed sources', async () => {
    const torrent = await inV2({ sources: [{ path: 'a', data: fileOf('a') }] });
    assert.equal((await check(torrent, { sources: [{ path: 'a', data: Buffer.from('a') }] })).ok, true);
    const data = new Blob(['a']);
    for (const sources of [
      5,
      null,
      [null],
      [{}],
      [{ path: 5, data }],
      [{ path: 'a', data: data.stream() }],
      [{ path: 'a' }],
    ])
      await assert.rejects(check(torrent, { sources } as never), {
        name: 'MetainfoError',
        code: 'ERR_INVALID_ARGUMENT',
      });
    await assert.rejects(
      check(torrent, { sources: [{ path: 'a', data: data.stream() }] } as never),
      /streams cannot be/,
    );
  });

  it('accepts another name for a file that is given itself, but not in a folder', async () => {
    const data = fileOf('f.bin');
    const renamed = fileOf('g.iso', 'f.bin');
    const inFolder = directory('g.iso', [handle('g.iso', async () => renamed)]);
    const chosen = Object.assign(fileOf('g.iso', 'f.bin'), { webkitRelativePath: 'd/g.iso' });
    for (const draft of [{ sources: [{ path: 'f.bin', data }] }, { name: 't', sources: [{ path: 'f.bin', data }] }]) {
      const torrent = await inV2(draft);
      for (const given of [renamed, [renamed], handle('g.iso', async () => renamed), await filesFrom(renamed)])
        assert.deepEqual(await check(torrent, given), { ok: true, statuses: ['complete'], extraFiles: [] });
      for (const given of [inFolder, [chosen], await filesFrom(inFolder)])
        assert.deepEqual(await check(torrent, given), { ok: false, statuses: ['missing'], extraFiles: ['g.iso'] });
    }
  });

  it('reads a torrent from a Blob of another realm', async () => {
    const torrent = await inV2({ sources: [{ path: 'a', data: fileOf('a') }] });
    const blob = new Blob([torrent.bencode()]);
    const { size } = blob;
    const other = { size, slice: blob.slice.bind(blob), stream: () => blob.stream() } as unknown as Blob;
    assert.equal((await Torrent.read(other)).infohashV2, torrent.infohashV2);
    for (const bad of [null, 5, {}]) await assert.rejects(Torrent.read(bad as never), { code: 'ERR_INVALID_ARGUMENT' });
  });
});

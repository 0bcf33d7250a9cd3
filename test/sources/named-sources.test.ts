/** Sources that have a name: Files, open files, and sources in one folder. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type FileHandle, open, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { create } from '../../src/create/create.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { planParts } from '../../src/parts/torrent-plan.ts';
import type { SourceInput } from '../../src/sources/sources.ts';
import { noise } from '../hash/reference.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const bytes = (text: string) => Buffer.from(text);
const pathsOf = async (sources: readonly SourceInput[], name?: string) => {
  const torrent = await create(sources, { name });
  return [torrent.name, ...torrent.files.map((file) => file.path)];
};

describe('a File', () => {
  it('gives its own name, alone or as the data of a source', async () => {
    const file = new File(['hello'], 'hello.txt');
    const expected = await create([{ path: 'hello.txt', data: bytes('hello') }]);
    for (const source of [file, { data: file }]) assert.equal((await create([source])).infohashV2, expected.infohashV2);
    assert.equal(new TorrentCreate({ sources: [file] }).info.name, 'hello.txt');
  });

  it('may have another path', async () => {
    assert.deepEqual(await pathsOf([{ path: 'b.txt', data: new File(['x'], 'a.txt') }]), ['b.txt', 'b.txt']);
    assert.deepEqual(await pathsOf([new File(['x'], 'a'), new File(['y'], 'b')], 'two'), ['two', 'a', 'b']);
  });

  for (const name of ['../../etc/passwd', '/etc/passwd', '..', '.', '', 'a//b', 'a\0b', 'half \ud800'])
    it(`is refused if its name is ${JSON.stringify(name)}`, async () => {
      // A File of Node would replace half a surrogate pair.
      const file = Object.assign(new Blob(['x']), { name });
      await assert.rejects(create([file], { name: 'x' }), { code: 'ERR_VALIDATION', message: /sources\.0\.path/ });
    });

  it('has a name like a web object', async () => {
    const film = { name: 'film.mkv', size: 1, read: async () => new Uint8Array(1) };
    for (const source of [film, { data: film }]) assert.deepEqual(await pathsOf([source]), ['film.mkv', 'film.mkv']);
    await assert.rejects(create([{ ...film, name: null }]), { message: /sources\.0\.path: expected a path/ });
  });

  it('destroys a stream that is given without a path', async () => {
    const stream = Readable.from(['x']);
    await assert.rejects(create([stream as unknown as SourceInput]), { message: /sources\.0\.path: expected a path/ });
    assert.ok(stream.destroyed);
  });

  it('is told from a Blob, which needs a path', async () => {
    for (const source of [new Blob(['x']), { data: new Blob(['x']) }, { data: bytes('x') }, Buffer.from('x')])
      await assert.rejects(create([source as SourceInput]), {
        code: 'ERR_VALIDATION',
        message: /sources\.0\.path: expected a path or name, got nothing/,
      });
  });
});

describe('sources without a name of the torrent', () => {
  const source = (at: string) => ({ path: at, data: bytes(at) });

  it('get that of their common folder, like the folder on disk', async (t) => {
    const folder = path.join(await temporaryFolder(t), 'album');
    await writeTree(folder, { 'cd1/a': 'album/cd1/a', 'cd2/b': 'album/cd2/b' });
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      const onDisk = await create(folder, { version });
      const torrent = await create([source('album/cd1/a'), source('album/cd2/b')], { version });
      assert.deepEqual([torrent.infohashV1, torrent.infohashV2], [onDisk.infohashV1, onDisk.infohashV2]);
    }
  });

  it('have only the first folder in common', async () => {
    assert.deepEqual(await pathsOf([source('a/b/c'), source('a/b/d')]), ['a', 'b/c', 'b/d']);
    assert.deepEqual(await pathsOf([source('dir/only')]), ['dir', 'only']);
  });

  it('keep their paths if there is a name', async () => {
    assert.deepEqual(await pathsOf([source('a/b'), source('a/c')], 'a'), ['a', 'a/b', 'a/c']);
    const { info } = new TorrentCreate({ info: { name: 'x' }, sources: [source('a/b')] });
    assert.equal(info.name, 'x');
    const fields = new TorrentCreate({ sources: [source('a/b'), source('a/c')] }).fields;
    assert.deepEqual(await new TorrentCreate(fields).getPaths(), ['b', 'c']);
  });

  it('fail with ERR_NAME and what to do if they are not in one folder', async () => {
    const message = /need a name: give one\./;
    for (const paths of [['a', 'b'], ['a/x', 'b/x'], ['a/x', 'ab/y'], ['a', 'a/b'], ['x/x']])
      await assert.rejects(create(paths.map(source)), { code: 'ERR_NAME', message }, paths.join());
  });
});

describe('a FileHandle', () => {
  async function opened(t: TestContext, content: Buffer): Promise<{ file: string; handle: FileHandle }> {
    const file = path.join(await temporaryFolder(t), 'content.bin');
    await writeFile(file, content);
    // Writable, because a test changes it.
    const handle = await open(file, 'r+');
    t.after(() => handle.close().catch(() => {}));
    return { file, handle };
  }

  it('gives the content from its first byte, and stays open where it was', async (t) => {
    for (const size of [1, 16_384, 2 ** 20, 3 * 2 ** 20 + 5]) {
      const content = noise(size);
      const { handle } = await opened(t, content);
      const head = Buffer.alloc(1);
      await handle.read(head, 0, 1, null);
      const torrent = await create([{ path: 'x', data: handle }], { version: 'v1', pieceLength: 2 ** 22 });
      const hash = createHash('sha1').update(content).digest('hex');
      assert.equal(Buffer.from(torrent.info.pieces?.bytes ?? []).toString('hex'), hash);
      const { bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, null);
      assert.equal(bytesRead, size > 1 ? 1 : 0, 'its position is the one that it had');
    }
  });

  it('may be several sources at once, and is planned by its size', async (t) => {
    const { handle } = await opened(t, noise(100_000));
    const sources = ['a', 'b', 'c', 'd', 'e'].map((at) => ({ path: `all/${at}`, data: handle }));
    const draft = new TorrentCreate({ sources });
    assert.equal((await draft.plan()).totalSize, 500_000);
    const torrent = await draft.generate();
    const roots = torrent.files.map(({ piecesRoot }) => Buffer.from(piecesRoot ?? []).toString('hex'));
    assert.equal(new Set(roots).size, 1);
    await assert.rejects(planParts(draft), { code: 'ERR_INVALID_ARGUMENT', message: /can be planned in parts/ });
  });

  it('is refused if it is closed, a folder or a device, or has another size than the source says', async (t) => {
    const { handle } = await opened(t, noise(5));
    await assert.rejects(create([{ path: 'x', data: handle, size: 4 }]), {
      message: /expected 5, the size of the data/,
    });
    await handle.close();
    const folder = await open(await temporaryFolder(t));
    t.after(() => folder.close());
    const device = await open('/dev/null');
    t.after(() => device.close());
    for (const data of [handle, folder, device])
      await assert.rejects(create([{ path: 'x', data }]), {
        code: 'ERR_VALIDATION',
        message: /expected an open FileHandle of a regular file/,
      });
  });

  const changes: [string, (file: string) => Promise<void>][] = [
    ['grew', (file) => truncate(file, 4_000_000)],
    ['shrank', (file) => truncate(file, 2_000_000)],
    ['became empty', (file) => truncate(file, 0)],
    ['was written to', (file) => utimes(file, 0, 1)],
  ];
  for (const [how, change] of changes)
    it(`fails with ERR_FILE_CHANGED if it ${how} while it was hashed`, async (t) => {
      const { file, handle } = await opened(t, noise(3_000_000));
      let isChanged = false;
      // A source in front of it, which changes the file when some of it was read.
      const read = handle.read.bind(handle) as (...given: unknown[]) => Promise<{ bytesRead: number }>;
      Object.assign(handle, {
        read: async (...given: unknown[]) => {
          const result = await read(...given);
          if (!isChanged) await change(file);
          isChanged = true;
          return result;
        },
      });
      await assert.rejects(create([{ path: 'x', data: handle }]), { code: 'ERR_FILE_CHANGED', path: 'x' });
    });

  for (const [from, to] of [
    [5, 6],
    [0, 5],
    [5, 0],
  ] as const)
    it(`fails with ERR_FILE_CHANGED if its size became ${to} instead of ${from} since the draft was made`, async (t) => {
      const { file, handle } = await opened(t, noise(from));
      const draft = new TorrentCreate({ name: 'x', sources: [{ path: 'a', data: handle }, new File(['b'], 'b')] });
      await truncate(file, to);
      await assert.rejects(draft.generate(), { code: 'ERR_FILE_CHANGED', path: 'a' });
    });

  it('fails with ERR_SOURCE and the path if it is closed meanwhile', async (t) => {
    const { handle } = await opened(t, noise(5));
    const draft = new TorrentCreate({ sources: [{ path: 'x', data: handle }] });
    await handle.close();
    await assert.rejects(draft.generate(), { code: 'ERR_SOURCE', path: 'x' });
  });

  it('is no longer needed when the creation is cancelled', async (t) => {
    const { handle } = await opened(t, noise(5_000_000));
    const cancel = new AbortController();
    async function* never(): AsyncGenerator<Uint8Array> {
      yield bytes('x');
      cancel.abort();
      await new Promise(() => {});
    }
    const sources = [
      { path: 'a', data: handle },
      { path: 'b', data: Readable.from(never()) },
    ];
    await assert.rejects(create(sources, { name: 'x', signal: cancel.signal }), { code: 'ERR_ABORTED' });
    assert.equal((await handle.stat()).size, 5_000_000);
  });
});

/** `saveTo`: content that is saved while it is hashed. */
import assert from 'node:assert/strict';
import { chmod, mkdir, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { create } from '../../src/create/create.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { SaveGroup } from '../../src/disk/save-files.ts';
import { planParts } from '../../src/parts/torrent-plan.ts';
import type { SourceData } from '../../src/sources/source-data.ts';
import { verify } from '../../src/verify/verify.ts';
import { noise } from '../hash/reference.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

async function* chunked(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  // The same memory for every chunk: what is written must not be read later.
  const memory = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) {
    const length = bytes.copy(memory, 0, at, at + size);
    yield memory.subarray(0, length);
    memory.fill(0xee);
  }
}

/** Gives some bytes, and then an error, or nothing for ever. */
async function* broken(bytes: Buffer, error?: Error): AsyncGenerator<Uint8Array> {
  yield bytes;
  if (error) throw error;
  await new Promise(() => {});
}

describe('saveTo', () => {
  const forms: Record<string, (bytes: Buffer) => SourceData> = {
    bytes: (bytes) => bytes,
    'a Blob': (bytes) => new Blob([bytes]),
    'a Readable': (bytes) => Readable.from([bytes.subarray(0, 70_000), bytes.subarray(70_000)]),
    'a generator of short chunks': (bytes) => chunked(bytes, 1000),
    'a generator of long chunks': (bytes) => chunked(bytes, 3_000_000),
    'a range reader': (bytes) => ({
      size: bytes.length,
      read: async (offset, length) => new Uint8Array(bytes.subarray(offset, offset + length)),
    }),
  };
  for (const [form, dataOf] of Object.entries(forms))
    it(`saves ${form}, and makes the torrent of the saved files`, async (t) => {
      const folder = path.join(await temporaryFolder(t), 'album');
      await mkdir(folder);
      const contents = [noise(5), noise(100_000), noise(5_000_000), Buffer.alloc(0)];
      for (const version of VERSIONS) {
        const sources = contents.map((bytes, i) => {
          const saveTo = path.join(folder, `${version} ${i}`);
          return { path: `${i}`, data: dataOf(bytes), saveTo: i === 0 ? pathToFileURL(saveTo) : saveTo };
        });
        const torrent = await create(sources, { version, name: 'album', pieceLength: 2 ** 18 });
        for (const [i, bytes] of contents.entries())
          assert.ok((await readFile(path.join(folder, `${version} ${i}`))).equals(bytes), `${version} ${i}`);
        const plain = contents.map((data, i) => ({ path: `${i}`, data }));
        assert.equal(
          (await create(plain, { version, name: 'album', pieceLength: 2 ** 18 })).magnet(),
          torrent.magnet(),
        );
      }
      assert.deepEqual(
        (await readdir(folder)).filter((name) => name.startsWith('.')),
        [],
      );
    });

  it('leaves only their names of more files than can be open without one', async (t) => {
    const folder = await temporaryFolder(t);
    const names = Array.from({ length: 300 }, (_, i) => `${i}`);
    const sources = names.map((name) => ({ path: name, data: noise(20), saveTo: path.join(folder, name) }));
    await create(sources, { name: 'many' });
    assert.deepEqual(new Set(await readdir(folder)), new Set(names));
  });

  it('makes content that is verified, with a short source too, which has a faster way without it', async (t) => {
    const folder = await temporaryFolder(t);
    const torrent = await create([
      { path: 'a', data: Buffer.from('hello'), saveTo: path.relative('', path.join(folder, 'a')) },
    ]);
    assert.equal((await verify(torrent, path.join(folder, 'a'))).ok, true);
  });

  it('has the permissions of a new file, or of the file that it replaces', async (t) => {
    const folder = await temporaryFolder(t);
    const [saveTo, other] = [path.join(folder, 'a'), path.join(folder, 'b')];
    await writeFile(saveTo, 'old');
    await chmod(saveTo, 0o640);
    await writeFile(other, 'x');
    await create([{ path: 'a', data: Buffer.from('new'), saveTo, force: true }]);
    assert.equal(await readFile(saveTo, 'utf8'), 'new');
    if (process.platform !== 'win32') assert.equal((await stat(saveTo)).mode & 0o777, 0o640);
    assert.deepEqual((await readdir(folder)).sort(), ['a', 'b']);
  });

  it('fails before any byte is read if it cannot write', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { 'there.bin': 'x', 'album/in.bin': 'y' });
    await symlink('nowhere', path.join(folder, 'link'));
    const cases: [saveTo: string, code: string, options?: object, force?: boolean][] = [
      ['there.bin', 'ERR_OUTPUT_EXISTS'],
      ['link', 'ERR_OUTPUT_EXISTS'],
      ['absent/x', 'ERR_NOT_FOUND'],
      ['there.bin/x', 'ERR_NOT_FOUND'],
      ['album', 'ERR_NOT_A_FILE'],
      ['album', 'ERR_NOT_A_FILE', {}, true],
      ['../x', 'ERR_PATH_OUTSIDE', { beneath: folder }],
    ];
    for (const [saveTo, code, options = {}, force = false] of cases) {
      let isRead = false;
      const data = Readable.from(
        (async function* () {
          isRead = true;
          yield Buffer.from('x');
        })(),
      );
      const made = create([{ path: 'a', data, saveTo: path.join(folder, saveTo), force }], options);
      await assert.rejects(made, { code }, saveTo);
      assert.deepEqual([isRead, data.destroyed], [false, true]);
    }
    const input = path.join(folder, 'album/in.bin');
    const sources = [{ path: 'a', data: Buffer.from('x'), saveTo: input, force: true }];
    const draft = new TorrentCreate({ pathRoot: path.join(folder, 'album'), paths: ['in.bin'], sources });
    await assert.rejects(draft.generate(), { code: 'ERR_OUTPUT_IS_INPUT' });
    assert.equal(await readFile(input, 'utf8'), 'y');
  });

  it('rejects other values, and one file for two sources', async (t) => {
    const data = Buffer.from('x');
    for (const saveTo of ['', 5, 'a\0b', new URL('http://x/y')])
      await assert.rejects(create([{ path: 'a', data, saveTo: saveTo as string }]), {
        code: 'ERR_VALIDATION',
        message: /sources\.0\.saveTo: expected a path/,
      });
    await assert.rejects(create([{ path: 'a', data, saveTo: 'new/' }]), { message: /ends with a slash: "new\/"/ });
    await assert.rejects(create([{ path: 'a', data, force: 1 as never }]), { code: 'ERR_VALIDATION' });
    assert.equal((await create([{ path: 'a', data, saveTo: null }])).totalSize, 1);
    const folder = await temporaryFolder(t);
    const saveTo = path.join(folder, 'x');
    const twice = ['a', 'b'].map((at) => ({ path: at, data, saveTo }));
    await assert.rejects(create(twice, { name: 'n' }), {
      code: 'ERR_INVALID_ARGUMENT',
      message: /two sources are saved/,
    });
    await symlink(folder, path.join(folder, 'link'));
    const linked = [saveTo, path.join(folder, 'link/x')].map((to, i) => ({
      path: `${i}`,
      data,
      saveTo: to,
      force: true,
    }));
    await assert.rejects(create(linked, { name: 'n' }), { message: /two sources are saved/ });
    const reader = { size: 1, etag: 'x', read: async () => data };
    const draft = new TorrentCreate({ sources: [{ path: 'a', data: reader, saveTo }] });
    await assert.rejects(planParts(draft), { code: 'ERR_INVALID_ARGUMENT' });
    assert.equal((await draft.plan()).totalSize, 1);
  });

  for (const failure of ['an error of a stream', 'a cancellation', 'a wrong size', 'a truncated stream', 'a full disk'])
    it(`leaves no file of any source after ${failure}`, async (t) => {
      const folder = await temporaryFolder(t);
      const cancel = new AbortController();
      const second = {
        'an error of a stream': () => broken(noise(300_000), new Error('cut')),
        'a cancellation': () => broken(noise(300_000)),
        'a wrong size': () => chunked(noise(300_000), 70_000),
        'a truncated stream': () => Object.assign(chunked(noise(300_000), 70_000), { truncated: true }),
        'a full disk': () => chunked(noise(300_000), 70_000),
      }[failure] as () => SourceData;
      if (failure === 'a full disk') {
        const probe = await open(path.join(await temporaryFolder(t), 'probe'), 'w');
        const prototype = Object.getPrototypeOf(probe);
        await probe.close();
        const { write } = prototype;
        let writes = 0;
        t.mock.method(prototype, 'write', async function (this: object, ...given: unknown[]) {
          writes += 1;
          if (writes > 2) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
          return write.apply(this, given);
        });
      }
      const sources = [
        { path: 'a', data: noise(100_000), saveTo: path.join(folder, 'a') },
        {
          path: 'b',
          data: second(),
          saveTo: path.join(folder, 'b'),
          ...(failure === 'a wrong size' && { size: 299_999 }),
        },
      ];
      const onProgress = ({ arrivedBytes }: { arrivedBytes: number }) => {
        if (failure === 'a cancellation' && arrivedBytes === 400_000) cancel.abort();
      };
      const code = {
        'an error of a stream': 'ERR_SOURCE',
        'a cancellation': 'ERR_ABORTED',
        'a wrong size': 'ERR_SOURCE_SIZE',
        'a truncated stream': 'ERR_SOURCE_TRUNCATED',
        'a full disk': 'ERR_NO_SPACE',
      }[failure];
      await assert.rejects(create(sources, { name: 'x', signal: cancel.signal, onProgress }), (error: never) => {
        assert.equal((error as { code: string }).code, code);
        if (code === 'ERR_NO_SPACE') assert.match((error as { path: string }).path, /[ab]$/);
        return true;
      });
      assert.deepEqual(await readdir(folder), []);
    });

  it('holds no memory for files that are not written yet', async (t) => {
    const folder = await temporaryFolder(t);
    const group = new SaveGroup(undefined);
    const before = process.memoryUsage().arrayBuffers;
    const files = Array.from({ length: 1000 }, (_, i) => ({
      saveTo: { path: path.join(folder, `${i}`), force: false },
    }));
    const [first] = await group.addAll(files);
    await first?.save?.write(Buffer.from('x'));
    await first?.save?.end();
    assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 24);
    await group.discard();
    assert.deepEqual(await readdir(folder), []);
  });

  it('takes back the names of the others if a file appears in the place of one', async (t) => {
    const folder = await temporaryFolder(t);
    async function* late(): AsyncGenerator<Uint8Array> {
      yield noise(300_000);
      await writeFile(path.join(folder, 'b'), 'somebody else');
    }
    const sources = [
      { path: 'a', data: noise(100_000), saveTo: path.join(folder, 'a') },
      { path: 'b', data: late(), saveTo: path.join(folder, 'b') },
    ];
    await assert.rejects(create(sources, { name: 'x' }), { code: 'ERR_OUTPUT_EXISTS', path: path.join(folder, 'b') });
    assert.deepEqual(await readdir(folder), ['b']);
    assert.equal(await readFile(path.join(folder, 'b'), 'utf8'), 'somebody else');
  });

  it('names the folder that is deleted before or after the first byte is saved', async (t) => {
    const folder = await temporaryFolder(t);
    const saves = path.join(folder, 'saves');
    const saveTo = path.join(saves, 'a');
    const probe = await open(path.join(folder, 'probe'), 'w');
    const prototype = Object.getPrototypeOf(probe);
    await probe.close();
    const write = t.mock.method(prototype, 'write');
    // The buffer keeps short content until its end, so only long content is being written in the meantime.
    for (const size of [1000, 300_000])
      for (const [beneath, isReplaced] of [
        [undefined, false],
        [undefined, true],
        [folder, false],
      ] as const) {
        await rm(saves, { force: true });
        await mkdir(saves);
        const calls = write.mock.callCount();
        async function* upload() {
          yield noise(size);
          if (size > 1000) while (write.mock.callCount() === calls) await new Promise(setImmediate);
          await rm(saves, { recursive: true });
          if (isReplaced) await writeFile(saves, '');
          yield noise(size);
        }
        const job = create([{ path: 'a', data: upload(), saveTo }], { pieceLength: 2 ** 14, beneath });
        await assert.rejects(job, {
          code: 'ERR_WRITE',
          path: saveTo,
          message: `${saveTo}: its folder, or the temporary file in it, was deleted before the file was complete.`,
        });
        if (!isReplaced) await assert.rejects(stat(saves), { code: 'ENOENT' });
      }
  });

  it('asks for no more of a stream while a write waits', async (t) => {
    const folder = await temporaryFolder(t);
    const probe = await open(path.join(folder, 'probe'), 'w');
    const prototype = Object.getPrototypeOf(probe);
    await probe.close();
    const { write } = prototype;
    let waiting = 0;
    let most = 0;
    let given = 0;
    let written = 0;
    t.mock.method(prototype, 'write', async function (this: object, ...args: unknown[]) {
      waiting += 1;
      const result = await write.apply(this, args);
      written += result.bytesWritten;
      waiting -= 1;
      return result;
    });
    async function* producer(): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < 40; i += 1) {
        assert.equal(waiting, 0);
        most = Math.max(most, given - written);
        given += 2 ** 20;
        yield Buffer.alloc(2 ** 20, i);
      }
    }
    await create([{ path: 'a', data: producer(), saveTo: path.join(folder, 'a') }]);
    assert.ok(most <= 2 ** 20, `${most} bytes were ahead of the disk`);
    assert.equal(written, 40 * 2 ** 20);
  });
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { encode } from '../../src/bencode/encode.ts';
import { type CreateOptions, create } from '../../src/create/create.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { edit } from '../../src/edit/edit.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import type { Progress } from '../../src/jobs/watch.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const FILES = { 'a.txt': 'hello', 'sub/b.bin': 100_000 };

describe('create', () => {
  it('makes the infohash that node:crypto gives', async () => {
    const data = Buffer.alloc(40_000, 'metainfo');
    const pieces = [data.subarray(0, 16_384), data.subarray(16_384, 32_768), data.subarray(32_768)];
    const hashes = Buffer.concat(pieces.map((piece) => createHash('sha1').update(piece).digest()));
    const info = encode(
      new Map<string, string | number | Uint8Array>([
        ['length', 40_000],
        ['name', 'data.bin'],
        ['piece length', 16_384],
        ['pieces', hashes],
      ]),
    );
    const torrent = await create([{ path: 'data.bin', data }], { version: 'v1', pieceLength: 16_384 });
    assert.equal(torrent.infohashV1, createHash('sha1').update(info).digest('hex'));
  });

  it('makes the torrent of the draft with the same fields, for a path, a relative path and a file: URL', async (t) => {
    const folder = path.join(await temporaryFolder(t), 'an album');
    await writeTree(folder, FILES);
    const fields = {
      comment: 'live',
      private: true,
      trackers: ['http://tracker.example/a'],
      creationDate: new Date(0),
    };
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      const draft = new TorrentCreate({ pathRoot: folder, ...fields });
      const expected = Buffer.from((await draft.generate({ version, threads: 2 })).bencode()).toString('latin1');
      for (const content of [folder, path.relative('', folder), pathToFileURL(folder)]) {
        const torrent = await create(content, { version, threads: 2, ...fields });
        assert.equal(Buffer.from(torrent.bencode()).toString('latin1'), expected);
        assert.equal(torrent.name, 'an album');
      }
    }
  });

  it('passes every kind of option on', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, FILES);
    const progress: Progress[] = [];
    let planned = 0;
    const torrent = await create(folder, {
      name: 'other',
      paths: ['sub'],
      pieceLength: 32_768,
      createdBy: null,
      extra: new Map([['x', 1]]),
      info: { source: 'tag' },
      include: () => true,
      engine: nodeEngine(),
      onPlan: () => {
        planned += 1;
      },
      onProgress: (one) => void progress.push(one),
      outputPath: null,
    });
    const { name, nFiles, createdBy, extra, info } = torrent;
    assert.deepEqual([name, nFiles, createdBy, info.source, info.pieceLength], ['other', 1, null, 'tag', 32_768]);
    assert.equal(extra?.size, 1);
    assert.equal(planned, 1);
    assert.equal(progress.at(-1)?.bytes, 100_000);
  });

  it('takes fields of null and undefined as absent', async () => {
    const source = { path: 'a', data: Buffer.from('a') };
    const torrent = await create([source], { name: undefined, comment: null, trackers: null, cache: undefined });
    assert.deepEqual([torrent.name, torrent.comment ?? null], ['a', null]);
  });

  const wrong: [content: unknown, options: unknown, message: RegExp][] = [
    [undefined, {}, /^create needs a path, a file: URL or a list of sources as its first argument, not nothing\.$/],
    [null, {}, /first argument, not null/],
    ['', {}, /first argument, not ""/],
    ['a\0b', {}, /first argument/],
    [5, {}, /first argument, not 5/],
    [{ sources: undefined }, {}, /first argument, not an object/],
    [{}, undefined, /first argument, not an object/],
    [Buffer.from('album'), {}, /first argument, not 5 bytes/],
    [new URL('http://example.com/album'), {}, /first argument, not http:/],
    [new URL('file:///a%2Fb'), {}, /first argument, not file:/],
    ['album', { sources: undefined }, /^sources is not an option of create: give .* as its first argument\.$/],
    ['album', { pathRoot: '/srv' }, /^pathRoot is not an option of create/],
    ['album', { versoin: 'v1' }, /^unknown option "versoin": did you mean version\?$/],
    ['album', { piece_length: 1 }, /did you mean pieceLength\?$/],
    ['album', { nProcesses: 1 }, /did you mean threads\?$/],
    ['album', { 'creation date': 0 }, /unknown option "creation date"/],
    ['album', { foo: 1 }, /^unknown option "foo": expected one of (?!.*(sources|pathRoot))/],
    ['album', { version: 'v3' }, /version must be v1, v2 or hybrid/],
    ['album', { threads: 0 }, /threads must be/],
    ['album', null, /options must be an object/],
    ['album', 'v1', /options must be an object/],
    ['album', ['v1'], /options must be an object/],
  ];
  for (const [content, options, message] of wrong)
    it(`rejects create(${String(content)}, ${JSON.stringify(options)}) with ERR_INVALID_ARGUMENT`, async () => {
      const made = create(content as string, options as CreateOptions);
      await assert.rejects(made, { code: 'ERR_INVALID_ARGUMENT', message });
    });

  it('rejects an empty list and invalid fields with every problem', async () => {
    await assert.rejects(create([], { name: 'x' }), { code: 'ERR_VALIDATION', message: /at least one source/ });
    const made = create('album', { pieceLength: 3, trackers: ['x y'] });
    await assert.rejects(made, { code: 'ERR_VALIDATION', message: /pieceLength.*trackers|trackers.*pieceLength/s });
  });

  for (const options of [{ versoin: 'v1' }, { pieceLength: 3 }, { version: 'v3' }, { maxPieceLength: 1 }])
    it(`destroys the streams of its sources after wrong options: ${JSON.stringify(options)}`, async () => {
      const data = Readable.from([Buffer.from('hello')]);
      await assert.rejects(create([{ path: 'a', data }], options as CreateOptions));
      assert.ok(data.destroyed);
    });

  it('takes webseeds by that word, and names what others mean', async () => {
    const content = [{ path: 'a', data: Buffer.from('a') }];
    const [one, two] = ['https://files.example/a', 'https://b.example/'];
    for (const webseeds of [[one], one]) assert.deepEqual((await create(content, { webseeds })).webseeds, [one]);
    // A single one is text, as in libtorrent.
    const text = Buffer.from((await create(content, { webseeds: [one] })).bencode()).toString('latin1');
    assert.match(text, /8:url-list23:https:\/\/files\.example\/ae$/);
    const list = Buffer.from((await create(content, { webseeds: [one, two] })).bencode()).toString('latin1');
    assert.match(list, /8:url-listl23:https:\/\/files\.example\/a18:https:\/\/b\.example\/ee$/);
    await assert.rejects(
      create(content, { webseeds: [one], urlList: [two] }),
      /webseeds and urlList set the same value/,
    );
    const torrent = await create(content);
    assert.deepEqual(edit(torrent, { webseeds: [one] }).webseeds, [one]);
    assert.throws(() => edit(torrent, { webseeds: [one], urlList: [two] }), /webseeds and urlList/);
    for (const [word, meant] of Object.entries({
      ...{ webSeeds: 'webseeds', isPrivate: 'private', pieceSize: 'pieceLength', torrentVersion: 'version' },
      ...{
        date: 'creationDate',
        dhtNodes: 'nodes',
        nProcesses: 'threads',
        output: 'outputPath',
        'url-list': 'urlList',
      },
    })) {
      const given = { [word]: 'x' } as CreateOptions;
      const message = new RegExp(`did you mean ${meant}\\?`);
      await assert.rejects(create(content, given), { code: 'ERR_INVALID_ARGUMENT', message });
      // A draft takes on-disk keys too, and writes no such word as a key that it does not know.
      assert.throws(() => new TorrentCreate({ sources: content, ...given }), { code: 'ERR_VALIDATION' }, word);
    }
  });

  it('refuses unknown keys of a source, and several paths', async () => {
    const source = { path: 'a', data: Buffer.from('a') };
    await assert.rejects(
      create([{ ...source, foo: 1 } as never]),
      /sources\.0\.foo: an unknown key: expected one of path/,
    );
    await assert.rejects(create([{ ...source, sise: 1 } as never]), /did you mean size\?/);
    await assert.rejects(create(['a', 'b'] as never), /paths/);
  });

  it('makes torrents that say what they are', async () => {
    const torrent = await create([{ path: 'a b', data: Buffer.from('hello') }], { version: 'v1' });
    const said = `Torrent "a b" (v1, 5 bytes, infohash ${torrent.infohashV1})`;
    assert.equal(String(torrent), said);
    assert.equal(inspect(torrent), said);
  });

  it('can be cancelled', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, FILES);
    const signal = AbortSignal.abort(new Error('stop'));
    await assert.rejects(create(folder, { signal }), { code: 'ERR_ABORTED', cause: signal.reason });
  });
});

import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { assemble } from '../../src/create/assemble.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { fileList } from '../../src/create/file-list.ts';
import { hashLayout } from '../../src/create/hash-layout.ts';
import { hasAllSizes, layOutTorrent, type SizedLayout, sizedLayout } from '../../src/create/torrent-layout.ts';
import { defaultEngine } from '../../src/hash/default-engine.ts';
import { checkedResources } from '../../src/hash/hash-request.ts';
import { FileTable } from '../../src/layout/file-table.ts';
import { sourceFiles } from '../../src/sources/sources.ts';
import { chooseEngine } from '../support/choose-engine.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const PIECE = 2 ** 14;

describe('layOutTorrent', () => {
  it('orders the files and lays out the pad files before hashing', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { b: 20_000, 'a/x': 5, empty: 0 });
    const draft = new TorrentCreate({ pathRoot, pieceLength: PIECE, info: { name: 'n' } });
    const plan = await layOutTorrent(draft, { version: 'hybrid', sources: [] });
    assert.deepEqual(
      plan.files.map(({ path, length }) => [path.join('/'), length]),
      [
        ['a/x', 5],
        ['b', 20_000],
        ['empty', 0],
      ],
    );
    assert.deepEqual(
      fileList(plan as SizedLayout)?.map(({ path, length }) => [path.join('/'), length]),
      [
        ['a/x', 5],
        ['.pad/16379', 16_379],
        ['b', 20_000],
        ['.pad/12768', 12_768],
        ['empty', 0],
      ],
    );
    const { pieceLength, isSingleFile, isAligned, paddedFiles, streams } = plan;
    assert.deepEqual(
      { pieceLength, isSingleFile, isAligned, paddedFiles, streams },
      { pieceLength: PIECE, isSingleFile: false, isAligned: true, paddedFiles: 3, streams: [] },
    );
  });

  it('gives a single file the name of the torrent', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: 5 });
    const draft = new TorrentCreate({ pathRoot: path.join(folder, 'a'), info: { name: 'renamed' } });
    const plan = (await layOutTorrent(draft, { version: 'v1', sources: [] })) as SizedLayout;
    assert.deepEqual([plan.files.at(0)?.path, plan.isSingleFile, fileList(plan)], [['renamed'], true, null]);
  });

  it('shares pieces between v1 files without pad files', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { a: 5, b: 6 });
    const draft = new TorrentCreate({ pathRoot });
    const { isAligned, paddedFiles } = await layOutTorrent(draft, { version: 'v1', sources: [] });
    assert.deepEqual([isAligned, paddedFiles], [false, 0]);
  });

  it('lists the streams in the order of the draft, and lays out pad files once their sizes are known', async () => {
    const stream = () => new Blob(['12345']).stream();
    const sources = ['b', 'a', 'c'].map((path) => ({ path, data: path === 'c' ? Buffer.from('c') : stream() }));
    const draft = new TorrentCreate({ info: { name: 'n' }, pieceLength: PIECE, sources });
    const plan = await layOutTorrent(draft, { version: 'hybrid', sources: sourceFiles(draft.fields.sources ?? []) });
    assert.deepEqual([plan.streams, hasAllSizes(plan)], [[1, 0], false]);
    const list = fileList(sizedLayout(plan, [5, 5, 1]));
    assert.deepEqual(
      list?.map(({ length }) => length),
      [5, PIECE - 5, 5, PIECE - 5, 1, PIECE - 1],
    );
  });

  for (const version of ['v1', 'v2', 'hybrid'] as const) {
    it(`makes the torrent of generate from plain data that was cloned on the way: ${version}`, async (t) => {
      const pathRoot = await temporaryFolder(t);
      await writeTree(pathRoot, { a: 100_000, 'b/c': 1, d: 0 });
      const draft = new TorrentCreate({ pathRoot, comment: 'c', trackers: ['udp://a.example/x'], pieceLength: PIECE });
      const { files, ...rest } = (await layOutTorrent(draft, { version, sources: [] })) as SizedLayout;
      const plan = { ...structuredClone(rest), files: new FileTable(structuredClone(files.data)) } as SizedLayout;
      const { digests, bytesRead } = await hashLayout(plan, {
        engine: defaultEngine(),
        resources: checkedResources({}, version, 1),
        hashCache: null,
      });
      assert.equal(bytesRead, 100_001);
      const torrent = await assemble(plan, structuredClone(digests));
      assert.deepEqual(torrent.bencode(), (await draft.generate({ version })).bencode());
    });
  }
});

describe('generate', () => {
  it('rejects an unknown METAINFO_ENGINE before it looks for the files', async (t) => {
    const draft = new TorrentCreate({ pathRoot: path.join(await temporaryFolder(t), 'missing') });
    t.after(chooseEngine('other'));
    await assert.rejects(draft.generate(), { code: 'ERR_INVALID_ARGUMENT' });
  });
});

describe('generateWithTimes', () => {
  it('gives the times of files on disk, and NaN for sources', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { b: 5 });
    const sources = [{ path: 'a', data: Buffer.from('x') }];
    const draft = new TorrentCreate({ pathRoot, paths: ['b'], sources });
    const { torrent, fileTimes } = await draft.generateWithTimes();
    assert.deepEqual(
      torrent.files.map((file) => file.path),
      ['a', 'b'],
    );
    const { mtimeMs, ctimeMs } = fileTimes;
    assert.deepEqual([mtimeMs.length, ctimeMs.length, mtimeMs[0], ctimeMs[0]], [2, 2, Number.NaN, Number.NaN]);
    assert.ok(Math.abs(Date.now() - (mtimeMs[1] as number)) < 60_000);
  });
});

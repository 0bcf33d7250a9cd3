/** Two copies of the package in one process recognise each other's torrents, hashes, engines, drafts and errors. */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { is } from 'superstruct';
import { isOwnEngine } from '../../src/hash/engine.ts';
import * as here from '../../src/index.ts';
import { H20, PIECE, single, torrent, unsorted } from '../support/build.ts';
import { temporaryFolder } from '../support/tree.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const UNSORTED = torrent(unsorted(['pieces', H20], ['name', 'a'], ['piece length', PIECE], ['length', 5]));

let there: typeof here;

async function content(t: TestContext): Promise<string> {
  const pathRoot = path.join(await temporaryFolder(t), 'a');
  await mkdir(pathRoot);
  await writeFile(path.join(pathRoot, 'b'), Buffer.alloc(3 * PIECE, 7));
  await writeFile(path.join(pathRoot, 'c'), 'c');
  return pathRoot;
}

describe('another copy of the package', () => {
  let outfile: string;
  before(async () => {
    outfile = path.join(ROOT, `build/js/copy-${process.pid}.mjs`);
    const banner = {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    };
    const entryPoints = [path.join(ROOT, 'src/index.ts')];
    const options = { bundle: true, platform: 'node', format: 'esm', minify: true, packages: 'external' } as const;
    await build({ ...options, entryPoints, outfile, banner });
    there = (await import(pathToFileURL(outfile).href)) as typeof here;
    assert.notEqual(there.Torrent, here.Torrent);
  });

  after(() => rm(outfile));

  it('has torrents that are instances of Torrent, and other objects are not', () => {
    const [own, foreign] = [here.Torrent.fromBytes(torrent(single)), there.Torrent.fromBytes(torrent(single))];
    for (const one of [own, foreign]) {
      for (const Class of [here.Torrent, there.Torrent, here.TorrentBase, there.TorrentBase]) {
        assert.ok(one instanceof Class);
        for (const other of [null, 1, {}, { ...one }, Object.create(one), new Proxy(one, {})])
          assert.ok(!((other as object) instanceof Class));
      }
      const { pieces } = one.info as here.InfoDictV1;
      assert.ok(pieces instanceof here.HashList && pieces instanceof there.HashList);
    }
    assert.ok(!(own instanceof here.HashList));
  });

  it('has torrents that are edited, rebuilt and compared', () => {
    const [own, foreign] = [here.Torrent.fromBytes(UNSORTED), there.Torrent.fromBytes(UNSORTED)];
    const edited = here.edit(foreign, { comment: 'c' });
    assert.deepEqual([edited.comment, edited.infohashV1], ['c', own.infohashV1]);
    assert.deepEqual(
      Buffer.from(here.edit(foreign, { name: 'b' }).bencode()),
      Buffer.from(here.edit(own, { name: 'b' }).bencode()),
    );
    assert.equal(here.Torrent.fromDecoded(foreign).infohashV1, own.infohashV1);
    assert.equal(here.Torrent.fromDecoded({ info: { ...foreign.info } }).nPieces, 1);
    assert.ok(is(foreign.info, here.InfoDictV1));
    assert.deepEqual(here.differences(own, foreign), []);
    assert.equal(new here.TorrentCreate({ info: foreign.info }).info.pieces?.length, 1);
  });

  it('has torrents that are verified and updated, and drafts that are planned', async (t) => {
    const pathRoot = await content(t);
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      const draft = new there.TorrentCreate({ pathRoot, pieceLength: PIECE });
      assert.ok(draft instanceof here.TorrentCreate);
      const foreign = await draft.generate({ version, engine: here.nodeEngine() });
      assert.ok((await here.verify(foreign, pathRoot)).ok);
      if (version !== 'v1') assert.equal((await here.update(foreign, pathRoot)).torrent.infohashV2, foreign.infohashV2);
      const plan = await here.planParts(draft, { version });
      assert.equal(plan.files.length.length, 2);
    }
  });

  it('has engines that are trusted, and errors that are instances', () => {
    assert.ok(isOwnEngine(there.nodeEngine()));
    assert.ok(!isOwnEngine({ ...there.nodeEngine() }));
    const caught = (action: () => unknown): unknown => {
      try {
        return action();
      } catch (error) {
        return error;
      }
    };
    const invalid = caught(() => there.Torrent.fromBytes(Buffer.from('d4:infodee')));
    const limit = caught(() => there.decode(Buffer.from('lleee'), { limits: { depth: 1 } }));
    const bencode = caught(() => there.decode(Buffer.from('x')));
    for (const [error, ...classes] of [
      [invalid, here.ValidationError, here.MetainfoError, Error],
      [limit, here.LimitError, here.MetainfoError],
      [bencode, here.BencodeError, here.MetainfoError],
      [new there.AbortError(AbortSignal.abort()), here.AbortError, here.MetainfoError],
    ] as unknown as [unknown, ...(typeof Error)[]][]) {
      for (const Class of classes) assert.ok(error instanceof Class, `${String(error)} ${Class.name}`);
      for (const Class of [here.PartError, TypeError]) assert.ok(!(error instanceof Class));
    }
    assert.ok(!(bencode instanceof here.ValidationError) && !({} instanceof here.MetainfoError));
    class Mine extends here.MetainfoError {}
    const mine = new Mine('ERR_READ', 'mine');
    assert.ok(mine instanceof Mine && mine instanceof there.MetainfoError && !(bencode instanceof Mine));
  });

  it('gives raw bencode that is encoded', () => {
    assert.equal(Buffer.from(here.encode([new there.RawBencode(Buffer.from('i1e'))])).toString(), 'li1ee');
  });
});

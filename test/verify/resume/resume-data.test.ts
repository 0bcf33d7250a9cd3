import assert from 'node:assert/strict';
import { rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { decode } from '../../../src/bencode/decode.ts';
import { encode } from '../../../src/bencode/encode.ts';
import type { BencodeMap, Encodable } from '../../../src/bencode/value.ts';
import { layerRoots } from '../../../src/hash/merkle.ts';
import {
  isPadFile,
  type MetainfoError,
  type ResumeClient,
  resumeData,
  Torrent,
  TorrentCreate,
  type TorrentVersion,
  type VerifyReport,
  verify,
} from '../../../src/index.ts';
import { noise } from '../../hash/reference.ts';
import { libtorrentMissing } from '../../support/external.ts';
import { LibtorrentOracle } from '../../support/libtorrent.ts';
import { runs } from '../../support/runs.ts';
import { temporaryFolder, writeTree } from '../../support/tree.ts';

const PIECE = 16_384;
const VERSIONS: readonly TorrentVersion[] = ['v1', 'v2', 'hybrid'];
const TIME = new Date('2026-01-02T03:04:05Z');
const SECONDS = TIME.getTime() / 1000;

interface Case {
  torrent: Torrent;
  folder: string;
  report: VerifyReport;
  good: boolean[];
}

/** Content of these lengths, verified, with a random piece layout in the report: every piece layout can occur. */
const cases = fc.record({
  lengths: fc.array(fc.constantFrom(0, 1, 5, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 5 * PIECE + 7), {
    minLength: 1,
    maxLength: 8,
  }),
  version: fc.constantFrom(...VERSIONS),
  padding: fc.boolean(),
  isSingle: fc.boolean(),
  bits: fc.infiniteStream(fc.boolean()),
});
type Given = typeof cases extends fc.Arbitrary<infer T> ? T : never;

let count = 0;

async function caseOf(root: string, { lengths, version, padding, isSingle, bits }: Given): Promise<Case> {
  count += 1;
  const folder = path.join(root, String(count), 'content of é');
  // All files empty is no torrent.
  const sizes = lengths.some((length) => length > 0) ? lengths : [...lengths, 9];
  const names = sizes.map((_, i) => (i % 3 === 0 ? `sub ${i % 2}/f${i}` : `f${i}`));
  const tree = isSingle ? { 'content of é': noise(Math.max(1, sizes[0] as number), 1) } : {};
  await writeTree(
    isSingle ? path.dirname(folder) : folder,
    isSingle ? tree : Object.fromEntries(names.map((name, i) => [name, noise(sizes[i] as number, i)])),
  );
  const draft = new TorrentCreate({ pathRoot: folder, pieceLength: PIECE, announce: 'http://127.0.0.1:1/a' });
  const torrent = await draft.generate({ version, padding: version === 'v1' && padding });
  const report = await verify(torrent, folder);
  const good = [...bits.take(torrent.nPieces)];
  const bitfield = new Uint8Array(report.bitfield.length);
  for (const [piece, bit] of good.entries())
    if (bit) bitfield[piece >> 3] = (bitfield[piece >> 3] as number) | (0x80 >> (piece & 7));
  return { torrent, folder, report: { ...report, bitfield }, good };
}

/** The only file of resume data with that ending, decoded. */
async function fieldsOf({ torrent, report, folder }: Case, client: ResumeClient, path = folder): Promise<BencodeMap> {
  const files = await resumeData(torrent, report, { client, path, time: TIME });
  return decode(files.at(-1)?.bytes as Uint8Array).value as BencodeMap;
}

const text = (value: unknown) => Buffer.from(value as Uint8Array).toString();

describe('resumeData', () => {
  describe('for libtorrent', { skip: libtorrentMissing() }, () => {
    let oracle: LibtorrentOracle;
    before(() => {
      oracle = new LibtorrentOracle();
    });
    after(() => oracle.close());

    it('says to libtorrent which pieces are good and where each file is', async (t) => {
      const root = await temporaryFolder(t);
      const property = fc.asyncProperty(cases, async (given) => {
        const one = await caseOf(root, given);
        const { torrent, folder, good, report } = one;
        const [file] = await resumeData(torrent, report, { client: 'libtorrent', path: folder, time: TIME });
        await writeFile(path.join(root, 'x'), file?.bytes as Uint8Array);
        const answer = await oracle.resume(path.join(root, 'x'));
        assert.deepEqual([answer.v1, answer.v2], [torrent.infohashV1, torrent.infohashV2]);
        assert.deepEqual(answer.have, good);
        assert.deepEqual([answer.seconds, answer.paused, answer.trackers], [SECONDS, false, ['http://127.0.0.1:1/a']]);
        // libtorrent's own list says which index a file has.
        const renamed = new Map(answer.renamed);
        const places = (answer.paths as (string | null)[]).map((own, i) => [own, renamed.get(i) ?? null]);
        const isPlaced = places.every(([own, place]) =>
          own == null ? place === null : path.join(answer.save, place ?? '') === path.join(path.dirname(folder), own),
        );
        assert.ok(isPlaced, JSON.stringify(places));
        assert.equal(places.filter(([own]) => own !== null).length, torrent.nFiles);
      });
      await fc.assert(property, { numRuns: runs(60) });
    });
  });

  it('for rtorrent has the pieces, times and entries of the v1 file list', async (t) => {
    const root = await temporaryFolder(t);
    const property = fc.asyncProperty(cases, async (given) => {
      fc.pre(given.version !== 'v2');
      const one = await caseOf(root, given);
      const { torrent, good, folder } = one;
      const fields = await fieldsOf(one, 'rtorrent');
      const resume = fields.get('libtorrent_resume') as BencodeMap;
      const bitfield = resume.get('bitfield') as number | Uint8Array;
      if (typeof bitfield === 'number')
        assert.ok(bitfield === (good[0] ? good.length : 0) && good.every((bit) => bit === good[0]));
      else assert.deepEqual([...bitfield], [...one.report.bitfield]);
      const { info } = torrent as Torrent & { torrentVersion: 'v1' };
      const list = info.files ?? [{ length: info.length as number, path: [info.name] }];
      let start = 0;
      const expected = await Promise.all(
        list.map(async (item) => {
          const [first, end] = [start, start + item.length];
          start = end;
          const holds = (piece: number) => piece * PIECE < end && (piece + 1) * PIECE > first && item.length > 0;
          const completed = good.filter((isGood, piece) => isGood && holds(piece)).length;
          const file = info.files ? path.join(folder, ...item.path) : folder;
          const mtime = isPadFile(item) ? -1 : Math.floor((await stat(file)).mtimeMs / 1000);
          return { completed, mtime, priority: 1 };
        }),
      );
      const files = resume.get('files') as BencodeMap[];
      assert.deepEqual(
        files.map((file) => Object.fromEntries(file)),
        expected,
      );
      const state = fields.get('rtorrent') as BencodeMap;
      assert.equal(text(state.get('directory')), given.isSingle ? path.dirname(folder) : folder);
      assert.equal(state.get('chunks_done'), good.filter(Boolean).length);
      // It stays the same torrent, and every other entry is kept.
      const bytes = encode(fields);
      assert.equal(Torrent.fromBytes(bytes).infohashV1, torrent.infohashV1);
      fields.delete('rtorrent');
      fields.delete('libtorrent_resume');
      assert.deepEqual(encode(fields), torrent.bencode());
    });
    await fc.assert(property, { numRuns: runs(60) });
  });

  const given: Given = {
    lengths: [PIECE + 1, 5, 0],
    version: 'hybrid',
    padding: false,
    isSingle: false,
    bits: fc.stream(
      (function* () {
        for (;;) yield true;
      })(),
    ),
  };

  it('names files by an infohash', async (t) => {
    const root = await temporaryFolder(t);
    for (const version of VERSIONS) {
      const { torrent, report, folder } = await caseOf(root, { ...given, version });
      const { infohashV1, infohashV2 } = torrent;
      const id = (infohashV2 ?? infohashV1)?.slice(0, 40);
      const namesFor = async (client: ResumeClient) =>
        (await resumeData(torrent, report, { client, path: folder })).map(({ name }) => name);
      assert.deepEqual(await namesFor('qbittorrent'), [`${id}.torrent`, `${id}.fastresume`]);
      assert.deepEqual(await namesFor('libtorrent'), [`${id}.fastresume`]);
      if (infohashV1) assert.deepEqual(await namesFor('rtorrent'), [`${infohashV1.toUpperCase()}.torrent`]);
      else await assert.rejects(namesFor('rtorrent'), { code: 'ERR_INVALID_ARGUMENT', message: /cannot read v2/ });
    }
  });

  it('gives qBittorrent the unchanged torrent, and a save path of its own', async (t) => {
    const one = await caseOf(await temporaryFolder(t), given);
    const [torrentFile] = await resumeData(one.torrent, one.report, { client: 'qbittorrent', path: one.folder });
    assert.deepEqual(torrentFile?.bytes, one.torrent.bencode());
    const fields = await fieldsOf(one, 'qbittorrent');
    assert.equal(text(fields.get('qBt-savePath')), path.dirname(one.folder));
    assert.equal(text(fields.get('save_path')), path.dirname(one.folder));
    assert.equal(fields.get('qBt-seedStatus'), 1);
    assert.equal(fields.has('info'), false);
  });

  it('tells the client the folder that it sees, which need not be here', async (t) => {
    const root = await temporaryFolder(t);
    const cases = [await caseOf(root, given), await caseOf(root, { ...given, isSingle: true })] as const;
    for (const [i, { torrent, report, folder }] of cases.entries())
      for (const [client, savePath, expected] of [
        ['qbittorrent', '/downloads', '/downloads'],
        ['libtorrent', 'D:\\films\\', 'D:\\films\\'],
        ['rtorrent', '/downloads/', i === 0 ? `/downloads/${path.basename(folder)}` : '/downloads/'],
      ] as const) {
        const files = await resumeData(torrent, report, { client, path: folder, savePath });
        const fields = decode(files.at(-1)?.bytes as Uint8Array).value as BencodeMap;
        const state = fields.get('rtorrent') as BencodeMap | undefined;
        assert.equal(text(state ? state.get('directory') : fields.get('save_path')), expected);
        if (client === 'qbittorrent') assert.equal(text(fields.get('qBt-savePath')), expected);
        if (!state)
          assert.deepEqual(fields.get('mapped_files'), (await fieldsOf(cases[i] as never, client)).get('mapped_files'));
      }
    const [{ torrent, report, folder }] = cases;
    for (const savePath of ['downloads', '', './x', 'C:x', '/a\0b', 5])
      await assert.rejects(
        resumeData(torrent, report, { client: 'libtorrent', path: folder, savePath: savePath as string }),
        {
          code: 'ERR_INVALID_ARGUMENT',
          message: /savePath.* an absolute path/,
        },
      );
  });

  it('knows a renamed root and the folder of a single file', async (t) => {
    const root = await temporaryFolder(t);
    const album = await caseOf(root, given);
    const other = path.join(root, 'other');
    await rename(album.folder, other);
    const libtorrent = await fieldsOf(album, 'libtorrent', other);
    assert.equal(text(libtorrent.get('save_path')), root);
    assert.deepEqual((libtorrent.get('mapped_files') as Uint8Array[]).map(text).filter(Boolean), [
      ...album.torrent.files.map((file) => `other/${file.path}`),
    ]);
    assert.equal(
      text(((await fieldsOf(album, 'rtorrent', other)).get('rtorrent') as BencodeMap).get('directory')),
      other,
    );

    const single = await caseOf(root, { ...given, isSingle: true });
    const parent = path.dirname(single.folder);
    for (const place of [single.folder, parent]) {
      const fields = await fieldsOf(single, 'libtorrent', place);
      assert.equal(text(fields.get('save_path')), parent);
      assert.deepEqual((fields.get('mapped_files') as Uint8Array[]).map(text).filter(Boolean), ['content of é']);
      const { torrent } = single;
      const state = (await fieldsOf(single, 'rtorrent', place)).get('rtorrent') as BencodeMap;
      assert.equal(text(state.get('directory')), parent, torrent.name);
    }
    const renamed = path.join(parent, 'renamed');
    await rename(single.folder, renamed);
    const fields = await fieldsOf(single, 'libtorrent', renamed);
    assert.deepEqual((fields.get('mapped_files') as Uint8Array[]).map(text).filter(Boolean), ['renamed']);
    await assert.rejects(fieldsOf(single, 'rtorrent', renamed), {
      code: 'ERR_INVALID_ARGUMENT',
      message: /content of é, but the file is called renamed/,
    });
  });

  it('takes times of the check, and none for files that are missing, unreadable or links', async (t) => {
    const root = await temporaryFolder(t);
    const one = await caseOf(root, { ...given, version: 'v1', lengths: [5, 5, 5, 5] });
    const [gone, outside, changed] = one.torrent.files.map((file) => path.join(one.folder, file.path)) as [
      string,
      string,
      string,
    ];
    await rm(gone);
    await rm(outside);
    await symlink(root, outside);
    await utimes(changed, 1_000_000, 1_000_000.75);
    const report = await verify(one.torrent, one.folder);
    await utimes(changed, 7, 7);
    const resume = (await fieldsOf({ ...one, report }, 'rtorrent')).get('libtorrent_resume') as BencodeMap;
    const times = (resume.get('files') as BencodeMap[]).map((file) => file.get('mtime'));
    assert.deepEqual(times.slice(0, 3), [-1, -3, 1_000_000]);
    assert.equal(report.files[0] && 'mtimeMs' in report.files[0], false);
  });

  it('has no time of a symbolic link of the torrent', async (t) => {
    const root = await temporaryFolder(t);
    const folder = path.join(root, 'linked');
    await writeTree(folder, { a: 20 });
    await symlink('a', path.join(folder, 'b'));
    const torrent = await new TorrentCreate({ pathRoot: folder, symlinks: 'store', pieceLength: PIECE }).generate({
      version: 'v1',
    });
    const report = await verify(torrent, folder);
    const fields = await fieldsOf({ torrent, folder, report, good: [true] }, 'rtorrent');
    const files = (fields.get('libtorrent_resume') as BencodeMap).get('files') as BencodeMap[];
    assert.deepEqual(
      files.map((file) => file.get('mtime')).filter((time) => time === -3),
      [-3],
    );
  });

  it('replaces entries of a hostile torrent that rtorrent would obey', async (t) => {
    const one = await caseOf(await temporaryFolder(t), { ...given, version: 'v1' });
    const fields = new Map<string, Encodable>(decode(one.torrent.bencode()).value as BencodeMap);
    fields.set('rtorrent', new Map([['directory', '/etc']]));
    fields.set('libtorrent_resume', new Map([['bitfield', 1]]));
    const torrent = Torrent.fromBytes(encode(fields));
    const made = await fieldsOf({ ...one, torrent }, 'rtorrent');
    assert.equal(text((made.get('rtorrent') as BencodeMap).get('directory')), one.folder);
  });

  it('needs little memory for a file that says to be huge', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { huge: 1 });
    const [length, pieceLength] = [2 ** 46, 2 ** 30];
    const layer = noise((length / pieceLength) * 32, 1);
    const root = Buffer.from(layerRoots([layer], pieceLength / PIECE));
    const leaf = new Map<string, Encodable>([
      ['length', length],
      ['pieces root', root],
    ]);
    const info = new Map<string, Encodable>([
      ['file tree', new Map([['huge', new Map([['', leaf]])]])],
      ['meta version', 2],
      ['name', 'huge'],
      ['piece length', pieceLength],
    ]);
    const layers = new Map<string, Encodable>([[root.toString('latin1'), layer]]);
    const torrent = Torrent.fromBytes(
      encode(
        new Map<string, Encodable>([
          ['info', info],
          ['piece layers', layers],
        ]),
      ),
    );
    const report = await verify(torrent, path.join(folder, 'huge'));
    const fields = await fieldsOf({ torrent, report, folder, good: [] }, 'libtorrent');
    const [tree] = fields.get('trees') as BencodeMap[];
    assert.deepEqual(Buffer.from(tree?.get('hashes') as Uint8Array), layer);
    assert.equal(text(tree?.get('mask')), '0'.repeat(2 ** 16 - 1) + '1'.repeat(2 ** 16));
  });

  it('is refused for complete content that lacks an empty file or a stored link', async (t) => {
    const root = path.join(await temporaryFolder(t), 'root');
    await writeTree(root, { a: noise(PIECE), empty: 0 });
    await symlink('a', path.join(root, 'link'));
    const torrent = await new TorrentCreate({ pathRoot: root, symlinks: 'store' }).generate({ version: 'v1' });
    const refused = async () => {
      const report = await verify(torrent, root);
      return resumeData(torrent, report, { client: 'libtorrent', path: root }).then(
        () => null,
        (error: MetainfoError) => error.message,
      );
    };
    assert.equal(await refused(), null);
    await rm(path.join(root, 'link'));
    assert.match((await refused()) ?? '', /without the link link to a: make them first\.$/);
    await rm(path.join(root, 'empty'));
    assert.match((await refused()) ?? '', /without the empty file empty and 1 more: /);
    // A client downloads the rest, and makes these files itself.
    await rm(path.join(root, 'a'));
    assert.equal(await refused(), null);
  });

  it('names files as they are on disk, also in bytes', { skip: process.platform !== 'linux' }, async (t) => {
    const root = path.join(await temporaryFolder(t), 'root');
    await writeTree(root, { abcd: noise(9), film: noise(8) });
    const made = await new TorrentCreate({ pathRoot: root }).generate({ version: 'v1' });
    // The name of the first file in Latin-1.
    const bytes = Buffer.from(made.bencode());
    bytes.set(Buffer.from('caf\xe9', 'latin1'), bytes.indexOf('abcd'));
    const torrent = Torrent.fromBytes(bytes, { context: { profile: 'compat' } });
    await rename(path.join(root, 'abcd'), Buffer.concat([Buffer.from(`${root}/caf`), Buffer.of(0xe9)]));
    const report = await verify(torrent, root);
    assert.deepEqual([report.ok, report.files[0]?.foundAs], [true, 'caf\udce9']);
    const [rtorrent] = await resumeData(torrent, report, { client: 'rtorrent', path: root });
    assert.ok(rtorrent);
    await rename(path.join(root, 'film'), path.join(root, 'film.!qB'));
    const now = await verify(torrent, root);
    const fields = await fieldsOf({ torrent, report: now, folder: root, good: [] }, 'libtorrent');
    assert.deepEqual(
      (fields.get('mapped_files') as Uint8Array[]).map((name) => Buffer.from(name).toString('latin1')),
      ['root/caf\xe9', 'root/film.!qB'],
    );
    await assert.rejects(resumeData(torrent, now, { client: 'rtorrent', path: root }), {
      code: 'ERR_INVALID_ARGUMENT',
    });
  });

  it('rejects reports that prove nothing', async (t) => {
    const root = await temporaryFolder(t);
    const one = await caseOf(root, given);
    const other = await caseOf(root, { ...given, lengths: [3 * PIECE] });
    const fast = await verify(one.torrent, one.folder, { fast: true });
    const cut = { ...one.report, bitfield: one.report.bitfield.subarray(1) };
    const reports: [unknown, RegExp][] = [
      [fast, /full check/],
      [other.report, /for this torrent/],
      [cut, /for this torrent/],
      [{}, /for this torrent/],
      [null, /for this torrent/],
      [undefined, /report must be/],
    ];
    for (const [report, message] of reports) {
      const made = resumeData(one.torrent, report as VerifyReport, { client: 'libtorrent', path: one.folder });
      await assert.rejects(made, { code: 'ERR_INVALID_ARGUMENT', message });
    }
  });

  it('checks its options', async (t) => {
    const { torrent, report, folder } = await caseOf(await temporaryFolder(t), given);
    for (const options of [
      undefined,
      {},
      { path: folder },
      { client: 'utorrent', path: folder },
      { client: 'rtorrent' },
      { client: 'rtorrent', path: folder, time: new Date(Number.NaN) },
      { client: 'rtorrent', path: folder, force: true },
    ])
      await assert.rejects(
        resumeData(torrent, report, options as never),
        ({ code }: MetainfoError) => code === 'ERR_INVALID_ARGUMENT',
      );
    await assert.rejects(resumeData(torrent, report, { client: 'rtorrent', path: `${folder}/absent` }), {
      code: 'ERR_NOT_FOUND',
    });
  });
});

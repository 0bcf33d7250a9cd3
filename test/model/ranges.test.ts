import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { GenerateOptions } from '../../src/create/options.ts';
import { isPadFile } from '../../src/layout/padding.ts';
import type { InfoDictV1 } from '../../src/model/info-dict.ts';
import { type FileRange, lastAtMost, type V2PieceRange } from '../../src/model/ranges.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { reference } from '../bencode/reference.ts';
import { noise } from '../hash/reference.ts';
import { withinCpu } from '../support/timing.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { build, NAME, PIECE } from './build.ts';

const BLOCK = 16_384;

/** Files of sizes around blocks and pieces (of 32 KiB), also empty ones. `a/x` sorts before `a-b`. */
const FOLDER = Object.fromEntries(
  [1, 0, BLOCK, BLOCK + 1, PIECE, PIECE + 1, 3 * PIECE - 1, 5 * PIECE, 0, 7].map((size, i) => [
    ['a/x', 'a-b', 'é/ä b', 'z'][i % 4] + String(i),
    noise(size, i + 1),
  ]),
);
const CONTENTS: Record<string, Record<string, Buffer>> = {
  'a folder': FOLDER,
  'a folder of one file': { f: noise(2 * PIECE + 5) },
  'a file': { '': noise(2 * PIECE + 5) },
  'a file of one block': { '': noise(9) },
};

/** Creates a torrent of files on disk, and a function that reads them. */
async function generated(t: TestContext, content: Record<string, Buffer>, options: GenerateOptions) {
  const folder = await temporaryFolder(t);
  const single = '' in content;
  const pathRoot = path.join(folder, NAME);
  if (!single) await mkdir(pathRoot);
  await writeTree(single ? folder : pathRoot, single ? { [NAME]: content[''] as Buffer } : content);
  const torrent = await new TorrentCreate({ pathRoot, pieceLength: PIECE }).generate(options);
  // Clients write a v2 torrent of one file without the folder.
  const base = options.version === 'v2' && !single && torrent.nFiles === 1 ? pathRoot : folder;
  return { torrent, onDisk: ({ fullPath }: { fullPath: string }) => readFile(path.join(base, fullPath)) };
}

const isPad = ({ attr }: FileRange) => isPadFile({ attr });

/** The same chunks with a bit of the byte at an offset flipped. */
function withFlipped(chunks: readonly Buffer[], offset: number): Buffer[] {
  const whole = Buffer.concat(chunks);
  whole[offset] = (whole[offset] as number) ^ 1;
  return [whole];
}

/** Offsets of bytes to flip: the first, a middle and the last byte of each chunk. */
function offsetsToFlip(chunks: readonly Buffer[]): number[] {
  let start = 0;
  return chunks.flatMap(({ length }) => {
    const [first, last] = [start, start + length - 1];
    start += length;
    return length === 0 ? [] : [first, Math.floor((first + last) / 2), last];
  });
}

function rejectsChanges(validate: (chunks: Iterable<Uint8Array>) => boolean, chunks: readonly Buffer[]): void {
  for (const offset of offsetsToFlip(chunks))
    assert.ok(!validate(withFlipped(chunks, offset)), `byte ${offset} is flipped`);
  const whole = Buffer.concat(chunks);
  if (whole.length > 0) assert.ok(!validate([whole.subarray(1)]), 'a byte is missing');
  assert.ok(!validate([...chunks, Buffer.alloc(1, 1)]), 'there is one byte more');
}

const V1_OPTIONS: [title: string, options: GenerateOptions][] = [
  ['v1', { version: 'v1' }],
  ['padded v1', { version: 'v1', padding: true }],
  ['hybrid', { version: 'hybrid' }],
  ['hybrid without a tail pad', { version: 'hybrid', tailPad: false }],
];

for (const [title, options] of V1_OPTIONS) {
  describe(`v1PieceRange in ${title}`, () => {
    for (const [what, content] of Object.entries(CONTENTS)) {
      it(`covers every byte of every piece of ${what}`, async (t) => {
        const { torrent, onDisk } = await generated(t, content, options);
        const { pieces, pieceLength } = torrent.info as InfoDictV1;
        const read = new Map<string, number>();
        for (let i = 0; i < pieces.length; i += 1) {
          const piece = torrent.v1PieceRange(i);
          assert.deepEqual([piece.pieceIdx, piece.pieceHash], [i, pieces.at(i)]);
          const chunks: Buffer[] = [];
          for (const range of piece.ranges) {
            const { rangeStart, rangeEnd, length } = range;
            assert.ok(rangeStart >= 0 && rangeStart < rangeEnd && rangeEnd <= length);
            if (isPad(range)) {
              chunks.push(Buffer.alloc(rangeEnd - rangeStart));
              continue;
            }
            // Each range starts where the one before in the file ended.
            assert.equal(read.get(range.path) ?? 0, rangeStart);
            read.set(range.path, rangeEnd);
            const file = await onDisk(range);
            assert.equal(file.length, length);
            chunks.push(file.subarray(rangeStart, rangeEnd));
          }
          const size = Buffer.concat(chunks).length;
          assert.ok(size === pieceLength || i === pieces.length - 1);
          const content = chunks.filter((_, index) => !isPad(piece.ranges[index] as FileRange));
          for (const given of [chunks, content, [Buffer.concat(content)]]) assert.ok(piece.validateData(given), `${i}`);
          rejectsChanges(piece.validateData, chunks);
          rejectsChanges(piece.validateData, content);
        }
        for (const { path: name, length } of torrent.files) assert.equal(read.get(name) ?? 0, length, name);
      });
    }

    it('rejects an index without a piece', async (t) => {
      const { torrent } = await generated(t, CONTENTS['a file'] as Record<string, Buffer>, options);
      for (const index of [-1, 3, 1.5, Number.NaN, 2 ** 53, '0' as unknown as number]) {
        assert.throws(() => torrent.v1PieceRange(index), { code: 'ERR_OUT_OF_RANGE' }, String(index));
      }
    });
  });
}

for (const version of ['v2', 'hybrid'] as const) {
  describe(`v2PieceRange in ${version}`, () => {
    for (const [what, content] of Object.entries(CONTENTS)) {
      it(`covers every byte of every file of ${what}`, async (t) => {
        const { torrent, onDisk } = await generated(t, content, { version });
        for (const { path: name, length, piecesRoot } of torrent.files.filter((one) => one.length > 0)) {
          let read = 0;
          for (let i = 0; i < Math.ceil(length / PIECE); i += 1) {
            const piece = torrent.v2PieceRange(name, i);
            assert.deepEqual(shape(piece), {
              pieceIdx: i,
              path: name,
              rangeStart: i * PIECE,
              rangeEnd: Math.min(length, (i + 1) * PIECE),
              pieceLength: PIECE,
              fileSize: length,
              rootHash: piecesRoot,
            });
            const bytes = (await onDisk(piece)).subarray(piece.rangeStart, piece.rangeEnd);
            const chunks = [bytes.subarray(0, 100), bytes.subarray(100)];
            assert.ok(piece.validateData(chunks) && piece.validateData([bytes]), `${name} ${i}`);
            rejectsChanges(piece.validateData, chunks);
            read = piece.rangeEnd;
          }
          assert.equal(read, length);
        }
      });
    }

    it('is the whole file and its root for a file of at most one piece, with any index', () => {
      const torrent = Torrent.fromBytes(build({ version, content: { a: noise(PIECE), b: noise(5) } }).bytes);
      for (const name of ['a', 'b']) {
        const whole = torrent.v2PieceRange(name);
        assert.deepEqual(whole.pieceHash, whole.rootHash);
        assert.deepEqual(shape(torrent.v2PieceRange(name, 7)), shape(whole));
      }
    });

    it('is the first piece of a longer file by default', () => {
      const torrent = Torrent.fromBytes(build({ version, content: noise(2 * PIECE) }).bytes);
      assert.equal(torrent.v2PieceRange(NAME).pieceIdx, 0);
      assert.deepEqual(torrent.v2PieceRange(NAME).pieceHash, [...(torrent.pieceLayers?.values() ?? [])][0]?.at(0));
    });

    it('rejects an index without a piece, an unknown file and an empty file', () => {
      const content = { a: noise(2 * PIECE), 'd/e': Buffer.alloc(0) };
      const torrent = Torrent.fromBytes(build({ version, content }).bytes);
      for (const index of [-1, 2, 0.5, Number.NaN]) {
        assert.throws(() => torrent.v2PieceRange('a', index), { code: 'ERR_OUT_OF_RANGE' }, String(index));
      }
      for (const name of ['b', 'd', '', '/a', `${NAME}/a`, '__proto__', 'constructor']) {
        assert.throws(() => torrent.v2PieceRange(name), { code: 'ERR_NOT_FOUND', path: name });
      }
      assert.throws(() => torrent.v2PieceRange('d/e'), { code: 'ERR_INVALID_ARGUMENT', message: /empty/ });
    });
  });
}

/** A range without its hash and functions. */
function shape({ pieceHash: _, fullPath: __, webseedUrl: ___, validateData: ____, ...rest }: V2PieceRange) {
  return rest;
}

describe('piece ranges of other torrents', () => {
  it('are rejected for v1 pieces of v2 and v2 pieces of v1', () => {
    const of = (version: 'v1' | 'v2') => Torrent.fromBytes(build({ version, content: noise(5) }).bytes);
    assert.throws(() => of('v2').v1PieceRange(0), { code: 'ERR_INVALID_ARGUMENT' });
    assert.throws(() => of('v1').v2PieceRange(NAME), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('are rejected for longer files if compat accepted a torrent without piece layers', () => {
    const { bytes } = build({ version: 'v2', content: noise(2 * PIECE), top: { 'piece layers': undefined } });
    const torrent = Torrent.fromBytes(bytes, { context: { profile: 'compat' } });
    assert.throws(() => torrent.v2PieceRange(NAME), { code: 'ERR_INVALID_ARGUMENT', message: /layer/ });
  });
});

describe('fullPath and webseedUrl', () => {
  const BASES = ['http://w/', 'http://w', 'http://w/dir/', 'http://w/file.iso'];
  /** The path and the URLs of a file, which are equal by v1 and v2. */
  function placesOf(version: 'v1' | 'v2' | 'hybrid', content: Buffer | Record<string, Buffer>, name: string) {
    const torrent = Torrent.fromBytes(build({ version, content }).bytes);
    const v1 = torrent.torrentVersion === 'v2' ? null : torrent.v1PieceRange(0).ranges[0];
    const v2 = torrent.torrentVersion === 'v1' ? null : torrent.v2PieceRange(name);
    const [first, ...others] = [v1, v2].flatMap((one) =>
      one ? [{ full: one.fullPath, urls: BASES.map((base) => one.webseedUrl(base)) }] : [],
    );
    for (const other of others) assert.deepEqual(other, first, version);
    return first;
  }

  it('are the name of a single file, or the URL itself if it names the file (BEP 19)', () => {
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      assert.deepEqual(placesOf(version, noise(5), NAME), {
        full: NAME,
        urls: ['http://w/album', 'http://w', 'http://w/dir/album', 'http://w/file.iso'],
      });
    }
  });

  it('put a file of a folder below the name of the torrent, with escaped components (BEP 19)', () => {
    const name = 'é & b/100%?#.txt';
    const escaped = 'album/%C3%A9%20%26%20b/100%25%3F%23.txt';
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      assert.deepEqual(placesOf(version, { [name]: noise(5) }, name), {
        full: `${NAME}/${name}`,
        urls: [`http://w/${escaped}`, `http://w/${escaped}`, `http://w/dir/${escaped}`, `http://w/file.iso/${escaped}`],
      });
    }
  });

  it('refuse a base that no path can be appended to', () => {
    const { bytes } = build({ version: 'v2', content: { a: noise(5), b: noise(5) } });
    const range = Torrent.fromBytes(bytes).v2PieceRange('a');
    for (const base of ['http://w/#x', 'http://w/?x', 'http:///x', 'w', 'data:,x'])
      assert.throws(
        () => range.webseedUrl(base),
        { code: 'ERR_INVALID_ARGUMENT', message: /^files below a URL need one with a host/ },
        base,
      );
  });

  it('put one file into a folder of its name, if v1 has a list of files', () => {
    for (const version of ['v1', 'hybrid'] as const) {
      const expected = ['http://w/album/album', 'http://w/album/album'];
      const found = placesOf(version, { [NAME]: noise(5) }, NAME);
      assert.deepEqual([found?.full, found?.urls.slice(0, 2)], [`${NAME}/${NAME}`, expected], version);
    }
  });

  it('use name.utf-8 and path.utf-8 of old creators', () => {
    const info = {
      'name.utf-8': 'ä',
      files: [{ length: 5, path: ['b'], 'path.utf-8': ['ö'] }],
      length: undefined,
    };
    const torrent = Torrent.fromBytes(build({ version: 'v1', content: noise(5), info }).bytes);
    const [range] = torrent.v1PieceRange(0).ranges;
    assert.deepEqual([range?.path, range?.fullPath], ['ö', 'ä/ö']);
    assert.deepEqual(torrent.files[0]?.path, 'ö');
    const single = Torrent.fromBytes(build({ version: 'v1', content: noise(5), info: { 'name.utf-8': 'ä' } }).bytes);
    assert.equal(single.v1PieceRange(0).ranges[0]?.fullPath, 'ä');
    assert.deepEqual([single.name, single.files[0]?.path], ['ä', 'ä']);
  });
});

describe('lastAtMost', () => {
  it('returns the index of the last number that is at most the value', () => {
    const starts = Float64Array.of(0, 5, 5, 5, 9, 2 ** 53 - 1);
    const cases: [value: number, index: number][] = [
      [0, 0],
      [4, 0],
      [5, 3],
      [8, 3],
      [9, 4],
      [2 ** 53 - 2, 4],
      [2 ** 53 - 1, 5],
    ];
    for (const [value, index] of cases) assert.equal(lastAtMost(starts, value), index, String(value));
    assert.equal(lastAtMost(Float64Array.of(0), 7), 0);
  });
});

describe('piece ranges in a torrent of 100,000 files', () => {
  const COUNT = 100_000;
  const LOOKUPS = 1000;
  const names = Array.from({ length: COUNT }, (_, i) => String(i).padStart(6, '0'));

  function quickly(lookUp: (i: number) => void): void {
    lookUp(0);
    // A search through all files would take ten times as long on any machine.
    withinCpu(0.2, () => {
      for (let i = 0; i < LOOKUPS; i += 1) lookUp(i * (COUNT / LOOKUPS));
    });
  }

  it('are found quickly in v1', () => {
    const files = names.map((name) => ({ length: PIECE, path: [name] }));
    const pieces = Buffer.alloc(20 * COUNT);
    const info = { name: NAME, 'piece length': PIECE, pieces, files };
    const torrent = Torrent.fromBytes(reference({ info }));
    quickly((i) => assert.equal(torrent.v1PieceRange(i).ranges[0]?.path, names[i]));
  });

  it('are found quickly in v2', () => {
    const leaf = { '': { length: PIECE, 'pieces root': Buffer.alloc(32, 1) } };
    const tree = Object.fromEntries(names.map((name) => [name, leaf]));
    const info = { name: NAME, 'piece length': PIECE, 'meta version': 2, 'file tree': tree };
    const torrent = Torrent.fromBytes(reference({ info, 'piece layers': {} }));
    quickly((i) => assert.equal(torrent.v2PieceRange(names[i] as string).path, names[i]));
  });
});

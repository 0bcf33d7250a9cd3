import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  addPadfiles,
  firstMispadded,
  firstUnaligned,
  isPadFile,
  type PaddedFile,
  type PadNames,
  padFile,
  padNamesOf,
  padsIn,
} from '../../src/layout/padding.ts';
import { libtorrentMissing } from '../support/external.ts';
import { LibtorrentOracle } from '../support/libtorrent.ts';

const PIECE = 16;

const list = (...lengths: number[]): PaddedFile[] => lengths.map((length, i) => ({ length, path: [`f${i}`] }));
/** Lengths, those of pads negative. */
const lengths = (files: PaddedFile[]) => files.map((file) => (isPadFile(file) ? -file.length : file.length));

describe('isPadFile', () => {
  it('looks for the flag p among all flags', () => {
    const file = { path: ['.pad', '1'] };
    for (const attr of ['p', 'px', 'xp']) assert.ok(isPadFile({ ...file, attr }), attr);
    for (const attr of ['', 'x', 'lh', null]) assert.ok(!isPadFile({ ...file, attr }), String(attr));
    assert.ok(!isPadFile(file));
  });

  it('accepts an empty path', () => assert.ok(isPadFile({ path: [], attr: 'p' })));

  it('ignores names', () => assert.ok(!isPadFile({ path: ['_____padding_file_0_x'] })));
});

describe('pad files beside content in .pad', () => {
  for (const padNames of ['auto', 'libtorrent', 'unique'] as const)
    it(`never share a path with it: ${padNames}`, () => {
      for (const taken of [['.pad'], ['.pad', '15'], ['.pad', 'x']]) {
        const files = [
          { length: 1, path: ['a'] },
          { length: 1, path: taken },
          { length: 16, path: ['.pad_', 'b'] },
        ];
        const pads = addPadfiles(files, PIECE, { padNames }).filter(isPadFile);
        assert.deepEqual(new Set(pads.map(({ path }) => path[0])), new Set(['.pad__']), taken.join('/'));
      }
      const usual = addPadfiles(list(1, 1), PIECE, { padNames }).filter(isPadFile);
      assert.equal(usual[0]?.path[0], '.pad');
    });
});

describe('padsIn', () => {
  const name = '_____padding_file_0_if you see this file, please update to BitComet 0.85 or above____';
  const named = (length: number): PaddedFile => ({ length, path: ['a', name] });
  const [a, b] = list(5, 20) as [PaddedFile, PaddedFile];
  const cases: [what: string, files: PaddedFile[], pads: number[]][] = [
    ['pad files by their flags', [a, padFile(11), b], [1]],
    ['files with the name of BitComet that end at the end of a piece', [a, named(11), b, named(12)], [1, 3]],
    ['no file of that name that ends elsewhere', [a, named(10), b], []],
    ['no file of that name that is a piece or more', [a, named(27), b], []],
    ['no empty file of that name', [{ ...a, length: 16 }, named(0), b], []],
    ['no file that has the name as a folder', [a, { length: 11, path: [name, 'a'] }, b], []],
    ['files of that name where another file has attributes', [a, named(11), { ...b, attr: 'x' }], [1]],
    ['files of that name beside pad files by their flags', [a, named(11), b, padFile(12)], [1, 3]],
    ['no file of that name that has attributes itself', [a, { ...named(11), attr: 'x' }, b], []],
    ['no file of that name that has empty attributes itself', [a, { ...named(11), attr: '' }, b], []],
  ];
  for (const [what, files, pads] of cases) {
    it(`finds ${what}`, () => {
      const isPad = padsIn(files, PIECE);
      assert.deepEqual(
        files.flatMap((file, i) => (isPad(file) ? [i] : [])),
        pads,
      );
    });
  }
});

describe('firstMispadded', () => {
  const [a, b, c] = list(5, 16, 20) as [PaddedFile, PaddedFile, PaddedFile];
  const empty: PaddedFile = { length: 0, path: ['e'] };
  const cases: [what: string, files: PaddedFile[], index: number][] = [
    ['right pad files', [a, padFile(11), b, c, padFile(12)], -1],
    ['no pad file after the last file', [a, padFile(11), b, c], -1],
    ['an empty file before a pad file', [a, empty, padFile(11), b], -1],
    ['a file within a piece', [a, b], 1],
    ['a short pad file', [a, padFile(10), b], 1],
    ['a short pad file at the end', [a, padFile(11), c, padFile(11)], 3],
    ['a long pad file at the end', [a, padFile(11), c, padFile(28)], 3],
    ['two pad files that add up', [a, padFile(5), padFile(6), b], 1],
    ['a second pad file of a piece', [a, padFile(11), padFile(16), b], 2],
    ['an empty pad file', [a, padFile(11), padFile(0), b], 2],
    ['a pad file where none is needed', [b, padFile(16), a], 1],
    ['a pad file at the start', [padFile(16), a], 0],
  ];
  for (const [what, files, index] of cases) {
    it(`returns ${index} for ${what}`, () => assert.equal(firstMispadded(files, PIECE), index));
  }
});

describe('firstUnaligned', () => {
  const pad = (length: number): PaddedFile => ({ length, path: [], attr: 'p' });
  const [a, b, c] = list(5, 16, 20) as [PaddedFile, PaddedFile, PaddedFile];
  const empty: PaddedFile = { length: 0, path: ['e'] };

  it('uses the offset of a file in the torrent, not its neighbours', () => {
    const cases: [files: PaddedFile[], index: number][] = [
      [[], -1],
      [[a], -1],
      [[a, b], 1],
      [[b, a, b], 2],
      [[a, pad(11), b, c], -1],
      [[a, pad(10), b], 2],
      // Two wrong pad files may add up to a correct start.
      [[a, pad(5), pad(6), b], -1],
      // An empty file may start anywhere, also between a file and its pad file.
      [[a, empty, pad(11), b], -1],
      [[a, empty, b], 2],
      [[a, empty], -1],
    ];
    for (const [files, index] of cases) assert.equal(firstUnaligned(files, PIECE), index, JSON.stringify(files));
  });
});

describe('addPadfiles', () => {
  const padded: [given: number[], expected: number[], withoutTail: number[]][] = [
    [
      [5, 20],
      [5, -11, 20, -12],
      [5, -11, 20],
    ],
    // Files of whole pieces need no pad file.
    [
      [16, 32, 48],
      [16, 32, 48],
      [16, 32, 48],
    ],
    [
      [16, 1],
      [16, 1, -15],
      [16, 1],
    ],
    [
      [1, 16],
      [1, -15, 16],
      [1, -15, 16],
    ],
    // Empty files get no pad file, but one may follow them.
    [
      [0, 5, 0, 6, 0],
      [0, 5, -11, 0, 6, -10, 0],
      // libtorrent puts it directly before the file that it aligns.
      [0, 5, 0, -11, 6, 0],
    ],
    [
      [5, 0],
      [5, -11, 0],
      [5, 0],
    ],
    [
      [0, 5],
      [0, 5, -11],
      [0, 5],
    ],
    [
      [0, 0],
      [0, 0],
      [0, 0],
    ],
    // A list of one file has none, whatever its length.
    [[5], [5], [5]],
    [[16], [16], [16]],
    [[0], [0], [0]],
    [[], [], []],
  ];
  for (const [given, expected, withoutTail] of padded) {
    it(`turns ${JSON.stringify(given)} into ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(lengths(addPadfiles(list(...given), PIECE)), expected);
      assert.deepEqual(lengths(addPadfiles(list(...given), PIECE, { tailPad: true })), expected);
      assert.deepEqual(lengths(addPadfiles(list(...given), PIECE, { tailPad: false })), withoutTail);
    });
  }

  it('names pad files by their length, with numbers where a name repeats or everywhere', () => {
    const paths = (files: PaddedFile[], padNames?: PadNames) =>
      addPadfiles(files, PIECE, { padNames }).flatMap(({ attr, path }) => (attr === 'p' ? [path.join('/')] : []));
    const files = list(5, 20, 21, 5);
    assert.deepEqual(paths(files), ['.pad/11', '.pad/12', '.pad/11.1', '.pad/11.2']);
    assert.deepEqual(paths(files, 'auto'), paths(files));
    assert.deepEqual(paths(files, 'libtorrent'), ['.pad/11', '.pad/12', '.pad/11', '.pad/11']);
    assert.deepEqual(paths(files, 'unique'), ['.pad/11.1', '.pad/12.1', '.pad/11.2', '.pad/11.3']);
    // Not in a folder of the files, nor below a file.
    const taken = [...files, { length: 5, path: ['.pad', '11.1'] }, { length: 5, path: ['.pad_'] }];
    assert.equal(paths(taken, 'unique')[0], '.pad__/11.1');
    for (const given of [files, taken]) {
      for (const padNames of ['auto', 'libtorrent', 'unique'] as const)
        assert.equal(padNamesOf(addPadfiles(given, PIECE, { padNames })), padNames);
    }
    // Where no name repeats, auto is libtorrent.
    assert.equal(padNamesOf(addPadfiles(list(5, 20), PIECE, { padNames: 'libtorrent' })), 'auto');
    assert.equal(padNamesOf(list(5, 20)), 'auto');
  });

  it('removes existing pad files, also those with more flags, and from a list with one file', () => {
    const old: PaddedFile = { length: 3, path: ['.pad', '3'], attr: 'xp' };
    const [a, b] = list(5, 20) as [PaddedFile, PaddedFile];
    assert.deepEqual(lengths(addPadfiles([a, old, b, old], PIECE)), [5, -11, 20, -12]);
    assert.deepEqual(addPadfiles([a, old], PIECE), [a]);
  });

  const file: fc.Arbitrary<PaddedFile> = fc
    .tuple(fc.oneof(fc.nat(100), fc.constantFrom(0, 15, 16, 17, 32)), fc.constantFrom(null, 'x', 'p'))
    .map(([length, attr]) => ({ length, path: ['x'], attr }));
  const options = fc.record({
    tailPad: fc.boolean(),
    padNames: fc.constantFrom('auto' as const, 'libtorrent' as const, 'unique' as const),
  });

  it('starts every file with content at a piece, and is idempotent', () => {
    fc.assert(
      fc.property(fc.array(file, { maxLength: 10 }), options, (files, given) => {
        const before = structuredClone(files);
        const result = addPadfiles(files, PIECE, given);
        let at = 0;
        for (const one of result) {
          if (!isPadFile(one) && one.length > 0) assert.equal(at % PIECE, 0);
          if (isPadFile(one)) assert.ok(one.length > 0 && one.length < PIECE);
          at += one.length;
        }
        const names = result.filter(isPadFile).map(({ path, attr }) => (attr === 'p' ? path.join('/') : ''));
        const plain = addPadfiles(files, PIECE, { ...given, padNames: 'libtorrent' }).filter(isPadFile);
        const hasRepeats = new Set(plain.map(({ length }) => length)).size < plain.length;
        assert.equal(new Set(names).size < names.length, given.padNames === 'libtorrent' && hasRepeats);
        if (given.padNames === 'auto' && !hasRepeats) assert.deepEqual(result.filter(isPadFile), plain);
        // The same objects in the same order.
        const content = result.filter((one) => !isPadFile(one));
        assert.deepEqual(
          content,
          files.filter((one) => !isPadFile(one)),
        );
        assert.ok(content.every((one) => files.includes(one)));
        if (given.tailPad && content.length > 1) assert.equal(at % PIECE, 0);
        assert.deepEqual(addPadfiles(result, PIECE, given), result);
        assert.deepEqual(files, before);
      }),
    );
  });

  it('pads lengths near 2^53 exactly', () => {
    const large = 2 ** 53 - 3;
    const result = addPadfiles(
      [
        { length: large, path: ['a'] },
        { length: 1, path: ['b'] },
      ],
      2 ** 24,
    );
    assert.equal(result[1]?.length, 3);
  });

  it('puts pad files where libtorrent does, with and without a tail pad', { skip: libtorrentMissing() }, async () => {
    const oracle = new LibtorrentOracle();
    const sizes = fc.array(fc.oneof(fc.nat(40_000), fc.constantFrom(0, 0, 16_384)), { minLength: 2, maxLength: 8 });
    try {
      await fc.assert(
        fc.asyncProperty(sizes, fc.boolean(), async (given, tailPad) => {
          const files = list(...given).map((file) => ({ ...file, path: ['t', ...file.path] }));
          const expected = await oracle.pads(
            files.map(({ path, length }) => [path.join('/'), length]),
            { pieceLength: 16_384, tailPad },
          );
          const names = addPadfiles(list(...given), 16_384, { tailPad, padNames: 'libtorrent' });
          assert.deepEqual(
            names.map(({ path, length }) => [`t/${path.join('/')}`, length]),
            expected,
          );
        }),
      );
    } finally {
      await oracle.close();
    }
  });
});

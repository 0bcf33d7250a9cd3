import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BencodeError } from '../../src/bencode/bencode-error.ts';
import { type DecodeOptions, decodeTrusted } from '../../src/bencode/decode.ts';
import { LimitError } from '../../src/bencode/limits.ts';
import { type BencodeMap, toKey } from '../../src/bencode/value.ts';
import { INFO } from '../../src/model/codec.ts';
import { decodeFields } from '../../src/model/field.ts';
import type { FileItem } from '../../src/model/file-item.ts';
import type { FlatFile } from '../../src/model/file-tree.ts';
import { encodeFileList, encodeFlatTree, RAW } from '../../src/model/files-codec.ts';
import { Issues } from '../../src/model/issues.ts';
import type { Profile } from '../../src/model/profile.ts';
import { latin1, type Plain, reference } from '../bencode/reference.ts';
import { runs } from '../support/runs.ts';
import { withinCpu } from '../support/timing.ts';
import { name as componentName, flatFiles } from './arbitraries.ts';

interface Read {
  files: unknown;
  tree: FlatFile[] | undefined;
  issues: unknown;
}

/** The files and the tree of an infodict, from decoded Maps or directly from the bytes. Null when it is not bencode. */
function read(info: Uint8Array, way: 'maps' | 'bytes', profile: Profile, options: DecodeOptions = {}): Read | null {
  const issues = new Issues(profile);
  let torrent: BencodeMap;
  try {
    const bytes = Buffer.concat([latin1('d4:info'), info, latin1('e')]);
    torrent = decodeTrusted(bytes, { ...options, ...(way === 'bytes' && { raw: RAW }) }).value as BencodeMap;
  } catch (error) {
    assert.ok(error instanceof BencodeError || error instanceof LimitError, String(error));
    return null;
  }
  const map = torrent.get('info');
  if (!(map instanceof Map)) return null;
  const { files, fileTree } = decodeFields(map, INFO, issues);
  return { files, tree: fileTree as FlatFile[] | undefined, issues: issues.finish() };
}

/** Checks that both ways give the same model and issues, in every profile. */
function agree(info: Uint8Array, options?: DecodeOptions): Read | null {
  let last: Read | null = null;
  for (const profile of ['default', 'compat'] as const) {
    last = read(info, 'maps', profile, options);
    const fast = read(info, 'bytes', profile, options);
    assert.deepEqual(fast, last, `${profile}: ${Buffer.from(info).toString('latin1')}`);
  }
  return last;
}

// Most entries are valid, so that the fast path is taken often; the others have every kind of mistake.
const odd = fc.constantFrom<Plain>(-1, 2n ** 60n, '', [], {}, 7, ['a', 1], latin1('\xff'), ['..'], [[]]);
const name = fc.constantFrom<Plain>(
  'a',
  'b.txt',
  '.',
  '..',
  'é',
  '\ufffd',
  '',
  'a/b',
  'C:',
  '\\x',
  'x:y',
  latin1('\xfe'),
);
const length = fc.oneof({ weight: 6, arbitrary: fc.nat() }, { weight: 1, arbitrary: fc.constant(999_999_999_999_999) });
const often = (arbitrary: fc.Arbitrary<Plain>) => fc.oneof({ weight: 8, arbitrary }, { weight: 1, arbitrary: odd });

const file: fc.Arbitrary<Plain> = fc.record(
  {
    length: often(length),
    path: often(fc.array(name, { maxLength: 3 })),
    attr: often(fc.constantFrom('p', 'x', 'l', 'lx', '')),
    'symlink path': often(fc.array(name, { minLength: 1, maxLength: 2 })),
    md5sum: odd,
  },
  { requiredKeys: ['length', 'path'], noNullPrototype: true },
);

const root = fc.constantFrom(Buffer.alloc(32, 1), Buffer.alloc(31), Buffer.alloc(32));
const leaf: fc.Arbitrary<Plain> = fc.record(
  { length: often(length), 'pieces root': often(root), attr: often(fc.constantFrom('x', 'p', 'l')), extra: odd },
  { requiredKeys: ['length'], noNullPrototype: true },
);
const key = fc.constantFrom('a', 'b', '.', '..', '\xc3\xa9', 'x:y', 'C:', 'a/b', '\xff', '\xfe', '\xef\xbf\xbd', '');
const tree: fc.Arbitrary<Plain> = fc.letrec<{ node: Plain; folder: Plain }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    { weight: 4, arbitrary: leaf.map((item): Plain => ({ '': item })) },
    { weight: 3, arbitrary: tie('folder') },
    { weight: 1, arbitrary: odd },
  ),
  folder: fc
    .uniqueArray(fc.tuple(key, tie('node')), { maxLength: 4, selector: ([one]) => one })
    .map((entries): Plain => new Map(entries)),
})).folder;

const info = fc.record(
  { files: often(fc.array(often(file), { maxLength: 4 })), 'file tree': often(tree) },
  { requiredKeys: [], noNullPrototype: true },
);

describe('decoding files directly from the bytes', () => {
  it('equals decoding from Maps', () => {
    const seen = { files: 0, tree: 0 };
    fc.assert(
      fc.property(info, (given) => {
        const result = agree(reference(given));
        if (result?.files) seen.files += 1;
        if (result?.tree) seen.tree += 1;
      }),
      { numRuns: 3000 },
    );
    assert.ok(seen.files > 100 && seen.tree > 100, JSON.stringify(seen));
  });

  it('equals decoding from Maps with any byte changed', () => {
    let accepted = 0;
    fc.assert(
      fc.property(
        info,
        fc.nat(),
        fc.oneof(fc.constantFrom(...latin1('dlie01234:-')), fc.nat(255)),
        (given, at, byte) => {
          const bytes = reference(given);
          bytes[at % bytes.length] = byte;
          if (agree(bytes)) accepted += 1;
        },
      ),
      { numRuns: 3000 },
    );
    assert.ok(accepted > 100, `${accepted} were bencode`);
  });

  it('equals decoding from Maps for a list that is not canonical', () => {
    const items = [
      'd6:lengthi1e4:pathl1:aee',
      // Keys out of order, a duplicate key, leading zeros.
      'd4:pathl1:ae6:lengthi1ee',
      'd6:lengthi1e6:lengthi2e4:pathl1:aee',
      'd6:lengthi01e4:pathl01:aee',
      'd6:lengthi-0e4:pathl1:aee',
      'd04:attr1:x6:lengthi1e4:pathl1:aee',
    ];
    for (const item of items) {
      const result = agree(latin1(`d5:filesl${item}ee`), { tolerant: true });
      assert.deepEqual([(result?.files as unknown[] | undefined)?.length, result?.issues], [1, []], item);
    }
  });

  it('applies the limits of the caller', () => {
    const deep = `${'l'.repeat(150)}${'e'.repeat(150)}`;
    const limits = { depth: 200 };
    const result = agree(latin1(`d5:filesld6:lengthi1e4:pathl1:ae1:x${deep}eee`), { limits });
    assert.equal((result?.files as unknown[] | undefined)?.length, 1);
    assert.ok(agree(latin1(`d9:file treed1:ad0:d6:lengthi1e1:x${deep}eeee`), { limits })?.tree);
    // Also for values of the wrong type.
    assert.ok(agree(latin1(`d9:file tree${deep}e`), { limits }));
    const long = `i${'9'.repeat(150)}e`;
    assert.ok(agree(latin1(`d5:filesld6:lengthi1e4:pathl1:ae1:x${long}eee`), { limits: { digits: 150 } }));
  });

  it('keeps the order of the files', () => {
    const files = ['b', 'a', 'c'].map((one) => ({ length: 1, path: [one] }));
    assert.deepEqual(
      agree(reference({ files }))?.files,
      files.map((one) => ({ attr: null, ...one })),
    );
  });

  it('reads names that are not UTF-8 in linear time in compat', () => {
    // All names differ, and all read as three replacement characters.
    const bytes = Array.from({ length: 40 ** 3 }, (_, i) => [i % 40, Math.floor(i / 40) % 40, Math.floor(i / 1600)]);
    const entries = bytes.map(
      (three) => [latin1(String.fromCharCode(...three.map((byte) => 0x80 + byte))), {}] as const,
    );
    const many = new Map(entries.slice(0, 30_000).map(([one]) => [one.toString('latin1'), { '': { length: 0 } }]));
    const bencoded = reference({ 'file tree': many });
    assert.ok(withinCpu(5, () => read(bencoded, 'bytes', 'compat')?.tree));
  });
});

describe('encoding files directly to bytes', () => {
  const names = fc.array(componentName, { minLength: 1, maxLength: 3 });
  const extra = fc.constantFrom(new Map([['md5sum', latin1('x')]]), new Map([['a', 1]]));
  const optional = { attr: fc.constantFrom('p', 'x', '', '\xff'), extra };

  it('encodes a list as in BEP 3', () => {
    const item = fc.record(
      { length: fc.maxSafeNat(), path: names, pathUtf8: names, symlinkPath: names, ...optional },
      { requiredKeys: ['length', 'path'], noNullPrototype: true },
    );
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 5 }), (items) => {
        const plain = items.map(({ length, path, ...rest }) => {
          const entries: [string, Plain | undefined][] = [
            ['length', length],
            ['path', path],
            ['attr', rest.attr === undefined ? undefined : latin1(rest.attr)],
            ['path.utf-8', rest.pathUtf8],
            ['symlink path', rest.symlinkPath],
            ...((rest.extra ?? []) as Iterable<[string, Plain]>),
          ];
          return new Map(entries.filter((entry): entry is [string, Plain] => entry[1] !== undefined));
        });
        assert.deepEqual(encodeFileList(items as FileItem[]).bytes, reference(plain));
      }),
      { numRuns: runs(1000) },
    );
  });

  it('encodes a tree as in BEP 52', () => {
    const leafOf = fc.record(optional, { requiredKeys: [], noNullPrototype: true });
    fc.assert(
      fc.property(flatFiles, fc.array(leafOf, { minLength: 12, maxLength: 12 }), (files, more) => {
        const flat = files.map((one, i) => ({ ...one, ...more[i] }));
        const root = new Map<string, Plain>();
        for (const { path, length, piecesRoot, attr, extra: unknown } of flat) {
          let folder = root;
          for (const name of path.map(toKey)) {
            if (!folder.has(name)) folder.set(name, new Map());
            folder = folder.get(name) as Map<string, Plain>;
          }
          const leaf = new Map<string, Plain>((unknown ?? []) as Iterable<[string, Plain]>).set('length', length);
          if (piecesRoot) leaf.set('pieces root', piecesRoot);
          if (attr != null) leaf.set('attr', latin1(attr));
          folder.set('', leaf);
        }
        assert.deepEqual(encodeFlatTree(flat).bytes, reference(root));
      }),
      { numRuns: runs(1000) },
    );
  });

  it('encodes pad files without a path, flags of any byte, and the fields of old creators', () => {
    const items: FileItem[] = [
      { length: 5, path: [], attr: 'p' },
      { length: 0, path: ['é', '\u{1f600}'], attr: '\xff' },
      { length: 1, path: ['a'], pathUtf8: ['b'] },
      { length: 2, path: ['a', 'b'], extra: new Map([['md5sum', latin1('x')]]) },
    ];
    assert.equal(
      Buffer.from(encodeFileList(items).bytes).toString('latin1'),
      'ld4:attr1:p6:lengthi5eed4:attr1:\xff6:lengthi0e4:pathl2:\xc3\xa94:\xf0\x9f\x98\x80ee' +
        'd6:lengthi1e4:pathl1:ae10:path.utf-8l1:beed6:lengthi2e6:md5sum1:x4:pathl1:a1:beee',
    );
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { array, define, is, map, refine, type Struct, string, type } from 'superstruct';
import { TorrentCreateFields } from '../../src/create/draft-fields.ts';
import { shown } from '../../src/errors/errors.ts';
import { DateTime, Size } from '../../src/errors/guard.ts';
import { HasherConfig, V2HasherConfig } from '../../src/hashers/config.ts';
import { HashList } from '../../src/model/hash-list.ts';
import { InfoDictHybrid, InfoDictHybridCreate, InfoDictV1, InfoDictV2 } from '../../src/model/info-dict.ts';
import { fits, hashList, maybe, sparse, V1PieceLength, V2PieceLength } from '../../src/model/primitives.ts';

function check<T>(struct: Struct<T, null>, accepted: unknown[], refused: unknown[]): void {
  for (const value of accepted) assert.ok(is(value, struct), `${value} was refused`);
  for (const value of refused) assert.ok(!is(value, struct), `${value} was accepted`);
}

describe('the structs of values', () => {
  it('accept byte lengths from 0', () => {
    check(Size, [0, 1, Number.MAX_SAFE_INTEGER], [-1, 1.5, 2 ** 53, 1n, '1', null, undefined]);
  });

  it('accept a power of two as the piece length of v1', () => {
    check(V1PieceLength, [1, 1024, 16_384, 2 ** 24], [0, 3, 24_576, -16_384, null, '16384']);
  });

  it('accept a power of two from 16 KiB as the piece length of v2', () => {
    check(V2PieceLength, [16_384, 32_768, 2 ** 24], [0, 1, 8192, 24_576, null]);
  });

  it('accept a HashList of the right hash size', () => {
    const [v1, v2] = [new HashList([], 20), new HashList([], 32)];
    check(hashList(20), [v1], [v2, Buffer.alloc(20), null]);
    check(hashList(32), [v2], [v1, [Buffer.alloc(32)], undefined]);
  });

  it('accept a valid Date', () => {
    check(DateTime, [new Date(0), new Date(-1)], [new Date(Number.NaN), 0, '2020-01-01', null]);
  });
});

describe('sparse and fits', () => {
  const STRUCTS = { InfoDictHybrid, InfoDictHybridCreate, InfoDictV1, InfoDictV2, TorrentCreateFields };
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const valid: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    name: fc.string(),
    source: fc.string(),
    private: fc.boolean(),
    similar: fc.array(bytes(20), { maxLength: 2 }),
    collections: fc.array(fc.string(), { maxLength: 2 }),
    pieceLength: fc.constantFrom(16_384, 32_768),
    pieces: fc.nat(2).map((count) => new HashList(Buffer.alloc(20 * count), 20)),
    length: fc.nat(40_000),
    files: fc.constant([{ path: ['a'], length: 20_000 }]),
    metaVersion: fc.constant(2),
    fileTree: fc.constant(new Map([['a', new Map([['', { length: 20_000, piecesRoot: Buffer.alloc(32, 1) }]])]])),
    trackers: fc.array(fc.constantFrom('http://t/', 'no URL'), { maxLength: 2 }),
    announce: fc.constant('http://t/'),
    extra: fc.constant(new Map()),
    unknown: fc.nat(),
  };
  const invalid = fc.oneof(fc.constantFrom(null, undefined), fc.integer(), fc.string(), fc.array(fc.integer()));
  const fields = fc
    .subarray(Object.keys(valid))
    .chain((keys) =>
      fc.record(
        Object.fromEntries(keys.map((key) => [key, fc.oneof({ weight: 9, arbitrary: valid[key] as never }, invalid)])),
      ),
    );

  const pick = (...keys: string[]) => fc.record(Object.fromEntries(keys.map((key) => [key, valid[key] as never])));
  // One of them fits each of the structs of whole dictionaries.
  const whole = fc.oneof(
    pick('name', 'pieceLength', 'pieces', 'length'),
    pick('name', 'pieceLength', 'metaVersion', 'fileTree'),
    pick('name', 'pieceLength', 'pieces', 'length', 'metaVersion', 'fileTree'),
    // Both parts of a hybrid must have the same content.
    fc
      .tuple(pick('name', 'metaVersion', 'files', 'fileTree'), fc.constantFrom(16_384, 32_768))
      .map(([info, pieceLength]) => {
        const count = Math.ceil(20_000 / pieceLength);
        return { ...info, pieceLength, pieces: new HashList(Buffer.alloc(20 * count), 20) };
      }),
  );

  for (const [name, struct] of Object.entries(STRUCTS)) {
    it(`agree with superstruct on ${name}`, () => {
      const all = type(struct.schema as never);
      const seen = { fits: 0, differs: 0 };
      fc.assert(
        fc.property(fc.oneof({ weight: 9, arbitrary: fields }, { weight: 4, arbitrary: whole }, invalid), (value) => {
          const expected = is(value, struct as never);
          assert.equal(fits(value, struct as never), expected);
          assert.equal(is(value, sparse(all)), is(value, all));
          assert.equal(fits(value, sparse(all) as never), is(value, all));
          seen[expected ? 'fits' : 'differs'] += 1;
        }),
        { numRuns: 1000 },
      );
      assert.ok(seen.fits > 0 && seen.differs > 0, `${seen.fits} fit, ${seen.differs} do not`);
    });
  }
});

describe('fits', () => {
  /** Notes the path and the branch that superstruct gives to each rule. */
  function noting(notes: unknown[]): Struct<unknown, unknown> {
    const leaf = (name: string) =>
      define(name, (value, { path, branch }) => {
        notes.push([name, value, [...path], [...branch]]);
        return true;
      });
    const list = refine(array(leaf('item')), 'list', (value, { path, branch }) => {
      notes.push(['list', value, [...path], [...branch]]);
      return true;
    });
    const entries = map(string(), leaf('value'));
    return sparse(
      type({ list, entries, optional: maybe(leaf('optional')), inner: type({ a: leaf('a'), b: leaf('b') }) }),
    ) as unknown as Struct<unknown, unknown>;
  }

  it('gives each rule the path and the values around it that superstruct gives', () => {
    const value = { list: [1, 2], entries: new Map([['k', 'v']]), optional: 3, inner: { a: 4, b: 5 }, unknown: 6 };
    const [expected, actual]: unknown[][] = [[], []];
    assert.ok(is(value, noting(expected as unknown[])));
    assert.ok(fits(value, noting(actual as unknown[])));
    assert.equal(expected?.length, 7);
    assert.deepEqual(actual, expected);
  });

  it('lets a rule compare a field with another field', () => {
    for (const struct of [HasherConfig, V2HasherConfig])
      for (const readSize of [undefined, 16_384, 65_536])
        for (const memoryLimit of [16_384, 65_535, 65_536]) {
          const value = { paths: ['a'], pathRoot: '/', pieceLength: 16_384, readSize, memoryLimit };
          assert.equal(fits(value, struct as never), memoryLimit >= (readSize ?? 0), JSON.stringify(value));
        }
  });
});

describe('shown', () => {
  it('formats any value for a message', () => {
    const values: [value: unknown, text: string][] = [
      [undefined, 'nothing'],
      [null, 'null'],
      [7, '7'],
      [7n, '7'],
      [true, 'true'],
      ['a"\n', '"a\\"\\n"'],
      [Buffer.alloc(3), '3 bytes'],
      [new Map(), 'a dictionary'],
      [[1, 2], 'a list of 2'],
    ];
    for (const [value, text] of values) assert.equal(shown(value), text);
  });

  it('cuts the text at 80 characters', () => {
    assert.equal(shown('x'.repeat(78)).length, 80);
    assert.equal(shown('x'.repeat(1000)).length, 80);
    assert.match(shown('x'.repeat(1000)), /\.\.\.$/);
  });
});

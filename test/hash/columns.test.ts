// The addon checks every column and array that JavaScript gives it: a wrong one is an error, and nothing is read outside of it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { loadAddon } from '../../src/hash/addon.ts';

const addon = loadAddon();
const bytes = Buffer.from('a\0bcd');

const paths = (...ends: number[]) => ({ bytes, ends: Uint32Array.from(ends) });
const columns = (changes: object = {}) => ({
  paths: paths(3, 4, 5),
  lengths: Float64Array.of(1, 2, 3),
  mtimes: new Float64Array(3),
  ctimes: new Float64Array(3),
  diskPaths: null,
  ...changes,
});
/** A request to hash files on disk, of which the columns are wrong. */
const request = (changes: object, ranges?: object) => ({
  files: { root: '/no such folder', columns: columns(changes), ranges },
  version: 'v1',
  pieceLength: 16_384,
  onMissing: 'fail',
  threads: 1,
  readSize: 16_384,
  memoryLimit: 65_536,
});
/** The functions that take the columns of files, by name. */
const takers: Record<string, (changes: object) => unknown> = {
  sortFiles: (changes) => addon.sortFiles(columns(changes), true, null),
  measureFiles: (changes) => addon.measureFiles(columns(changes), null, 16_384, 100),
  encodeFileList: (changes) => addon.encodeFileList(columns(changes), null),
  encodeFileTree: (changes) => addon.encodeFileTree(columns(changes), new Uint8Array(96)),
  HashJob: (changes) => new addon.HashJob(request(changes) as never),
};

/** Takes wrong arguments of any type. */
const call = (
  name: 'layerRoots' | 'decodeFiles' | 'matchPaths' | 'encodeFileTree' | 'measureFiles',
  ...wrong: unknown[]
) => (addon[name] as (...all: unknown[]) => unknown)(...wrong);

const outOfOrder = [paths(4, 3, 5), paths(2 ** 32 - 1, 1, 5), paths(6, 5, 5), paths(0, 2 ** 31, 5)];
const wrongEnds = [
  ...outOfOrder,
  paths(3, 4, 6),
  paths(3, 5),
  { bytes: new Uint8Array(), ends: Uint32Array.of(1, 2, 3) },
];

for (const [name, take] of Object.entries(takers)) {
  it(`${name} takes no paths whose ends are out of order or outside of the bytes`, () => {
    for (const wrong of wrongEnds) assert.throws(() => take({ paths: wrong }), RangeError);
  });
  it(`${name} takes no lengths that are no numbers of bytes`, () => {
    for (const wrong of [-1, 2 ** 53, Number.POSITIVE_INFINITY])
      assert.throws(() => take({ lengths: Float64Array.of(1, wrong, 3) }), RangeError);
    assert.throws(() => take({ lengths: new Float64Array(4) }), RangeError);
    assert.throws(() => take({ lengths: new Uint8Array(3) }), TypeError);
  });
}

it('a file of unknown length can be sorted, and nothing else', async () => {
  const lengths = Float64Array.of(1, Number.NaN, 3);
  const sorted = await addon.sortFiles(columns({ lengths }), true, null);
  assert.equal(sorted.facts.totalLength, 4);
  const { sortFiles: _, ...others } = takers;
  for (const take of Object.values(others)) assert.throws(() => take({ lengths }), RangeError);
});

it('paths on disk, lower paths and paths to match are checked too', () => {
  for (const wrong of wrongEnds) {
    assert.throws(() => addon.sortFiles(columns({ diskPaths: wrong }), true, null), RangeError);
    assert.throws(() => addon.sortFiles(columns(), true, wrong), RangeError);
    assert.throws(() => new addon.HashJob(request({ diskPaths: wrong }) as never), RangeError);
  }
  for (const wrong of outOfOrder) {
    assert.throws(() => call('matchPaths', wrong, paths(3, 4, 5)), RangeError);
    assert.throws(() => call('matchPaths', paths(3, 4, 5), wrong), RangeError);
  }
});

it('ranges name files of the request, and numbers of bytes', () => {
  const ranges = (changes: object) => ({
    files: Uint32Array.of(0),
    offsets: Float64Array.of(0),
    lengths: Float64Array.of(1),
    ...changes,
  });
  const wrong = [
    { files: Uint32Array.of(3) },
    { offsets: Float64Array.of(-1) },
    { lengths: Float64Array.of(Number.NaN) },
    { lengths: new Float64Array(2) },
  ];
  for (const changes of wrong)
    assert.throws(() => new addon.HashJob(request({}, ranges(changes)) as never), RangeError);
});

it('arrays of other types are refused before they are read', () => {
  const layer = new Uint8Array(64);
  assert.throws(() => call('layerRoots', layer, new Uint8Array(1), Uint32Array.of(2), 0), TypeError);
  assert.throws(() => call('layerRoots', layer, new Float64Array(1), new Uint8Array([2]), 0), TypeError);
  assert.throws(() => call('layerRoots', new Float64Array(8), new Float64Array(1), Uint32Array.of(2), 0), TypeError);
  assert.throws(() => call('layerRoots', layer, Float64Array.of(1), Uint32Array.of(2), 0), RangeError);
  assert.throws(() => call('decodeFiles', new Float64Array(1), 0), TypeError);
  assert.throws(() => call('encodeFileTree', columns(), new Float64Array(12)), TypeError);
  assert.throws(() => call('encodeFileTree', columns(), new Uint8Array(64)), RangeError);
  assert.throws(() => call('measureFiles', columns(), null, 0, 100), RangeError);
});

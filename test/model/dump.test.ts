import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import bencode from 'bencode';
import fc from 'fast-check';
import { decode } from '../../src/bencode/decode.ts';
import { encode } from '../../src/bencode/encode.ts';
import { toStringKeys } from '../../src/model/dump.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { latin1, type Plain, reference } from '../bencode/reference.ts';
import { noise } from '../hash/reference.ts';
import { runs } from '../support/runs.ts';
import { flatFiles } from './arbitraries.ts';
import { build, type Content, PIECE } from './build.ts';

/** The bytes that the npm package `bencode` encodes a dump to. */
const byPackage = (dumped: unknown) => Buffer.from(bencode.encode(dumped));

function checkDumps(bytes: Buffer): Torrent {
  const torrent = Torrent.fromBytes(bytes);
  assert.deepEqual(byPackage(torrent.modelDumpTorrent()), bytes);
  assert.deepEqual(byPackage(torrent.modelDumpTorrent({ mode: 'str' })), bytes);
  assert.deepEqual(Buffer.from(encode(torrent.modelDumpTorrent({ mode: 'binary' }))), bytes);
  assert.deepEqual(torrent.modelDumpTorrent({ mode: 'binary' }), decode(bytes).value);
  return torrent;
}

/** Names that sort differently by bytes and by UTF-16, and names of properties of objects. */
const NAMES: Content = {
  '10': noise(5),
  '9a': noise(6),
  '__proto__/x': noise(7),
  constructor: noise(8),
  'é/ä': noise(PIECE + 1),
  '\u{e000}': noise(9),
  '\uffee': noise(10),
  '\u{1f600}': noise(3 * PIECE),
};

/** Keys on both levels that objects cannot have, or not in this order. */
const ODD: Record<string, Plain> = {
  // A computed key, because a plain one would set the prototype.
  ['__proto__']: { a: 1, ['__proto__']: 2 },
  '\ufeffbom': 1,
  '\u{e000}': 2,
  '\u{1f600}': 3,
  zz: new Map<string, Plain>([
    ['\xff', 1],
    ['a', latin1('\xfe')],
    ['\x80\x80', []],
  ]),
};

describe('modelDumpTorrent', () => {
  for (const version of ['v1', 'v2', 'hybrid'] as const) {
    it(`gives dictionaries that the npm package bencode and encode write as the torrent: ${version}`, () => {
      for (const content of [noise(3 * PIECE), NAMES]) {
        checkDumps(build({ version, content }).bytes);
        checkDumps(build({ version, content, info: ODD, top: { ...ODD, 'creation date': -5 } }).bytes);
      }
    });
  }

  it('keeps the order of many layers, whose keys are random bytes', () => {
    const content = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`f${i}`.padEnd(5), noise(PIECE + 1 + i, i + 1)]),
    );
    const sorted = Object.fromEntries(Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1)));
    const torrent = checkDumps(build({ version: 'v2', content: sorted }).bytes);
    assert.equal(torrent.pieceLayers?.size, 100);
  });

  it('has an own key for a folder named __proto__', () => {
    const { bytes } = build({ version: 'v2', content: { '__proto__/x': noise(5) } });
    const dumped = checkDumps(bytes).modelDumpTorrent() as Record<string, Record<string, object>>;
    assert.ok(Object.hasOwn(dumped['info']?.['file tree'] ?? {}, '__proto__'));
    assert.equal(({} as { x?: number }).x, undefined);
  });

  it('uses plain objects where all keys are text', () => {
    const { bytes } = build({ version: 'v1', content: noise(5), top: { comment: 'c', 'url-list': ['http://w/'] } });
    const dumped = Torrent.fromBytes(bytes).modelDumpTorrent() as Record<string, Record<string, unknown>>;
    assert.deepEqual(Object.keys(dumped), ['comment', 'info', 'url-list']);
    assert.deepEqual(dumped['url-list'], [latin1('http://w/')]);
    assert.equal(dumped['info']?.['length'], 5);
  });

  it('has bigints for integers beyond 2^53, which the npm package bencode cannot write', () => {
    const { bytes } = build({ version: 'v1', content: noise(5), top: { big: 2n ** 60n } });
    const torrent = Torrent.fromBytes(bytes);
    assert.equal((torrent.modelDumpTorrent() as Record<string, unknown>)['big'], 2n ** 60n);
    assert.deepEqual(Buffer.from(encode(torrent.modelDumpTorrent({ mode: 'binary' }))), bytes);
  });

  it('returns a new dictionary each time', () => {
    const torrent = Torrent.fromBytes(build({ version: 'v1', content: noise(5) }).bytes);
    (torrent.modelDumpTorrent() as Record<string, unknown>)['info'] = 1;
    torrent.modelDumpTorrent({ mode: 'binary' }).clear();
    assert.deepEqual(byPackage(torrent.modelDumpTorrent()), Buffer.from(torrent.bencode()));
  });

  it('dumps a torrent that was read with larger limits', () => {
    const nested = Buffer.concat([latin1('l'.repeat(150)), latin1('e'.repeat(150))]);
    const { bytes } = build({ version: 'v1', content: noise(5), top: { z: 'here' } });
    const text = bytes.toString('latin1').replace('4:here', nested.toString('latin1'));
    const torrent = Torrent.fromBytes(latin1(text), { limits: { depth: 200 } });
    assert.deepEqual(byPackage(torrent.modelDumpTorrent()), latin1(text));
  });
});

describe('toStringKeys', () => {
  // The npm package writes safe integers, and leaves out null.
  const leaf = fc.oneof(fc.maxSafeInteger(), fc.uint8Array({ maxLength: 8 }).map(Buffer.from));
  const key = fc.oneof(
    fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.constantFrom('__proto__', 'a', 'b', '1', '10', '9', '\xee\x80\x80', '\xf0\x9f\x98\x80', '\xef\xbb\xbf'),
  );
  const value = fc.letrec<{ any: Plain; map: Plain }>((tie) => ({
    any: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('any'), { maxLength: 3 }), tie('map')),
    map: fc
      .uniqueArray(fc.tuple(key, tie('any')), { maxLength: 5, selector: ([one]) => one })
      .map((entries) => new Map(entries)),
  })).map;

  it('gives values that the npm package bencode writes as the same bytes', () => {
    fc.assert(
      fc.property(value, (given) => {
        const bytes = reference(given);
        assert.deepEqual(byPackage(toStringKeys(decode(bytes).value)), bytes);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('does the same for the names of files', () => {
    fc.assert(
      fc.property(flatFiles, (files) => {
        const names = new Map(files.map(({ path }) => [Buffer.from(path.join('/')).toString('latin1'), 1]));
        assert.deepEqual(byPackage(toStringKeys(decode(reference(names)).value)), reference(names));
      }),
    );
  });
});

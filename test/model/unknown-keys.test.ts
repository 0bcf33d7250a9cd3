import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { BencodeValue } from '../../src/bencode/value.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { bencodeJson, shownValue } from '../../src/model/unknown-keys.ts';
import { detailLines, formatTorrent } from '../../src/print/print-torrent.ts';
import { type Plain, reference } from '../bencode/reference.ts';
import { noise } from '../hash/reference.ts';
import { runs } from '../support/runs.ts';
import { build, PIECE } from './build.ts';

const made = (top: Record<string, Plain>, info: Record<string, Plain> = {}) =>
  Torrent.fromBytes(build({ version: 'v1', content: noise(5), top, info }).bytes);

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

/** The bytes that a text of the JSON stands for, as its documentation says. */
const bytesOf = (text: string) => Buffer.from(text.replace(/^hex:/, ''), text.startsWith('hex:') ? 'hex' : 'utf8');

/** The decoded value that some JSON stands for. */
function decoded(json: unknown): unknown {
  if (typeof json === 'number') return json;
  if (Array.isArray(json)) return json.map(decoded);
  if (typeof json !== 'string')
    return new Map(Object.entries(json as object).map(([key, item]) => [latin1(bytesOf(key)), decoded(item)]));
  return json.startsWith('int:') ? BigInt(json.slice(4)) : new Uint8Array(bytesOf(json));
}

describe('bencodeJson', () => {
  it('gives JSON from which any value can be made again', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 9 }),
      fc.string({ unit: 'grapheme', maxLength: 9 }).map((text) => new Uint8Array(Buffer.from(text))),
      fc.constantFrom('hex:', 'hex:00', 'int:5', '__proto__', '7').map((text) => new Uint8Array(Buffer.from(text))),
    );
    const { value } = fc.letrec<{ value: BencodeValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        bytes,
        fc.maxSafeInteger(),
        fc.bigInt({ min: 2n ** 53n }),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.array(fc.tuple(bytes.map(latin1), tie('value')), { maxLength: 4 }).map((entries) => new Map(entries)),
      ),
    }));
    fc.assert(
      fc.property(value, (one) => {
        assert.deepEqual(decoded(JSON.parse(JSON.stringify(bencodeJson(one)))), one);
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('shownValue', () => {
  it('is short for any value', () => {
    let deep: BencodeValue = 0;
    for (let i = 0; i < 1000; i += 1) deep = [deep];
    const many = Array.from({ length: 1e6 }, () => new Map());
    const keys = new Map(Array.from({ length: 1e5 }, (_, i) => [`${i}`, many]));
    const long = [new Uint8Array(2 ** 20), new Uint8Array(2 ** 20).fill(0xff), new Uint8Array(2 ** 20).fill(0x61)];
    for (const one of [deep, many, keys, ...long]) {
      const text = shownValue(one);
      assert.ok(text.length <= 1300, `${text.length} characters`);
      assert.doesNotMatch(text, /\p{Cc}/u);
    }
  });
});

describe('the unknown keys of a torrent', () => {
  const extra = { md5sum: 'ab', 'x\xff': Buffer.from([0xff]) };
  const info = { name: 'n', 'piece length': PIECE, pieces: Buffer.alloc(20) };

  it('are those of every level', () => {
    const v1 = reference({
      info: {
        ...info,
        entropy: 1,
        files: [
          { length: 1, path: ['a'] },
          { length: 1, path: ['b'], ...extra },
        ],
      },
      publisher: 'me',
    });
    const { unknownKeys } = Torrent.fromBytes(v1).toJSON();
    assert.deepEqual(unknownKeys.slice(0, 3), [
      { path: ['publisher'], value: 'me' },
      { path: ['info', 'entropy'], value: 1 },
      { path: ['info', 'files', 1, 'md5sum'], value: 'ab' },
    ]);
    assert.deepEqual(unknownKeys.length, 4);
    const root = Buffer.alloc(32, 1);
    const tree = { d: { a: { '': { length: 1, 'pieces root': root, mtime: 7 } } } };
    const v2 = reference({
      info: { 'file tree': tree, 'meta version': 2, name: 'n', 'piece length': PIECE },
      'piece layers': {},
    });
    assert.deepEqual(Torrent.fromBytes(v2).toJSON().unknownKeys, [
      { path: ['info', 'file tree', 'd/a', 'mtime'], value: 7 },
    ]);
    assert.deepEqual(made({}).toJSON().unknownKeys, []);
  });

  it('are counted in short output, and have names and values at -v', () => {
    const torrent = made({ publisher: 'me\u001b[2J' }, { 'x\u202e': { a: [1] } });
    const lines = (verbose: number) =>
      [...formatTorrent(torrent, { verbose })].map((line) => line.replace(/ {2,}/, '  '));
    assert.ok(lines(0).includes('also  2 unknown keys'), lines(0).join('\n'));
    for (const verbose of [1, 2, 3]) {
      assert.ok(lines(verbose).includes('unknown key  publisher: "me\\u001b[2J"'), lines(verbose).join('\n'));
      assert.ok(lines(verbose).includes('unknown key  info.x\\u202e: {"a":[1]}'));
    }
    const ofFile = Torrent.fromBytes(reference({ info: { ...info, files: [{ length: 1, path: ['a'], ...extra }] } }));
    assert.deepEqual([...detailLines(ofFile, 1)].slice(-2), [
      'unknown key  info.files.0.md5sum: "ab"',
      'unknown key  info.files.0.xÿ: "hex:ff"',
    ]);
  });

  it('are few and short lines for hostile torrents', () => {
    const long = '\u0001'.repeat(10_000);
    const keys = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${long}${i}`, long]));
    const files = Array.from({ length: 500 }, (_, i) => ({ length: 0, path: [`${i}`], ...extra }));
    const torrent = Torrent.fromBytes(
      reference({ info: { ...info, files: [...files, { length: 1, path: ['x'] }] }, ...keys }),
    );
    const short = [...formatTorrent(torrent)];
    assert.ok(short.length <= 24);
    for (const line of short) assert.ok(line.length <= 80, `${line.length} characters`);
    const unknown = [...formatTorrent(torrent, { verbose: 3 })].filter((line) => line.startsWith('unknown key'));
    assert.equal(unknown.length, 202);
    assert.equal(unknown.filter((line) => line.endsWith('and 900 more')).length, 2);
    for (const line of unknown) assert.ok(line.length <= 2500, `${line.length} characters`);
  });
});

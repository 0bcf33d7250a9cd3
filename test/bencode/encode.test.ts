import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encode } from '../../src/bencode/encode.ts';
import { type Encodable, RawBencode, toKey } from '../../src/bencode/value.ts';
import { latin1, type Plain, reference } from './reference.ts';

const textOf = (value: Encodable) => Buffer.from(encode(value)).toString('latin1');

describe('encode', () => {
  it('writes values of every type', () => {
    assert.equal(textOf(0), 'i0e');
    assert.equal(textOf(-0), 'i0e');
    assert.equal(textOf(-12), 'i-12e');
    assert.equal(textOf(Number.MAX_SAFE_INTEGER), 'i9007199254740991e');
    assert.equal(textOf(2n ** 64n), 'i18446744073709551616e');
    assert.equal(textOf(''), '0:');
    assert.equal(textOf(new Uint8Array([0, 255])), '2:\x00\xff');
    assert.equal(textOf([]), 'le');
    assert.equal(textOf(new Map()), 'de');
    assert.equal(textOf([1, ['a', new Map([['k', [2]]])], 3]), 'li1el1:ad1:kli2eeeei3ee');
  });

  it('writes text as UTF-8 with its length in bytes', () => {
    assert.equal(textOf('é😀'), '6:\xc3\xa9\xf0\x9f\x98\x80');
  });

  it('sorts keys by their bytes', () => {
    const keys = ['b', 'a', 'aa', '', 'Z', 'é', '\u{1f600}', '\u{e000}', '\uffee', '\x7f'];
    const expected = keys.map((key) => Buffer.from(key)).sort(Buffer.compare);
    for (const order of [keys, keys.toReversed()]) {
      const text = textOf(new Map(order.map((key) => [toKey(key), 1])));
      const written = expected.map((key) => `${key.length}:${key.toString('latin1')}i1e`).join('');
      assert.equal(text, `d${written}e`);
    }
  });

  it('does not change its input', () => {
    const map = new Map([
      ['b', 1],
      ['a', 2],
    ]);
    const list = [map, 3];
    encode(list);
    assert.deepEqual([...map.keys()], ['b', 'a']);
    assert.equal(list.length, 2);
  });

  it('writes raw bencode unchanged, even if it is not canonical', () => {
    const raw = new RawBencode(latin1('d1:bi007e1:ai1ee'));
    assert.equal(
      textOf(
        new Map<string, Encodable>([
          ['info', raw],
          ['a', 'x'],
        ]),
      ),
      'd1:a1:x4:infod1:bi007e1:ai1eee',
    );
    assert.equal(textOf(raw), 'd1:bi007e1:ai1ee');
    assert.equal(textOf([1, raw, 2]), 'li1ed1:bi007e1:ai1eei2ee');
  });

  it('writes strings of any length between short ones', () => {
    for (const length of [1023, 1024, 1025, 100_000]) {
      const long = Buffer.alloc(length, 'x\xfe', 'latin1');
      assert.equal(textOf(['a', long, 'b']), `l1:a${length}:${long.toString('latin1')}1:be`, `${length} bytes`);
    }
  });

  it('writes any number of short values', () => {
    // Chunks have 1, 4, 16 and 64 KiB, so they end within lengths, keys, texts, integers and byte strings.
    for (let shift = 0; shift < 300; shift += 1) {
      const list: Plain[] = ['x'.repeat(shift)];
      for (let size = 0; size < 100_000; size += 900)
        list.push('é', new Map([['key', 123_456_789]]), Buffer.alloc(870));
      assert.deepEqual(encode(list as Encodable), reference(list));
    }
  });

  it('writes views of larger buffers', () => {
    const whole = Buffer.from('0123456789');
    assert.equal(textOf(new Uint8Array(whole.buffer, whole.byteOffset + 3, 4)), '4:3456');
  });

  it('does not recurse', () => {
    let list: Encodable = [];
    let map: Encodable = new Map();
    for (let i = 1; i < 100_000; i += 1) {
      list = [list];
      map = new Map([['', map]]);
    }
    assert.equal(textOf(list), 'l'.repeat(100_000) + 'e'.repeat(100_000));
    assert.equal(encode(map).length, 2 * 100_000 + 2 * 99_999);
  });

  it('writes plain objects and Maps with keys of bytes, nested, in byte order', () => {
    const byteKeys = new Map<string | Uint8Array, Encodable>([
      [Buffer.from([0xff]), 1],
      ['\xc3\xa9', 2],
      [Uint8Array.of(0x61), { '\u00e9': [], b: Object.assign(Object.create(null), { c: 3 }) as Encodable }],
    ]);
    assert.equal(
      Buffer.from(encode({ '\u00e9': byteKeys })).toString('latin1'),
      'd2:\xc3\xa9d1:ad1:bd1:ci3ee2:\xc3\xa9lee2:\xc3\xa9i2e1:\xffi1eee',
    );
    const twice = new Map<string | Uint8Array, Encodable>([
      ['a', 1],
      [Buffer.from('a'), 2],
    ]);
    assert.throws(() => encode(twice), { code: 'ERR_INVALID_ARGUMENT', message: /a key twice/ });
    const cyclic: Record<string, Encodable> = {};
    cyclic['a'] = cyclic;
    assert.throws(() => encode(cyclic), { code: 'ERR_INVALID_ARGUMENT', message: /contains itself/ });
  });

  it('rejects values that bencode does not have', () => {
    const values: unknown[] = [
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2 ** 53,
      -(2 ** 53),
      null,
      undefined,
      true,
      { a: undefined },
      new Date(0),
      new Uint16Array(2),
      Symbol('x'),
      () => 1,
    ];
    for (const value of values) {
      for (const given of [value, [value], new Map([['a', value]])]) {
        assert.throws(() => encode(given as Encodable), { code: 'ERR_INVALID_ARGUMENT' }, String(value));
      }
    }
  });

  it('rejects a key that is not latin1', () => {
    for (const key of ['\u0100', 'é\u{1f600}', 'a\uffff']) {
      assert.throws(() => encode(new Map([[key, 1]])), { code: 'ERR_INVALID_ARGUMENT', message: /latin1 string/ });
    }
    assert.equal(textOf(new Map([['\u00ff\u0000\n', 1]])), 'd3:\xff\x00\ni1ee');
  });
});

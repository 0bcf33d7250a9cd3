import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import bencode from 'bencode';
import fc from 'fast-check';
import { BencodeError, type BencodeFault, type DecodeLimits, decode } from '../../src/bencode/decode.ts';
import { encode } from '../../src/bencode/encode.ts';
import type { BencodeMap, BencodeValue } from '../../src/bencode/value.ts';
import { bencodeValue, latin1, reference, SAMPLE } from './reference.ts';

/** What decoding that text throws; a test fails when it throws anything else or nothing. */
function faultOf(input: Uint8Array, limits: DecodeLimits = {}): BencodeError {
  try {
    decode(input, { limits });
  } catch (error) {
    assert.ok(error instanceof BencodeError, String(error));
    return error;
  }
  return assert.fail('it was accepted');
}

const decoded = (text: string) => decode(latin1(text)).value;

const FAULTS: Record<Exclude<BencodeFault, 'limit-bytes' | 'limit-depth' | 'limit-items'>, [string, number][]> = {
  empty: [['', 0]],
  'bad-character': [
    ['x', 0],
    ['-1:a', 0],
    [':', 0],
    ['e', 0],
    [' i1e', 0],
    ['l:e', 1],
    ['d1:a?e', 4],
  ],
  'bad-length': [
    ['1x', 1],
    ['1-a', 1],
    ['l3 :abce', 2],
  ],
  'leading-zero': [
    ['01:a', 0],
    ['l00:e', 1],
    ['i007e', 0],
    ['i-01e', 0],
    ['li00ee', 1],
    ['d01:ai1ee', 1],
  ],
  'negative-zero': [
    ['i-0e', 0],
    ['d1:ai-0ee', 4],
  ],
  'bad-integer': [
    ['ie', 0],
    ['i-e', 0],
    ['i--1e', 2],
    ['i+1e', 1],
    ['i 1e', 1],
    ['i1.5e', 2],
    ['i1 e', 2],
    ['i0x1e', 2],
    [`i${'1'.repeat(101)}e`, 0],
    [`li-${'9'.repeat(101)}ee`, 1],
  ],
  'key-not-string': [
    ['di1ei2ee', 1],
    ['dle1:ae', 1],
    ['d1:ai1ede1:be', 7],
    ['d-1:ai1ee', 1],
  ],
  'missing-value': [
    ['d1:ae', 4],
    ['d1:ai1e1:be', 10],
  ],
  'duplicate-key': [
    ['d1:ai1e1:ai2ee', 7],
    ['d1:ai1e1:bi1e1:ai2ee', 13],
    ['d0:i1e0:i1ee', 6],
  ],
  'unsorted-key': [
    ['d1:bi1e1:ai2ee', 7],
    ['d2:aai1e1:ai2ee', 8],
    ['d1:\xffi1e1:ai2ee', 7],
    // U+1F600 before U+E000: the order of UTF-16, not of bytes.
    ['d4:\xf0\x9f\x98\x80i1e3:\xee\x80\x80i1ee', 10],
  ],
  'trailing-data': [
    ['i1ei2e', 3],
    ['le ', 2],
    ['0:\n', 2],
    ['dee', 2],
  ],
  truncated: [
    ['1', 1],
    ['3:ab', 0],
    ['li1e4:abe', 4],
    ['i', 1],
    ['i-', 2],
    ['i1', 2],
    ['l', 1],
    ['li1e', 4],
    ['d', 1],
    ['d1:a', 4],
    ['d1:ai1e', 7],
    ['4294967296:a', 0],
    ['99999999999999999999999999:a', 0],
    ['d18446744073709551617:ai1ee', 1],
  ],
};

describe('decode refuses', () => {
  for (const [fault, cases] of Object.entries(FAULTS)) {
    it(fault, () => {
      for (const [input, offset] of cases) {
        const error = faultOf(latin1(input));
        assert.deepEqual([error.fault, error.offset], [fault, offset], JSON.stringify(input));
      }
    });
  }

  it('with an error that says where', () => {
    const error = faultOf(latin1('d1:ai-0ee'));
    assert.equal(error.code, 'ERR_BENCODE');
    assert.equal(error.name, 'BencodeError');
    assert.match(error.message, /byte 4\b/);
  });

  it('every beginning of a valid value', () => {
    for (let length = 0; length < SAMPLE.length; length += 1) faultOf(SAMPLE.subarray(0, length));
  });

  it('or reads as it stands every change of one byte', () => {
    let accepted = 0;
    for (let at = 0; at < SAMPLE.length; at += 1) {
      for (let byte = 0; byte < 256; byte += 1) {
        const changed = Buffer.from(SAMPLE);
        changed[at] = byte;
        let value: BencodeValue;
        try {
          value = decode(changed).value;
        } catch (error) {
          assert.ok(error instanceof BencodeError, String(error));
          continue;
        }
        accepted += 1;
        assert.ok(changed.equals(encode(value)), `byte ${at} as ${byte}`);
      }
    }
    // Changes within strings are none of its business.
    assert.ok(accepted > SAMPLE.length);
  });
});

describe('decode limits', () => {
  const nested = (depth: number) => latin1('l'.repeat(depth) + 'e'.repeat(depth));

  it('bytes', () => {
    const input = latin1('3:abc');
    assert.deepEqual(decode(input, { limits: { bytes: 5 } }).value, latin1('abc'));
    const error = faultOf(input, { bytes: 4 });
    assert.deepEqual([error.fault, error.offset], ['limit-bytes', 4]);
  });

  it('bytes to 1 GiB by default', () => {
    assert.equal(faultOf(new Uint8Array(2 ** 30 + 1)).fault, 'limit-bytes');
    assert.equal(faultOf(new Uint8Array(2 ** 30)).fault, 'bad-character');
  });

  it('depth to 100 by default', () => {
    assert.deepEqual(encode(decode(nested(100)).value), nested(100));
    const error = faultOf(nested(101));
    assert.deepEqual([error.fault, error.offset], ['limit-depth', 100]);
  });

  it('the depth of dictionaries too', () => {
    const input = latin1('d1:ad1:adeee');
    assert.ok(decode(input, { limits: { depth: 3 } }));
    const error = faultOf(input, { depth: 2 });
    assert.deepEqual([error.fault, error.offset], ['limit-depth', 8]);
  });

  it('items, of which a key is one', () => {
    const list = latin1('li1ei2ee');
    assert.deepEqual(decode(list, { limits: { items: 3 } }).value, [1, 2]);
    assert.deepEqual([faultOf(list, { items: 2 }).fault, faultOf(list, { items: 2 }).offset], ['limit-items', 4]);

    const dictionary = latin1('d1:ai1ee');
    assert.ok(decode(dictionary, { limits: { items: 3 } }));
    assert.deepEqual([faultOf(dictionary, { items: 2 }).offset, faultOf(dictionary, { items: 1 }).offset], [4, 1]);
  });

  it('not the stack: 100,000 levels are refused at once, or read when they are allowed', () => {
    const levels = 100_000;
    const begin = performance.now();
    assert.equal(faultOf(nested(levels)).fault, 'limit-depth');
    assert.equal(faultOf(latin1('l'.repeat(levels))).fault, 'limit-depth');
    assert.equal(faultOf(latin1('d0:'.repeat(levels))).fault, 'limit-depth');
    const { value } = decode(nested(levels), { limits: { depth: levels } });
    assert.deepEqual(encode(value), nested(levels));
    assert.ok(performance.now() - begin < 2000);
  });

  it('the digits of an integer, so that they cost no quadratic time', () => {
    const begin = performance.now();
    assert.equal(faultOf(latin1(`i${'9'.repeat(10_000_000)}e`)).fault, 'bad-integer');
    assert.ok(performance.now() - begin < 2000);
  });
});

describe('decode reads', () => {
  it('integers as numbers where that is exact, else as bigints', () => {
    const safe = ['0', '1', '-1', '999999999999999', '-999999999999999', '9007199254740991', '-9007199254740991'];
    for (const text of safe) assert.strictEqual(decoded(`i${text}e`), Number(text), text);
    const large = [
      '9007199254740992',
      '-9007199254740992',
      '9007199254740993',
      '18446744073709551616',
      '7'.repeat(100),
    ];
    for (const text of large) assert.strictEqual(decoded(`i${text}e`), BigInt(text), text);
  });

  it('any integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
        const value = decoded(`i${integer}e`) as number | bigint;
        assert.equal(BigInt(value), integer);
        assert.equal(
          typeof value === 'number',
          Number.isSafeInteger(Number(integer)) && BigInt(Number(integer)) === integer,
        );
      }),
    );
  });

  it('empty values', () => {
    assert.deepEqual(decoded('le'), []);
    assert.deepEqual(decoded('de'), new Map());
    assert.deepEqual(decoded('0:'), Buffer.alloc(0));
    assert.deepEqual(decoded('d0:dee'), new Map([['', new Map()]]));
  });

  it('keys that are no UTF-8, one char a byte', () => {
    const value = decoded('d2:\x80\xffi1e3:\xed\xa0\x80i2ee') as BencodeMap;
    assert.deepEqual(
      [...value],
      [
        ['\x80\xff', 1],
        ['\xed\xa0\x80', 2],
      ],
    );
  });

  it('__proto__ as any other key', () => {
    const value = decoded('d9:__proto__d1:ai1eee') as BencodeMap;
    assert.deepEqual([...value.keys()], ['__proto__']);
    assert.equal((value as unknown as { a?: number }).a, undefined);
  });

  it('keys beyond the BMP in the order of their bytes', () => {
    const keys = ['\u{e000}', '\uffee', '\u{1f600}'];
    const input = reference(Object.fromEntries(keys.map((key) => [key, 1])));
    const value = decode(input).value as BencodeMap;
    assert.deepEqual(
      [...value.keys()].map((key) => latin1(key).toString()),
      keys,
    );
  });

  it('byte strings as views of the input, not copies', () => {
    const whole = new Uint8Array(30);
    // Somewhere within a larger buffer, as what fs reads into Node's pool is.
    const input = whole.subarray(7, 7 + 12);
    input.set(latin1('l3:abci1e0:e'));
    const [first, , empty] = decode(input).value as Uint8Array[];
    assert.ok(first && empty);
    assert.equal(first.buffer, whole.buffer);
    assert.deepEqual([first.byteOffset, first.byteLength, empty.byteLength], [7 + 3, 3, 0]);
    whole[10] = 0x7a;
    assert.equal(Buffer.from(first).toString(), 'zbc');
  });

  it('keys and integers of a view, too', () => {
    const input = new Uint8Array(20).fill(0x65).subarray(5, 5 + 10);
    input.set(latin1('d1:ki-42ee'));
    assert.deepEqual(decode(input).value, new Map([['k', -42]]));
  });
});

describe('decode finds the span of a top-level key', () => {
  const spanOf = (text: string, key = 'info') => {
    const { span } = decode(latin1(text), { span: key });
    return span && text.slice(span.start, span.end);
  };

  it('whatever its value is', () => {
    for (const value of ['de', 'le', 'i-7e', '4:info', 'd4:infod4:infoi1eee', 'll4:infoee']) {
      assert.equal(spanOf(`d1:ai1e4:info${value}1:z1:ee`), value);
    }
  });

  it('and not of the same key deeper, before or after', () => {
    assert.equal(spanOf('d1:ad4:infoi1ee4:infoi2e1:zd4:infoi3eee'), 'i2e');
    assert.equal(spanOf('d1:ad4:infoi1eee'), null);
    assert.equal(spanOf('ld4:infoi1eee'), null);
  });

  it('null where there is none, or none was asked for', () => {
    assert.equal(spanOf('de'), null);
    assert.equal(spanOf('d5:info2i1ee'), null);
    assert.equal(spanOf('4:info'), null);
    assert.equal(spanOf('l4:infoi1ee'), null);
    assert.equal(decode(latin1('d4:infoi1ee')).span, null);
  });

  it('in a view', () => {
    const input = new Uint8Array(30).subarray(9, 9 + 11);
    input.set(latin1('d4:infoi1ee'));
    assert.deepEqual(decode(input, { span: 'info' }).span, { start: 7, end: 10 });
  });
});

describe('decode and encode', () => {
  it('give back canonical bencode byte for byte', () => {
    fc.assert(
      fc.property(bencodeValue, (given) => {
        const canonical = reference(given);
        const { value } = decode(canonical);
        assert.deepEqual(value, given);
        assert.ok(canonical.equals(encode(value)));
      }),
      { numRuns: 1000 },
    );
  });

  /** What the package `bencode` can carry: ASCII keys, integers within 2^53, byte strings. */
  const common = fc.letrec<{ value: unknown; list: unknown[]; map: Record<string, unknown> }>((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.maxSafeInteger(), fc.uint8Array({ maxLength: 20 }), tie('list'), tie('map')),
    list: fc.array(tie('value'), { maxLength: 5 }),
    map: fc.dictionary(
      fc.string({ unit: 'grapheme-ascii', maxLength: 8 }).filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 5, noNullPrototype: true },
    ),
  })).value;

  /** Ours as theirs: objects for dictionaries. */
  function asObjects(value: BencodeValue): unknown {
    if (Array.isArray(value)) return value.map(asObjects);
    if (!(value instanceof Map)) return value;
    return Object.fromEntries([...value].map(([key, item]) => [key, asObjects(item)]));
  }

  it('agree with the package bencode', () => {
    fc.assert(
      fc.property(common, (given) => {
        const theirs = new Uint8Array(bencode.encode(given));
        const { value } = decode(theirs);
        assert.deepEqual(asObjects(value), bencode.decode(theirs));
        assert.deepEqual(new Uint8Array(encode(value)), theirs);
      }),
      { numRuns: 500 },
    );
  });
});

import assert from 'node:assert/strict';
import { constants } from 'node:buffer';
import { describe, it } from 'node:test';
import bencode from 'bencode';
import fc from 'fast-check';
import { type BencodeCode, BencodeError } from '../../src/bencode/bencode-error.ts';
import { decode, decodeTrusted, type TrustedDecodeOptions } from '../../src/bencode/decode.ts';
import { encode } from '../../src/bencode/encode.ts';
import { DEFAULT_LIMITS, LimitError, type LimitName, type Limits, NO_LIMITS } from '../../src/bencode/limits.ts';
import { type BencodeMap, type BencodeValue, RawBencode } from '../../src/bencode/value.ts';
import { runs } from '../support/runs.ts';
import { withinCpu } from '../support/timing.ts';
import { bencodeValue, latin1, loose, reference, SAMPLE } from './reference.ts';

/** Returns the error that decoding throws; fails the test if it throws anything else or nothing. */
function errorOf(input: Uint8Array): BencodeError {
  try {
    decode(input);
  } catch (error) {
    assert.ok(error instanceof BencodeError, String(error));
    return error;
  }
  return assert.fail('it was accepted');
}

/** Returns the limit that is exceeded, and the offset. */
function limitOf(input: Uint8Array, limits: Limits = {}): [limit: LimitName, offset: number | null] {
  try {
    decode(input, { limits });
  } catch (error) {
    assert.ok(error instanceof LimitError, String(error));
    assert.equal(error.code, 'ERR_LIMIT');
    assert.equal(error.most, limits[error.limit] ?? DEFAULT_LIMITS[error.limit]);
    assert.match(error.message, new RegExp(`limit of ${error.most} .*at byte ${error.offset}: raise .*${error.limit}`));
    return [error.limit, error.offset];
  }
  return assert.fail('it was accepted');
}

const decoded = (text: string) => decode(latin1(text)).value;

const INVALID: Record<BencodeCode, [string, number][]> = {
  empty: [['', 0]],
  bad_character: [
    ['x', 0],
    ['-1:a', 0],
    [':', 0],
    ['e', 0],
    [' i1e', 0],
    ['l:e', 1],
    ['d1:a?e', 4],
  ],
  bad_length: [
    ['1x', 1],
    ['1-a', 1],
    ['l3 :abce', 2],
  ],
  leading_zero: [
    ['01:a', 0],
    ['l00:e', 1],
    ['i007e', 0],
    ['i-01e', 0],
    ['li00ee', 1],
    ['d01:ai1ee', 1],
  ],
  negative_zero: [
    ['i-0e', 0],
    ['d1:ai-0ee', 4],
  ],
  bad_integer: [
    ['ie', 0],
    ['i-e', 0],
    ['i--1e', 2],
    ['i+1e', 1],
    ['i 1e', 1],
    ['i1.5e', 2],
    ['i1 e', 2],
    ['i0x1e', 2],
  ],
  key_not_string: [
    ['di1ei2ee', 1],
    ['dle1:ae', 1],
    ['d1:ai1ede1:be', 7],
    ['d-1:ai1ee', 1],
  ],
  missing_value: [
    ['d1:ae', 4],
    ['d1:ai1e1:be', 10],
  ],
  duplicate_key: [
    ['d1:ai1e1:ai2ee', 7],
    ['d0:i1e0:i1ee', 6],
  ],
  unsorted_key: [
    ['d1:bi1e1:ai2ee', 7],
    ['d2:aai1e1:ai2ee', 8],
    // It is a duplicate too, but only neighbours are compared, here and in raw values.
    ['d1:ai1e1:bi1e1:ai2ee', 13],
    ['d1:\xffi1e1:ai2ee', 7],
    // U+1F600 before U+E000: ordered by UTF-16 code units, not by bytes.
    ['d4:\xf0\x9f\x98\x80i1e3:\xee\x80\x80i1ee', 10],
  ],
  trailing_data: [
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

describe('decode', () => {
  for (const [code, cases] of Object.entries(INVALID)) {
    it(`rejects ${code}`, () => {
      for (const [input, offset] of cases) {
        const error = errorOf(latin1(input));
        assert.deepEqual([error.bencodeCode, error.offset], [code, offset], JSON.stringify(input));
      }
    });
  }

  it('reports the offset of an error', () => {
    const error = errorOf(latin1('d1:ai-0ee'));
    assert.equal(error.code, 'ERR_BENCODE');
    assert.equal(error.name, 'BencodeError');
    assert.match(error.message, /byte 4\b/);
  });

  it('rejects anything but bytes', () => {
    for (const value of [null, undefined, 5, 'de', [], {}, new ArrayBuffer(2), new DataView(new ArrayBuffer(2))])
      assert.throws(() => decode(value as never), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('rejects every truncation of a valid value', () => {
    for (let length = 0; length < SAMPLE.length; length += 1) errorOf(SAMPLE.subarray(0, length));
  });

  it('rejects a value with one changed byte, or encodes it to the same bytes again', () => {
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
    // Changes within strings are valid.
    assert.ok(accepted > SAMPLE.length);
  });
});

describe('limits of decode', () => {
  const nested = (depth: number) => latin1('l'.repeat(depth) + 'e'.repeat(depth));

  it('bound the bytes of the input', () => {
    const input = latin1('3:abc');
    assert.deepEqual(decode(input, { limits: { bytes: 5 } }).value, latin1('abc'));
    assert.deepEqual(limitOf(input, { bytes: 4 }), ['bytes', 4]);
  });

  it('bound the length of keys and of strings in raw values', () => {
    const input = latin1('d4:infod5:filesld1:a6:abcdefeeee');
    const raw = { within: 'info', keys: new Set(['files']) };
    assert.ok(decode(input, { limits: { text: 5 } }) && decodeTrusted(input, { raw, limits: { text: 6 } }));
    assert.deepEqual(limitOf(input, { text: 4 }), ['text', 8]);
    assert.throws(() => decodeTrusted(input, { raw, limits: { text: 5 } }), { limit: 'text', offset: 20 });
    const key = (length: number) => Buffer.concat([latin1(`d${length}:`), Buffer.alloc(length), latin1('lee')]);
    assert.ok(decode(key(2 ** 24)));
    assert.deepEqual(limitOf(key(2 ** 24 + 1)), ['text', 1]);
  });

  it('cannot raise text above the longest string of JavaScript', () => {
    const length = constants.MAX_STRING_LENGTH + 1;
    const input = Buffer.concat([latin1(`d${length}:`), Buffer.alloc(length), latin1('lee')]);
    const refused = { limit: 'text', most: length - 1, offset: 1 };
    assert.throws(() => decode(input, { limits: { text: Infinity } }), refused);
    assert.throws(() => decode(input, { limits: NO_LIMITS }), refused);
  });

  it('bound the input to 1 GiB by default', () => {
    assert.deepEqual(limitOf(new Uint8Array(2 ** 30 + 1)), ['bytes', 2 ** 30]);
    assert.equal(errorOf(new Uint8Array(2 ** 30)).bencodeCode, 'bad_character');
  });

  it('bound the depth to 100 by default', () => {
    assert.deepEqual(encode(decode(nested(100)).value), nested(100));
    assert.deepEqual(limitOf(nested(101)), ['depth', 100]);
  });

  it('bound the depth of dictionaries too', () => {
    const input = latin1('d1:ad1:adeee');
    assert.ok(decode(input, { limits: { depth: 3 } }));
    assert.deepEqual(limitOf(input, { depth: 2 }), ['depth', 8]);
  });

  it('bound the number of values and keys', () => {
    const list = latin1('li1ei2ee');
    assert.deepEqual(decode(list, { limits: { items: 3 } }).value, [1, 2]);
    assert.deepEqual(limitOf(list, { items: 2 }), ['items', 4]);

    const dictionary = latin1('d1:ai1ee');
    assert.ok(decode(dictionary, { limits: { items: 3 } }));
    assert.deepEqual([limitOf(dictionary, { items: 2 })[1], limitOf(dictionary, { items: 1 })[1]], [4, 1]);
  });

  it('allow 100,000 levels without overflowing the stack', () => {
    const levels = 100_000;
    withinCpu(2, () => {
      assert.equal(limitOf(nested(levels))[0], 'depth');
      assert.equal(limitOf(latin1('l'.repeat(levels)))[0], 'depth');
      assert.equal(limitOf(latin1('d0:'.repeat(levels)))[0], 'depth');
      const { value } = decode(nested(levels), { limits: { depth: levels } });
      assert.deepEqual(encode(value), nested(levels));
    });
  });

  it('bound the digits of an integer to 100 by default', () => {
    const digits = (count: number) => latin1(`li-${'9'.repeat(count)}ee`);
    assert.ok(decode(digits(100)) && decode(digits(20), { limits: { digits: 20 } }));
    assert.ok(decode(digits(500), { limits: { digits: 500 } }));
    assert.deepEqual(limitOf(digits(21), { digits: 20 }), ['digits', 1]);
    assert.deepEqual(limitOf(digits(101)), ['digits', 1]);
    assert.deepEqual(limitOf(latin1(`i${'1'.repeat(101)}e`)), ['digits', 0]);
  });

  it('reject unknown limits and values that are no number', () => {
    const wrong = [
      { bytes: Number.NaN },
      { depth: -1 },
      { items: '9' },
      { file: 5 },
      null,
      5,
      [],
      new Map([['files', 0]]),
    ];
    for (const limits of wrong as Limits[])
      assert.throws(() => decode(latin1('le'), { limits }), { code: 'ERR_INVALID_ARGUMENT' });
    assert.ok(decode(latin1('le'), { limits: { bytes: undefined, items: Infinity } }));
  });

  it('keep the time for long integers from growing quadratically', () => {
    const long = latin1(`i${'9'.repeat(10_000_000)}e`);
    assert.deepEqual(
      withinCpu(2, () => limitOf(long)),
      ['digits', 0],
    );
  });
});

describe('decode', () => {
  it('returns integers as numbers if exact, otherwise as bigints', () => {
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

  it('decodes any integer', () => {
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

  it('decodes empty values', () => {
    assert.deepEqual(decoded('le'), []);
    assert.deepEqual(decoded('de'), new Map());
    assert.deepEqual(decoded('0:'), Buffer.alloc(0));
    assert.deepEqual(decoded('d0:dee'), new Map([['', new Map()]]));
  });

  it('decodes keys that are not UTF-8 with one character per byte', () => {
    const value = decoded('d2:\x80\xffi1e3:\xed\xa0\x80i2ee') as BencodeMap;
    assert.deepEqual(
      [...value],
      [
        ['\x80\xff', 1],
        ['\xed\xa0\x80', 2],
      ],
    );
  });

  it('treats __proto__ as any other key', () => {
    const value = decoded('d9:__proto__d1:ai1eee') as BencodeMap;
    assert.deepEqual([...value.keys()], ['__proto__']);
    assert.equal((value as unknown as { a?: number }).a, undefined);
  });

  it('accepts keys beyond the BMP in the order of their bytes', () => {
    const keys = ['\u{e000}', '\uffee', '\u{1f600}'];
    const input = reference(Object.fromEntries(keys.map((key) => [key, 1])));
    const value = decode(input).value as BencodeMap;
    assert.deepEqual(
      [...value.keys()].map((key) => latin1(key).toString()),
      keys,
    );
  });

  it('returns byte strings as views of the input, not copies', () => {
    const whole = new Uint8Array(30);
    // The input may lie within a larger buffer: Node's fs reads into a pool.
    const input = whole.subarray(7, 7 + 12);
    input.set(latin1('l3:abci1e0:e'));
    const [first, , empty] = decode(input).value as Uint8Array[];
    assert.ok(first && empty);
    assert.equal(first.buffer, whole.buffer);
    assert.deepEqual([first.byteOffset, first.byteLength, empty.byteLength], [7 + 3, 3, 0]);
    whole[10] = 0x7a;
    assert.equal(Buffer.from(first).toString(), 'zbc');
  });

  it('decodes keys and integers of a view', () => {
    const input = new Uint8Array(20).fill(0x65).subarray(5, 5 + 10);
    input.set(latin1('d1:ki-42ee'));
    assert.deepEqual(decode(input).value, new Map([['k', -42]]));
  });
});

describe('the span option of decode', () => {
  const spanOf = (text: string, key = 'info') => {
    const { span } = decode(latin1(text), { span: key });
    return span && text.slice(span.start, span.end);
  };

  it('finds a value of any type', () => {
    for (const value of ['de', 'le', 'i-7e', '4:info', 'd4:infod4:infoi1eee', 'll4:infoee']) {
      assert.equal(spanOf(`d1:ai1e4:info${value}1:z1:ee`), value);
    }
  });

  it('ignores the same key on deeper levels', () => {
    assert.equal(spanOf('d1:ad4:infoi1ee4:infoi2e1:zd4:infoi3eee'), 'i2e');
    assert.equal(spanOf('d1:ad4:infoi1eee'), null);
    assert.equal(spanOf('ld4:infoi1eee'), null);
  });

  it('returns null if the key is missing or not asked for', () => {
    assert.equal(spanOf('de'), null);
    assert.equal(spanOf('d5:info2i1ee'), null);
    assert.equal(spanOf('4:info'), null);
    assert.equal(spanOf('l4:infoi1ee'), null);
    assert.equal(decode(latin1('d4:infoi1ee')).span, null);
  });

  it('works on a view of a larger buffer', () => {
    const input = new Uint8Array(30).subarray(9, 9 + 11);
    input.set(latin1('d4:infoi1ee'));
    assert.deepEqual(decode(input, { span: 'info' }).span, { start: 7, end: 10 });
  });
});

describe('the tolerant option of decode', () => {
  const tolerant = (text: string) => {
    const { value, errors } = decode(latin1(text), { tolerant: true });
    return { value, errors: errors.map(({ bencodeCode, offset }) => [bencodeCode, offset]) };
  };

  it('collects forgivable errors in the order of the input', () => {
    assert.deepEqual(tolerant('d1:bi007e1:ai-0e1:ai5ee '), {
      value: new Map([
        ['b', 7],
        ['a', 0],
      ]),
      errors: [
        ['leading_zero', 4],
        ['unsorted_key', 9],
        ['negative_zero', 12],
        ['duplicate_key', 16],
        ['trailing_data', 23],
      ],
    });
    assert.deepEqual(tolerant('l02:ab00:e'), {
      value: [latin1('ab'), latin1('')],
      errors: [
        ['leading_zero', 1],
        ['leading_zero', 6],
      ],
    });
  });

  it('keeps the first of two equal keys, for the span too', () => {
    const { value, span } = decode(latin1('d4:infoi1e4:infoi2ee'), { tolerant: true, span: 'info' });
    assert.deepEqual([value, span], [new Map([['info', 1]]), { start: 7, end: 10 }]);
  });

  it('finds no errors in canonical bencode, and the list is empty without the option', () => {
    assert.deepEqual(decode(SAMPLE, { tolerant: true }).errors, []);
    assert.deepEqual(decode(SAMPLE).errors, []);
  });

  it('lists at most 100 errors', () => {
    assert.equal(decode(latin1(`l${'i00e'.repeat(1000)}e`), { tolerant: true }).errors.length, 100);
  });

  it('forgives no other errors', () => {
    const forgivable = ['leading_zero', 'negative_zero', 'duplicate_key', 'unsorted_key', 'trailing_data'];
    for (const [code, cases] of Object.entries(INVALID)) {
      for (const [input] of cases) {
        const read = () => decode(latin1(input), { tolerant: true });
        if (forgivable.includes(code)) assert.equal(read().errors[0]?.bencodeCode, code, input);
        else assert.throws(read, { code: 'ERR_BENCODE', bencodeCode: code }, input);
      }
    }
  });
});

describe('the raw option of decodeTrusted', () => {
  const raw = { within: 'info', keys: new Set(['files', 'x']) };

  it('returns lists and dictionaries under these keys as bytes, and no other values', () => {
    const { value } = decodeTrusted(latin1('d4:infod5:filesli1ee5:otherle1:xdee1:xdee'), { raw });
    const info = new Map<string, unknown>([
      ['files', new RawBencode(latin1('li1ee'))],
      ['other', []],
      ['x', new RawBencode(latin1('de'))],
    ]);
    assert.deepEqual(
      value,
      new Map<string, unknown>([
        ['info', info],
        ['x', new Map()],
      ]),
    );
    for (const elsewhere of ['d4:infod5:filesi7eee', 'd1:yd5:filesleee', 'd4:infold5:filesleeee', 'ld5:filesleee']) {
      assert.deepEqual(decodeTrusted(latin1(elsewhere), { raw }), decode(latin1(elsewhere)), elsewhere);
    }
  });

  it('does not treat a key with a dot as a path', () => {
    assert.deepEqual(decodeTrusted(latin1('d10:info.fileslee'), { raw }).value, new Map([['info.files', []]]));
  });

  it('counts depth and items as for values that are built', () => {
    const input = latin1('d4:infod1:xld1:ai1eeeee');
    assert.ok(decodeTrusted(input, { raw, limits: { depth: 4, items: 8 } }));
    assert.throws(() => decodeTrusted(input, { raw, limits: { depth: 3 } }), { limit: 'depth', offset: 12 });
    assert.throws(() => decodeTrusted(input, { raw, limits: { items: 7 } }), { limit: 'items', offset: 16 });
  });

  /** Decodes bytes, and raw bencode in the result too. */
  function outcome(input: Uint8Array, options: TrustedDecodeOptions): unknown {
    try {
      const { value, errors, span } = decodeTrusted(input, { ...options, span: 'info' });
      return { value: built(value), errors: errors.map(({ bencodeCode, offset }) => [bencodeCode, offset]), span };
    } catch (error) {
      if (error instanceof LimitError) return [error.limit, error.offset, error.message];
      assert.ok(error instanceof BencodeError, String(error));
      return [error.bencodeCode, error.offset, error.message];
    }
  }

  function built(value: BencodeValue | RawBencode): BencodeValue {
    if (value instanceof RawBencode) return decode(value.bytes, { tolerant: true }).value;
    if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, built(item)]));
    return value;
  }

  it('reports the same errors at the same offsets', () => {
    const input = fc
      .tuple(loose, loose, loose)
      .map(([files, other, x]) =>
        Buffer.concat([latin1('d4:infod5:files'), files, latin1('5:other'), other, latin1('1:x'), x, latin1('ee')]),
      );
    const options = fc.record(
      {
        tolerant: fc.boolean(),
        limits: fc.record(
          { depth: fc.integer({ min: 2, max: 9 }), items: fc.nat(40), digits: fc.integer({ min: 1, max: 20 }) },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    );
    const change = fc.option(fc.tuple(fc.nat(), fc.constantFrom(...latin1('dlie0123456789:-ax'))));
    const cut = fc.option(fc.nat());
    let refused = 0;
    fc.assert(
      fc.property(input, options, change, cut, (whole, given, changed, length) => {
        const bytes = Buffer.from(whole);
        if (changed) bytes[changed[0] % bytes.length] = changed[1];
        const damaged = length === null ? bytes : bytes.subarray(0, length % bytes.length);
        const expected = outcome(damaged, given);
        if (Array.isArray(expected)) refused += 1;
        assert.deepEqual(outcome(damaged, { ...given, raw }), expected, damaged.toString('latin1'));
      }),
      { numRuns: 3000 },
    );
    assert.ok(refused > 300 && refused < 2995, `${refused} were refused`);
  });
});

describe('decode and encode together', () => {
  it('round-trip canonical bencode byte for byte', () => {
    fc.assert(
      fc.property(bencodeValue, (given) => {
        const canonical = reference(given);
        const { value } = decode(canonical);
        assert.deepEqual(value, given);
        assert.ok(canonical.equals(encode(value)));
      }),
      { numRuns: runs(1000) },
    );
  });

  /** Values that the package `bencode` supports: ASCII keys, integers within 2^53, byte strings. */
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

  it('agree with the npm package bencode', () => {
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

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareUtf8, keyBytes, toKey } from '../../src/bencode/value.ts';
import { runs } from '../support/runs.ts';

/** Well-formed text, with many characters from both sides of the borders where UTF-16 and UTF-8 differ. */
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('a', 'b', '\u{d7ff}', '\u{e000}', '\uffee', '\uffff', '\u{10000}', '\u{1f600}', '\u{10ffff}'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 8,
});

describe('toKey and keyBytes', () => {
  it('convert between text and one character per UTF-8 byte', () => {
    assert.equal(toKey('é'), '\xc3\xa9');
    fc.assert(fc.property(text, (given) => assert.deepEqual(keyBytes(toKey(given)), Buffer.from(given))));
  });
});

describe('compareUtf8', () => {
  it('orders texts by their UTF-8 bytes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const expected = Buffer.compare(Buffer.from(a), Buffer.from(b));
        assert.equal(Math.sign(compareUtf8(a, b)), expected);
        assert.equal(Math.sign(compareUtf8(b, a)), -expected || 0);
      }),
      { numRuns: runs(5000) },
    );
  });

  it('puts U+E000 before U+1F600, unlike UTF-16', () => {
    assert.ok('\u{e000}' > '\u{1f600}');
    assert.ok(compareUtf8('\u{e000}', '\u{1f600}') < 0);
    assert.ok(compareUtf8('\uffff', '\u{10000}') < 0);
    assert.ok(compareUtf8('\u{d7ff}', '\u{e000}') < 0);
  });

  it('puts a prefix first, and returns 0 for equal texts', () => {
    assert.ok(compareUtf8('a', 'ab') < 0);
    assert.ok(compareUtf8('', 'a') < 0);
    assert.equal(compareUtf8('é😀', 'é😀'), 0);
  });
});

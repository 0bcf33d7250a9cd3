import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { printableJson } from '../../src/cli/terminal/output.ts';
import { exactBytes, formatBytes, formatDuration } from '../../src/text/format.ts';
import { distinctly, printable } from '../../src/text/printable.ts';

describe('printable', () => {
  it('escapes characters that could change what a terminal shows', () => {
    const escapes: [text: string, shown: string][] = [
      ['\u001b[2J\u0007', '\\x1b[2J\\x07'],
      ['a\r\nb\tc\0', 'a\\x0d\\x0ab\\x09c\\x00'],
      ['\u007f\u009b', '\\x7f\\x9b'],
      // The right-to-left override that makes gpj.exe look like exe.jpg.
      ['\u202egpj.exe', '\\u202egpj.exe'],
      ['\u2066\u2069\u061c', '\\u2066\\u2069\\u061c'],
      ['a\u200bb\u200d\ufeff', 'a\\u200bb\\u200d\\ufeff'],
      ['\u2028\u2029', '\\u2028\\u2029'],
    ];
    for (const [text, shown] of escapes) assert.equal(printable(text), shown);
  });

  it('keeps all other text', () => {
    const text = 'Ein Ordner, (1) ~ é 日本語 עברית 😀 \u{e000}';
    assert.equal(printable(text), text);
  });

  it('leaves no control character in any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => assert.doesNotMatch(printable(text), /\p{Cc}/u)));
  });
});

describe('distinctly', () => {
  it('escapes the names that look alike, and no others', () => {
    const names = ['caf\u00e9', 'cafe\u0301', '\u00fc', 'a\u200eb', 'plain', 'caf\u00e9'];
    const show = distinctly(names);
    assert.deepEqual(names.map(show), ['caf\\u{e9}', 'cafe\\u{301}', '\u00fc', 'a\\u200eb', 'plain', 'caf\\u{e9}']);
    assert.equal(distinctly(['caf\u00e9', 'caf\u00e9'])('caf\u00e9'), 'caf\u00e9');
  });
});

describe('printable of a long text', () => {
  it('does not split characters at chunk boundaries', () => {
    for (let before = 2 ** 16 - 4; before <= 2 ** 16 + 1; before += 1) {
      const start = 'a'.repeat(before);
      assert.equal(printable(`${start}\u{1f600}\u{e0001}\0`), `${start}\u{1f600}\\u{e0001}\\x00`);
      assert.equal(JSON.parse(printableJson(`${start}\u{e0001}\u{1f600}`)), `${start}\u{e0001}\u{1f600}`);
      assert.doesNotMatch(printableJson(`${start}\u{e0001}`), /\u{e0001}/u);
    }
  });
});

describe('printableJson', () => {
  it('throws ERR_LIMIT when the text would exceed the longest string', () => {
    const text = '\0'.repeat(2 ** 24);
    assert.throws(() => printableJson([text, text, text, text, text, text]), { code: 'ERR_LIMIT' });
  });
});

describe('formatBytes', () => {
  it('formats binary units', () => {
    const sizes: [bytes: number, shown: string][] = [
      [0, '0 B'],
      [1, '1 B'],
      [1023, '1023 B'],
      [1024, '1 KiB'],
      [1536, '1.5 KiB'],
      [16_384, '16 KiB'],
      [2 ** 20, '1 MiB'],
      [2 ** 30 * 2.5, '2.5 GiB'],
      [2 ** 40, '1 TiB'],
      [1234.5, '1.21 KiB'],
    ];
    for (const [bytes, shown] of sizes) assert.equal(formatBytes(bytes), shown);
  });
});

describe('exactBytes', () => {
  it('loses nothing', () => {
    for (const [bytes, shown] of [
      [0, '0 bytes'],
      [1001, '1001 bytes'],
      [1024, '1 KiB'],
      [1536 * 1024, '1536 KiB'],
      [2 ** 31, '2 GiB'],
      [2 ** 30 + 1, '1073741825 bytes'],
    ] as const)
      assert.equal(exactBytes(bytes), shown);
  });
});

describe('formatDuration', () => {
  it('formats seconds, minutes and hours, rounded to seconds', () => {
    const durations: [seconds: number, shown: string][] = [
      [0, '0 s'],
      [0.4, '0 s'],
      [4, '4 s'],
      [59.4, '59 s'],
      // 60 seconds are never shown.
      [59.6, '1:00'],
      [60, '1:00'],
      [187, '3:07'],
      [3599, '59:59'],
      [3599.6, '1:00:00'],
      [7209, '2:00:09'],
      [360_000, '100:00:00'],
    ];
    for (const [seconds, shown] of durations) assert.equal(formatDuration(seconds), shown);
  });
});

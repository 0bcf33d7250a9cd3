import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { safePaths, unsafeComponent } from '../../src/layout/safe-path.ts';
import { runs } from '../support/runs.ts';
import { withinCpu } from '../support/timing.ts';

describe('unsafeComponent', () => {
  it('returns why a name cannot be a component', () => {
    const reasons: [name: string, reason: RegExp][] = [
      ['', /empty/],
      ['.', /dots/],
      ['..', /dots/],
      ['a/b', /slash/],
      ['/', /slash/],
      ['../x', /slash/],
      ['a\0b', /NUL/],
      ['C:', /drive letter/],
      ['c:\\x', /drive letter/],
      ['\\x', /absolute/],
      ['..\\x', /backslash/],
      ['a\\..\\x', /backslash/],
      ['a\\..', /backslash/],
      ['.\\.', /backslash/],
      ['.\\', /backslash/],
    ];
    for (const [name, reason] of reasons)
      assert.match(unsafeComponent(name) ?? 'accepted', reason, JSON.stringify(name));
  });

  it('accepts all other names', () => {
    for (const name of ['a', '...', '.a', 'a.', ' ', 'a\\b', '..a\\b..', 'C', 'C:x', 'é', '😀', '\n']) {
      assert.equal(unsafeComponent(name), null, JSON.stringify(name));
    }
  });
});

/** Hostile names: Windows devices, controls, zero-width characters, long names and path traversal. */
const hostile = fc.oneof(
  fc.constantFrom('', '.', '..', '...', '/', '\\', '../..', '..\\..', 'C:', 'c:\\x', '/etc', '~', 'a', 'A', 'a.txt'),
  fc.constantFrom(
    'CON',
    'nul.txt',
    'com1',
    'lpt\u00b2.x',
    'CONIN$',
    'con .txt',
    'LPT9.',
    'aux ',
    'a.',
    'a ',
    ' ',
    '. ',
    '.\u200b.',
    '\u202e..',
    '\0',
    'a\nb',
    '?*',
  ),
  fc.constantFrom(
    'x'.repeat(300),
    `${'x'.repeat(238)}. ${'y'.repeat(60)}`,
    `${'é'.repeat(200)}.txt`,
    '\ud800',
    'ﬃ',
    'İ',
  ),
  fc.string({ unit: 'binary', maxLength: 5 }),
);
const paths = fc.array(fc.array(hostile, { maxLength: 4 }), { maxLength: 8 });

const lower = (parts: readonly string[]) => parts.join('/').toLowerCase();

for (const windows of [false, true]) {
  describe(`safePaths for ${windows ? 'Windows' : 'other systems'}`, () => {
    const safe = (given: readonly string[][]) => [...safePaths(given, windows)];
    const { resolve, sep } = windows ? path.win32 : path.posix;
    const root = resolve(windows ? 'C:\\root' : '/root');

    it('returns paths below the root, without separators in components', () => {
      fc.assert(
        fc.property(paths, (given) => {
          const made = safe(given);
          assert.equal(made.length, given.length);
          for (const parts of made) {
            assert.ok(parts.length > 0);
            assert.equal(resolve(root, ...parts), [root, ...parts].join(sep), JSON.stringify(parts));
            for (const part of parts) {
              assert.equal(unsafeComponent(part), null, JSON.stringify(part));
              if (windows) assert.doesNotMatch(part, /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|[?<>"|*:]|[ .]$/i);
            }
          }
        }),
        { numRuns: runs(2000) },
      );
    });

    it('returns different paths, none through another file, ignoring case', () => {
      fc.assert(
        fc.property(paths, (given) => {
          const made = safe(given).map(lower);
          const files = new Set(made);
          assert.equal(files.size, made.length, JSON.stringify(made));
          for (const one of made) {
            for (let end = one.indexOf('/'); end > 0; end = one.indexOf('/', end + 1)) {
              assert.ok(!files.has(one.slice(0, end)), `${one} leads through a file`);
            }
          }
        }),
        { numRuns: runs(2000) },
      );
    });

    it('is idempotent', () => {
      fc.assert(
        fc.property(paths, (given) => {
          const made = safe(given);
          assert.deepEqual(safe(made), made);
        }),
        { numRuns: runs(2000) },
      );
    });

    it('keeps components within 240 bytes, also numbered ones', () => {
      const long = `${'x'.repeat(300)}.txt`;
      const made = safe([[long], [long], [`${'é'.repeat(300)}.tar.gz`], ['y'.repeat(300), 'a']]).flat();
      for (const part of made) assert.ok(Buffer.byteLength(part) <= 240, `${Buffer.byteLength(part)} bytes`);
      assert.equal(made[0], `${'x'.repeat(236)}.txt`);
      assert.match(made[2] ?? '', /^é+\.gz$/);
    });

    it('does not cut characters in half', () => {
      fc.assert(
        fc.property(fc.string({ unit: 'grapheme', minLength: 200, maxLength: 300 }), (name) => {
          for (const part of safe([[name]]).flat()) assert.ok(part.isWellFormed());
        }),
      );
    });

    it('numbers 8,000 equal paths in linear time', () => {
      const paths = withinCpu(2, () => safe(Array.from({ length: 8000 }, () => ['a', 'b'])));
      assert.equal(new Set(paths.map(lower)).size, 8000);
    });
  });
}

describe('safePaths', () => {
  const safe = (given: string, windows = false) => [...safePaths([given.split('/')], windows)][0]?.join('/');

  it('keeps safe names', () => {
    for (const name of ['a', 'a/b.txt', '.hidden', 'a b', 'é', '...', 'CON', 'x:y', 'a?'])
      assert.equal(safe(name), name);
    assert.equal(safe('a/b c.txt', true), 'a/b c.txt');
  });

  it('replaces traversal and removes invisible characters', () => {
    const cases: [given: string, expected: string][] = [
      ['../a', '_/a'],
      ['./a', '_/a'],
      ['a//b', 'a/b'],
      ['', '_'],
      ['a\0b\n', 'a_b_'],
      ['a\\b', 'a_b'],
      ['a\u202eb\u200b', 'ab'],
      ['.\u200b.', '_'],
      ['C:', '_'],
    ];
    for (const [given, expected] of cases) assert.equal(safe(given), expected, JSON.stringify(given));
    assert.deepEqual([...safePaths([[], ['a/b', '/']], false)], [['_'], ['a_b', '_']]);
  });

  it('replaces names that Windows does not allow, on Windows', () => {
    const cases: [given: string, expected: string][] = [
      ['CON', '_CON'],
      ['con.txt', '_con.txt'],
      ['a/LPT1', 'a/_LPT1'],
      ['aux ', '_aux'],
      ['conx', 'conx'],
      ['a. .', 'a'],
      ['../a', '_/a'],
      ['a?<>"|*:b', 'a_______b'],
    ];
    for (const [given, expected] of cases) assert.equal(safe(given, true), expected, given);
  });

  it('numbers repeated names before the extension', () => {
    const given = [['a.txt'], ['A.txt'], ['a.txt'], ['a.1.txt'], ['.x'], ['.x'], ['b'], ['b']];
    const expected = ['a.txt', 'A.1.txt', 'a.2.txt', 'a.1.1.txt', '.x', '.x.1', 'b', 'b.1'];
    assert.deepEqual(
      [...safePaths(given, false)].map(lower),
      expected.map((one) => one.toLowerCase()),
    );
  });

  it('uses the rules of this system by default', () => {
    assert.deepEqual([...safePaths([['a?']])], [...safePaths([['a?']], process.platform === 'win32')]);
  });
});

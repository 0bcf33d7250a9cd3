import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import picomatch from 'picomatch';
import { globMatcher } from '../../../src/cli/options/glob.ts';
import { withinCpu } from '../../support/timing.ts';

const PATTERNS = [
  ...['a', 'a.mkv', '*', '*.mkv', 'a*', '*a*b*', 'a*b*c.mkv', '?', '??b', 'a?c', '.*', '*.*', '!*.mkv', '**', 'a**b'],
  ...['[ab]', '[^a]*', '[a-c]?', '[]a]', '[a', '*[0-9].mkv', '\\*', '\\[a]', 'a\\?', '[.]*', '[a\\]]*'],
  ...['{a,b}', '*.{mkv,avi}', '{a,b{c,d}}*', 'e{1..3}', '{a', 'a{}b', '{a}', '{a*,*b}'],
  ...[
    'sub/a',
    'sub/*',
    'sub/**',
    '**/a',
    '**/a/**',
    'sub/**/a',
    '*/a',
    './a',
    '**/*.mkv',
    'a/**/b/**/c',
    '/a',
    's*/*/a*',
  ],
  ...['**/s*b/**/*a*.mkv', '**/**/a', 'sub/**/**', '*/**/a', 'a/b', '**/a/b', '**/b/a/*', 'ä*', '*ö'],
];
const NAMES = [
  ...['a', 'b', 'ab', 'ba', 'abc', 'acb', '.a', 'a.mkv', 'b.avi', '.mkv', 'abc.mkv', 'a1.mkv', 'e2', 'e4', 'e09.mkv'],
  ...['*', '[a]', '[a', ']', 'a?', 'a{}b', '{a', '{a}', 'bc', 'bd', 'aXbYc.mkv', 'äb', 'xö', '!a', '\\'],
];
const PATHS = [
  ...NAMES,
  ...['sub', 'sub/a', 'sub/x/a', 'sub/a/b', 'a/b', 'x/a/b', 'a/x/b/y/c', 'a/b/c', 'b/a/b/c', 'a/b/a/b', 'b/b/a/c'],
  ...['sub/a.mkv', 'x/sub/y/bab.mkv', 'sub/sub/a.mkv', 'a/b/b/b/c', 'sub/x/abc', 'sub/.a', '.sub/a'],
];

describe('globMatcher', () => {
  it('matches what picomatch matches', () => {
    for (const pattern of PATTERNS) {
      const isMatch = globMatcher(pattern);
      const expected = picomatch(pattern, { dot: true });
      for (const path of PATHS) assert.equal(isMatch(path), expected(path), `${pattern} ${path}`);
    }
  });

  it('follows the shell where picomatch does not, and takes parentheses literally', () => {
    const cases: [string, string, boolean][] = [
      ['[!ab]', 'a', false],
      ['[!ab]', 'c', true],
      ['e{08..10}.mkv', 'e09.mkv', true],
      ['**', 'a\nb', true],
      ['Film (2020)*', 'Film (2020).mkv', true],
      ['Film (2020)*', 'Film 2020.mkv', false],
      ['?(a|b)', 'x(a|b)', true],
      ['?', '😀', true],
    ];
    for (const [pattern, path, expected] of cases)
      assert.equal(globMatcher(pattern)(path), expected, `${pattern} ${path}`);
  });

  it('takes time in proportion to the name, whatever the name', () => {
    const long = 'a'.repeat(255);
    const deep = Array(2000).fill('a').join('/');
    const attacks: [string, string][] = [
      ['*a*a*a*a*.mkv', long],
      [`${'*a'.repeat(100)}b`, long],
      [`${'*?'.repeat(100)}b`, long],
      [`${'*[a-c]'.repeat(100)}*[!a]`, long],
      [`${'*aaaa{a,b}'.repeat(5)}*b`, long],
      [`${'**/a/'.repeat(100)}b`, deep],
      [`${'**/*a*/'.repeat(100)}b`, deep],
      [`${'*/'.repeat(100)}**/*a*/**/b`, deep],
    ];
    for (const [pattern, path] of attacks) withinCpu(1, () => assert.equal(globMatcher(pattern)(path), false, pattern));
  });

  it('refuses what it cannot compile', () => {
    const bad: [string, RegExp][] = [
      ['', /pattern such as/],
      ['a'.repeat(5000), /at most 4096 characters/],
      ['{a,b}'.repeat(20), /at most 1000 alternatives/],
      ['[z-a]', /invalid range: \[z-a\]/],
    ];
    for (const [pattern, message] of bad) assert.throws(() => globMatcher(pattern), message);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { validate } from 'superstruct';
import { FileList } from '../../src/model/file-item.ts';
import { withinCpu } from '../support/timing.ts';

const problemOf = (value: unknown) => validate(value, FileList)[0]?.message ?? null;

describe('FileList', () => {
  it('accepts files, with or without flags', () => {
    assert.equal(
      problemOf([
        { length: 0, path: ['a'] },
        { length: Number.MAX_SAFE_INTEGER, path: ['a', 'b'], attr: 'p' },
        { length: 1, path: ['c'], attr: null, extra: new Map() },
      ]),
      null,
    );
  });

  it('rejects invalid files and names the index', () => {
    const good = { length: 1, path: ['a'] };
    const refused: [item: unknown, message: RegExp][] = [
      [null, /a file, got null/],
      ['a', /a file, got "a"/],
      [{ path: ['a'] }, /length of 0 or more, got nothing/],
      [{ ...good, length: -1 }, /length of 0 or more, got -1/],
      [{ ...good, length: 1.5 }, /length of 0 or more/],
      [{ ...good, length: 2 ** 53 }, /length of 0 or more/],
      [{ ...good, length: 1n }, /length of 0 or more/],
      [{ ...good, attr: 1 }, /attr to be text, got 1/],
      [{ length: 1 }, /path .*got nothing/],
      [{ ...good, path: [] }, /path .*a list of 0/],
      [{ ...good, path: 'a' }, /path/],
      [{ ...good, path: ['a', 1] }, /path/],
    ];
    for (const [item, message] of refused) {
      assert.match(problemOf([good, item]) ?? 'accepted', message);
      assert.match(problemOf([good, item]) ?? '', /^At path: 1 -- /);
    }
  });

  it('rejects a value that is not a list, and an empty list', () => {
    assert.match(problemOf({}) ?? '', /list of files/);
    assert.match(problemOf([]) ?? '', /at least one/);
  });

  it('checks 100,000 files in one pass', () => {
    const files = Array.from({ length: 100_000 }, (_, i) => ({ length: i, path: ['a', String(i)] }));
    assert.equal(
      withinCpu(1, () => problemOf(files)),
      null,
    );
  });
});

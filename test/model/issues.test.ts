import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ISSUE_CODES } from '../../src/errors/codes.ts';
import { Issues } from '../../src/model/issues.ts';
import { latin1, reference } from '../bencode/reference.ts';

const codes = (issues: Issues) => issues.finish().map(({ code }) => code);

describe('Issues', () => {
  it('have a code, severity, path, message, document and offset', () => {
    const issues = new Issues();
    issues.add('hash_length', ['info', 'pieces'], 'expected a, got b');
    issues.add('tree', ['info', 'file tree', 0], 'expected c, got d', 'warning');
    assert.deepEqual(issues.finish(), [
      { code: 'hash_length', severity: 'error', path: ['info', 'pieces'], message: 'expected a, got b' },
      {
        code: 'tree',
        severity: 'warning',
        path: ['info', 'file tree', 0],
        message: 'expected c, got d',
        spec: ISSUE_CODES.tree.spec,
      },
    ]);
  });

  it('list errors first, otherwise in the order of add()', () => {
    const issues = new Issues();
    issues.add('url', [], 'a', 'warning');
    issues.add('type', [], 'b');
    issues.add('alias', [], 'c', 'warning');
    issues.add('tree', [], 'd');
    assert.deepEqual(codes(issues), ['type', 'tree', 'url', 'alias']);
  });

  it('return undefined from add()', () => {
    const issues = new Issues();
    assert.equal(issues.add('type', [], 'a'), undefined);
    assert.equal(issues.forgivable('type', [], 'a'), undefined);
  });

  it('have errors if one of them is an error', () => {
    const issues = new Issues();
    assert.ok(!issues.hasErrors);
    issues.add('type', [], 'a', 'warning');
    assert.ok(!issues.hasErrors);
    issues.add('type', [], 'a');
    assert.ok(issues.hasErrors);
  });

  it('make forgivable issues warnings in compat only', () => {
    for (const profile of ['default', 'strict', 'compat'] as const) {
      const issues = new Issues(profile);
      issues.forgivable('type', [], 'a');
      assert.equal(issues.compat, profile === 'compat');
      assert.equal(issues.hasErrors, profile !== 'compat', profile);
    }
  });

  it('use the current severity, unless add() has one', () => {
    const issues = new Issues();
    issues.severity = 'warning';
    issues.add('type', [], 'a');
    issues.add('tree', [], 'b', 'error');
    issues.forgivable('alias', [], 'c');
    assert.deepEqual(
      issues.finish().map(({ severity }) => severity),
      ['error', 'warning', 'warning'],
    );
  });
});

describe('Issues.within', () => {
  it('adds a step to the path and removes it again', () => {
    const issues = new Issues();
    const result = issues.within('a', () => {
      issues.within(0, () => issues.add('type', ['b'], 'x'));
      return 5;
    });
    issues.add('type', ['c'], 'y');
    assert.throws(() => issues.within('z', () => assert.fail('stop')), /stop/);
    assert.equal(result, 5);
    assert.deepEqual(
      issues.finish().map(({ path }) => path),
      [['a', 0, 'b'], ['c']],
    );
    assert.deepEqual(issues.path, []);
  });
});

describe('Issues.covers', () => {
  it('returns whether an issue at or below a path was added', () => {
    const issues = new Issues();
    issues.within('info', () => issues.add('type', ['files', 0, 'length'], 'x'));
    assert.ok(issues.covers(['info', 'files']));
    assert.ok(issues.covers(['info', 'files'], 'type'));
    assert.ok(!issues.covers(['info', 'files'], 'url'));
    assert.ok(!issues.covers(['info', 'name']));
    assert.ok(!issues.covers(['piece layers', 'files']));
  });
});

describe('the path of an issue', () => {
  const pathOf = (...steps: (string | number)[]) => {
    const issues = new Issues();
    issues.add('type', steps, 'x');
    return issues.finish()[0]?.path;
  };
  const onDisk = (text: string) => Buffer.from(text).toString('latin1');

  it('has keys in UTF-8 as text, of any length', () => {
    for (const name of ['a', '', 'é', '\u{1f600}', 'é'.repeat(16), 'k'.repeat(32)]) {
      assert.deepEqual(pathOf('info', 'file tree', onDisk(name), 0), ['info', 'file tree', name, 0]);
    }
  });

  it('has other keys in hexadecimal', () => {
    assert.deepEqual(pathOf('info', '\xff\x00'), ['info', 'ff00']);
  });

  it('has the keys of piece layers in hexadecimal, also those that are text', () => {
    for (const key of ['k'.repeat(32), onDisk('é').repeat(16), '\xff'.repeat(32)]) {
      assert.deepEqual(pathOf('piece layers', key), ['piece layers', latin1(key).toString('hex')]);
    }
  });
});

describe('the offset of an issue', () => {
  const bytes = reference({ a: [1, { b: 2 }] });

  it('is the start of the value, or of the value that it is missing from', () => {
    const issues = new Issues();
    issues.add('type', ['a', 1, 'b'], 'x');
    issues.add('required', ['a', 1, 'c'], 'x');
    issues.add('type', [], 'x');
    assert.deepEqual(
      issues.finish(bytes).map(({ offset }) => offset),
      [bytes.indexOf('i2e'), bytes.indexOf('d1:b'), 0],
    );
  });

  it('is absent without bytes', () => {
    const issues = new Issues();
    issues.add('type', [], 'x');
    assert.ok(!('offset' in (issues.finish()[0] ?? {})));
  });

  it('may be a place where no value starts', () => {
    const issues = new Issues();
    issues.warnAt('trailing_data', 99, 'x');
    issues.add('type', ['a'], 'y');
    assert.deepEqual(
      issues.finish(bytes).map(({ code, severity, offset }) => [code, severity, offset]),
      [
        ['type', 'error', 4],
        ['trailing_data', 'warning', 99],
      ],
    );
  });
});

describe('more than 1000 issues', () => {
  /** The number of listed issues, and the issues that stand for the rest. */
  function afterMany(errors: number, warnings: number) {
    const issues = new Issues();
    for (let i = 0; i < errors; i += 1) issues.add('type', [i], `error ${i}`);
    for (let i = 0; i < warnings; i += 1) issues.add('tree', [i], `warning ${i}`, 'warning');
    const all = issues.finish();
    const rest = all.filter(({ code }) => code === 'too_many_issues');
    return {
      listed: all.length - rest.length,
      rest: rest.map(({ severity, path, message }) => [severity, path, message]),
      severities: [...new Set(all.map(({ severity }) => severity))],
      hasErrors: issues.hasErrors,
    };
  }

  it('are counted instead of listed', () => {
    assert.deepEqual(afterMany(1000, 0), { listed: 1000, rest: [], severities: ['error'], hasErrors: true });
    assert.deepEqual(afterMany(1001, 0).rest, [['error', [], 'and 1 more']]);
    assert.deepEqual(afterMany(2_000_000, 0).rest, [['error', [], 'and 1999000 more']]);
  });

  it('are counted by severity, so that warnings do not hide errors', () => {
    assert.deepEqual(afterMany(1002, 3), {
      listed: 1003,
      rest: [['error', [], 'and 2 more']],
      severities: ['error', 'warning'],
      hasErrors: true,
    });
  });

  it('include errors after 1000 warnings', () => {
    const issues = new Issues();
    for (let i = 0; i < 1000; i += 1) issues.add('tree', [i], 'x', 'warning');
    assert.ok(!issues.hasErrors);
    issues.add('type', [], 'x');
    assert.ok(issues.hasErrors);
    assert.equal(issues.finish()[0]?.severity, 'error');
  });

  it('evaluate paths and messages of listed issues only', () => {
    const issues = new Issues();
    let made = 0;
    const count = <T>(value: T) => {
      return () => {
        made += 1;
        return value;
      };
    };
    for (let i = 0; i < 5000; i += 1) issues.add('type', count([i]), count('a'));
    assert.equal(made, 2 * 1000);
    const found = issues.finish();
    assert.deepEqual(found[999]?.path, [999]);
    assert.equal(found.at(-1)?.message, 'and 4000 more');
  });
});

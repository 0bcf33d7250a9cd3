import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { wrapped } from '../../../src/cli/terminal/wrap.ts';
import { runs } from '../../support/runs.ts';
import { command, workFolder } from '../run.ts';

describe('wrapped', () => {
  const word = fc.stringMatching(/^[a-z]{1,12}$/);
  const text = fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => words.join(' '));

  it('keeps all words in order, and no line is too wide', () => {
    fc.assert(
      fc.property(
        text,
        fc.constantFrom('', 'label  ', 'two words    ', '    '),
        fc.integer({ min: 30, max: 100 }),
        (body, head, columns) => {
          const lines = wrapped(head + body, columns).split('\n');
          assert.equal(lines.map((line) => line.trim()).join(' '), (head + body).trim());
          for (const line of lines) assert.ok(line.length <= columns, line);
          const indent = head.length > 0 ? head.length : 2;
          for (const line of lines.slice(1)) assert.equal(line.search(/\S/), indent);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it('leaves JSON, long words, short lines and pipes alone', () => {
    const json = `{"a":"${'b '.repeat(50)}"}`;
    assert.equal(wrapped(json, 40), json);
    const hash = 'f'.repeat(64);
    assert.equal(wrapped(`infohash v2  ${hash}`, 40), `infohash v2  ${hash}`);
    assert.equal(wrapped('a b', 40), 'a b');
    assert.equal(wrapped('a '.repeat(100), undefined), 'a '.repeat(100));
  });

  it('does not count colours', () => {
    const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
    assert.equal(wrapped(`${red('error:')} ${'x'.repeat(33)}`, 40), `${red('error:')} ${'x'.repeat(33)}`);
    assert.equal(wrapped(`${red('error:')} ${'x '.repeat(20)}`, 40).split('\n').length, 2);
  });
});

describe('a terminal of 40 columns', { skip: process.platform === 'win32' }, () => {
  for (const args of [
    ['plan', 'album', '--private'],
    ['create', 'album', '--tracker', 'no.scheme.example/announce'],
    ['plan', 'absent'],
    ['create', 'album', '--piece-length', 'x'],
    ['verify', '--find', 'a', 'b', 'c'],
    ['--help'],
    ['create', '--help'],
  ]) {
    it(`shows whole words of metainfo ${args.join(' ')}`, async (t) => {
      const cwd = await workFolder(t);
      const shell = `stty cols 40; ${command(args).join(' ')}`;
      const { stdout } = spawnSync('script', ['-qec', shell, '/dev/null'], { cwd, encoding: 'utf8', stdio: 'pipe' });
      const text = stdout.split('\nExamples:')[0] as string;
      const lines = text.split('\r\n').map((line) => line.replaceAll(/\p{Cc}\[\d+m/gu, ''));
      assert.ok(lines.length > 2);
      // Only a word by itself may be wider: a hash or a path.
      for (const line of lines.filter((one) => !one.startsWith('Usage:')))
        assert.ok(line.length <= 40 || !/ [^ ]+ [^ ]/.test(line.trim()), line);
    });
  }
});

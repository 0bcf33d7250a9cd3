import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Command } from 'commander';
import { manPage } from '../../scripts/docs-man.ts';
import { program } from '../../src/cli/program.ts';
import { missing } from '../support/external.ts';
import { ROOT } from '../support/pages.ts';

const whole = await program();

/** Formats the page as `man` does. */
function formatted(...options: string[]) {
  // groff takes no empty date.
  const { SOURCE_DATE_EPOCH: _, ...env } = process.env;
  const args = ['-man', '-Tascii', '-P-c', '-rLL=100n', ...options];
  return spawnSync('groff', args, { input: manPage(), encoding: 'utf8', env });
}

/** A command and all below it. */
function all(command: Command): Command[] {
  return [command, ...command.commands.flatMap(all)];
}

describe('the man page', () => {
  it('is what npm installs', () => {
    const { man } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    assert.deepEqual(man, ['./man/metainfo.1']);
  });

  it('has each command and each option that is not hidden', () => {
    const page = manPage();
    for (const command of all(whole)) {
      const help = command.createHelp();
      if (command.parent) assert.ok(page.includes(`\n.B "${help.commandUsage(command).replaceAll('-', '\\-')}"`));
      for (const option of help.visibleOptions(command))
        assert.ok(page.includes(`\n.B "${help.optionTerm(option).replaceAll('-', '\\-')}"`), option.flags);
    }
  });

  it('is formatted without a warning, and shows options and examples', {
    skip: missing('groff', 'groff', ['--version']),
  }, () => {
    const { status, stderr, stdout } = formatted('-ww');
    assert.deepEqual([status, stderr], [0, '']);
    // A character is made bold by a backspace and the same character.
    const text = stdout.replaceAll(/.[\b]/g, '');
    assert.match(text, /^METAINFO\(1\) +User Commands +METAINFO\(1\)\n/);
    assert.match(text, /\n {7}-t, --tracker <url>\n {14}tracker URL; repeat it/);
    assert.match(text, /\n {7}Examples:\n {9}metainfo verify album\.torrent {20}checks \.\/album\n/);
    assert.match(text, /\n {9}metainfo create album -o other\.torrent|\n {9}metainfo create album/);
    // The help of edit has a backslash of its own.
    assert.deepEqual(text.match(/\\.?/g), ['\\='], 'an escape was not understood');
  });
});

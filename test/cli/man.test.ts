import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import type { Command } from 'commander';
import { manPages } from '../../scripts/docs-man.ts';
import { program } from '../../src/cli/program.ts';
import { missing } from '../support/external.ts';
import { pageText } from '../support/pages.ts';

const whole = await program();
const pages = new Map(manPages());
const pageOf = (command: Command): string => {
  const { parent } = command;
  if (parent?.parent) return pageOf(parent);
  return pages.get(parent ? `metainfo-${command.name()}.1` : 'metainfo.1') ?? '';
};

/** Formats a page as `man` does. */
function formatted(input: string, ...options: string[]) {
  // groff takes no empty date.
  const { SOURCE_DATE_EPOCH: _, ...env } = process.env;
  const args = ['-man', '-Tascii', '-P-c', '-rLL=100n', ...options];
  return spawnSync('groff', args, { input, encoding: 'utf8', env });
}

/** A command and all below it. */
function all(command: Command): Command[] {
  return [command, ...command.commands.flatMap(all)];
}

describe('the man pages', () => {
  it('are what npm installs', () => {
    assert.deepEqual(JSON.parse(pageText('package.json')).directories, { man: './man' });
    const names = whole.commands.map((command) => `metainfo-${command.name()}.1`);
    assert.deepEqual([...pages.keys()], ['metainfo.1', ...names]);
  });

  it('name each other, and the exit codes of each command', () => {
    for (const [file, text] of pages) {
      assert.match(text, /\n\.SH EXIT STATUS\n\.PP\n0 [\s\S]*,\s+2\s+wrong\s+usage/, file);
      const named = [...text.matchAll(/metainfo\\-([a-z\\-]+)\(1\)/g)].map(([, name = '']) =>
        name.replaceAll('\\', ''),
      );
      for (const name of named) assert.ok(pages.has(`metainfo-${name}.1`), `${file}: ${name}`);
      if (file === 'metainfo.1') assert.equal(new Set(named).size, whole.commands.length);
      else assert.match(text, /\n\.SH SEE ALSO\nmetainfo\(1\)/, file);
    }
  });

  it('have each command and each option that is not hidden', () => {
    for (const command of all(whole)) {
      const page = pageOf(command);
      const help = command.createHelp();
      if (command.parent) assert.ok(page.includes(`\n.B "${help.commandUsage(command).replaceAll('-', '\\-')}"`));
      for (const option of help.visibleOptions(command))
        assert.ok(page.includes(`\n.B "${help.optionTerm(option).replaceAll('-', '\\-')}"`), option.flags);
    }
  });

  it('are formatted without a warning, and show options and examples', {
    skip: missing('groff', 'groff', ['--version']),
  }, () => {
    let whole = '';
    for (const [file, page] of pages) {
      const { status, stderr, stdout } = formatted(page, '-ww');
      assert.deepEqual([status, stderr], [0, ''], file);
      // A character is made bold by a backspace and the same character.
      const text = stdout.replaceAll(/.[\b]/g, '');
      const title = file.slice(0, -2).toUpperCase();
      assert.match(text, new RegExp(`^${title}\\(1\\) +User Commands +${title}\\(1\\)\\n`));
      whole += text;
    }
    assert.match(whole, /\n {7}-t, --tracker <url>\n {14}tracker URL; repeat it/);
    assert.match(whole, /\nEXAMPLES\n {9}metainfo verify album\.torrent {20}checks \.\/album\n/);
    // The help of edit has a backslash of its own.
    assert.deepEqual(whole.match(/\\.?/g), ['\\='], 'an escape was not understood');
  });
});

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { commandsBelow } from '../../scripts/command-help.ts';
import { commandPages } from '../../scripts/docs-commands.ts';
import { program } from '../../src/cli/program.ts';
import { ROOT } from '../support/pages.ts';

const whole = await program();

const pages = commandPages();

describe('the reference of the commands', () => {
  it('has no broken links', () => {
    const links = [...pages.values()].flatMap((text) =>
      [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link),
    );
    assert.ok(links.length > 10);
    assert.deepEqual(
      links.filter((link) => !existsSync(path.join(ROOT, 'docs/commands', link))),
      [],
    );
  });

  it('has every option of every command in the section of that command', () => {
    const help = whole.createHelp();
    for (const { command, title } of commandsBelow({ command: whole, title: '' })) {
      const text = pages.get(`${title.split(' ')[0]}.md`) ?? '';
      const section = text
        .split(/^(?=#+ metainfo )/m)
        .find((part) => part.match(/^#+ (.*)/)?.[1] === `metainfo ${title}`);
      assert.ok(section, title);
      for (const option of help.visibleOptions(command))
        assert.ok(section.includes(`| \`${option.flags}\` |`), `${title} ${option.flags}`);
    }
  });
});

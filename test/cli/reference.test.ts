import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { commandsBelow } from '../../scripts/command-help.ts';
import { commandPages } from '../../scripts/docs-commands.ts';
import { program } from '../../src/cli/program.ts';
import { ROOT } from '../support/pages.ts';

const FOLDER = path.join(ROOT, 'docs/commands');

describe('the reference of the commands', () => {
  it('matches the help of the commands (update: npm run docs:commands)', () => {
    const pages = readdirSync(FOLDER).map((name): [string, string] => [
      name,
      readFileSync(path.join(FOLDER, name), 'utf8'),
    ]);
    assert.deepEqual(new Map(pages), new Map([...commandPages()].sort()));
  });

  it('has every option of every command in the section of that command', () => {
    const help = program().createHelp();
    for (const { command, title } of commandsBelow({ command: program(), title: '' })) {
      const text = readFileSync(path.join(FOLDER, `${title.split(' ')[0]}.md`), 'utf8');
      const section = text
        .split(/^(?=#+ metainfo )/m)
        .find((part) => part.match(/^#+ (.*)/)?.[1] === `metainfo ${title}`);
      assert.ok(section, title);
      for (const option of help.visibleOptions(command))
        assert.ok(section.includes(`| \`${option.flags}\` |`), `${title} ${option.flags}`);
    }
  });
});

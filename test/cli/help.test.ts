import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Command, CommanderError } from 'commander';
import { program } from '../../src/cli/program.ts';

interface Named {
  name: string;
  command: Command;
}

/** Lists a command and all its subcommands, except for commander's `help`. */
function all(command: Command, name = command.name()): Named[] {
  return [
    { name, command },
    ...command.commands.flatMap((subcommand) => all(subcommand, `${name} ${subcommand.name()}`)),
  ];
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

/** The command lines below `Examples:`, without their explanations. */
function examplesOf(command: Command): string[] {
  const [, below = ''] = helpOf(command).split('\nExamples:\n');
  const lines = below.split('\n\n')[0]?.trimEnd().split('\n') ?? [];
  return lines.map((line) => line.trim().split(/ {2,}/)[0] as string);
}

/** Parses an example without running it; throws for wrong usage. */
async function parse(example: string): Promise<void> {
  const idle = program();
  for (const { command } of all(idle)) {
    command.configureOutput({ writeErr: () => {} });
    if (command.commands.length === 0) command.action(() => {});
  }
  const words = (example.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/, '$1'));
  await idle.parseAsync(words.slice(1), { from: 'user' });
}

describe('--help', () => {
  for (const { name, command } of all(program())) {
    it(`of ${name} has examples that parse`, async () => {
      const examples = examplesOf(command);
      assert.ok(examples.length > 0 && examples[0] !== '');
      for (const example of examples) {
        assert.ok(`${example} `.startsWith(`${name} `), example);
        await parse(example);
      }
    });

    it(`of ${name} fits 80 columns`, () => {
      for (const line of helpOf(command).split('\n')) assert.ok(line.length <= 80, line);
    });
  }

  it('would not parse with an unknown option, a wrong value or a missing argument', async () => {
    for (const example of [
      'metainfo create album --torrent-versions v1',
      'metainfo create album --torrent-version v3',
      'metainfo plan',
      'metainfo create album --piece-length 3',
      'metainfo verify',
      'metainfo cache show',
    ])
      await assert.rejects(parse(example), CommanderError, example);
  });

  it('puts every option into a group where there are many', () => {
    for (const { name, command } of all(program())) {
      const headings: string[] = helpOf(command).match(/^[A-Z][\w ]*:$/gm) ?? [];
      assert.equal(headings.includes('Options:'), command.options.filter(({ hidden }) => !hidden).length < 20, name);
    }
  });

  it('lists the environment variables', () => {
    for (const name of ['METAINFO_ENGINE', 'METAINFO_KERNEL', 'SOURCE_DATE_EPOCH', 'NO_COLOR'])
      assert.match(helpOf(program()), new RegExp(`^Environment:[^]*^  ${name} `, 'm'));
    const create = helpOf(program().commands.find((command) => command.name() === 'create') as Command);
    assert.match(create, /SOURCE_DATE_EPOCH/);
  });

  it('lists the exit codes', () => {
    assert.match(helpOf(program()), /\nExit codes: 0 success, 1 failure, 2 wrong usage, 130/);
  });
});

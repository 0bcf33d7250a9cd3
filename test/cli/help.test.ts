import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Command, CommanderError } from 'commander';
import { program } from '../../src/cli/program.ts';
import { metainfo, workFolder } from './run.ts';

const whole = await program();

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
  const idle = await program();
  for (const { command } of all(idle)) {
    command.configureOutput({ writeErr: () => {} });
    if (command.commands.length === 0) command.action(() => {});
  }
  const words = (example.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/, '$1'));
  await idle.parseAsync(words.slice(1), { from: 'user' });
}

describe('--help', () => {
  for (const { name, command } of all(whole)) {
    it(`of ${name} has examples that parse`, async () => {
      const examples = examplesOf(command);
      assert.ok(examples.length > 0 && examples[0] !== '');
      for (const example of examples) {
        assert.ok(`${example} `.startsWith(`${name} `), example);
        await parse(example);
      }
    });

    it(`of ${name} fits two screens of 80 columns and 40 lines; with --all, 80 columns`, () => {
      const short = helpOf(command).trimEnd().split('\n');
      assert.ok(short.length <= 80, `${short.length} lines`);
      command.setOptionValue('all', true);
      for (const line of [...short, ...helpOf(command).split('\n')]) assert.ok(line.length <= 80, line);
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
    for (const { name, command } of all(whole)) {
      const headings: string[] = helpOf(command).match(/^[A-Z][\w ]*:$/gm) ?? [];
      assert.equal(headings.includes('Options:'), command.options.filter(({ hidden }) => !hidden).length < 20, name);
    }
  });

  it('leads from the common options of create to all of them', async (t) => {
    const cwd = await workFolder(t);
    const helpBy = async (...args: string[]) => {
      const { code, stdout, stderr } = await metainfo(args, { cwd });
      assert.deepEqual([code, stderr], [0, '']);
      return stdout;
    };
    const flagsIn = (text: string) =>
      text.match(/^ {2}(?:-\w, )?--[\w-]+/gm)?.map((flag) => flag.replace(/.*--/, '')) ?? [];
    const short = await helpBy('create', '--help');
    const [, more] =
      /\n(\d+) more options: metainfo create --help --all\n\(also .*Other machines\)\n$/.exec(short) ?? [];
    const whole = await helpBy('create', '--help', '--all');
    assert.equal(flagsIn(whole).length, flagsIn(short).length + Number(more));
    for (const name of flagsIn(short)) assert.ok(flagsIn(whole).includes(name), name);
    for (const args of [
      ['create', '--all', '--help'],
      ['create', '-h', '--all'],
      ['create', 'album', '--all', '-t', 'x', '-h'],
      ['help', 'create', '--all'],
    ])
      assert.equal(await helpBy(...args), whole, args.join(' '));
    assert.equal(await helpBy('help', 'create'), short);
    assert.equal(await helpBy('show', '--help', '--all'), await helpBy('show', '--help'));
    const refused = await metainfo(['create', 'album', '--all'], { cwd });
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /^error: --all belongs to --help: omit it, or add --help\n/);
  });

  it('lists the environment variables', () => {
    for (const name of ['METAINFO_ENGINE', 'METAINFO_KERNEL', 'SOURCE_DATE_EPOCH', 'NO_COLOR'])
      assert.match(helpOf(whole), new RegExp(`^Environment:[^]*^  ${name} `, 'm'));
    const create = helpOf(whole.commands.find((command) => command.name() === 'create') as Command);
    assert.match(create, /SOURCE_DATE_EPOCH/);
  });

  it('lists the exit codes', () => {
    assert.match(helpOf(whole), /\nExit codes: 0 success, 1 failure, 2 wrong usage, 75 try again/);
  });
});

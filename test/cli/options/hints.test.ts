import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createOptions, manyOptions } from '../../../src/cli/create/options.ts';
import { COMMANDS, HintingCommand, hintFor, OPTIONS, withHint } from '../../../src/cli/options/hints.ts';
import { program } from '../../../src/cli/program.ts';
import { client, clientMissing } from '../../support/external.ts';
import { pageText, ROOT } from '../../support/pages.ts';
import { metainfo, workFolder } from '../run.ts';

/** Every option of the released versions, from their manuals and sources: the tables of docs/guides/switching.md have no other ones. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'mkbrr 1.27':
    '-b --batch -P --preset --preset-file -t --tracker -w --web-seed -p --private -c --comment -l --piece-length -m --max-piece-length --target-piece-count --name -o --output --output-dir -s --source -d --no-date --no-creator -e --entropy -v --verbose -q --quiet -i --info-only --skip-prefix --fail-on-season-warning --exclude --include --plan --workers --cpuprofile --no-private --no-entropy -n --dry-run --rename --size -f --file --json',
  'torf-cli 5.2':
    '-i --in -o --out -r --reuse -R --noreuse -e --exclude --include -er --exclude-regex -ir --include-regex -n --name -t --tracker -w --webseed -p --private -c --comment -d --date -s --source -x --xseed --max-piece-size -T --notracker -W --nowebseed -P --noprivate -C --nocomment -S --nosource -X --noxseed -D --nodate -A --nocreator -N --notorrent -M --nomagnet -V --novalidate -y --yes -f --config -F --noconfig -z --profile --threads -j --json -m --metainfo -u --human -U --nohuman -v --verbose --debug-file',
  'imdl 0.1':
    '-a --announce -A --allow -t --announce-tier -c --comment --node -n --dry-run -F --follow-symlinks -f --force -g --glob -h --include-hidden -j --include-junk -i --input --link -M --md5 -N --name --no-created-by --no-creation-date -O --open --sort-by -o --output --peer -p --piece-length -P --private -S --show -s --source --ignore --update-url --content --select-only -e --extract-pattern -l --limit --print -q --quiet -u --unstable --color --terminal',
  'torrenttools 0.5':
    '-v --protocol -o --output -a --announce -g --announce-group --http-seed -w --web-seed -d --dht-node -c --comment -p --private -l --piece-size -s --source --collection --similar -n --name -t --threads --checksum --no-creation-date --creation-date --no-created-by --created-by --include --exclude --include-hidden --io-block-size -P --profile -m --list-mode --stdout --raw --show-pieces --show-padding-files --flat --iso --truncate --show-binary --prefix -H --human-readable --checksum-algorithms --config --trackers-config',
  'mktorrent 1.1':
    '-a --announce -c --comment -d --no-date -h --help -l --piece-length -n --name -o --output -p --private -s --source -t --threads -v --verbose -w --web-seed -e --exclude -f --force -x --cross-seed',
  'transmission-create 4.1':
    '-h --help -p --private -r --source -o --outfile -s --piecesize -c --comment -t --tracker -w --webseed --anonymize -V --version',
  'create-torrent 6.1':
    '-o --outfile -n --name --creationDate --comment --createdBy --private --pieceLength --announce --urlList -h --help -v --version',
};

/** Options of a program that can be installed, from its help. */
const INSTALLED: Readonly<Record<string, { command: string; args: string[]; skip: string | false }>> = {
  'mktorrent 1.1': { command: client('mktorrent'), args: ['-h'], skip: clientMissing('mktorrent') },
  'transmission-create 4.1': {
    command: client('transmission-create'),
    args: ['--help'],
    skip: clientMissing('transmission-create'),
  },
  'create-torrent 6.1': { command: path.join(ROOT, 'node_modules/.bin/create-torrent'), args: ['--help'], skip: false },
};

interface Row {
  program: string;
  /** Our command for that of the program. */
  command: string;
  options: string[];
  ours: string;
}

const PAGE = pageText('docs/guides/switching.md');

/** The rows of the tables of options on the page. */
function rowsOfPage(): Row[] {
  const sections = PAGE.split(/^## /m);
  return sections.flatMap((section) => {
    const program = section.replace(/^(.+)\n\nVersion (.+)\.\n[\s\S]*/, '$1 $2');
    if (!Object.hasOwn(PROGRAMS, program)) return [];
    const tables = section.split('\n\n').filter((part) => /^\| .*`metainfo \w+` \|$/m.test(part));
    return tables.flatMap((table) => {
      const [head = '', , ...lines] = table.trim().split('\n');
      const command = /`metainfo (\w+)` \|$/.exec(head)?.[1] as string;
      return lines.map((line) => {
        const [, theirs = '', ours = ''] = line.split(/ ?\| ?/);
        return { program, command, options: theirs.match(/(?<=`)-[^`]+/g) ?? [], ours };
      });
    });
  });
}

/** The text that a hint must contain: the first option of a cell, its reason, or its words. */
function keyOf(ours: string): string {
  const [key = ours] = /(?<=none, because )[^:;(]+[^:;( ]|(?<=^`)(?:metainfo )?[\w-]+|^the path alone/.exec(ours) ?? [];
  return key.replaceAll('`', '');
}

/** The text that its cell on the page must contain: the reason, the first option, or our command. */
function keyOfHint(hint: string): string {
  const [key = hint] = /(?<=^none, because )[^,;]+/.exec(hint) ?? /--[\w-]+/.exec(hint) ?? /^[\w ]+\w/.exec(hint) ?? [];
  return key;
}

/** The message for a command line of create; empty if it parses. */
function messageOf(...words: string[]): string {
  const command = new HintingCommand('create').exitOverride().configureOutput({ writeErr: () => {} });
  try {
    manyOptions(createOptions(command)).parse(['f', ...words], { from: 'user' });
    return '';
  } catch (error) {
    return withHint((error as Error).message, words);
  }
}

describe('the page of other programs', () => {
  const rows = rowsOfPage();

  for (const [name, options] of Object.entries(PROGRAMS)) {
    it(`has every option of ${name}, and the answer of the command`, async () => {
      const ofProgram = rows.filter((row) => row.program === name);
      assert.deepEqual([...new Set(ofProgram.flatMap((row) => row.options))].sort(), options.split(' ').sort());
      for (const { command, options: theirs, ours } of ofProgram) {
        const parser = (await program(command)).commands.find((one) => one.name() === command);
        assert.ok(parser, command);
        for (const option of theirs) {
          const where = `${name}, ${command} ${option}: ${ours}`;
          const known = /^-(h|-help)$/.test(option)
            ? '--help'
            : parser.options.find(({ long, short }) => option === long || option === short)?.long;
          if (known && ours.startsWith(`\`${known}`)) continue;
          if (known) assert.ok(ours.includes(`\`${option}\` is `), where);
          else assert.ok(hintFor(option, parser.options)?.includes(keyOf(ours)), where);
        }
      }
    });
  }

  for (const [name, { command, args, skip }] of Object.entries(INSTALLED)) {
    it(`has every option that ${name} prints`, { skip }, () => {
      const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
      const printed = `${stdout}${stderr}`.match(/(?<=^\s*|, | )--?[a-zA-Z][\w-]*(?=[\s,=])/gm) ?? [];
      assert.ok(printed.length >= 10, stdout + stderr);
      const known = PROGRAMS[name]?.split(' ') ?? [];
      assert.deepEqual(
        printed.filter((option) => !known.includes(option)),
        [],
      );
    });
  }

  it('has every word that the command answers, with the same answer', () => {
    const lines = Array.from(PAGE.matchAll(/^\| (.+?) \| (.+) \|$/gm), ([, theirs = '', ours = '']) => ({
      theirs,
      ours,
    }));
    const pairs = [OPTIONS, COMMANDS].flatMap((hints) =>
      Object.entries(hints).flatMap(([hint, words]) =>
        words.split(' ').map((word) => ({ word, key: keyOfHint(hint) })),
      ),
    );
    assert.ok(pairs.length > 150);
    const isListed = ({ word, key }: { word: string; key: string }) =>
      lines.some(({ theirs, ours }) => theirs.includes(`\`${word}\``) && ours.replaceAll('`', '').includes(key));
    assert.deepEqual(
      pairs.filter((pair) => !isListed(pair)),
      [],
    );
  });

  it('names options of ours that exist', async () => {
    const names = (await program('completion')).commands.flatMap((command) =>
      command.options.flatMap(({ long }) => long ?? []),
    );
    const ours = rows.flatMap((row) => row.ours.match(/(?<=`)--[\w-]+/g) ?? []);
    assert.deepEqual(
      [...new Set(ours)].filter((one) => !['--help', '--version', ...names].includes(one)),
      [],
    );
  });
});

describe('withHint', () => {
  it('takes options with a value, and words as other programs write them', () => {
    const cases: Record<string, RegExp> = {
      '--piece-size=1MiB': /'--piece-size=1MiB': use --piece-length$/,
      '--urlList': /use --webseed$/,
      '--piece_size': /use --piece-length$/,
      '--md5=x': /'--md5=x': none, because the pieces have hashes already/,
      '-er=x': /'-er=x': none, because patterns are globs$/,
      '--private=false': /use --no-private, or leave it out$/,
      '-p=false': /'-p=false': use --no-private, or leave it out$/,
      '-q=1': /unknown option '-q=1'$/,
      '--private=1': /use --private without a value$/,
    };
    for (const [option, expected] of Object.entries(cases)) assert.match(messageOf(option), expected);
    assert.doesNotMatch(messageOf('--nosuch=false'), /: use /);
  });

  it('names only options that the command has, unless it has none of them', async () => {
    const hint = async (command: string, option: string) =>
      hintFor(option, (await program(command)).commands.find((one) => one.name() === command)?.options);
    assert.equal(await hint('edit', '-e'), '--entropy or metainfo show --json');
    assert.equal(await hint('create', '-e'), '--entropy, --exclude, or metainfo show --json');
    assert.equal(await hint('edit', '-m'), '--add-tracker, --add-webseed, or metainfo show --json');
    assert.match((await hint('create', '-d')) as string, /^--date, --node, or nothing, because no date/);
    assert.match((await hint('show', '-d')) as string, /^none, because no date/);
    assert.equal(await hint('show', '-b'), '--batch');
    assert.equal(await hint('edit', '--replace'), '--replace-tracker');
  });

  it('suggests an option for a misspelt one, whatever its value', () => {
    for (const value of ['x', 'http://a.example/announce', 'a=b'])
      assert.match(messageOf(`--trackr=${value}`), /^error: unknown option '--trackr'\n\(Did you mean --tracker\?\)$/);
    assert.match(messageOf('--profile', 'strict'), /--strict or --compat/);
  });

  it('is printed by the command, as text and as JSON', async (t) => {
    const cwd = await workFolder(t);
    const cases: [args: string[], message: string][] = [
      [['create', 'album', '--piece-size=1MiB'], "unknown option '--piece-size=1MiB': use --piece-length"],
      [['create', 'album', '--piece-size', '1MiB'], "unknown option '--piece-size': use --piece-length"],
      [['create', 'album', '--open'], "unknown option '--open': none, because metainfo starts no other program"],
      [['torrent', 'create', 'album'], "unknown command 'torrent': use metainfo create"],
      [['announce', 'x'], "unknown command 'announce': none, because metainfo asks no trackers and no peers"],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await metainfo(args, { cwd });
      assert.deepEqual([code, stderr.split('\n')[0]], [2, `error: ${message}`]);
      const { stdout } = await metainfo([...args, '--json'], { cwd });
      assert.equal(JSON.parse(stdout).error.message, message);
    }
  });
});

/** Runs the code on documentation pages, and the examples in docstrings. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { finish, MAIN, startProgram } from '../cli/run.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const GUIDES = path.join(ROOT, 'docs', 'guides');

/** The pages whose blocks the tests run, as paths from the root. */
export const pages = (): string[] => [
  'README.md',
  ...readdirSync(GUIDES)
    .sort()
    // scripts/test-install.mjs runs two with bundlers and other tools, and packages/metainfo-bullmq/test/pages.test.ts the third one.
    .filter((name) => !['bundling.md', 'install.md', 'queues.md'].includes(name))
    .map((name) => `docs/guides/${name}`),
];

export const pageText = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');

/** The source files of a package whose docstrings have examples, as paths from the root. */
export const sourcesWithExamples = (folder = 'src'): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll(path.sep, '/')}`)
    .filter((name) => name.endsWith('.ts') && pageText(name).includes('* @example'))
    .sort();

/** The code blocks of all `@example` tags of a source file, as a page. */
export function examplesOf(source: string): string {
  const docstrings = source.match(/\/\*\*[\s\S]*?\*\//g) ?? [];
  const examples = docstrings.flatMap((docstring) => docstring.split('@example').slice(1));
  const lines = examples.flatMap((example) => example.replace(/^[^\n]*/, '').split('\n'));
  return `${lines.map((line) => line.replace(/^\s*\*( |\/|$)/, '')).join('\n')}\n`.replace(/^@[\s\S]*?(?=^```)/gm, '');
}

/** A unit that runs at once: a script, a session, or a program of several blocks. */
interface Step {
  kind: 'sh' | 'console' | 'ts';
  /** The line where it starts. */
  line: number;
  text: string;
  /** The output of a program, if the page shows it. */
  output: string;
}

export interface Page {
  steps: Step[];
  /** The reasons of the blocks that are not run. */
  notRun: string[];
}

/**
 * Parses the blocks of a page. `sh` is a script that must succeed. `console` is a session: commands after `$ `, and their
 * output. A `ts` block that starts with an import is a program; other `ts` blocks continue the previous one. A `text` block
 * after them is the output. `<!-- not run: REASON -->` excludes the next block.
 */
export function parsePage(text: string): Page {
  const steps: Step[] = [];
  const notRun: string[] = [];
  const blocks = [...text.matchAll(/^(?:<!-- not run: (.+) -->\n\n?)?```(\S*)\n([\s\S]*?)^```$/gm)];
  const fences = text.match(/^\s*(```|~~~)/gm) ?? [];
  assert.equal(fences.length, blocks.length * 2, 'every fence belongs to a block of a known form');
  for (const { index, 1: reason, 2: kind = '', 3: code = '' } of blocks) {
    const line = text.slice(0, index).split('\n').length;
    const last = steps.at(-1);
    if (reason !== undefined) notRun.push(reason);
    else if (kind === 'text' && last?.kind === 'ts') last.output += code;
    else if (kind === 'ts' && !code.startsWith('import ')) {
      assert.ok(last?.kind === 'ts', `line ${line}: no program before it to continue`);
      last.text += code;
    } else {
      assert.ok(kind === 'sh' || kind === 'console' || kind === 'ts', `line ${line}: a block of kind "${kind}"`);
      steps.push({ kind, line, text: code, output: '' });
    }
  }
  return { steps, notRun };
}

/** Makes the packages importable by their names from a folder, in TypeScript and JavaScript. */
export async function linkPackage(folder: string): Promise<void> {
  await mkdir(path.join(folder, 'node_modules'));
  for (const name of ['@types', 'bullmq', 'metainfo', 'metainfo-bullmq', 'superstruct'])
    await symlink(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name));
}

/** How {@link runPage} prepares the folder. */
interface RunOptions {
  /** Create `album.torrent` (hybrid) and `v1.torrent` first. */
  torrents?: boolean;
  /** Variables of the environment. */
  env?: Readonly<Record<string, string>>;
}

/** Runs a page from top to bottom, in a folder with `album` and `film.mkv`. */
export async function runPage(
  { steps }: Page,
  folder: string,
  { torrents = false, env: given = {} }: RunOptions = {},
): Promise<void> {
  const [cwd, bin, home] = ['work', 'bin', 'home'].map((name) => path.join(folder, name)) as [string, string, string];
  await Promise.all([cwd, bin, home].map((made) => mkdir(made)));
  await cp(path.join(ROOT, 'examples', 'album'), path.join(cwd, 'album'), { recursive: true });
  const film = createHash('shake256', { outputLength: 3_000_000 }).update('film').digest();
  await writeFile(path.join(cwd, 'film.mkv'), film);
  const command = path.join(bin, 'metainfo');
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  await chmod(command, 0o755);
  await linkPackage(folder);
  const env = {
    ...given,
    HOME: home,
    XDG_CACHE_HOME: home,
    XDG_CONFIG_HOME: path.join(home, '.config'),
    PATH: `${bin}${path.delimiter}${process.env['PATH']}`,
  };
  const run = (...program: [string, ...string[]]) => finish(startProgram(program, { cwd, env }));

  if (torrents) {
    const made = await run('bash', '-euc', 'metainfo create -q album; metainfo create -q -k v1 album -o v1.torrent');
    assert.equal(made.code, 0, made.stderr);
  }
  for (const step of steps) {
    const where = `line ${step.line}`;
    if (step.kind === 'console') {
      const session = sessionOf(step.text);
      const { stdout } = await run('bash', '-c', scriptOf(session));
      const parts = stdout.split('\0');
      assert.equal(parts.length, session.length * 2 + 1, `${where}: the session ended early`);
      for (const [i, { command, output }] of session.entries()) {
        requireOutput(parts[i * 2] as string, output, `${where}: ${command}`);
        // A page shows `echo $?` after a command that should fail.
        if (session[i + 1]?.command !== 'echo $?')
          assert.equal(parts[i * 2 + 1], '0', `${where}: status of ${command}`);
      }
      continue;
    }
    const program = path.join(folder, `${step.line}.mjs`);
    if (step.kind === 'ts') await writeFile(program, (await transform(step.text, { loader: 'ts' })).code);
    const result = await (step.kind === 'ts'
      ? run(process.execPath, program)
      : run('bash', '-euo', 'pipefail', '-c', step.text));
    assert.equal(result.code, 0, `${where}: ${result.stderr}`);
    if (step.output !== '') requireOutput(result.stdout, step.output, where);
  }
}

/** Requires that the programs of pages have no type errors. Each page has a name. */
export async function requireTypes(folder: string, texts: readonly (readonly [string, string])[]): Promise<void> {
  await linkPackage(folder);
  for (const [name, page] of texts) {
    const place = path.join(folder, name.replaceAll('/', '-').replace(/\.(md|ts)$/, ''));
    await mkdir(place);
    for (const { kind, line, text } of parsePage(page).steps)
      if (kind === 'ts') await writeFile(path.join(place, `line-${line}.mts`), text);
  }
  // The declarations that the packages have, not their sources.
  const compilerOptions = { paths: {} };
  const config = { extends: path.join(ROOT, 'tsconfig.json'), compilerOptions, include: ['*/*.mts'] };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const { code, stdout } = await finish(startProgram([process.execPath, tsc, '-p', folder], { cwd: folder }));
  assert.equal(code, 0, stdout);
}

interface CommandWithOutput {
  command: string;
  output: string;
}

function sessionOf(text: string): CommandWithOutput[] {
  assert.ok(text.startsWith('$ '), 'a session starts with a command');
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.split('\n');
      return { command, output: output.join('\n') };
    });
}

/** Runs all commands in one shell. Prints the status of each between NUL bytes, and keeps it for the next command. */
function scriptOf(session: readonly CommandWithOutput[]): string {
  const lines = session.map(({ command }) => `${command}\nstatus=$?; printf '\\0%s\\0' $status; (exit $status)`);
  return ['exec 2>&1', ...lines].join('\n');
}

/** Lines of progress, which appear only when a job takes a while. */
const PROGRESS = /^ *\d+ % {2}.*\n/gm;

/** Requires the shown output; `...` within a line matches any text, and a line of `...` matches any lines. */
function requireOutput(all: string, shown: string, where: string): void {
  const printed = all.replace(PROGRESS, '');
  const pattern = shown
    .trimEnd()
    .split('\n')
    .map((line) => (line === '...' ? '(?:.*\n)*' : `${line.split('...').map(escaped).join('.*')}\n`))
    .join('');
  if (!new RegExp(`^${pattern}$`).test(`${printed.trimEnd()}\n`))
    assert.equal(printed.trimEnd(), shown.trimEnd(), where);
}

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

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

/** Pages whose blocks are run, by their path from the root. */
export const pages = (): string[] => [
  'README.md',
  ...readdirSync(GUIDES)
    .sort()
    .map((name) => `docs/guides/${name}`),
];

export const pageText = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');

/** What is done in one go: a script, a session, or a program of several blocks. */
interface Step {
  kind: 'sh' | 'console' | 'ts';
  /** Where it begins. */
  line: number;
  text: string;
  /** What a program prints, where the page shows it. */
  output: string;
}

export interface Page {
  steps: Step[];
  /** Why blocks are not run. */
  notRun: string[];
}

/**
 * The blocks of a page. `sh` is a script that must succeed. `console` is a session: commands after `$ `, and what they
 * print. `ts` that begins with an import is a program, `ts` that does not goes on with the one right before it; `text`
 * after either is what it prints. `<!-- not run: REASON -->` before a block keeps it from being run.
 */
export function parsePage(text: string): Page {
  const steps: Step[] = [];
  const notRun: string[] = [];
  const blocks = [...text.matchAll(/^(?:<!-- not run: (.+) -->\n\n?)?```(\S*)\n([\s\S]*?)^```$/gm)];
  const fences = text.match(/^\s*(```|~~~)/gm) ?? [];
  assert.equal(fences.length, blocks.length * 2, 'every fence is of a block that is understood');
  for (const { index, 1: reason, 2: kind = '', 3: code = '' } of blocks) {
    const line = text.slice(0, index).split('\n').length;
    const last = steps.at(-1);
    if (reason !== undefined) notRun.push(reason);
    else if (kind === 'text' && last?.kind === 'ts') last.output += code;
    else if (kind === 'ts' && !code.startsWith('import ')) {
      assert.ok(last?.kind === 'ts', `line ${line}: no program is before it that it could go on with`);
      last.text += code;
    } else {
      assert.ok(kind === 'sh' || kind === 'console' || kind === 'ts', `line ${line}: a block of kind "${kind}"`);
      steps.push({ kind, line, text: code, output: '' });
    }
  }
  return { steps, notRun };
}

/** Makes a folder in which TypeScript and JavaScript find this package by its name. */
export async function linkPackage(folder: string): Promise<void> {
  await mkdir(path.join(folder, 'node_modules'));
  await symlink(ROOT, path.join(folder, 'node_modules', 'metainfo'));
  await symlink(path.join(ROOT, 'node_modules', '@types'), path.join(folder, 'node_modules', '@types'));
}

/** Runs a page from top to bottom, in a folder that begins with `album` and `film.mkv`. */
export async function runPage({ steps }: Page, folder: string): Promise<void> {
  const [cwd, bin, home] = ['work', 'bin', 'home'].map((name) => path.join(folder, name)) as [string, string, string];
  await Promise.all([cwd, bin, home].map((made) => mkdir(made)));
  await cp(path.join(ROOT, 'examples', 'album'), path.join(cwd, 'album'), { recursive: true });
  const film = createHash('shake256', { outputLength: 3_000_000 }).update('film').digest();
  await writeFile(path.join(cwd, 'film.mkv'), film);
  const command = path.join(bin, 'metainfo');
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  await chmod(command, 0o755);
  await linkPackage(folder);
  const env = { HOME: home, XDG_CACHE_HOME: home, PATH: `${bin}${path.delimiter}${process.env['PATH']}` };
  const run = (...program: [string, ...string[]]) => finish(startProgram(program, { cwd, env }));

  for (const step of steps) {
    const where = `line ${step.line}`;
    if (step.kind === 'console') {
      const session = sessionOf(step.text);
      const { stdout } = await run('bash', '-c', scriptOf(session));
      const parts = stdout.split('\0');
      assert.equal(parts.length, session.length * 2 + 1, `${where}: the session ended early`);
      for (const [i, { command, output }] of session.entries()) {
        requireOutput(parts[i * 2] as string, output, `${where}: ${command}`);
        // A failure that is meant is shown.
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

interface Said {
  command: string;
  output: string;
}

function sessionOf(text: string): Said[] {
  assert.ok(text.startsWith('$ '), 'a session begins with a command');
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.split('\n');
      return { command, output: output.join('\n') };
    });
}

/** One shell for all commands; after each, its status between zeros, which the next one still sees. */
function scriptOf(session: readonly Said[]): string {
  const lines = session.map(({ command }) => `${command}\nstatus=$?; printf '\\0%s\\0' $status; (exit $status)`);
  return ['exec 2>&1', ...lines].join('\n');
}

/** What is shown must be what is printed; `...` stands for anything within a line, and alone for any lines. */
function requireOutput(printed: string, shown: string, where: string): void {
  const pattern = shown
    .trimEnd()
    .split('\n')
    .map((line) => (line === '...' ? '(?:.*\n)*' : `${line.split('...').map(escaped).join('.*')}\n`))
    .join('');
  if (!new RegExp(`^${pattern}$`).test(`${printed.trimEnd()}\n`))
    assert.equal(printed.trimEnd(), shown.trimEnd(), where);
}

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

// Part of scripts/test-install.mjs: runs the blocks of docs/guides/install.md with the packed package.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sectionsOfPage } from './test-bundles.mjs';

const TOOLS = ['jest@30', 'typescript@5.8', '@types/node@20', '@deno/linux-x64-glibc'];

/** Prints the v2 infohash of `data`. */
const SUM = `import { create } from 'metainfo';
const torrent = await create('data', { pieceLength: 16_384, createdBy: null });
console.log(torrent.infohashV2);
`;

/**
 * @param step Runs a step of the installation test.
 * @param npm Runs npm in a folder.
 * @param env The environment of programs.
 * @param from The folder where the package is installed, with a folder `data`.
 * @param infohash The v2 infohash of `data`.
 */
export function testInstallPage({ step, npm, env, scratch, tarball, from, infohash }) {
  const work = path.join(scratch, 'install-page');
  const bins = ['.bin', '@deno/linux-x64-glibc'].map((name) => path.join(work, 'node_modules', name));
  const more = { PATH: [...bins, env.PATH].join(path.delimiter), DENO_DIR: path.join(scratch, 'deno') };
  const options = { cwd: work, env: { ...env, ...more }, encoding: 'utf8', timeout: 300_000, stdio: 'pipe' };
  const sections = sectionsOfPage('docs/guides/install.md');
  /** Writes the files of a section, whose first line is a comment with their name, and runs its scripts. */
  function runSection(title) {
    const said = sections.get(title).map(({ kind, text }) => {
      if (kind === 'sh') return execFileSync('sh', ['-ec', text], options);
      writeFileSync(path.join(work, /^\/\/ (\S+)/.exec(text)[1]), text);
      return '';
    });
    return said.join('');
  }
  const requireEqual = (said, expected) => {
    if (said.trim() !== expected) throw new Error(`${said} instead of ${expected}`);
  };

  step('installation of Jest, TypeScript 5.8 and Deno', () => {
    mkdirSync(work);
    writeFileSync(path.join(work, 'package.json'), '{ "private": true }');
    npm(['install', '--ignore-scripts', tarball, ...TOOLS], work);
    cpSync(path.join(from, 'data'), path.join(work, 'data'), { recursive: true });
    writeFileSync(path.join(work, 'sum.mjs'), SUM);
  });
  step('CommonJS, in JavaScript and in TypeScript 5.8', () => {
    const typed = runSection('CommonJS').trim();
    requireEqual(execFileSync(process.execPath, ['sum.cjs'], options), typed);
    if (typed.length !== 64) throw new Error(typed);
  });
  step('Jest', () => void runSection('Jest'));
  step('Deno, with the permissions of the page', () => requireEqual(runSection('Deno and Bun'), infohash));
  step('a folder with the command, for a machine without a network', () => {
    const [{ text }] = sections.get('Without a network');
    const script = text.replace(/ metainfo$/m, ` --ignore-scripts '${tarball}'`);
    if (script === text) throw new Error('the page has another command');
    execFileSync('sh', ['-ec', script], { ...options, env: { ...process.env, ...more, PATH: process.env.PATH } });
    mkdirSync(path.join(work, 'other'));
    const commands = [
      'tar -xzf ../metainfo-offline.tar.gz',
      'metainfo-offline/node_modules/.bin/metainfo create ../data -o x.torrent',
    ];
    execFileSync('sh', ['-ec', commands.join('\n')], { ...options, cwd: path.join(work, 'other'), env: process.env });
  });
}

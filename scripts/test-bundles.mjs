// Part of scripts/test-install.mjs: runs the blocks of docs/guides/bundling.md with the packed package, and then the bundles
// in folders of their own, with and without the package beside them.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { root } from './setup.mjs';

const TOOLS = [
  ...['esbuild', 'rollup@4', '@rollup/plugin-node-resolve', 'webpack@5', 'webpack-cli', 'postject', '@electron/asar@3'],
  ...['next@16', 'react', 'react-dom', '@oven/bun-linux-x64'],
];

/** The packages that a bundle with the JavaScript of metainfo needs for the addon. */
const PARTS = ['metainfo', 'node-gyp-build'];

/** The size of a minified bundle that only reads magnet links. */
const MOST_MAGNET_BYTES = 25_000;
const MOST_MAGNET_PAGE_BYTES = 45_000;

const HANDLER = `import { nativeEngine, parseMagnet, TorrentCreate } from 'metainfo';
export async function handler() {
  const { infohashV1 } = parseMagnet('magnet:?xt=urn:btih:${'a'.repeat(40)}');
  const draft = new TorrentCreate({ pathRoot: process.env.DATA, pieceLength: 16_384, createdBy: null });
  const { infohashV2 } = await draft.generate({ threads: null });
  let kernel = 'node:crypto';
  try { kernel = nativeEngine().kernel; } catch {}
  return JSON.stringify({ infohashV1, infohashV2, kernel });
}`;
const SOURCES = {
  'handler.js': HANDLER,
  'app.js': `import { handler } from './handler.js';\nhandler().then(console.log);`,
  'magnet.js': `import { parseMagnet } from 'metainfo';\nconsole.log(parseMagnet(process.argv[2]));`,
  'page.js': `import { parseMagnet } from 'metainfo/browser';\nconsole.log(parseMagnet(location.hash));`,
  'page.config.cjs': `module.exports = { mode: 'production', entry: './page.js', output: { path: __dirname + '/out-page' } };`,
  'app/route.js': `import { handler } from '../handler.js';
export const dynamic = 'force-dynamic';
export const GET = async () => new Response(await handler());`,
  'package.json': '{ "private": true, "type": "module" }',
};

/** Runs a server until it answers: prints the answer, and passes on its errors. */
const ASK = `import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
const probe = createServer().listen(0, '127.0.0.1');
await new Promise((done) => probe.once('listening', done));
const { port } = probe.address();
await new Promise((done) => probe.close(done));
const env = { ...process.env, PORT: String(port), HOSTNAME: '127.0.0.1' };
const server = spawn(process.execPath, process.argv.slice(2), { env, stdio: ['ignore', 'ignore', 'inherit'] });
try {
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch('http://127.0.0.1:' + port).catch(() => null);
    if (answer) { console.log(await answer.text()); break; }
    if (tries === 200 || server.exitCode !== null) throw new Error('the server does not answer');
    await new Promise((done) => setTimeout(done, 100));
  }
} finally { server.kill(); }`;

/** The code blocks of each section of a page, by its title. */
export function sectionsOfPage(page) {
  const [, ...parts] = readFileSync(path.join(root, page), 'utf8').split(/^## /m);
  return new Map(
    parts.map((part) => [
      part.split('\n', 1)[0],
      [...part.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, kind, text]) => ({ kind, text })),
    ]),
  );
}

/** A block without its choice to leave metainfo out of the bundle. */
const bundledAll = (text) =>
  text.replace(/ --external[:=]metainfo| *(external|externals|serverExternalPackages): .*\n/g, '');

/**
 * @param step Runs a step of the installation test.
 * @param npm Runs npm in a folder.
 * @param from The folder where the package is installed, with a folder `data`.
 * @param infohash The v2 infohash of `data`.
 */
export function testBundles({ step, npm, scratch, tarball, from, infohash }) {
  const work = path.join(scratch, 'bundles');
  const env = {
    ...process.env,
    METAINFO_ENGINE: '',
    NEXT_TELEMETRY_DISABLED: '1',
    DATA: path.join(from, 'data'),
    PATH: [
      ...['.bin', '@oven/bun-linux-x64/bin'].map((name) => path.join(work, 'node_modules', name)),
      process.env.PATH,
    ].join(path.delimiter),
  };
  const options = (cwd) => ({ cwd, env, encoding: 'utf8', timeout: 300_000 });
  const sections = sectionsOfPage('docs/guides/bundling.md');
  const [{ text: shown }] = sections.get('Without the addon');
  const warning = shown.replace(/\s+/g, ' ').trim();

  /** Writes and runs the blocks of a section. A block of JavaScript starts with the name of its file. */
  function build(title, change = null) {
    rmSync(path.join(work, 'out'), { recursive: true, force: true });
    const texts = sections.get(title).map(({ text }) => text);
    if (change && texts.map(change).join() === texts.join()) throw new Error(`the page has other lines: ${texts}`);
    for (const { kind, text } of sections.get(title)) {
      const changed = change ? change(text) : text;
      if (kind === 'sh') execFileSync('sh', ['-ec', changed], { ...options(work), stdio: 'pipe' });
      else writeFileSync(path.join(work, /^\/\/ (\S+)/.exec(changed)[1]), changed);
    }
  }
  const tool = (...command) => void execFileSync(command[0], command.slice(1), { ...options(work), stdio: 'pipe' });

  /** Copies a bundle into a folder of its own, with packages of these names beside it. */
  function moved(out, packages) {
    const folder = mkdtempSync(path.join(scratch, 'bundle-'));
    cpSync(path.join(work, out), folder, { recursive: true, verbatimSymlinks: true });
    if (packages.length > 0) mkdirSync(path.join(folder, 'node_modules'), { recursive: true });
    for (const name of packages)
      cpSync(path.join(from, 'node_modules', name), path.join(folder, 'node_modules', name), { recursive: true });
    return folder;
  }

  /** Runs a bundle. It must use the addon, or else give the warning of the page once. */
  function check(folder, isNative, command = process.execPath, args = []) {
    const { status, stdout, stderr } = spawnSync(command, args, options(folder));
    const said = () => new Error(`${path.basename(folder)} ${args}: exit ${status}\n${stdout}${stderr}`);
    if (status !== 0) throw said();
    const { infohashV1, infohashV2, kernel } = JSON.parse(stdout);
    const warnings = stderr.split('\n').filter((line) => line.includes('MetainfoWarning'));
    const isRight = isNative
      ? kernel !== 'node:crypto' && warnings.length === 0
      : kernel === 'node:crypto' && warnings.length === 1 && warnings[0].endsWith(warning);
    if (!isRight || infohashV1.length !== 40 || infohashV2 !== infohash) throw said();
  }

  /** Checks bundles in `out`: those without metainfo beside all packages, and those with it beside two and on their own. */
  function checkAll(files, isExternal, program = process.execPath) {
    const beside = moved('out', isExternal ? [] : PARTS);
    if (isExternal) symlinkSync(path.join(from, 'node_modules'), path.join(beside, 'node_modules'));
    for (const file of files) check(beside, true, program, [file]);
    if (isExternal) return;
    const alone = moved('out', []);
    for (const file of files) check(alone, false, program, [file]);
  }

  step('installation of bundlers', () => {
    for (const [name, text] of Object.entries(SOURCES)) {
      mkdirSync(path.dirname(path.join(work, name)), { recursive: true });
      writeFileSync(path.join(work, name), text);
    }
    npm(['install', '--ignore-scripts', tarball, ...TOOLS], work);
  });
  for (const [title, files, ...command] of [
    ['esbuild', ['app.mjs', 'app.cjs']],
    ['Rollup', ['app.mjs'], 'rollup', '-c', '--failAfterWarnings'],
    ['webpack', ['app.cjs'], 'webpack', '--fail-on-warnings'],
  ]) {
    step(`a bundle by ${title}, with and without the package`, () => {
      for (const isExternal of [true, false]) {
        build(title, isExternal ? null : bundledAll);
        if (command.length > 0) tool(...command);
        checkAll(files, isExternal);
      }
    });
  }
  step('a bundle that only reads magnet links is small', () => {
    tool('esbuild', 'magnet.js', '--bundle', '--minify', '--platform=node', '--format=esm', '--outfile=out/magnet.mjs');
    const { size } = statSync(path.join(work, 'out/magnet.mjs'));
    if (size > MOST_MAGNET_BYTES) throw new Error(`${size} bytes`);
    return `${size} bytes`;
  });
  step('a page by webpack that only reads magnet links is small', () => {
    tool('webpack', '--config', 'page.config.cjs');
    const { size } = statSync(path.join(work, 'out-page/main.js'));
    if (size > MOST_MAGNET_PAGE_BYTES) throw new Error(`${size} bytes`);
    return `${size} bytes`;
  });
  step('a function of AWS Lambda, with and without the package', () => {
    build('AWS Lambda');
    const folder = moved('lambda', []);
    const call = ['--input-type=module', '-e', 'console.log(await (await import("./index.mjs")).handler())'];
    check(folder, true, process.execPath, call);
    rmSync(path.join(folder, 'node_modules'), { recursive: true });
    check(folder, false, process.execPath, call);
  });
  step('a single executable application, with and without the package', () => {
    build('Single executable applications');
    const folder = moved('out', []);
    check(folder, true, path.join(folder, 'app'));
    rmSync(path.join(folder, 'node_modules'), { recursive: true });
    check(folder, false, path.join(folder, 'app'));
  });
  step('a bundle and an executable by Bun, with and without the package', () => {
    for (const isExternal of [true, false]) {
      build('Bun', isExternal ? null : bundledAll);
      checkAll(['app.js'], isExternal, 'bun');
    }
    for (const packages of [PARTS, []]) {
      const folder = moved('out', packages);
      check(folder, packages.length > 0, path.join(folder, 'app'));
    }
  });
  step('an asar archive leaves the addon outside', () => {
    cpSync(path.join(from, 'node_modules'), path.join(work, 'app-asar/node_modules'), { recursive: true });
    build('Electron', (text) => text.replace('pack app ', 'pack app-asar '));
    const binary = 'node_modules/metainfo/prebuilds/linux-x64/metainfo.glibc.node';
    if (!existsSync(path.join(work, 'app.asar.unpacked', binary))) throw new Error('the addon is in the archive');
  });
  step('Next.js: next start, a standalone server, and without its line', () => {
    const ask = path.join(work, 'ask.mjs');
    writeFileSync(ask, ASK);
    const next = path.join(work, 'node_modules/next/dist/bin/next');
    for (const [change, folder, isNative, ...args] of [
      [(text) => text.replace(/ *output.*\n/g, ''), () => work, true, next, 'start'],
      [null, () => moved('.next/standalone', []), true, 'server.js'],
      [bundledAll, () => moved('.next/standalone', []), false, 'server.js'],
    ]) {
      build('Next.js', change);
      tool('next', 'build');
      check(folder(), isNative, process.execPath, [ask, ...args]);
    }
  });
}

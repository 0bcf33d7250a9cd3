/** Bundles of the library by esbuild. scripts/test-bundles.mjs tests other bundlers, with the packed package. */
import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { build, type Format } from 'esbuild';
import { VERSION } from '../src/text/version.ts';
import { finish, startProgram } from './cli/run.ts';
import { ROOT } from './support/pages.ts';
import { temporaryFolder } from './support/tree.ts';

/** Bundles a program whose imports come from the sources. */
async function bundled(program: string, format: Format, minify = false): Promise<string> {
  const { outputFiles, warnings } = await build({
    stdin: { contents: program.replaceAll("'metainfo'", "'./src/index.ts'"), resolveDir: ROOT },
    ...{ bundle: true, platform: 'node', format, minify, write: false, logLevel: 'silent' },
    // esbuild does not warn about packages.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  assert.deepEqual(warnings, []);
  return outputFiles[0]?.text as string;
}

const PROGRAM = `
  import { nativeEngine, parseMagnet, TorrentCreate } from 'metainfo';
  process.on('warning', ({ message }) => console.log(message));
  async function main() {
    console.log(parseMagnet('magnet:?xt=urn:btih:${'a'.repeat(40)}').infohashV1.length);
    const sources = [{ path: 'a', data: Buffer.alloc(100_000) }];
    const make = () => new TorrentCreate({ sources, info: { name: 'a' } }).generate({ version: 'v2' });
    await make();
    console.log((await make()).infohashV2.length);
    try { console.log(nativeEngine().name); } catch (error) { console.log(error.code); }
  }
  main();`;

describe('a bundle of the library', () => {
  let texts: Readonly<Record<string, string>>;
  before(async () => {
    texts = { 'bundle.cjs': await bundled(PROGRAM, 'cjs'), 'bundle.mjs': await bundled(PROGRAM, 'esm') };
  });

  /** Runs both bundles with something as the installed package, and returns the lines of their output. */
  async function linesBeside(t: TestContext, install: (place: string) => Promise<void>): Promise<string[]> {
    const folder = await temporaryFolder(t);
    await mkdir(path.join(folder, 'node_modules'));
    await install(path.join(folder, 'node_modules', 'metainfo'));
    const outputs: string[] = [];
    for (const [name, text] of Object.entries(texts)) {
      const file = path.join(folder, name);
      await writeFile(file, text);
      const program = startProgram([process.execPath, '--no-warnings', file], {
        cwd: folder,
        env: { METAINFO_ENGINE: '' },
      });
      const { code, stdout, stderr } = await finish(program);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      outputs.push(stdout);
    }
    assert.equal(outputs[0], outputs[1]);
    return (outputs[0] as string).trim().split('\n');
  }

  const manifestOf = (version: string) => async (place: string) => {
    await mkdir(place);
    await writeFile(path.join(place, 'package.json'), JSON.stringify({ name: 'metainfo', version }));
  };

  it('uses the addon of the package that is installed beside it', async (t) => {
    const lines = await linesBeside(t, (place) => symlink(ROOT, place, 'junction'));
    assert.deepEqual(lines, ['40', '64', 'native']);
  });

  for (const [what, install, reason] of [
    [
      'nothing',
      async () => {},
      'metainfo is not installed beside this bundle): leave metainfo out of the bundle (external), or install it beside the bundle.',
    ],
    // Its native code expects other JavaScript.
    [
      'another version',
      manifestOf('99.1.0'),
      `metainfo 99.1.0 is installed beside a bundle of metainfo ${VERSION}): install metainfo@${VERSION}, or build the bundle again.`,
    ],
    [
      'a package without its dependencies',
      manifestOf(VERSION),
      'node-gyp-build is not installed): install metainfo with its dependencies.',
    ],
  ] as const)
    it(`beside ${what}, hashes with node:crypto, and tells once what to do`, async (t) => {
      const warning = `The native addon could not be loaded (${reason} Until then, metainfo falls back to node:crypto, which is slower.`;
      assert.deepEqual(await linesBeside(t, install), ['40', warning, '64', 'ERR_NATIVE_UNAVAILABLE']);
    });

  for (const [name, most] of [
    ['parseMagnet', 25_000],
    ['Torrent', 140_000],
  ] as const)
    it(`costs at most ${most} bytes if it only uses ${name}`, async () => {
      const { length } = await bundled(`import { ${name} } from 'metainfo'; console.log(${name});`, 'esm', true);
      assert.ok(length <= most, `${length} bytes`);
    });
});

// Builds the command as one executable for those without Node, for linux-x64 and linux-arm64, from prebuilds/:
// `node scripts/executable.mjs FOLDER` writes FOLDER/metainfo-linux-ARCH.tar.gz. See docs/decisions/0048-single-executable.md.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { COMMAND } from './bundle-command.mjs';
import { licensesOf } from './licenses.mjs';
import { root, run } from './setup.mjs';

/** A version that passed scripts/test-deploy.mjs. The baseline for x64 needs no AVX2; the addon chooses its kernels itself. */
const VERSION = '1.4.5';
const RUNTIMES = { x64: '@oven/bun-linux-x64-baseline', arm64: '@oven/bun-linux-aarch64' };
const HERE = { x64: RUNTIMES.x64, arm64: RUNTIMES.arm64 }[process.arch];

const BUN_LICENSE = `Bun ${VERSION}

MIT License, Copyright (c) Jarred Sumner and others. Bun links JavaScriptCore statically, under the LGPL-2.1; https://bun.com/docs/project/license
lists the licenses of what it contains, and tells how to link it again with another JavaScriptCore.
`;

/** Gives the Bun of each architecture; npm fetches them the first time. */
function runtimes() {
  const folder = path.join(root, 'build/bun', VERSION);
  const binaryOf = (name) => path.join(folder, 'node_modules', name, 'bin/bun');
  const names = Object.values(RUNTIMES);
  if (!names.every((name) => existsSync(binaryOf(name)))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
    // --force: one package is for another CPU.
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--force', '--prefix', folder];
    run('npm', [...args, ...names.map((name) => `${name}@${VERSION}`)], 'fetching Bun');
  }
  return binaryOf;
}

/** Takes the addon into the executable, and knows where Bun puts the files of the package that the command reads. */
const embeddedAddon = (addon) => ({
  name: 'embedded-addon',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/hash\/binary-loader\.ts$/ }, () => ({
      contents: `import path from 'node:path';
        import { MetainfoError } from '../errors/errors.ts';
        const advice = 'set TMPDIR to a folder that you can write, on a file system without noexec';
        export const nodeGypBuildOf = () => () => {
          try {
            return require(${JSON.stringify(addon)});
          } catch (cause) {
            if (cause.code === 'kernel') throw cause;
            const message = 'The native addon could not be unpacked and loaded (' + cause.message + '): ' + advice + '.';
            throw new MetainfoError('ERR_NATIVE_UNAVAILABLE', message, { cause });
          }
        };
        // Bun replaces __dirname by a folder of the machine that builds.
        export const ownFolder = () => path.dirname(Bun.main);`,
      resolveDir: path.join(root, 'src/hash'),
    }));
  },
});

/** Builds FOLDER/metainfo-linux-ARCH/metainfo, with its unit for systemd and licenses beside it; returns the path of that folder. */
export async function buildExecutable(folder, arch) {
  const binaryOf = runtimes();
  const out = path.join(folder, `metainfo-linux-${arch}`);
  mkdirSync(out, { recursive: true });
  const bundle = path.join(folder, `command-${arch}.cjs`);
  const { metafile } = await build({
    ...COMMAND,
    outfile: bundle,
    // One copy of the library, for the command and its package of queues.
    alias: {
      metainfo: path.join(root, 'src/index.ts'),
      'metainfo-bullmq/command': path.join(root, 'packages/metainfo-bullmq/src/command/index.ts'),
    },
    // bullmq and pg ask for these and do without them.
    external: ['*.node', 'pg-native'],
    plugins: [embeddedAddon(path.join(root, `prebuilds/linux-${arch}/metainfo.glibc.node`))],
    logLevel: 'error',
  });
  const args = [
    'build',
    '--compile',
    `--target=bun-linux-${arch}`,
    `--compile-executable-path=${binaryOf(RUNTIMES[arch])}`,
  ];
  // Bun would read these files in the working directory of the user.
  const closed = ['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'];
  // Only files in a folder keep their path.
  cpSync(path.join(root, 'docs/config.example.toml'), path.join(folder, 'docs/config.example.toml'));
  const files = ['--asset=docs', bundle, `--outfile=${path.join(out, 'metainfo')}`];
  execFileSync(binaryOf(HERE), [...args, ...closed, ...files], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const licenses = [licensesOf(metafile), readFileSync(path.join(root, 'native/licenses.txt'), 'utf8'), BUN_LICENSE];
  writeFileSync(path.join(out, 'licenses.txt'), licenses.join('\n\n'));
  cpSync(path.join(root, 'deploy/metainfo-worker@.service'), path.join(out, 'metainfo-worker@.service'));
  writeFileSync(path.join(out, 'LICENSE'), readFileSync(path.join(root, 'LICENSE')));
  return out;
}

if (process.argv[1] === import.meta.filename) {
  const folder = path.resolve(process.argv[2]);
  for (const arch of Object.keys(RUNTIMES)) {
    const name = path.basename(await buildExecutable(folder, arch));
    execFileSync('tar', ['--owner=0', '--group=0', '-C', folder, '-czf', `${path.join(folder, name)}.tar.gz`, name]);
  }
}

// Finishes the modules of metainfo-bullmq that tsc wrote, and bundles its part of the command.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { compact } from './compact.mjs';
import { licensesOf } from './licenses.mjs';
import { root } from './setup.mjs';

const dist = path.join(root, 'packages/metainfo-bullmq/dist');
// For `npm start`, tsc has written no modules.
mkdirSync(dist, { recursive: true });
rmSync(path.join(dist, 'command'), { recursive: true, force: true });
compact(dist);

/** Takes the source of metainfo. It finds the addon in the package, which is beside this one. */
const sourceOfMetainfo = {
  name: 'source-of-metainfo',
  setup({ onResolve }) {
    onResolve({ filter: /^metainfo$/ }, () => ({ path: path.join(root, 'src/index.ts'), sideEffects: false }));
  },
};

// One CommonJS file with the library in it, as the command is: the modules of both and of bullmq take three times as long to load.
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['packages/metainfo-bullmq/src/command/index.ts'],
  outfile: path.join(dist, 'command.cjs'),
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  minify: true,
  define: { 'import.meta.filename': '__filename' },
  external: ['bullmq', 'ioredis', 'prom-client'],
  plugins: [sourceOfMetainfo],
  logLevel: 'warning',
  metafile: true,
});
writeFileSync(path.join(dist, 'licenses.txt'), licensesOf(metafile));

// Bundles a fuzz target with instrumented sources, which count the runs of every statement, function and branch.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { build, transform } from 'esbuild';
import { createInstrumenter } from 'istanbul-lib-instrument';
import { root } from './setup.mjs';

const instrumented = {
  name: 'instrumented',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path: file }) => {
      const { code } = await transform(readFileSync(file, 'utf8'), {
        loader: 'ts',
        target: 'es2023',
        sourcefile: file,
      });
      const contents = createInstrumenter({ esModules: true, compact: false }).instrumentSync(code, file);
      return { contents, loader: 'js' };
    });
  },
};

/** Returns the path of the bundle. It is two folders below the root, like dist/cli, where the sources find package.json and the addon. */
export async function bundle(name) {
  const outfile = path.join('build', 'fuzz', `${name}.cjs`);
  await build({
    absWorkingDir: root,
    stdin: {
      contents: `import * as target from './fuzz/${name}.ts';
        import { fuzz } from './fuzz/engine/loop.ts';
        fuzz(target, JSON.parse(process.argv[2])).catch((error) => { console.error(error); process.exitCode = 1; });`,
      resolveDir: root,
    },
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    define: { 'import.meta.dirname': '__dirname' },
    external: ['fast-check'],
    plugins: [instrumented],
    logLevel: 'warning',
  });
  return outfile;
}

// Bundles a target of fuzz/ with the sources instrumented: how often each statement, function and branch is run.
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

/** Two folders below the root, as dist/cli is: there the sources look for package.json and the addon. */
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

// Makes the command one CommonJS file: finding, reading and linking some sixty modules takes longer than what they do.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { root } from './setup.mjs';

/** What takes long to load, and few runs need: commander's subprocesses, infohashes that nobody is shown. */
const LAZY = ['node:child_process', 'node:crypto'];

/** Puts off the loading of these modules of Node to the first use of something in them. */
const lazyBuiltins = {
  name: 'lazy-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path: name, namespace }) =>
      LAZY.includes(name) && namespace !== 'lazy' ? { path: name, namespace: 'lazy' } : { external: true },
    );
    onLoad({ filter: /^/, namespace: 'lazy' }, async ({ path: name }) => {
      const names = Object.keys((await import(name)).default);
      const getters = names.map((key) => `get ${key}() { return require('${name}').${key}; }`);
      return { contents: `module.exports = { ${getters.join(', ')} };` };
    });
  },
};

const { metafile, outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['src/cli/command.ts'],
  outfile: 'dist/cli/command.cjs',
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  // Sources look for package.json and the addon two folders above their own: so far above dist/cli they are too.
  define: { 'import.meta.dirname': '__dirname' },
  // A script that `vm` runs has no import().
  supported: { 'dynamic-import': false },
  plugins: [lazyBuiltins],
  logLevel: 'warning',
  metafile: true,
  write: false,
});

// By what it begins with, src/cli/main.cts knows the code cache that belongs to it.
const [{ path: file, text }] = outputFiles;
const id = createHash('sha256').update(text).digest('hex').slice(0, 16);
writeFileSync(file, `// ${id}\n${text}`);

const packages = Object.keys(metafile.inputs).flatMap(
  (input) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [],
);
const licenses = [...new Set(packages)].map((folder) => {
  const license = readdirSync(path.join(root, folder)).find((name) => /^licen[cs]e/i.test(name));
  return `${folder.replace(/.*node_modules\//, '')}\n\n${readFileSync(path.join(root, folder, license), 'utf8').trim()}\n`;
});
writeFileSync(path.join(path.dirname(file), 'licenses.txt'), licenses.join('\n\n'));

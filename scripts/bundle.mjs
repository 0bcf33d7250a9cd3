// Takes what only readers need out of the library's modules, and bundles the command.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, transformSync } from 'esbuild';
import { COMPACT } from './compact.mjs';
import { licensesOf } from './licenses.mjs';
import { root } from './setup.mjs';

const dist = path.join(root, 'dist');
for (const name of readdirSync(dist, { recursive: true })) {
  const file = path.join(dist, name);
  if (name.endsWith('.js')) writeFileSync(file, transformSync(readFileSync(file, 'utf8'), COMPACT).code);
}

/** The types that an entry leads to. Others describe what only the command uses. */
const reached = new Set();
const reach = (file) => {
  if (reached.has(file)) return;
  reached.add(file);
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()["'](\.[^"']+)\.ts["']/g))
    reach(path.resolve(path.dirname(file), `${name}.d.ts`));
};
for (const entry of ['index', 'browser/index', 'bullmq/index']) reach(path.join(dist, `${entry}.d.ts`));
for (const name of readdirSync(dist, { recursive: true }))
  if (name.endsWith('.d.ts') && !reached.has(path.join(dist, name))) rmSync(path.join(dist, name));

/** Modules that load slowly and that few runs need. */
const LAZY = ['node:child_process', 'node:crypto'];

/** Delays the loading of these modules until the first use of something in them. */
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

/** Takes node-gyp-build into the command, whose package is two folders above dist/cli. */
const ownLoader = {
  name: 'own-loader',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/hash\/binary-loader\.ts$/ }, () => ({
      contents: `import path from 'node:path';
        import load from 'node-gyp-build';
        export const nodeGypBuildOf = () => load;
        export const ownFolder = () => path.join(__dirname, '../..');`,
      resolveDir: root,
    }));
  },
};

// One CommonJS file, because finding, reading and linking sixty modules takes longer than running them.
const { metafile, outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['src/cli/command.ts'],
  outfile: 'dist/cli/command.cjs',
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  // Fewer bytes to read and to install. Names are shortened below.
  minifyWhitespace: true,
  minifySyntax: true,
  // The form that src/cli/main.cts runs. To add the wrapper there would copy the text.
  banner: { js: '(function (exports, require, module, __filename, __dirname) {' },
  footer: { js: '})' },
  // CommonJS has no import.meta.
  define: { 'import.meta.filename': '__filename' },
  // A script that `vm` runs cannot call import().
  supported: { 'dynamic-import': false },
  // The user installs these, if any.
  external: ['bullmq', 'prom-client'],
  plugins: [lazyBuiltins, ownLoader],
  logLevel: 'warning',
  metafile: true,
  write: false,
});

// esbuild copies the properties of every built-in module, such as the hundred of fs, one by one. An object that inherits them
// takes no time.
const COPY = /\b__toESM=\(mod,isNodeMode,target\)=>[^;]+;/;
const [{ path: file, text: bundled }] = outputFiles;
if (!COPY.test(bundled)) throw new Error('esbuild has another __toESM: adapt scripts/bundle.mjs');
const copied = bundled.replace(COPY, '__toESM=mod=>({__proto__:mod,default:mod});');
const text = transformSync(copied, { minifyIdentifiers: true, minifyWhitespace: true, target: 'node20.19' }).code;
// The first line tells src/cli/main.cts which code cache belongs to the bundle.
const id = createHash('sha256').update(text).digest('hex').slice(0, 16);
writeFileSync(file, `// ${id}\n${text}`);
writeFileSync(path.join(path.dirname(file), 'licenses.txt'), licensesOf(metafile));

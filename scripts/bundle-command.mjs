// Bundles the command into a folder that is two levels below the root: `node scripts/bundle-command.mjs dist/cli`.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, transformSync } from 'esbuild';
import { licensesOf } from './licenses.mjs';
import { root } from './setup.mjs';

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

/** Takes node-gyp-build into the command, whose package is two folders above. */
const ownLoader = {
  name: 'own-loader',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/hash\/binary-loader\.ts$/ }, () => ({
      // Not imported: it looks for files when it is loaded, which can fail.
      contents: `import path from 'node:path';
        export const nodeGypBuildOf = () => require('node-gyp-build');
        export const ownFolder = () => path.join(__dirname, '../..');`,
      resolveDir: root,
    }));
  },
};

/** Options of esbuild for one CommonJS file of the command. */
export const COMMAND = {
  absWorkingDir: root,
  entryPoints: ['src/cli/command.ts'],
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  // Fewer bytes to read and to install.
  minifyWhitespace: true,
  minifySyntax: true,
  // CommonJS has no import.meta.
  define: { 'import.meta.filename': '__filename' },
  metafile: true,
};

// esbuild copies the properties of every built-in module, such as the hundred of fs, one by one. An object that inherits them
// takes no time.
const COPY = /\b__toESM=\(mod,isNodeMode,target\)=>[^;]+;/;
/** Bundles the command into one file, because finding, reading and linking sixty modules takes longer than running them. */
async function bundleCommand(folder) {
  mkdirSync(folder, { recursive: true });
  const { metafile, outputFiles } = await build({
    ...COMMAND,
    outfile: path.join(folder, 'command.cjs'),
    // The form that src/cli/main.cts runs. To add the wrapper there would copy the text.
    banner: { js: '(function (exports, require, module, __filename, __dirname) {' },
    footer: { js: '})' },
    // A script that `vm` runs cannot call import().
    supported: { 'dynamic-import': false },
    // The user installs it, if at all.
    external: ['metainfo-bullmq'],
    plugins: [lazyBuiltins, ownLoader],
    logLevel: 'warning',
    write: false,
  });

  const [{ path: file, text: bundled }] = outputFiles;
  if (!COPY.test(bundled)) throw new Error('esbuild has another __toESM: adapt scripts/bundle-command.mjs');
  const copied = bundled.replace(COPY, '__toESM=mod=>({__proto__:mod,default:mod});');
  // This shortens names.
  const text = transformSync(copied, { minifyIdentifiers: true, minifyWhitespace: true, target: 'node20.19' }).code;
  // The first line tells src/cli/main.cts which code cache belongs to the bundle.
  const id = createHash('sha256').update(text).digest('hex').slice(0, 16);
  writeFileSync(file, `// ${id}\n${text}`);
  writeFileSync(path.join(folder, 'licenses.txt'), licensesOf(metafile));

  // tsc has written main.cjs of the package.
  if (folder !== path.join(root, 'dist', 'cli')) {
    const source = readFileSync(path.join(root, 'src', 'cli', 'main.cts'), 'utf8');
    writeFileSync(
      path.join(folder, 'main.cjs'),
      transformSync(source, { loader: 'ts', format: 'cjs', target: 'node20.19' }).code,
    );
  }
}

if (process.argv[1] === import.meta.filename) await bundleCommand(path.join(root, process.argv[2]));

// The sizes of what a page loads from dist/browser: minified and gzipped, for test/browser/sizes.test.ts and bench/browser.ts.
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { root } from './setup.mjs';

/** Stands for Node's `path`, which some packages import: bundlers of pages add about as much. */
const PATH = {
  name: 'path',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^path$/ }, () => ({ path: 'path', namespace: 'path' }));
    onLoad({ filter: /.*/, namespace: 'path' }, () => ({
      contents: `
        const join = (...parts) => parts.filter(Boolean).join('/').replace(/\\/+/g, '/');
        export default { sep: '/', join, normalize: join, basename: (path) => path.split('/').pop() };`,
    }));
  },
};

/** Bundles a page's code as users do. Returns the minified code. */
export async function bundlePage(contents) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2023',
    plugins: [PATH],
    write: false,
  });
  return outputFiles[0].text;
}

/** The bytes of code, and after gzip at its highest level. */
export function sizesOf(code) {
  return { minified: Buffer.byteLength(code), gzipped: gzipSync(code, { level: 9 }).length };
}

const BUNDLE = './dist/browser/index.js';
/** Pages that load a part of the bundle, or all of it. */
export const PAGES = {
  'reads and validates': `export { Torrent } from '${BUNDLE}';`,
  everything: `export * from '${BUNDLE}';`,
};

/** The sizes of each of {@link PAGES}. */
export async function browserSizes() {
  const entries = Object.entries(PAGES).map(async ([name, text]) => [name, sizesOf(await bundlePage(text))]);
  return Object.fromEntries(await Promise.all(entries));
}

// Builds the page /inspect, which looks into torrents and makes them in the browser: three files and a service worker. The worker lies
// above them, because it also keeps /errors.html.
import { cpSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { root } from '../scripts/setup.mjs';

const SOURCES = path.join(root, 'site/inspect');

/**
 * Builds the page. It takes the library from dist/browser.
 *
 * @param folder The folder of the site's files.
 */
export async function buildInspect(folder) {
  await build({
    absWorkingDir: root,
    entryPoints: { 'inspect/page': path.join(SOURCES, 'app.tsx'), 'inspect-worker': path.join(SOURCES, 'worker.js') },
    outdir: folder,
    bundle: true,
    minify: true,
    platform: 'browser',
    target: 'es2023',
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'vue',
    define: {
      'process.env.NODE_ENV': '"production"',
      __VUE_OPTIONS_API__: 'false',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    // tsconfig.json of the site has the types of the sources.
    alias: { 'metainfo/browser': path.join(root, 'dist/browser/index.js') },
    tsconfigRaw: {},
    legalComments: 'none',
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'page.css']) cpSync(path.join(SOURCES, name), path.join(folder, 'inspect', name));
}

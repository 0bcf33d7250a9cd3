// Builds the page /inspect, which looks into torrents and makes them in the browser: three files and a service worker. The worker lies
// above them, because it also keeps /errors.html.
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, transformSync } from 'esbuild';
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
    entryPoints: { 'inspect/page': path.join(SOURCES, 'app.tsx') },
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

/**
 * Writes the service worker with the hashes of the files that it keeps. It belongs to the site when everything else is built.
 *
 * @param site The folder of the finished site.
 */
export function writeWorker(site) {
  // A style sheet that does not come would keep the page blank.
  const errors = readFileSync(path.join(site, 'errors.html'), 'utf8');
  const styles = Array.from(errors.matchAll(/<link rel="[^"]*stylesheet[^"]*" href="([^"]*)"/g), ([, url]) => url);
  const fileOf = (url) => path.join(site, url.replace(/\/$/, '/index.html'));
  const kept = ['/inspect/', '/inspect/page.js', '/inspect/page.css', '/errors.html', ...styles];
  const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex');
  const files = JSON.stringify(Object.fromEntries(kept.map((url) => [url, hashOf(readFileSync(fileOf(url)))])));
  const source = readFileSync(path.join(SOURCES, 'worker.js'), 'utf8');
  // A worker with other code has another version too, so that its installation touches no cache of the one before.
  const define = { FILES: files, VERSION: JSON.stringify(hashOf(source + files).slice(0, 16)) };
  writeFileSync(path.join(site, 'inspect-worker.js'), transformSync(source, { minify: true, define }).code);
}

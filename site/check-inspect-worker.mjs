// Checks the service worker of /inspect in Chromium, for site/check-inspect.mjs: servers that fail, and updates.
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { root } from '../scripts/setup.mjs';
import { writeWorker } from './inspect.mjs';

/**
 * Waits until the workers of the page and of /errors.html keep their files.
 *
 * @param page A page of the site.
 */
export async function workersAreReady(page) {
  const areActive = async () => {
    const all = await navigator.serviceWorker.getRegistrations();
    return all.length === 2 && all.every(({ active }) => active?.state === 'activated');
  };
  // Playwright's waitForFunction takes the promise of a page as true.
  while (!(await page.evaluate(areActive))) await sleep(50);
}

/** The marks of the pages of version 2. */
const WHOLE = { '/inspect/': { page: '2', script: '2' }, '/errors.html': { page: '2' } };

/** Files of the site in version 2: the page and its script say so, and the worker has their hashes. */
function secondVersion(site) {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-site-'));
  for (const name of ['inspect', 'assets', 'errors.html', 'vp-icons.css'])
    cpSync(path.join(site, name), path.join(folder, name), { recursive: true });
  const change = (name, edit) =>
    writeFileSync(path.join(folder, name), edit(readFileSync(path.join(folder, name), 'utf8')));
  change('inspect/index.html', (text) => text.replace('<html', '<html data-page="2"'));
  change('inspect/page.js', (text) => `document.documentElement.dataset.script = '2';${text}`);
  change('errors.html', (text) => text.replace('<html', '<html data-page="2"'));
  writeWorker(folder);
  return folder;
}

/**
 * The worker falls back to its version when the server fails, hangs or has half of another version. It gives way to a whole one.
 *
 * @param browser Chromium.
 * @param say Called with each problem.
 */
export async function checkWorker(browser, say) {
  const first = path.join(root, 'build/site');
  const second = secondVersion(first);
  const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
  const from = (folder) => (name, response) => {
    const file = path.join(folder, name.replace(/\/$/, '/index.html'));
    if (!existsSync(file)) return response.writeHead(404).end();
    return response
      .writeHead(200, { 'content-type': types[path.extname(file)] ?? 'font/woff2' })
      .end(readFileSync(file));
  };
  const login = (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Please log in</h1>');
  const halfOf = (isNew) => (name, response) => from(isNew.test(name) ? second : first)(name, response);
  const servers = {
    'status 500': (_, response) => response.writeHead(500).end(),
    'no answer': () => {},
    'half an answer': (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).write('<h1>Half'),
    'a login': login,
    'a new page': halfOf(/^\/inspect\/$|errors/),
    'a new script': halfOf(/page\.js$/),
    'a new worker': halfOf(/worker/),
    'a new page and worker': halfOf(/worker|\/$/),
    'everything new': from(second),
  };
  let serve = from(first);
  const server = createServer(({ url }, response) => serve(new URL(url, 'http://x').pathname, response)).listen(0);
  await once(server, 'listening');
  const address = `http://localhost:${server.address().port}`;
  const context = await browser.newContext();
  const versionOf = (page) => page.evaluate(() => ({ ...document.documentElement.dataset }));
  const open = async (place) => {
    const page = await context.newPage();
    // The scripts of /errors.html are not kept: a server that hangs keeps the page loading.
    await page.goto(address + place, { waitUntil: 'commit' });
    await page.getByRole('heading', { level: 1 }).waitFor();
    return page;
  };
  const page = await open('/inspect/');
  await page.evaluate(() => caches.open('another app').then((cache) => cache.put('/x', new Response('theirs'))));
  await workersAreReady(page);
  for (const [name, next] of Object.entries(servers)) {
    serve = next;
    // An update that hangs would keep all later ones waiting.
    server.closeAllConnections();
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    const errors = await open('/errors.html');
    // An update that began before may end now. Each page has a worker of its own.
    const isNewAllowed = serve === servers['everything new'];
    for (const [shown, whole] of [
      [await versionOf(page), WHOLE['/inspect/']],
      [await versionOf(errors), WHOLE['/errors.html']],
    ])
      if (!isDeepStrictEqual(shown, {}) && !(isNewAllowed && isDeepStrictEqual(shown, whole)))
        say(`${name}: shows ${JSON.stringify(shown)}`);
    await errors.close();
  }
  await page.close();
  // Chromium looks for a new worker while a page is open, and lets it begin when the last page is closed.
  for (const [place, whole] of Object.entries(WHOLE))
    for (let visit = 0, isNew = false; !isNew; visit += 1) {
      const next = await open(place);
      const shown = await versionOf(next);
      await sleep(3000);
      await next.close();
      await sleep(3000);
      isNew = isDeepStrictEqual(shown, whole);
      if (!isNew && !isDeepStrictEqual(shown, {})) say(`an update of ${place} shows ${JSON.stringify(shown)}`);
      if (visit === 20) throw new Error(`${place} is never updated`);
    }
  const last = await open('/inspect/');
  const names = await last.evaluate(() => caches.keys());
  if (!names.includes('another app')) say(`the caches are ${names}`);
  await context.close();
  server.closeAllConnections();
  server.close();
  rmSync(second, { recursive: true });
}

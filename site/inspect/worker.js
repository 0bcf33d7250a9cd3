// Keeps one version of /inspect, and of the explanations of its codes, for use without a network. site/inspect.mjs writes the hashes of its
// files into it: they are kept only if the server has all of them, and are replaced only by the worker of another version.
/* global FILES, VERSION */

// Each scope has a cache of its own: its worker may be of another version.
const OWN = `metainfo ${new URL(registration.scope).pathname} `;
const TYPES = { css: 'text/css', js: 'text/javascript' };
/** Milliseconds in which the server must send a file. */
const PATIENCE = 60_000;

/** A file of the server. */
async function load(path) {
  const answer = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE) });
  const bytes = await answer.arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  // An error, a login, or a file of another version.
  if (hash !== FILES[path]) throw new Error(`${path} is of another version (status ${answer.status})`);
  const type = TYPES[path.split('.').at(-1)] ?? 'text/html';
  return [path, new Response(bytes, { headers: { 'content-type': `${type}; charset=utf-8` } })];
}

/** Keeps all files, or none. */
async function install() {
  const files = await Promise.all(Object.keys(FILES).map(load));
  const cache = await caches.open(OWN + VERSION);
  await Promise.all(files.map(([path, answer]) => cache.put(path, answer)));
}

async function dropOthers() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(OWN) && name !== OWN + VERSION);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** The server is not asked: its files may be those of another version. */
async function answer({ request, path, event }) {
  const kept = await caches.match(path, { cacheName: OWN + VERSION });
  // A browser may drop what it keeps, all at once.
  if (!kept) event.waitUntil(install().catch(() => {}));
  return kept ?? fetch(request);
}

addEventListener('install', (event) => event.waitUntil(install()));
addEventListener('activate', (event) => event.waitUntil(dropOthers()));
addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  const path = pathname.replace(/^\/inspect\/index\.html$/, '/inspect/');
  const isOwn = request.method === 'GET' && origin === location.origin && Object.hasOwn(FILES, path);
  if (isOwn) event.respondWith(answer({ request, path, event }));
});

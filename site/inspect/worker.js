// Keeps /inspect for use without a network: it asks the server first, and falls back to the cache.
const FILES = ['/inspect/', '/inspect/page.js', '/inspect/page.css'];

const fill = async () =>
  (await caches.open('inspect')).addAll(FILES.map((url) => new Request(url, { cache: 'reload' })));

async function answer(request) {
  const url = new URL(request.url).pathname.replace(/^\/inspect(\/index\.html)?$/, '/inspect/');
  try {
    const response = await fetch(request);
    if (response.ok) await (await caches.open('inspect')).put(url, response.clone());
    return response;
  } catch (error) {
    const kept = await caches.match(url);
    if (!kept) throw error;
    return kept;
  }
}

addEventListener('install', (event) => event.waitUntil(fill()));
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (event.request.method === 'GET' && origin === location.origin && pathname.startsWith('/inspect'))
    event.respondWith(answer(event.request));
});

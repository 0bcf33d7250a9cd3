// Keeps /inspect for use without a network: it asks the server first, and falls back to the cache.
const FILES = ['/inspect/', '/inspect/page.js', '/inspect/page.css'];
const opened = () => caches.open('inspect');

async function answer(request) {
  const url = new URL(request.url).pathname.replace(/^\/inspect(\/index\.html)?$/, '/inspect/');
  try {
    const response = await fetch(request);
    if (response.ok) await (await opened()).put(url, response.clone());
    return response;
  } catch {
    return (await caches.match(url)) ?? Response.error();
  }
}

addEventListener('install', (event) => event.waitUntil(opened().then((cache) => cache.addAll(FILES))));
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
// Its scope is this page, which asks for nothing else.
addEventListener('fetch', (event) => event.respondWith(answer(event.request)));

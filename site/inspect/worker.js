// Keeps /inspect and the explanations of its codes for use without a network: it asks the server first, and falls back to the cache.
const KEPT = /^\/(inspect\/.*|errors\.html|assets\/style\..*)$/;
const opened = caches.open('inspect');

async function answer(request) {
  const url = new URL(request.url).pathname.replace(/^\/inspect(\/index\.html)?$/, '/inspect/');
  try {
    const response = await fetch(request);
    if (response.ok && KEPT.test(url)) await (await opened).put(url, response.clone());
    return response;
  } catch {
    return (await caches.match(url)) ?? Response.error();
  }
}

async function install() {
  const errors = await (await fetch('/errors.html')).text();
  const [style] = /\/assets\/style[^"]*/.exec(errors);
  await (await opened).addAll(['/inspect/', '/inspect/page.js', '/inspect/page.css', '/errors.html', style]);
}

addEventListener('install', (event) => event.waitUntil(install()));
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => event.respondWith(answer(event.request)));

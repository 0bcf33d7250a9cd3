import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { temporaryFolder } from '../support/tree.ts';

const ORIGIN = 'https://site.example';
const OTHERS = ['other app', 'inspect', 'metainfo', 'metainfo /elsewhere/ 1'];
const KEPT = ['/inspect/', '/inspect/page.js', '/inspect/page.css', '/errors.html'];

/** The files of a version of the site, with its worker, by their paths. */
async function siteOf(t: TestContext, version: string): Promise<Record<string, string>> {
  const folder = await temporaryFolder(t);
  const files: Record<string, string> = {
    '/inspect/': `page ${version}`,
    '/inspect/page.js': `script ${version}`,
    '/inspect/page.css': `style ${version}`,
    '/errors.html': `<link rel="preload stylesheet" href="/assets/style.${version}.css"> errors ${version}`,
    [`/assets/style.${version}.css`]: `style of errors ${version}`,
  };
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name.replace(/\/$/, '/index.html'));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  // The module is JavaScript without types.
  const { writeWorker } = await import(pathToFileURL(path.resolve('site/inspect.mjs')).href);
  writeWorker(folder);
  return { ...files, '/inspect-worker.js': await readFile(path.join(folder, 'inspect-worker.js'), 'utf8') };
}

/** No answer at all. */
const HANG = new Response();
/** An answer that ends early. */
const cut = () => new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError('cut')) }));
/** An answer of the server of a test. */
type Serve = (name: string) => string | Response | Promise<Response>;
type Listener = (event: object) => void;
type Worker = { install(): Promise<void>; activate(): Promise<void>; ask(url: string): Promise<string | null> };

/** A browser with caches of other apps, and a server that a test replaces. */
function browser() {
  const caches = new Map<string, Map<string, string>>(OTHERS.map((name) => [name, new Map([['/inspect/', 'theirs']])]));
  let serve: Serve = () => Response.error();
  const load = async (request: string | { url: string }, { signal }: { signal?: AbortSignal } = {}) => {
    const { pathname } = new URL(typeof request === 'string' ? request : request.url, ORIGIN);
    const answer = await serve(pathname);
    // Time does not pass: a request with a timeout fails at once.
    if (answer === HANG) return signal ? Promise.reject(new Error('timeout')) : new Promise<Response>(() => {});
    return typeof answer === 'string' ? new Response(answer) : answer;
  };
  const storage = {
    keys: async () => [...caches.keys()],
    delete: async (name: string) => caches.delete(name),
    match: async (file: string, { cacheName }: { cacheName: string }) => {
      const text = caches.get(cacheName)?.get(file);
      return text === undefined ? undefined : new Response(text);
    },
    open: async (name: string) => {
      const files = caches.get(name) ?? new Map();
      caches.set(name, files);
      return { put: async (file: string, answer: Response) => void files.set(file, await answer.text()) };
    },
  };
  /** Starts the worker of a version of the site, as a browser does when the bytes of the script have changed. */
  const start = (script: string, scope = '/inspect/'): Worker => {
    const listeners: Record<string, Listener> = {};
    const globals = {
      ...{ URL, Response, TextDecoder, AbortSignal, Uint8Array, crypto: webcrypto, fetch: load, caches: storage },
      registration: { scope: ORIGIN + scope },
      location: new URL('/inspect-worker.js', ORIGIN),
      addEventListener: (name: string, listener: Listener) => Object.assign(listeners, { [name]: listener }),
    };
    vm.runInNewContext(script, globals);
    const wait = async (name: string) => {
      let waited: Promise<unknown> = Promise.resolve();
      listeners[name]?.({ waitUntil: (promise: Promise<unknown>) => (waited = promise) });
      await waited;
    };
    return {
      install: () => wait('install'),
      activate: () => wait('activate'),
      ask: async (url) => {
        const later: Promise<unknown>[] = [];
        let answer: Promise<Response> | null = null;
        const request = { url: new URL(url, ORIGIN).href, method: 'GET' };
        const respondWith = (given: Promise<Response>) => (answer = given);
        listeners['fetch']?.({ request, respondWith, waitUntil: (promise: Promise<unknown>) => later.push(promise) });
        const response = (await (answer as Promise<Response> | null)) as Response | null;
        await Promise.all(later);
        return response && (await response.text());
      },
    };
  };
  return {
    caches,
    start,
    serve: (next: Serve) => {
      serve = next;
    },
  };
}

const from = (files: Record<string, string>) => (name: string) => files[name] ?? new Response('', { status: 404 });

describe('the service worker of /inspect', () => {
  /** A browser that keeps version 1. */
  async function withFirst(t: TestContext, scope?: string) {
    const [first, second] = [await siteOf(t, '1'), await siteOf(t, '2')];
    const { serve, start, caches } = browser();
    serve(from(first));
    const worker = start(first['/inspect-worker.js'] as string, scope);
    await worker.install();
    await worker.activate();
    return { first, second, serve, start, caches, worker };
  }

  it('keeps its files, and answers with them whatever the server does', async (t) => {
    const { first, second, serve, worker } = await withFirst(t);
    const servers: Record<string, Serve> = {
      'is away': () => Promise.reject(new TypeError('no network')),
      fails: () => new Response('busy', { status: 500 }),
      'has nothing': () => new Response('', { status: 404 }),
      hangs: () => HANG,
      'hangs in the middle': cut,
      'sends a login': () => 'please log in',
      'has half of a new version': from({ ...first, '/errors.html': second['/errors.html'] as string }),
      'has a new version': from(second),
    };
    for (const [what, server] of Object.entries(servers)) {
      serve(server);
      for (const name of [...KEPT, '/assets/style.1.css'])
        assert.equal(await worker.ask(name), first[name], `${what}: ${name}`);
      assert.equal(await worker.ask('/inspect/index.html?x#y'), first['/inspect/'], what);
    }
  });

  it('leaves all other requests to the browser', async (t) => {
    const { worker } = await withFirst(t);
    for (const url of [
      '/',
      '/index.html',
      '/inspect/other',
      '/assets/style.2.css',
      '/__proto__',
      '/constructor',
      'https://cdn.example/inspect/page.js',
    ])
      assert.equal(await worker.ask(url), null, url);
  });

  it('keeps nothing unless the server has every file of its version', async (t) => {
    const [first, second] = [await siteOf(t, '1'), await siteOf(t, '2')];
    for (const name of Object.keys(first).filter((file) => file !== '/inspect-worker.js'))
      for (const answer of ['login', second[name] ?? '', new Response('', { status: 500 }), null]) {
        const { serve, start, caches } = browser();
        serve((file) => (file !== name ? (first[file] as string) : answer === null ? HANG : answer));
        await assert.rejects(start(first['/inspect-worker.js'] as string).install(), /Error/, name);
        assert.deepEqual([...caches.keys()], OTHERS);
      }
  });

  it('gives way to the next version as a whole, and deletes no cache of other apps', async (t) => {
    const { first, second, serve, start, caches, worker } = await withFirst(t);
    serve(from({ ...second, '/inspect/page.css': first['/inspect/page.css'] as string }));
    const next = start(second['/inspect-worker.js'] as string);
    await assert.rejects(next.install(), /another version/);
    serve(from(second));
    await next.install();
    // It waits until the last page of the old version is closed.
    for (const name of KEPT.slice(0, 3)) assert.equal(await worker.ask(name), first[name]);
    await next.activate();
    serve(() => HANG);
    for (const name of [...KEPT, '/assets/style.2.css']) assert.equal(await next.ask(name), second[name]);
    assert.equal(caches.size, OTHERS.length + 1);
    for (const name of OTHERS) assert.deepEqual([...(caches.get(name) ?? [])], [['/inspect/', 'theirs']], name);
  });

  it('keeps the files of each scope apart', async (t) => {
    const { first, second, serve, start, worker } = await withFirst(t, '/errors.html');
    serve(from(second));
    const other = start(second['/inspect-worker.js'] as string, '/inspect/');
    await other.install();
    await other.activate();
    serve(() => HANG);
    assert.equal(await worker.ask('/errors.html'), first['/errors.html']);
    assert.equal(await other.ask('/inspect/'), second['/inspect/']);
  });

  it('asks the server for everything when the browser has dropped what was kept, and keeps it again', async (t) => {
    const { first, second, serve, caches, worker } = await withFirst(t);
    caches.clear();
    serve(from(second));
    for (const name of KEPT) assert.equal(await worker.ask(name), second[name]);
    assert.equal(caches.size, 0);
    serve(from(first));
    assert.equal(await worker.ask('/inspect/'), first['/inspect/']);
    serve(() => HANG);
    assert.equal(await worker.ask('/inspect/page.js'), first['/inspect/page.js']);
  });
});

/** Opens pages in Debian's Chromium, from a server on the loopback. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { missing } from './external.ts';

const CHROMIUM = '/usr/bin/chromium';
/** A name that is not local, so its pages have no WebCrypto. */
export const PLAIN_HOST = 'metainfo.test';

/** Returns why tests that need Chromium must skip. */
export const chromiumMissing = (): string | false => missing('Chromium', CHROMIUM, ['--version']);

const file = (name: string) => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)));

/** The files of the server: their types and bytes. */
const script = (content: Buffer): [string, Buffer] => ['text/javascript', content];
const HTML = `<!doctype html><meta charset="utf-8"><title>metainfo</title><link rel="icon" href="data:,">
<input id="files" type="file" multiple><input id="folder" type="file" webkitdirectory>
<script type="module">
  import * as library from '/metainfo.js';
  import * as tasks from '/tasks.mjs';
  globalThis.run = (name, args) => tasks[name](library, ...args);
</script>`;

/** The server of a page that runs tasks. */
interface PageServer {
  /** The address of the page, on localhost or on a host whose pages have no WebCrypto. */
  url(host?: 'secure' | 'plain'): string;
  close(): void;
}

/** A browser and its server. */
export interface TestBrowser extends Pick<PageServer, 'url'> {
  browser: Browser;
  close(): Promise<void>;
}

/** Serves the bundle and the tasks of test/browser/tasks.mjs. */
async function servePage(): Promise<PageServer> {
  const files: Record<string, [type: string, content: Buffer]> = {
    '/': ['text/html', Buffer.from(HTML)],
    '/metainfo.js': script(file('dist/browser/index.js')),
    '/tasks.mjs': script(file('test/browser/tasks.mjs')),
  };
  const server = createServer(({ url = '' }, response) => {
    const [type, content] = files[url] ?? [];
    response.writeHead(content ? 200 : 404, { 'content-type': type ?? 'text/plain' }).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (host = 'secure') => `http://${host === 'secure' ? 'localhost' : PLAIN_HOST}:${port}/`,
    close: () => server.close(),
  };
}

/** Starts the server of a browser's pages, which ends together with the browser. */
export async function withServer<B extends { close(): Promise<void> }>(browser: B) {
  const { url, close } = await servePage();
  return {
    browser,
    url,
    async close() {
      await browser.close();
      close();
    },
  };
}

/** Starts Chromium and the server. A busy machine takes longer than the 30 seconds that are the default. */
export async function startChromium(): Promise<TestBrowser> {
  const args = ['--no-sandbox', `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`];
  return withServer(await chromium.launch({ executablePath: CHROMIUM, args, timeout: 0 }));
}

/** A page that runs tasks, and what it did besides. */
export interface TestPage {
  page: Page;
  /** Runs a task of test/browser/tasks.mjs in the page. */
  run<T = unknown>(task: string, ...args: unknown[]): Promise<T>;
  /** The addresses that it asked for, without the page and its two scripts. */
  requests: string[];
  /** Errors that nobody caught, and messages on the console. */
  messages: string[];
}

/** Opens a page. Results of tasks may hold Uint8Arrays, but no Buffers. */
export async function openPage({ browser, url }: TestBrowser, host: 'secure' | 'plain' = 'secure'): Promise<TestPage> {
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  const known = ['', 'metainfo.js', 'tasks.mjs'].map((name) => url(host) + name);
  const [requests, messages]: string[][] = [[], []];
  page.on('request', (request) => {
    if (!known.includes(request.url()) && !request.url().startsWith('data:')) requests?.push(request.url());
  });
  page.on('pageerror', ({ message }) => messages?.push(message));
  page.on('console', (message) => messages?.push(message.text()));
  page.on('dialog', (dialog) => void dialog.dismiss().then(() => messages?.push('a dialog')));
  await page.goto(url(host));
  await page.waitForFunction('globalThis.run');
  // As text, because the types of the tests are those of Node.
  await page.evaluate(`globalThis.runPlain = async ([name, args]) => {
    const result = await run(name, args);
    const requirePlain = (value) => {
      if (ArrayBuffer.isView(value)) {
        if (Object.getPrototypeOf(value) !== Uint8Array.prototype) throw new Error(name + ' gave no plain Uint8Array');
      } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(requirePlain);
    };
    requirePlain(result);
    return result;
  }`);
  const run = async <T>(task: string, ...args: unknown[]) => {
    const runPlain = await page.evaluateHandle<(input: unknown) => Promise<T>>('globalThis.runPlain');
    return runPlain.evaluate((call, input) => call(input), [task, args] as unknown);
  };
  return { page, run, requests: requests as string[], messages: messages as string[] };
}

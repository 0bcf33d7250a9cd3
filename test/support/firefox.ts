/** Opens pages in Debian's Firefox, from the server of chromium.ts. It speaks WebDriver BiDi, which the stable Firefox has. */
import puppeteer, { type ElementHandle, type Page } from 'puppeteer-core';
import { PLAIN_HOST, withServer } from './chromium.ts';
import { missing } from './external.ts';

const FIREFOX = '/usr/bin/firefox-esr';

/** Returns why tests that need Firefox must skip. */
export const firefoxMissing = (): string | false => missing('Firefox', FIREFOX, ['--version']);

/** Firefox and its server. */
export type TestFirefox = Awaited<ReturnType<typeof startFirefox>>;

/** Starts Firefox and the server, without limits of time, as for Chromium. */
export async function startFirefox() {
  const extraPrefsFirefox = { 'network.dns.localDomains': PLAIN_HOST };
  const options = { executablePath: FIREFOX, extraPrefsFirefox, timeout: 0, protocolTimeout: 0 };
  return withServer(await puppeteer.launch({ browser: 'firefox', ...options }));
}

/** A page that runs tasks, and what it did besides. */
export interface FirefoxPage {
  page: Page;
  /** Runs a task of test/browser/tasks.mjs in the page. Its result is as {@link hexed} gives it. */
  run(task: string, ...args: unknown[]): Promise<unknown>;
  /** Chooses files in an input, as a user does. */
  choose(input: string, files: string[]): Promise<void>;
  /** Errors that nobody caught, and messages on the console. */
  messages: string[];
}

/** Bytes in hexadecimal, because BiDi gives no Uint8Arrays. The page runs it too. */
export function hexed(value: unknown): unknown {
  if (value instanceof Uint8Array) return Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(hexed);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hexed(one)]));
}

/** Opens a page. Arguments of tasks are JSON. */
export async function openFirefoxPage({ browser, url }: TestFirefox, host?: 'plain'): Promise<FirefoxPage> {
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  const messages: string[] = [];
  page.on('pageerror', (error) => messages.push(String(error)));
  page.on('console', (message) => messages.push(message.text()));
  await page.goto(url(host));
  await page.waitForFunction('globalThis.run');
  await page.evaluate(`globalThis.hexed = ${hexed}`);
  const run = (task: string, ...args: unknown[]) =>
    page.evaluate(`Promise.resolve(run(${JSON.stringify(task)}, ${JSON.stringify(args)})).then(hexed)`);
  const choose = async (input: string, files: string[]) => {
    const element = (await page.$(input)) as ElementHandle<never>;
    await element.uploadFile(...files);
  };
  return { page, run, choose, messages };
}

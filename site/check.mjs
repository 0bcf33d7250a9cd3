// `npm run docs:check`: opens the built site in Debian's Chromium. Fails for what axe finds, requests to other hosts, errors of scripts, pages
// that are wider than the screen, code, tables and a terminal that are cut off, figures of the front page far below, large pages, and descriptions
// that are missing or repeated. Then it goes through the flows of /inspect (check-inspect.mjs). With --shots FOLDER it also takes pictures, and
// --page PAGE (such as index.html) opens only that page and no /inspect.
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import { serve } from 'vitepress';
import { root } from '../scripts/setup.mjs';
import { checkInspect } from './check-inspect.mjs';
import { SEARCH_WORDS } from './search.mjs';

const { values } = parseArgs({ options: { shots: { type: 'string' }, page: { type: 'string' } } });
const SITE = path.join(root, 'build/site');
const TABS = 4;
/** Bytes that a page may load, not compressed, without pictures. */
const MOST_BYTES = 700_000;
/** The time for a step of a page, in milliseconds: more than a machine under load needs. */
const MOST_TIME = 300_000;
const SCREEN = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

const files = readdirSync(SITE, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
/** Pages of each kind. They are opened in all four ways; of the API only these are opened. */
const ALL_KINDS = [
  ...[
    'index',
    'start',
    'versions',
    'guides/install',
    'guides/creating',
    'guides/parts',
    'guides/switching',
    'guides/configuration',
    'guides/verifying',
    'guides/many',
    'guides/seeding',
    'commands/create',
    'performance',
    'errors',
  ],
  ...['api/index', 'api/Read/Torrent', 'api/Create/TorrentCreate', 'no-such-page'],
].map((name) => `${name}.html`);
const KINDS = values.page ? [values.page] : ALL_KINDS;
const own = values.page ? [] : files.filter((name) => !name.startsWith('api/') && !KINDS.includes(name));
const problems = [];
/** Searches, each with a page that must be among the first results. */
const SEARCHES = {
  bundle: 'guides/bundling',
  'season pack': 'guides/cookbook',
  'S3 upload': 'guides/sources',
  'progress in a server': 'guides/servers',
  skip_checking: 'guides/seeding',
};
const FIRST_RESULTS = 3;

/** Every page has a description of its own. */
function checkDescriptions() {
  const seen = new Map();
  for (const name of files.filter((one) => one !== '404.html')) {
    const text = readFileSync(path.join(SITE, name), 'utf8');
    const [, description = ''] = /<meta name="description" content="([^"]*)"/.exec(text) ?? [];
    if (description === '') problems.push(`${name}: no description`);
    else if (seen.has(description)) problems.push(`${name}: the description of ${seen.get(description)}`);
    seen.set(description, name);
  }
}

/** The screens of a phone within which the front page shows the figures. */
const FIGURES_SCREENS = 2;

/** On the front page, no line of the terminal is cut off, bars are as long as their numbers say, and a phone shows the figures soon. */
async function checkFront(page, way, report) {
  const [terminal, figures] = await page.evaluate(() =>
    ['.terminal', '.figures'].map((selector) => {
      const place = document.querySelector(selector);
      const { right, bottom } = place?.getBoundingClientRect() ?? { right: Infinity, bottom: Infinity };
      return { cut: (place?.scrollWidth ?? 0) - (place?.clientWidth ?? 0), right, bottom: bottom + window.scrollY };
    }),
  );
  const bars = await page.evaluate(() =>
    [...document.querySelectorAll('.bars li')].map((row) => ({
      text: row.textContent,
      ratio: parseFloat(row.lastElementChild.textContent),
      length: row.querySelector('.bar').getBoundingClientRect().width,
    })),
  );
  const [{ length: unit, ratio: first }] = bars;
  for (const { text, ratio, length } of bars)
    if (Math.abs(length / unit / (ratio / first) - 1) > 0.05) report(`the bar of ${text} has ${length} pixels`);
  const { width, height } = page.viewportSize();
  if (terminal.cut > 0 || terminal.right > width) report('the terminal is cut off');
  if (way.startsWith('phone') && figures.bottom > FIGURES_SCREENS * height)
    report(`the figures end at ${figures.bottom} pixels, below ${FIGURES_SCREENS} screens`);
}

async function checkPage(context, name, way) {
  const page = await context.newPage();
  const report = (text) => problems.push(`${name}, ${way}: ${text}`);
  let bytes = 0;
  page.on('request', (request) => {
    if (!/^(http:\/\/localhost|data:|blob:)/.test(request.url())) report(`asks for ${request.url()}`);
  });
  page.on('response', async (response) => {
    if (!/\.(svg|png|webp)$/.test(response.url())) bytes += (await response.body().catch(() => '')).length;
  });
  page.on('pageerror', (error) => report(error.message));
  await page.goto(`http://localhost:${port}/${name}`, { waitUntil: 'networkidle' });
  // A page whose scripts have run names the switch of its colours. A tab in the background draws no frames, so a timer asks.
  const isReady = () => document.querySelector('.VPSwitchAppearance')?.title !== '';
  await page.waitForFunction(isReady, undefined, { polling: 100 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (wide > 0) report(`${wide} pixels wider than the screen`);
  if (name === 'index.html') await checkFront(page, way, report);
  const broken = await page.evaluate(() =>
    [...document.querySelectorAll('.vp-doc :not(pre) > code .word')]
      .filter((word) => word.getClientRects().length > 1)
      .map((word) => word.textContent),
  );
  if (broken.length > 0) report(`lines break ${broken.join(', ')}`);
  const cut = await page.evaluate(
    () => [...document.querySelectorAll('.vp-doc pre')].filter((block) => block.scrollWidth > block.clientWidth).length,
  );
  if (cut > 0) report(`${cut} blocks of code are cut off`);
  const tables = await page.evaluate(
    () =>
      [...document.querySelectorAll('.vp-doc table')].filter((table) => table.scrollWidth > table.clientWidth).length,
  );
  if (tables > 0 && way.startsWith('screen')) report(`${tables} tables are wider than the page`);
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  for (const { id, nodes } of violations) report(`${id}, ${nodes.length} times: ${nodes[0].html.slice(0, 200)}`);
  if (bytes > MOST_BYTES) report(`${bytes} bytes`);
  if (values.shots) await page.screenshot({ path: path.join(values.shots, `${name}-${way}.png`.replaceAll('/', '-')) });
  await page.close();
}

/** Types each search, and looks at the first results. */
async function checkSearch() {
  const page = await browser.newPage();
  page.setDefaultTimeout(MOST_TIME);
  await page.goto(`http://localhost:${port}/start.html`, { waitUntil: 'networkidle' });
  await page.click('.DocSearch-Button');
  const searches = [
    ...Object.entries(SEARCHES).map(([words, expected]) => ({ words, expected, most: FIRST_RESULTS })),
    ...Object.entries(SEARCH_WORDS).map(([words, expected]) => ({ words, expected, most: 1 })),
  ];
  for (const { words, expected, most } of searches) {
    await page.fill('#localsearch-input', words);
    // The results of the last search stay until those of this one are there.
    await page.waitForTimeout(1000);
    await page.waitForSelector('.VPLocalSearchBox .result');
    const links = await page.$$eval('.VPLocalSearchBox .result', (found) =>
      found.map((one) => one.getAttribute('href')),
    );
    const first = links.slice(0, most);
    if (!first.some((link) => link?.replace('.html', '').includes(expected)))
      problems.push(`search "${words}": ${first.join(' ')}`);
  }
  await page.close();
}

/** Opens pages in one way, several at a time. */
async function checkPages(names, way, options) {
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce' });
  context.setDefaultTimeout(MOST_TIME);
  const left = [...names];
  const tab = async () => {
    for (let name = left.pop(); name; name = left.pop()) await checkPage(context, name, way);
  };
  await Promise.all(Array.from({ length: TABS }, tab));
  await context.close();
}

checkDescriptions();
// 0: any free port.
const { server } = await serve({ root: path.join(root, 'site'), port: 0 });
if (!server.listening) await once(server, 'listening');
const { port } = server.address();
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
if (values.shots) mkdirSync(values.shots, { recursive: true });
await checkSearch();
await checkPages(KINDS, 'screen-light', { viewport: SCREEN, colorScheme: 'light' });
await checkPages(KINDS, 'screen-dark', { viewport: SCREEN, colorScheme: 'dark' });
await checkPages([...KINDS, ...own], 'phone-light', { viewport: PHONE, colorScheme: 'light' });
await checkPages(KINDS, 'phone-dark', { viewport: PHONE, colorScheme: 'dark' });
const report = (text) => problems.push(text);
const inspect = { address: `http://localhost:${port}`, report, shots: values.shots };
const inspectBytes = values.page ? 0 : await checkInspect(browser, inspect);
await browser.close();
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(
  `${KINDS.length + own.length} pages: ${problems.length} problems; /inspect: ${inspectBytes} bytes compressed\n`,
);
// The server of VitePress has no end of its own.
process.exit(problems.length > 0 ? 1 : 0);

// Runs code in pages of Debian's Chromium, and measures the processor time and the memory of its processes.
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { peakOf } from '../../test/support/proc.ts';

const CHROMIUM = '/usr/bin/chromium';
/** Clock ticks of Linux in a second. */
const TICKS = 100;

/** A browser that loads scripts from a server of this process. */
export interface BenchBrowser {
  version: string;
  /** Opens a page in a process of its own, which has the exports of a script as `globalThis.tool`. */
  open(script: string): Promise<Page>;
  /** Runs work in a page, and measures the whole browser. */
  measure<T extends object>(work: () => Promise<T>): Promise<T & { cpuSeconds: number; peakBytes: number }>;
  close(): Promise<void>;
}

/** Starts Chromium. `scripts` are the modules that pages can load, by name. */
export async function startBrowser(scripts: Readonly<Record<string, string>>): Promise<BenchBrowser> {
  const server = createServer(({ url = '' }, response) => {
    const [, name = '', isScript] = /^\/(.*?)(\.js)?$/.exec(url) ?? [];
    const page = `<!doctype html><link rel="icon" href="data:,"><input type="file"><script type="module">
      import * as tool from '/${name}.js';
      globalThis.tool = tool;
    </script>`;
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? scripts[name] : page);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = await chromium.launchServer({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  const browser: Browser = await chromium.connect(host.wsEndpoint());
  const { pid } = host.process();
  return {
    version: browser.version(),
    async open(script) {
      const page = await (await browser.newContext()).newPage();
      // WebCrypto needs localhost.
      await page.goto(`http://localhost:${port}/${script}`);
      await page.waitForFunction('globalThis.tool');
      return page;
    },
    async measure(work) {
      const before = processesOf(pid as number);
      const rss = new Map([...before].filter(([, { isRenderer }]) => isRenderer).map(([id]) => [id, resetPeak(id)]));
      const result = await work();
      const after = processesOf(pid as number);
      // A process that has ended since has done nothing for the page.
      const ticks = [...after].map(([id, process]) => process.ticks - (before.get(id)?.ticks ?? 0));
      const peaks = [...rss].map(([id, start]) => (peakOf(id) ?? 0) - start);
      return {
        ...result,
        cpuSeconds: ticks.reduce((sum, count) => sum + count, 0) / TICKS,
        peakBytes: Math.max(0, ...peaks),
      };
    },
    async close() {
      await browser.close();
      await host.close();
      server.close();
    },
  };
}

/** The processes of a browser by their ids, with their processor time. */
function processesOf(root: number): Map<number, { ticks: number; isRenderer: boolean }> {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const stats = new Map<number, { parent: number; ticks: number }>();
  for (const id of all) {
    // The name of the program may have spaces and parentheses.
    const fields = textOf(`/proc/${id}/stat`).split(') ').at(-1)?.split(' ') ?? [];
    const [parent, user, system] = [1, 11, 12].map((at) => Number(fields[at]));
    if (parent !== undefined && user !== undefined && system !== undefined)
      stats.set(Number(id), { parent, ticks: user + system });
  }
  const isOurs = (id: number): boolean => id === root || (stats.has(id) && isOurs(stats.get(id)?.parent as number));
  const ours = [...stats].filter(([id]) => isOurs(id));
  return new Map(
    ours.map(([id, { ticks }]) => [
      id,
      { ticks, isRenderer: textOf(`/proc/${id}/cmdline`).includes('--type=renderer') },
    ]),
  );
}

/** The text of a file of /proc; empty if the process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** Resets the peak of the memory of a process, and returns what it uses now. */
function resetPeak(id: number): number {
  writeFileSync(`/proc/${id}/clear_refs`, '5');
  return peakOf(id) ?? 0;
}

// Creating and reading torrents in a page of Chromium, compared with npm's create-torrent and parse-torrent in the same browser: the
// processor time of all its processes, the memory of the page, and the sizes of the scripts.
//
//   npm run bench -- browser [--size 512MiB] [--rounds 5] [--files 5000] [--pieces 20000]
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { choosePieceLength } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/text/format.ts';
import { startBrowser } from './support/browser.ts';
import { writeData } from './support/data.ts';
import { bench, type Case, divide, measure } from './support/measure.ts';
import { tableOf } from './support/tables.ts';
import { largeTorrent } from './support/torrents.ts';

// A script in plain JavaScript, which has no types.
const { bundlePage, sizesOf, PAGES } = (await import('../scripts/browser-sizes.mjs' as string)) as {
  bundlePage: (text: string) => Promise<string>;
  sizesOf: (code: string) => { minified: number; gzipped: number };
  PAGES: Record<string, string>;
};

const OURS = 'metainfo';
const CREATOR = 'create-torrent';
const READER = 'parse-torrent';

/** The script of each page: it creates a torrent of a File, or reads one and returns the number of its files. */
const SCRIPTS = {
  [OURS]: `
    import { Torrent, TorrentCreate } from './dist/browser/index.js';
    export const create = async (data, version, pieceLength) => {
      const draft = new TorrentCreate({ sources: [{ path: data.name, data }], pieceLength });
      return (await draft.generate({ version })).infohashV1;
    };
    export const read = (bytes) => {
      const torrent = Torrent.fromBytes(bytes);
      return [torrent.infohashV1, torrent.files.length];
    };`,
  [CREATOR]: `
    import createTorrent from 'create-torrent';
    import { Torrent } from './dist/browser/index.js';
    export const create = (data, _version, pieceLength) => new Promise((resolve, reject) => {
      createTorrent(data, { pieceLength, announceList: [] }, (error, torrent) => {
        if (error) reject(error);
        else resolve(Torrent.fromBytes(torrent).infohashV1);
      });
    });`,
  [READER]: `
    import parseTorrent from 'parse-torrent';
    export const read = async (bytes) => {
      const { infoHash, files } = await parseTorrent(bytes);
      return [infoHash, files.length];
    };`,
};
const LOADS = {
  [CREATOR]: "export { default } from 'create-torrent';",
  [READER]: "export { default } from 'parse-torrent';",
};

/** Reads of a torrent in a row, because a page's clock is coarse. */
const READS = 15;

export default bench({ size: '512MiB', rounds: '5', files: '5000', pieces: '20000' }, async (options, folder) => {
  const { size, rounds, files, pieces } = options;
  const file = path.join(folder, 'film.bin');
  writeData(file, size);
  const pieceLength = choosePieceLength(size);
  const scripts: Record<string, string> = {};
  for (const [name, text] of Object.entries(SCRIPTS)) scripts[name] = await bundlePage(text);
  const browser = await startBrowser(scripts);
  /** Runs work in a page of a tool. */
  const inPage = async <T>(tool: string, work: (page: Page) => Promise<T>): Promise<T> => {
    const page = await browser.open(tool);
    try {
      return await work(page);
    } finally {
      await page.context().close();
    }
  };

  const creating = (tool: string, version: string): Case => ({
    row: `${tool}, ${version}`,
    run: () =>
      inPage(tool, async (page) => {
        await page.setInputFiles('input', file);
        const call = `(async () => {
          const started = performance.now();
          const infohash = await tool.create(document.querySelector('input').files[0], '${version}', ${pieceLength});
          return { infohash, seconds: (performance.now() - started) / 1000 };
        })()`;
        return browser.measure(() => page.evaluate<{ infohash: string; seconds: number }>(call));
      }),
  });
  const torrents: Record<string, Uint8Array> = {
    [`${files.toLocaleString('en')} files`]: largeTorrent('v1', files, () => 1, 20),
    [`${pieces.toLocaleString('en')} pieces`]: largeTorrent('v1', 1, () => pieces, 20),
  };
  const reading = (row: string, column: string): Case => ({
    ...{ row, column },
    run: () =>
      inPage(row, async (page) => {
        await page.evaluate(`globalThis.text = '${Buffer.from(torrents[column] as Uint8Array).toString('base64')}'`);
        return page.evaluate(`(async () => {
          const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
          let found;
          const read = async () => {
            const started = performance.now();
            for (let i = 0; i < ${READS}; i += 1) found = await tool.read(bytes);
            return (performance.now() - started) / 1000 / ${READS};
          };
          // The first reads compile the code.
          await read();
          return { seconds: await read(), found: String(found) };
        })()`);
      }),
  });

  try {
    const created = await measure(
      [creating(OURS, 'v1'), creating(OURS, 'hybrid'), creating(OURS, 'v2'), creating(CREATOR, 'v1')],
      rounds,
    );
    requireOne(
      'torrents',
      [OURS, CREATOR].flatMap((tool) => created.values<string>(`${tool}, v1`, '', 'infohash')),
    );
    const columns = Object.keys(torrents);
    const read = await measure(
      columns.flatMap((column) => [OURS, READER].map((row) => reading(row, column))),
      rounds,
    );
    for (const column of columns)
      requireOne(
        column,
        [OURS, READER].flatMap((row) => read.values<string>(row, column, 'found')),
      );

    const peer = `${CREATOR}, v1`;
    const rateOf = (row: string) => divide(size / 2 ** 30, created.median(row, '', 'cpuSeconds'));
    const memoryOf = (row: string) => created.median(row, '', 'peakBytes');
    const sizes = new Map(
      await Promise.all(
        [
          ...Object.entries(PAGES).map(([what, text]) => [`${OURS}: ${what}`, text] as const),
          ...Object.entries(LOADS),
        ].map(async ([name, text]) => [name, sizesOf(await bundlePage(text))] as const),
      ),
    );
    const tables = [
      tableOf(`creating a torrent of a File of ${formatBytes(size)}`, 'tool', created.rows, [
        ['GiB per CPU second', 'number', rateOf],
        [`rate / ${CREATOR}'s`, 'ratio', (row) => divide(rateOf(row), rateOf(peer))],
        ['time', 's', (row) => created.median(row)],
        ['memory', 'bytes', memoryOf],
        [`memory / ${CREATOR}'s`, 'ratio', (row) => divide(memoryOf(row), memoryOf(peer))],
      ]),
      tableOf('reading a v1 torrent, with its infohash and the list of its files', 'tool', read.rows, [
        ...columns.flatMap((column): Parameters<typeof tableOf>[3][number][] => [
          [column, 'ms', (row) => (read.median(row, column) as number) * 1000],
          [`${column}, its time / ours`, 'ratio', (row) => divide(read.median(row, column), read.median(OURS, column))],
        ]),
      ]),
      tableOf(
        'what a page loads',
        'script',
        [...sizes.keys()],
        [
          ['minified', 'bytes', (row) => sizes.get(row)?.minified ?? null],
          ['after gzip', 'bytes', (row) => sizes.get(row)?.gzipped ?? null],
        ],
      ),
    ];
    const settings = `A warm file, pieces of ${formatBytes(pieceLength)}; medians of ${rounds} interleaved rounds. Processor time is that of all processes of the browser, memory the peak of the page's process beyond its start.`;
    const versions = { chromium: browser.version, ...versionsOf(CREATOR, READER) };
    return { tables, settings, versions };
  } finally {
    await browser.close();
  }
});

/** If results differed, their times would mean nothing. */
function requireOne(what: string, results: readonly string[]): void {
  if (new Set(results).size !== 1) throw new Error(`${what} differ: ${[...new Set(results)].join(', ')}`);
}

function versionsOf(...names: string[]): Record<string, string> {
  const manifest = (name: string) => new URL(`../node_modules/${name}/package.json`, import.meta.url);
  return Object.fromEntries(names.map((name) => [name, JSON.parse(readFileSync(manifest(name), 'utf8')).version]));
}

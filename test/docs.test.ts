import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import parseTorrent from 'parse-torrent';
import ts from 'typescript';
import { BENCHES, PAGES, RESULTS, type Results, readResults, withFigures } from '../bench/support/results.ts';
import type { Table } from '../bench/support/tables.ts';
import { commandPages } from '../scripts/docs-commands.ts';
import { errorsPage } from '../scripts/docs-errors.ts';
import { licensesPage, PERMISSIVE, runtimePackages } from '../scripts/docs-licenses.ts';
import { program } from '../src/cli/program.ts';
import * as library from '../src/index.ts';
import { choosePieceLength } from '../src/layout/piece-length.ts';
import { pageText, ROOT } from './support/pages.ts';

const whole = await program();

const page = (name: string) => pageText(`docs/${name}.md`);

/** Every committed document in the root and in docs/, and those of the package of queues. */
const documents = (): string[] =>
  [
    ...readdirSync(ROOT),
    'packages/metainfo-bullmq/README.md',
    ...readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) =>
      path.join('docs', name),
    ),
  ].filter((name) => name.endsWith('.md') && !name.startsWith(path.join('docs', 'commands')));

/** The anchors of a document's headings on GitHub. */
const anchors = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** The number in one cell of a table of a bench. */
const cell = ({ columns, rows }: Table, row: string, column: string): number | null | undefined =>
  (rows.find(([name]) => name === row) as (number | null)[] | undefined)?.[
    columns.findIndex(({ name }) => name === column) + 1
  ];

const withoutCode = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '');

describe('documents', () => {
  it('docs/errors.md matches the codes in the source (update: npm run generate)', () => {
    assert.equal(page('errors'), errorsPage());
  });

  it('docs/licenses.md matches the lock file (update: npm run generate)', () => {
    assert.equal(page('licenses'), licensesPage());
  });

  it('every runtime dependency has a permissive licence, also in its own manifest', () => {
    const packages = runtimePackages();
    const manifest = (folder: string) =>
      JSON.parse(readFileSync(new URL(`../${folder}package.json`, import.meta.url), 'utf8'));
    const { dependencies, optionalDependencies } = manifest('');
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
      assert.ok(
        packages.some(({ folder }) => folder === `node_modules/${name}`),
        name,
      );
    for (const { folder, license, optional } of packages) {
      assert.ok(PERMISSIVE.includes(license), `${folder}: ${license}`);
      const installed = existsSync(new URL(`../${folder}/package.json`, import.meta.url));
      assert.ok(installed || optional, folder);
      if (installed) assert.equal(manifest(`${folder}/`).license, license, folder);
    }
  });

  for (const [name, benches] of Object.entries(PAGES)) {
    it(`docs/${name}.md shows the figures of bench/results.json (each bench writes both)`, () => {
      assert.equal(page(name), withFigures(page(name), readResults(RESULTS), benches));
    });
  }

  it('docs/diagrams/performance.svg shows the figures of bench/results.json (update: node site/chart.mjs)', async () => {
    const { chart } = (await import(new URL('../site/chart.mjs', import.meta.url).href)) as {
      chart: (results: Results) => string;
    };
    assert.equal(pageText('docs/diagrams/performance.svg'), chart(readResults(RESULTS)));
  });

  it('every bench has its figures on exactly one page', () => {
    const folders = ['bench', 'packages/metainfo-bullmq/bench'];
    const files = folders
      .flatMap((folder) => readdirSync(path.join(ROOT, folder)))
      .filter((name) => name.endsWith('.ts'));
    assert.deepEqual([...BENCHES].sort(), files.map((name) => path.basename(name, '.ts')).sort());
  });

  it('README.md shows the figures of bench/results.json', () => {
    const readme = pageText('README.md');
    const { create, peers } = readResults(RESULTS);
    const [kernelTable] = create?.tables ?? [];
    assert.ok(kernelTable && peers);

    const kernels = [...readme.matchAll(/^\| (v1|v2|hybrid)\b[^|]*\| ([\d.]+) \| ([\d.]+) \|$/gm)];
    assert.equal(kernels.length, 3);
    for (const [line, version, shown, ratio] of kernels) {
      const row: string = kernelTable.rows.find(([name]) => name.startsWith(`${version}, default`))?.[0] ?? '';
      assert.equal(cell(kernelTable, row, '2 threads')?.toFixed(1), shown, line);
      assert.equal(cell(kernelTable, row, 'times openssl, 2 threads')?.toFixed(2), ratio, line);
    }

    const timesOurs = (workload: string, tool: string) => {
      const table = peers.tables.find(({ title }) => title.startsWith(workload));
      return table && cell(table, tool, 'v1, its time / ours')?.toFixed(2);
    };
    const tools = [...readme.matchAll(/^\| ([a-z][\w-]*)(?: [\d.]+)?(, Python)?[^|]*\|[^|]*\|[^|]*\| ([\d.]+) \|$/gm)];
    assert.equal(tools.length, 5);
    for (const [line, name, binding = '', ratio] of tools)
      assert.equal(timesOurs('one large file', `${name}${binding}`), ratio, line);
    const [, large, small] = /in C\+\+.* takes ([\d.]+) times .* and ([\d.]+) times/.exec(readme) ?? [];
    assert.equal(timesOurs('one large file', 'libtorrent, C++'), large);
    assert.equal(timesOurs('20,000 files of 10 KiB', 'libtorrent, C++'), small);
    const [, command, date] = /The last column is from `([^`]+)`, ([\d-]+),/.exec(readme) ?? [];
    assert.deepEqual([peers.command, peers.date], [command, date]);
  });

  it('README.md describes parse-torrent correctly', async () => {
    const draft = new library.TorrentCreate({ sources: [{ path: 'a', data: Buffer.alloc(20_000) }] });
    const [v2, hybrid] = [await draft.generate({ version: 'v2' }), await draft.generate()];
    await assert.rejects(async () => parseTorrent(Buffer.from(v2.bencode())), /missing required field: info.pieces/);
    const parsed = await parseTorrent(Buffer.from(hybrid.bencode()));
    assert.equal(parsed.infoHash, hybrid.infohashV1);
    assert.ok(!Object.keys(parsed).some((key) => /v2/i.test(key)));
  });

  it('mention every export and every command', () => {
    const written = documents().filter((name) => name === 'README.md' || name.startsWith('docs'));
    const text = [...written.map(pageText), ...commandPages().values()].join('\n');
    const commands = whole.commands.map((command) => `metainfo ${command.name()}`);
    const names = [...Object.keys(library), ...commands];
    assert.deepEqual(
      names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)),
      [],
    );
  });

  it('docs/environment.md lists every environment variable that the code reads', () => {
    const sources = ['src', 'native', 'scripts/libcrypto.mjs'].flatMap((place) => {
      const full = path.join(ROOT, place);
      const files = statSync(full).isDirectory() ? readdirSync(full, { recursive: true, encoding: 'utf8' }) : [''];
      return files.filter((file) => /\.(ts|cc|mjs)$|^$/.test(file)).map((file) => path.join(full, file));
    });
    const read = sources.flatMap((file) => {
      const found = readFileSync(file, 'utf8').matchAll(
        /\b(?:env(?:\['|\.)|variable\(')([A-Z\d_]+)\b|variables\.Get\("([A-Z_]+)"|'(aws_[a-z_]+)'/g,
      );
      // The files of AWS have some variables in lower case.
      return Array.from(
        found,
        ([, inJavaScript, inNative, inFile]) => inJavaScript ?? inNative ?? inFile?.toUpperCase(),
      );
    });
    // picocolors reads NO_COLOR.
    const named = [...page('environment').matchAll(/^\| `([A-Z\d_]+)` \|/gm)].map(([, name]) => name);
    assert.deepEqual([...new Set([...read, 'NO_COLOR'])].sort(), named.sort());
  });

  for (const [name, colours, ...texts] of [
    [
      'session',
      ['green', 'yellow', 'red'],
      ...['metainfo create', 'metainfo verify', ' s left', 'infohash v2', '>warning:<', '2 bad pieces'],
    ],
    [
      'diagrams/verify',
      ['green', 'yellow', 'red', 'dim'],
      'metainfo verify',
      'complete',
      '2 bad pieces',
      'missing',
      'extra',
    ],
    ['diagrams/many', ['green'], 'metainfo create --each', ' of 8 done', ' s left', '.torrent: v1'],
  ] as const) {
    it(`docs/${name}.svg shows a complete session, is small, and loads nothing`, () => {
      const svg = pageText(`docs/${name}.svg`);
      assert.ok(svg.length < 100_000, `${svg.length} bytes`);
      for (const shown of texts) assert.ok(svg.includes(shown), shown);
      for (const colour of colours) assert.ok(svg.includes(`<tspan class="${colour}">`), colour);
      assert.doesNotMatch(svg, /(href|src)="(?!#)|@import|url\(|animat|@keyframes/);
    });
  }

  it('docs/README.md links every page, because the site is built from these links', () => {
    const listed = [...page('README').matchAll(/\]\(([^)]+\.md)\)/g)].map(([, link = '']) => path.join('docs', link));
    const pages = documents().filter((name) => name.startsWith('docs') && name !== path.join('docs', 'README.md'));
    assert.deepEqual(
      pages.filter((name) => !listed.includes(name)),
      [],
    );
  });

  it('have no broken links', () => {
    const broken = documents().flatMap((name) =>
      [...withoutCode(pageText(name)).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => {
          const [file = '', anchor] = link.split('#');
          const target = file === '' ? name : path.join(path.dirname(name), file);
          if (!existsSync(path.join(ROOT, target))) return true;
          return anchor !== undefined && !anchors(withoutCode(pageText(target))).includes(anchor);
        })
        .map((link) => `${name}: ${link}`),
    );
    assert.deepEqual(broken, []);
  });

  for (const [name, least] of [
    ['docs/beps.md', 10],
    ['SECURITY.md', 5],
  ] as const)
    it(`${name} names existing tests`, () => {
      const text = pageText(name);
      const named = text.match(/(packages\/[\w-]+\/)?test\/[\w/.-]+\.ts/g) ?? [];
      assert.ok(named.length > least);
      for (const file of named) assert.ok(existsSync(new URL(`../${file}`, import.meta.url)), file);
    });

  it('docs/piece-length.md has the same table as choosePieceLength', () => {
    const UNITS: Record<string, number> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };
    const rows = [...page('piece-length').matchAll(/\|\s*([\d.,]+) (\wiB)\s*\|\s*(\d+) (\wiB)\s*\|/g)];
    assert.equal(rows.length, 10);
    for (const [, content = '', unit = '', length, lengthUnit = ''] of rows) {
      const pieceLength = Number(length) * (UNITS[lengthUnit] as number);
      // The table rounds to three digits.
      const bytes = Number(content.replace(',', '')) * (UNITS[unit] as number);
      assert.ok(Math.abs(bytes / (pieceLength * 2000) - 1) < 0.005, `${content} ${unit}`);
      assert.equal(choosePieceLength(pieceLength * 2000), pieceLength);
      assert.equal(choosePieceLength(pieceLength * 2000 + 1), pieceLength * 2);
    }
  });

  it('docs/guides/deploying.md makes every folder of the machine that it names', () => {
    const text = page('guides/deploying');
    const made = [...text.matchAll(/`install -d [^`]*?((?: \/[\w/]+)+)`/g)].flatMap(([, paths = '']) =>
      paths.trim().split(' '),
    );
    const named = [...text.matchAll(/(?<=[ =`])\/(?:srv|etc\/metainfo)[\w/]*(?:\.\w+)?/g)].map(([path]) => path);
    const folders = named.map((name) => (name.includes('.') ? path.posix.dirname(name) : name));
    assert.ok(made.length >= 6, made.join());
    // The user brings the content.
    assert.deepEqual(
      folders.filter((name) => !made.includes(name) && name !== '/srv/media/album'),
      [],
    );
  });

  it('docs/names.md names only exports', () => {
    const rows = [...page('names').matchAll(/^\|[^|\n]+\|([^|\n]+)\|/gm)].map(([, here = '']) => here);
    const names = rows.flatMap((here) => [...here.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    assert.ok(names.length > 120);
    const isExported = exported();
    assert.deepEqual(
      names.filter((name) => !isExported(name)),
      [],
    );
    // isExported can return false.
    for (const name of ['Torrents', 'Torrent.flatTree', 'HasherConfig.nProcesses']) assert.ok(!isExported(name), name);
  });
});

/** Returns a function that tells whether src/index.ts exports a `name` or an `Owner.member` (of an instance, or static). */
function exported(): (name: string) => boolean {
  const index = fileURLToPath(new URL('../src/index.ts', import.meta.url));
  const config = fileURLToPath(new URL('../tsconfig.json', import.meta.url));
  const { options } = ts.convertCompilerOptionsFromJson(
    ts.readConfigFile(config, ts.sys.readFile).config.compilerOptions,
    '.',
  );
  const program = ts.createProgram([index], options);
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(index) as ts.SourceFile) as ts.Symbol;
  const exports = new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, symbol]));
  return (name) => {
    const [owner = '', member] = name.split('.');
    let symbol = exports.get(owner);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
    if (!symbol || member === undefined) return symbol !== undefined;
    const types = [checker.getDeclaredTypeOfSymbol(symbol), checker.getTypeOfSymbol(symbol)];
    return types.some((type) => checker.getPropertyOfType(type, member) !== undefined);
  };
}

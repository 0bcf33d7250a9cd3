import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { withFigures } from '../bench/support/page.ts';
import { RESULTS, readResults } from '../bench/support/results.ts';
import { errorsPage } from '../scripts/docs-errors.ts';
import { licensesPage, PERMISSIVE, runtimePackages } from '../scripts/docs-licenses.ts';
import { choosePieceLength } from '../src/layout/piece-length.ts';

const page = (name: string) => readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8');

describe('the documents', () => {
  it('docs/errors.md has the codes of the source (else: npm run docs:errors)', () => {
    assert.equal(page('errors'), errorsPage());
  });

  it('docs/licenses.md has the packages of the lock file (else: npm run docs:licenses)', () => {
    assert.equal(page('licenses'), licensesPage());
  });

  it('every package that an installation brings has a permissive licence, and says so itself', () => {
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

  it('docs/performance.md has the figures of bench/results.json (else: npm run bench -- plots)', () => {
    assert.equal(page('performance'), withFigures(page('performance'), readResults(RESULTS)));
  });

  for (const [name, least] of [
    ['docs/beps.md', 10],
    ['SECURITY.md', 5],
  ] as const)
    it(`${name} names tests that there are`, () => {
      const text = readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
      const named = text.match(/test\/[\w/.-]+\.ts/g) ?? [];
      assert.ok(named.length > least);
      for (const file of named) assert.ok(existsSync(new URL(`../${file}`, import.meta.url)), file);
    });

  it('docs/piece-length.md has the table of choosePieceLength', () => {
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

  it('docs/names.md names what is exported', () => {
    const rows = [...page('names').matchAll(/^\|[^|\n]+\|([^|\n]+)\|/gm)].map(([, here = '']) => here);
    const names = rows.flatMap((here) => [...here.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    assert.ok(names.length > 120);
    const isExported = exported();
    assert.deepEqual(
      names.filter((name) => !isExported(name)),
      [],
    );
    // The question can be answered with no.
    for (const name of ['Torrents', 'Torrent.flatTree', 'HasherConfig.nProcesses']) assert.ok(!isExported(name), name);
  });
});

/** Tells of `name` and `Owner.member` whether they are in what src/index.ts exports: the member of an instance, or static. */
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

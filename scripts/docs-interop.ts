// `npm run docs:interop [-- FILE]` writes the table of docs/interop.md from the results that tests recorded in FILE
// (METAINFO_INTEROP), or runs those tests. `-- --check FILE` fails if the table is out of date, ignoring versions.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Tried } from '../test/support/interop.ts';

const PAGE = new URL('../docs/interop.md', import.meta.url);
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const HEAD = ['| program | what it does | v1 | v2 | hybrid |', '| --- | --- | --- | --- | --- |'];
const [OPEN, CLOSE] = ['<!-- results -->', '<!-- /results -->'];

function resultsIn(file: string): Tried[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Tried);
}

/** The page with a new table, which is the same in whatever order the tests ran. */
function withResults(page: string, results: readonly Tried[]): string {
  const passed = new Map<string, Set<string>>();
  for (const { client, version, what, torrentVersion } of results) {
    const key = `${client} ${version} | ${what}`;
    passed.set(key, (passed.get(key) ?? new Set()).add(torrentVersion));
  }
  const rows = [...passed]
    .sort(([a], [b]) => a.localeCompare(b, 'en'))
    .map(([key, versions]) => `| ${key} | ${VERSIONS.map((name) => (versions.has(name) ? 'yes' : '–')).join(' | ')} |`);
  const [before, rest] = page.split(OPEN);
  const after = rest?.split(CLOSE)[1];
  if (after === undefined) throw new Error(`docs/interop.md has no ${OPEN} ... ${CLOSE}`);
  return `${before}${[OPEN, '', ...HEAD, ...rows, '', CLOSE].join('\n')}${after}`;
}

const withoutVersions = (page: string) => page.replace(/^(\| [^|]*?) \d[^ |]* \|/gm, '$1 |');

/** Runs the tests that record results, and returns those. */
function run(): Tried[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-interop-'));
  const file = path.join(folder, 'results');
  const tests = readdirSync(new URL('../test/e2e', import.meta.url)).map((name) => `test/e2e/${name}`);
  const { status } = spawnSync(process.execPath, ['scripts/test.mjs', ...tests], {
    stdio: 'inherit',
    // With CI=true a missing program fails its tests, so that it cannot vanish from the page.
    env: { ...process.env, CI: 'true', METAINFO_INTEROP: file },
  });
  if (status !== 0) process.exit(1);
  const results = resultsIn(file);
  rmSync(folder, { recursive: true });
  return results;
}

const args = process.argv.slice(2);
const isCheck = args[0] === '--check';
const file = args[isCheck ? 1 : 0];
const old = readFileSync(PAGE, 'utf8');
const page = withResults(old, file === undefined ? run() : resultsIn(file));
if (!isCheck) writeFileSync(PAGE, page);
else if (withoutVersions(old) !== withoutVersions(page)) {
  process.stderr.write(`docs/interop.md is out of date (npm run docs:interop writes it):\n${page}`);
  process.exit(1);
}

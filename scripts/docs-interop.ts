// `npm run docs:interop [-- FILE]`: writes docs/interop.md from what a run of the tests noted in FILE (METAINFO_INTEROP), or
// runs those that note. `-- --check FILE` fails when the page does not say what was tried, whatever the versions.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Tried } from '../test/support/interop.ts';

const PAGE = new URL('../docs/interop.md', import.meta.url);
const KINDS = ['v1', 'v2', 'hybrid'] as const;

const BEFORE = `# Other programs

Written by \`npm run docs:interop\`: each yes is a test of \`test/e2e\` that passed with a real program, all on one machine. Files
are empty, tiny, exactly a piece, a byte more, and large, and are compared byte for byte. \`.ci/run\` holds this table against what
it has tried, whatever the versions; what cannot be, and what was not tried, has no yes.
`;

const AFTER = `
## What they cannot

- Transmission and aria2 know v1 only. They take a hybrid for the v1 torrent that it also is, and refuse v2.
- They do not know what pads (BEP 47) are either: of a hybrid they write them too, as files of zeros in \`.pad\`, and they ask a
  webseed for them. A webseed that has only the content is no use to them then. A hybrid of a single file has no pads, nor has
  a v1 torrent unless it was asked for.
- Transmission 3 cannot parse any hybrid torrent (transmission issue 1339); aria2 1.36 takes the wrong bytes of one for its infohash.
- aria2 asks trackers on UDP only when its DHT is on, so it was tried with one on HTTP.
- mktorrent, buildtorrent and transmission-create make v1 only.
`;

function rowsOf(file: string): Tried[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Tried);
}

/** The whole page, the same in whatever order things were tried. */
function interopPage(rows: readonly Tried[]): string {
  const kinds = new Map<string, Set<string>>();
  for (const { client, version, what, kind } of rows) {
    const key = `${client} ${version} | ${what}`;
    kinds.set(key, (kinds.get(key) ?? new Set()).add(kind));
  }
  const lines = [...kinds]
    .sort(([a], [b]) => a.localeCompare(b, 'en'))
    .map(([key, of]) => `| ${key} | ${KINDS.map((kind) => (of.has(kind) ? 'yes' : '–')).join(' | ')} |`);
  return [
    BEFORE,
    '| program | what it does | v1 | v2 | hybrid |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
    AFTER,
  ].join('\n');
}

const withoutVersions = (page: string) => page.replace(/^(\| [^|]*?) \d[^ |]* \|/gm, '$1 |');

/** Runs what notes, and gives what it noted. */
function run(): Tried[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-interop-'));
  const noted = path.join(folder, 'tried');
  const tests = readdirSync(new URL('../test/e2e', import.meta.url)).map((name) => `test/e2e/${name}`);
  const { status } = spawnSync(process.execPath, ['scripts/test.mjs', ...tests], {
    stdio: 'inherit',
    // A program that is missing must not go missing in the page.
    env: { ...process.env, CI: 'true', METAINFO_INTEROP: noted },
  });
  if (status !== 0) process.exit(1);
  const rows = rowsOf(noted);
  rmSync(folder, { recursive: true });
  return rows;
}

const args = process.argv.slice(2);
const isCheck = args[0] === '--check';
const file = args[isCheck ? 1 : 0];
const page = interopPage(file === undefined ? run() : rowsOf(file));
if (!isCheck) writeFileSync(PAGE, page);
else if (withoutVersions(readFileSync(PAGE, 'utf8')) !== withoutVersions(page)) {
  process.stderr.write(`docs/interop.md does not say what was tried (npm run docs:interop writes it):\n${page}`);
  process.exit(1);
}

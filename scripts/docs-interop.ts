// `npm run docs:interop [-- FILE]` writes docs/interop.md from the results that tests recorded in FILE (METAINFO_INTEROP), or runs
// those tests. `-- --check FILE` fails if the page is out of date, ignoring versions.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Tried } from '../test/support/interop.ts';

const PAGE = new URL('../docs/interop.md', import.meta.url);
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

const BEFORE = `# Clients

\`npm run docs:interop\` writes this table. Each "yes" is a test in \`test/e2e\` that passed with the real program. The test files are empty, tiny, exactly
one piece, one byte longer, and large; the tests compare their content byte for byte. \`.ci/run\` compares this table with its own results,
except for the versions. A dash means that the program does not support it, or that it is untested.
`;

const AFTER = `
## Supported versions

| client | v1 | v2 | hybrid |
| --- | --- | --- | --- |
| libtorrent 2, and with it qBittorrent and Deluge | yes | yes | yes |
| rtorrent 0.16 | yes | no | as v1; supports pad files |
| rtorrent 0.9, Transmission, aria2, WebTorrent | yes | no | as v1; no support for pad files |

- "As v1" means that the client uses the v1 half of a hybrid: its infohash and its file list, in which pad files (BEP 47) fill
  the gaps between the files.
- A client without support for pad files also writes them to disk, as files of zeros in \`.pad\`, and requests them from webseeds. A
  webseed that has only the content cannot serve such a client.
- A hybrid of a single file has no pad files. A v1 torrent has them only if you ask for them (\`generate({ padding: true })\`).

## Who can seed a hybrid from its content

\`metainfo create\` makes a hybrid by default. Its pad files do not exist on the disk, so a client without support for them finds every padded piece
incomplete. It cannot seed those pieces, and downloads them from other peers.

| client | v1 folder | v2 folder | hybrid folder |
| --- | --- | --- | --- |
| libtorrent, qBittorrent, Deluge 2.2.1 | seeds | seeds | seeds |
| rtorrent 0.16.17 | seeds | no | seeds |
| rtorrent 0.9.8, Transmission, aria2 | seeds | no | incomplete |
| WebTorrent 3.0.21 | seeds | no | incomplete (93 % in one test) |

Seed a hybrid folder with a client of the first two rows, or make a v1 torrent (\`-k v1\`) for the others. rtorrent rejects a
torrent without trackers while its DHT is off.

Tested by hand, not in the gate: rtorrent 0.16.17, Deluge 2.2.1, WebTorrent 3.0.21, and libtorrent 2.0.14. metainfo also
read and verified torrents made by hand with mkbrr 1.27.0 (v1), torf 4.3.1 (v1) and Deluge 2.2.1 (v1, v2 and hybrid).

## Pad files of equal length

Two pad files of the same length share a path, such as \`.pad/16383\`. libtorrent uses these names, and so does metainfo by default, so that both give the
same infohash.

- Transmission 4.1.1 and later rejects such a torrent ("duplicate path").
- rtorrent 0.9.8 never completes it.
- \`metainfo create --pad-names unique\` gives every pad file its own name; all of these clients load that. \`create\` prints a warning when
  pad files share a path.

## Names that libtorrent changes

libtorrent changes some names when it loads a torrent (tested with 2.0.8 and 2.0.14). It then looks for the new name on the disk and does not find the
original file. Rename such files before you create the torrent.

| name | name in libtorrent 2 |
| --- | --- |
| two names that differ only in the case of ASCII letters: \`a\`, \`A\` | \`a\`, \`A.1\` |
| longer than 240 bytes | cut to 240 bytes; the extension stays |
| a control character: \`a\\x01b\` | \`a_b\` |
| text direction marks: \`a\\u202eb\` | \`ab\` |
| a backslash: \`a\\b\` | \`ab\` |

libtorrent, and so qBittorrent and Deluge, also drops the folder of a v2 torrent whose folder holds a single file: it saves
\`album/song\` as \`song\`.

## Magnet links

- v2 (\`xt=urn:btmh:\`): libtorrent supports them. rtorrent rejects every link with \`btmh\`, even if it also has \`btih\`:
  \`metainfo magnet --no-v2\` omits it.
- Peers (\`x.pe\`): libtorrent connects to them; in the tests, there is no other way to find the peer.
- Selected files (\`so\`, BEP 53): libtorrent numbers files in the order of the torrent and counts pad files in hybrids and v2, so
  \`metainfo magnet\` does too.

## Limits of other programs

- Transmission 3 cannot parse a hybrid torrent (transmission issue 1339). aria2 1.36 computes a wrong infohash for one.
- aria2 asks UDP trackers only while its DHT is on, so the tests use an HTTP tracker.
- mktorrent, buildtorrent, transmission-create, mkbrr and torf make v1 torrents only.
`;

function rowsOf(file: string): Tried[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Tried);
}

/** The page; the order of the tests does not matter. */
function interopPage(rows: readonly Tried[]): string {
  const torrentVersions = new Map<string, Set<string>>();
  for (const { client, version, what, torrentVersion } of rows) {
    const key = `${client} ${version} | ${what}`;
    torrentVersions.set(key, (torrentVersions.get(key) ?? new Set()).add(torrentVersion));
  }
  const lines = [...torrentVersions]
    .sort(([a], [b]) => a.localeCompare(b, 'en'))
    .map(
      ([key, of]) =>
        `| ${key} | ${VERSIONS.map((torrentVersion) => (of.has(torrentVersion) ? 'yes' : '–')).join(' | ')} |`,
    );
  return [
    BEFORE,
    '| program | what it does | v1 | v2 | hybrid |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
    AFTER,
  ].join('\n');
}

const withoutVersions = (page: string) => page.replace(/^(\| [^|]*?) \d[^ |]* \|/gm, '$1 |');

/** Runs the tests that record results, and returns those. */
function run(): Tried[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-interop-'));
  const noted = path.join(folder, 'tried');
  const tests = readdirSync(new URL('../test/e2e', import.meta.url)).map((name) => `test/e2e/${name}`);
  const { status } = spawnSync(process.execPath, ['scripts/test.mjs', ...tests], {
    stdio: 'inherit',
    // A missing program must fail the tests: skipped tests would silently disappear from the page.
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
  process.stderr.write(`docs/interop.md is out of date (npm run docs:interop writes it):\n${page}`);
  process.exit(1);
}

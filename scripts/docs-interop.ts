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

\`npm run docs:interop\` writes this table: each yes is a test of \`test/e2e\` that passed with the real program, all on one
machine. The files are empty, tiny, exactly a piece, a byte more, and large, and are compared byte for byte. \`.ci/run\` compares
the table with its own run, versions aside. A dash means that the program cannot do it, or that nobody tried.
`;

const AFTER = `
## Which clients support what

| client | v1 | v2 | hybrid |
| --- | --- | --- | --- |
| libtorrent 2, and with it qBittorrent and Deluge | yes | yes | yes |
| rtorrent 0.16 | yes | no | as v1; it knows pad files |
| rtorrent 0.9, Transmission, aria2, WebTorrent | yes | no | as v1; they do not know pad files |

- "As v1" means that the client uses the v1 half of a hybrid: its infohash and its file list, in which pad files (BEP 47) fill
  the gaps between the files.
- A client that does not know pad files writes them to disk too, as files of zeros in \`.pad\`, and asks webseeds for them. A
  webseed that has only the content cannot serve such a client.
- A hybrid of a single file has no pad files, nor has a v1 torrent unless you ask for them (\`generate({ padding: true })\`).

## Who can seed a hybrid from its content

\`metainfo create\` makes a hybrid by default. Its pad files are on no disk, so a client that does not know them finds a part of
every padded piece missing: it stops at a share of the torrent below 100 %, and downloads the rest from somebody else.

| client | v1 folder | v2 folder | hybrid folder |
| --- | --- | --- | --- |
| libtorrent, qBittorrent, Deluge 2.2.1 | seeds | seeds | seeds |
| rtorrent 0.16.17 | seeds | no | seeds |
| rtorrent 0.9.8, Transmission, aria2 | seeds | no | incomplete |
| WebTorrent 3.0.21 | seeds | no | incomplete (93 % in one trial) |

Seed a hybrid folder with a client of the first two rows, or make a v1 torrent (\`-k v1\`) for the others. rtorrent refuses a
torrent that has no tracker while its DHT is off.

Tried by hand, with no test in the gate: rtorrent 0.16.17, Deluge 2.2.1, WebTorrent 3.0.21, and libtorrent 2.0.14. metainfo also
read and verified torrents made by hand with mkbrr 1.27.0 (v1), torf 4.3.1 (v1) and Deluge 2.2.1 (v1, v2 and hybrid).

## Pad files of equal length

Two files that need a pad of the same length get two pads with the same path, such as \`.pad/16383\`: libtorrent names them so,
and metainfo keeps these names by default, so that both give the same infohash.

- Transmission from 4.1.1 on refuses such a torrent ("duplicate path").
- rtorrent 0.9.8 does not finish it.
- \`metainfo create --pad-names unique\` gives every pad a name of its own, which all of these clients load. \`create\` warns where
  it matters.

## Names that libtorrent changes

libtorrent changes some names when it loads a torrent (tried with 2.0.8 and 2.0.14). It then looks for the new name on disk, so it
does not find the original file: rename the file before you make the torrent.

| name | libtorrent 2 takes it for |
| --- | --- |
| two names that differ only in the case of ASCII letters: \`a\`, \`A\` | \`a\`, \`A.1\` |
| longer than 240 bytes | cut to 240 bytes; the extension stays |
| a control character: \`a\\x01b\` | \`a_b\` |
| text direction marks: \`a\\u202eb\` | \`ab\` |
| a backslash: \`a\\b\` | \`ab\` |

libtorrent, and so qBittorrent and Deluge, also drops the folder of a v2 torrent whose folder holds a single file: it saves
\`album/song\` as \`song\`.

## Magnet links

- v2 (\`xt=urn:btmh:\`): libtorrent downloads from them. rtorrent refuses every link that has \`btmh\`, even beside \`btih\`:
  \`metainfo magnet --no-v2\` leaves it out.
- Peers (\`x.pe\`): libtorrent connects to them; the tests use no other way to find the peer.
- Selected files (\`so\`, BEP 53): libtorrent numbers files in the order of the torrent and counts pad files in hybrids and v2, so
  \`metainfo magnet\` does too.

## Limits of other programs

- Transmission 3 cannot parse a hybrid torrent (transmission issue 1339). aria2 1.36 takes the wrong bytes of one for its infohash.
- aria2 asks UDP trackers only while its DHT is on, so the tests use an HTTP tracker.
- mktorrent, buildtorrent, transmission-create, mkbrr and torf make v1 torrents only.
`;

function rowsOf(file: string): Tried[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Tried);
}

/** The whole page, the same in whatever order things were tried. */
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
        `| ${key} | ${KINDS.map((torrentVersion) => (of.has(torrentVersion) ? 'yes' : '–')).join(' | ')} |`,
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

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import cliTruncate from 'cli-truncate';
import { encode } from '../../src/bencode/encode.ts';
import type { TorrentBase } from '../../src/model/torrent/torrent.ts';
import { A, B, hex, hybrid, PAD_A, PAD_B, single, TREE, torrent, withLayers } from '../support/build.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { bytesOf, command, metainfo, metainfoUnread, read, workFolder } from './run.ts';

/** Characters that a terminal acts on: ESC, C1 controls, bidirectional and zero-width characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
const HOSTILE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
const EVIL = 'e\u001b[2J\u0007\u009b31m\u202egnp.exe\u200b\r\nv';

describe('metainfo show --field', () => {
  it('prints the values of fields alone, for scripts', async (t) => {
    const cwd = await workFolder(t);
    const args = ['-t', 'http://a.example/x', '-t', 'http://b.example/x', '-p', '--source', 'S', '-l', '16KiB'];
    await metainfo(['create', 'album', ...args], { cwd });
    await metainfo(['create', 'album', '-k', 'v1', '-o', 'v1.torrent'], { cwd });
    const show = async (...more: string[]) =>
      (await metainfo(['show', ...more], { cwd })).stdout.split('\n').slice(0, -1);
    const { infohashV1, infohashV2, files } = await read(cwd, 'album.torrent');
    assert.deepEqual(await show('album.torrent', '--field', 'infohash-v2'), [infohashV2]);
    // A torrent without the field has an empty line, so that lines match torrents.
    const two = await show('--field', 'infohash-v2', '--field', 'version', 'v1.torrent', 'album.torrent');
    assert.deepEqual(two, ['', 'v1', infohashV2, 'hybrid']);
    const fields = ['infohash-v1', 'private', 'source', 'piece-length', 'trackers', 'comment', 'webseeds', 'files'];
    assert.deepEqual(await show('album.torrent', ...fields.flatMap((name) => ['--field', name])), [
      ...[infohashV1, 'true', 'S', '16384', 'http://a.example/x', 'http://b.example/x', ''],
      ...files.map((file) => file.path),
    ]);
    const [magnet = ''] = await show('album.torrent', '--field', 'magnet');
    assert.ok(magnet.startsWith(`magnet:?xt=urn:btih:${infohashV1}&xt=urn:btmh:1220${infohashV2}`));
    const wrong = await metainfo(['show', 'album.torrent', '--field', 'hash'], { cwd });
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /'hash' is invalid\. Expected one of version, name, infohash-v1/);
    assert.equal((await metainfo(['show', 'album.torrent', '--field', 'name', '--json'], { cwd })).code, 2);
  });

  it('has every key of --json but those of structured values', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const keys = Object.keys((await read(cwd, 'album.torrent')).toJSON());
    const kebab = (key: string) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    for (const key of keys.filter((one) => !['infohash', 'tiers', 'unknownKeys', 'warnings'].includes(one)))
      assert.equal((await metainfo(['show', 'album.torrent', '--field', kebab(key)], { cwd })).code, 0, key);
  });
});

describe('metainfo show', () => {
  it('prints the fields of a torrent', async (t) => {
    const cwd = await workFolder(t);
    const args = ['-t', 'udp://a.example/x', '-w', 'http://w.example/', '--private', '--source', 'S', '--comment', 'C'];
    await metainfo(['create', 'album', ...args, '--date', '@86400', '--created-by', 'me'], { cwd });
    const { infohashV1, infohashV2 } = await read(cwd, 'album.torrent');
    const { code, stdout, stderr } = await metainfo(['show', 'album.torrent'], { cwd });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.deepEqual(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/)),
      [
        ['name', 'album'],
        ['version', 'hybrid'],
        ['infohash v1', infohashV1],
        ['infohash v2', infohashV2],
        ['size', '19.5 KiB in 2 files'],
        ['pieces', '3 of 16 KiB'],
        ['tracker', 'udp://a.example/x'],
        ['webseed', 'http://w.example/'],
        ['private', 'yes'],
        ['source', 'S'],
        ['comment', 'C'],
        ['created by', 'me'],
        ['created', '1970-01-02T00:00:00.000Z'],
      ],
    );
  });

  it('tells the tiers of trackers apart', async (t) => {
    const cwd = await workFolder(t);
    const [a, b, c] = ['http://a.example/', 'http://b.example/', 'http://c.example/'];
    const shown = async (name: string, ...tiers: string[]) => {
      await metainfo(['create', 'album', ...tiers.flatMap((tier) => ['-t', tier]), '-o', name], { cwd });
      const { stdout } = await metainfo(['show', name], { cwd });
      const json = JSON.parse((await metainfo(['show', '--json', name], { cwd })).stdout);
      assert.deepEqual(json.trackers, json.tiers.flat());
      return [stdout.split('\n').filter((line) => line.startsWith('tracker')), json.tiers];
    };
    assert.deepEqual(await shown('1.torrent', `${a},${b}`, `${c}`), [
      [`tracker 1    ${a}`, `tracker 1    ${b}`, `tracker 2    ${c}`],
      [[a, b], [c]],
    ]);
    assert.deepEqual(await shown('2.torrent', `${a}`, `${b}`), [
      [`tracker      ${a}`, `tracker      ${b}`],
      [[a], [b]],
    ]);
    assert.deepEqual(await shown('3.torrent', `${a}`), [[`tracker      ${a}`], [[a]]]);
  });

  it('says what a file is that is no torrent, and what to do with it', async (t) => {
    const cwd = await temporaryFolder(t);
    const film = Buffer.concat([Buffer.from('1a45dfa3', 'hex'), Buffer.alloc(2000)]);
    const cases: [name: string, bytes: string | Buffer, expected: RegExp][] = [
      ['page.torrent', '<!DOCTYPE html>', /web page.*download it again/],
      ['error.torrent', '{"error":"x"}', /JSON.*message instead/],
      ['link.torrent', 'magnet:?xt=urn:btih:x', /magnet link.*metainfo magnet "\$\(cat link\.torrent\)"/],
      ['x.zip', 'PK\x03\x04', /ZIP.*unzip -p x\.zip \| metainfo show -/],
      ['x.bz2', 'BZh9', /bzip2 file.*: bzip2 -dc x\.bz2 \| metainfo show -/],
      ['x.torrent.gz', gzipSync('d8:announce1:xe'), /gzip.*gunzip -c < x\.torrent\.gz \| metainfo show -/],
      ['a film.mkv', film, /video.*metainfo create 'a film\.mkv'/],
    ];
    for (const [name, bytes, expected] of cases) {
      await writeFile(path.join(cwd, name), bytes);
      for (const args of [
        ['show', name],
        ['validate', name],
        ['show', name, '--limit', 'bytes=9'],
      ]) {
        const { code, stdout, stderr } = await metainfo(args, { cwd });
        assert.equal(code, 1);
        assert.match(stdout + stderr, expected);
        assert.match(stdout + stderr, /ERR_BENCODE/);
      }
    }
    await writeFile(path.join(cwd, 'disk.iso'), Buffer.alloc(2000));
    const unknown = await metainfo(['show', 'disk.iso', '--limit', 'bytes=9'], { cwd });
    assert.match(unknown.stderr, /no value starts with this byte.*ERR_BENCODE/);
    const link = 'magnet:?xt=urn:btih:x&dn=y';
    assert.match((await metainfo(['show', link], { cwd })).stderr, /metainfo magnet 'magnet:\?xt=urn:btih:x&dn=y'/);
    assert.match((await metainfo(['show', 'http://a/b'], { cwd })).stderr, /curl -L http:\/\/a\/b \| metainfo show -/);
  });

  it('prints one JSON object with --json', async (t) => {
    const cwd = await workFolder(t);
    const hints = ['--similar', 'ab'.repeat(20), '--collection', 'c'];
    await metainfo(['create', 'album', '-t', 'udp://a.example/x', '--no-created-by', ...hints], { cwd });
    const changes = ['--node', '[::1]:6881', '--httpseed', 'http://h.example/', '--update-url', 'http://f.example/'];
    await metainfo(['edit', 'album.torrent', ...changes], { cwd });
    const { infohashV1: v1, infohashV2: v2 } = await read(cwd, 'album.torrent');
    const { code, stdout } = await metainfo(['show', '--json', 'album.torrent'], { cwd });
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(stdout), {
      torrent: 'album.torrent',
      version: 'hybrid',
      name: 'album',
      infohash: { v1, v2 },
      pieceLength: 16_384,
      pieces: 3,
      files: [
        { path: 'a.txt', length: 20_000 },
        { path: 'b/c.nfo', length: 5 },
      ],
      totalSize: 20_005,
      trackers: ['udp://a.example/x'],
      tiers: [['udp://a.example/x']],
      webseeds: [],
      httpseeds: ['http://h.example/'],
      nodes: [['::1', 6881]],
      similar: ['ab'.repeat(20)],
      collections: ['c'],
      updateUrl: 'http://f.example/',
      comment: null,
      createdBy: null,
      creationDate: null,
      private: false,
      source: null,
      unknownKeys: [],
      warnings: [],
    });
  });

  it('prints unknown keys with -v, and all of them with --json', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '--set', 'publisher=ME', '--set', 'info.x_cross:=[1,"MARK"]'], { cwd });
    const shown = async (...args: string[]) => (await metainfo(['show', 'album.torrent', ...args], { cwd })).stdout;
    assert.match(await shown(), /^also +2 unknown keys$/m);
    for (const option of ['-v', '-vvv']) {
      assert.match(await shown(option), /^unknown key +publisher: "ME"$/m);
      assert.match(await shown(option), /^unknown key +info\.x_cross: \[1,"MARK"\]$/m);
    }
    assert.deepEqual(JSON.parse(await shown('--json')).unknownKeys, [
      { path: ['publisher'], value: 'ME' },
      { path: ['info', 'x_cross'], value: [1, 'MARK'] },
    ]);
  });

  /** A torrent with every field, each of them long. */
  const FULL = withLayers(
    {
      ...hybrid([A, PAD_A, B, PAD_B], TREE),
      name: 'n'.repeat(300),
      private: 1,
      source: 's'.repeat(10_000),
      'update-url': 'http://f.example/',
      unknown: 'x',
    },
    {},
    {
      announce: 'http://a/',
      'announce-list': Array.from({ length: 100 }, (_, i) => [`http://${i}.example/announce`]),
      'url-list': [...Array.from({ length: 100 }, (_, i) => `http://${i}.example/`), ...Array(20).fill(5)],
      comment: 'A long comment.\n'.repeat(1000),
      'created by': 'c'.repeat(10_000),
      'creation date': 0,
      nodes: Array(100).fill(['a', 1]),
      httpseeds: Array(100).fill('http://h.example/'),
      similar: Array(100).fill(Buffer.alloc(20)),
      collections: Array.from({ length: 100 }, String),
    },
  );

  it('fits a screen of 24 lines and 80 columns for any torrent', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(path.join(cwd, 'full'), FULL);
    const { code, stdout, stderr } = await metainfo(['show', '--compat', 'full'], { cwd });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    assert.ok(lines.length <= 24, `${lines.length} lines:\n${stdout}`);
    const rows = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), 0);
    assert.ok(rows <= 24, `${rows} rows:\n${stdout}`);
    for (const label of ['infohash v1', 'infohash v2', 'tracker', 'webseed', 'private', 'comment', 'warning']) {
      assert.ok(
        lines.some((line) => line.startsWith(label)),
        label,
      );
    }
  });

  it('adds the file tree with sizes with -v', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const plain = await metainfo(['show', 'album.torrent'], { cwd });
    const { code, stdout } = await metainfo(['show', '-v', 'album.torrent'], { cwd });
    assert.equal(code, 0);
    assert.ok(stdout.startsWith(plain.stdout));
    const rest = stdout.slice(plain.stdout.length).trimEnd().split('\n');
    assert.deepEqual(
      rest.map((line) => line.trim().replace(/ {2,}/, ' | ')),
      ['', '19.5 KiB | album/ (2 files)', '19.5 KiB | ├─ a.txt', '5 B | └─ b/ (1 file)', '5 B | └─ c.nfo'],
    );
  });

  it('adds short hashes with -vv, and full ones with -vvv, one per line', async (t) => {
    const cwd = await workFolder(t);
    await writeTree(cwd, { 'album/long': 16_384 * 9 + 1 });
    await metainfo(['create', 'album', '--piece-length', '16KiB'], { cwd });
    const torrent = (await read(cwd, 'album.torrent')) as TorrentBase<'hybrid'>;
    const show = async (flag: string) => {
      const { code, stdout } = await metainfo(['show', flag, 'album.torrent'], { cwd });
      assert.equal(code, 0);
      return stdout.trimEnd().split('\n');
    };
    const [files, cut, all] = [await show('-v'), await show('-vv'), await show('-vvv')];
    const everyHash = [
      ...[...torrent.info.pieces].map(hex),
      ...torrent.files.flatMap(({ piecesRoot }) => (piecesRoot ? [hex(piecesRoot)] : [])),
      ...[...(torrent.pieceLayers?.values() ?? [])].flatMap((layer) => [...layer].map(hex)),
    ];
    assert.ok(everyHash.length > 20);
    const hashLines = (lines: string[]) => lines.slice(files.length).filter((line) => /[0-9a-f]{16}/.test(line));
    // Each hash has its own line.
    assert.equal(hashLines(all).length, everyHash.length);
    for (const hash of everyHash) assert.equal(all.filter((line) => line.endsWith(` ${hash}`)).length >= 1, true, hash);
    assert.ok(hashLines(cut).length > 0 && hashLines(cut).length < everyHash.length);
    for (const line of hashLines(cut)) {
      const start = /([0-9a-f]{16})…$/.exec(line)?.[1];
      assert.ok(start && everyHash.some((hash) => hash.startsWith(start)), line);
    }
    assert.deepEqual(all.slice(0, files.length), files);
    assert.deepEqual(await show('-vvvv'), all);
    assert.deepEqual(await show('--verbose'), files);
  });

  it('accepts with --compat what it rejects without it', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(path.join(cwd, 'odd'), torrent({ ...single, private: 'x' }, { announce: 5 }));
    for (const [args, problems] of [
      [[], /info\.private.*\[ERR_VALIDATION\]/],
      [['--strict'], /announce.*private.*\[ERR_VALIDATION\]/],
    ] as const) {
      const { code, stdout, stderr } = await metainfo(['show', ...args, 'odd'], { cwd });
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, problems);
    }
    const { code, stdout } = await metainfo(['show', '--compat', 'odd'], { cwd });
    assert.equal(code, 0);
    assert.deepEqual(stdout.split('\n').filter((line) => line.startsWith('warning')).length, 2);
    const json = await metainfo(['show', '--compat', '--json', 'odd'], { cwd });
    const { warnings } = JSON.parse(json.stdout) as { warnings: { code: string; path: string[] }[] };
    assert.deepEqual(
      warnings.map((warning) => [warning.code, ...warning.path]),
      [
        ['type', 'announce'],
        ['type', 'info', 'private'],
      ],
    );
  });

  it('does not fail if standard output is closed', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const { code, stderr } = await metainfoUnread(['show', 'album.torrent'], { cwd });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });

  it('reports a truncated file in one line', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const whole = await bytesOf(cwd, 'album.torrent');
    for (const length of [0, 1, 50, whole.length - 1]) {
      await writeFile(path.join(cwd, 'cut.torrent'), whole.subarray(0, length));
      const { code, stdout, stderr } = await metainfo(['show', 'cut.torrent'], { cwd });
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
      assert.match(stderr, /^error: .+ \[ERR_BENCODE\]\n$/);
    }
  });

  it('names the file that is not a torrent', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'bad.torrent'), 'x');
    await writeFile(path.join(cwd, 'odd.torrent'), 'de');
    for (const name of ['bad.torrent', 'odd.torrent']) {
      const { code, stderr } = await metainfo(['show', name], { cwd });
      assert.equal(code, 1);
      assert.ok(stderr.includes(name), stderr);
    }
  });

  for (const [what, name, code] of [
    ['a missing file', 'missing', 'ERR_NOT_FOUND'],
    ['a folder', 'album', 'ERR_NOT_A_FILE'],
    ['a file that is not a dictionary', 'list', 'ERR_VALIDATION'],
  ] as const) {
    it(`rejects ${what}`, async (t) => {
      const cwd = await workFolder(t);
      await writeFile(path.join(cwd, 'list'), 'le');
      const plain = await metainfo(['show', name], { cwd });
      assert.deepEqual([plain.code, plain.stdout], [1, '']);
      assert.match(plain.stderr, new RegExp(`^error: .*\\[${code}\\]\\n$`));
      const json = await metainfo(['show', name, '--json'], { cwd });
      assert.deepEqual([json.code, json.stderr], [1, '']);
      assert.equal((JSON.parse(json.stdout) as { error: { code: string } }).error.code, code);
    });
  }

  it('requires a file', async (t) => {
    const cwd = await temporaryFolder(t);
    const { code, stdout } = await metainfo(['show'], { cwd });
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
  });

  it('shows many torrents, and goes on after one that fails', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-o', 'a.torrent'], { cwd });
    await metainfo(['create', 'album/a.txt', '-o', 'b.torrent'], { cwd });
    const files = ['a.torrent', 'missing.torrent', 'album/a.txt', 'b.torrent'];
    const { code, stdout, stderr } = await metainfo(['show', ...files], { cwd });
    assert.equal(code, 1);
    assert.match(stdout, /^a\.torrent\nname +album\n(.+\n)+\nb\.torrent\nname +a\.txt\n/);
    assert.deepEqual(
      stderr
        .trimEnd()
        .split('\n')
        .map((line) => /^error: (\S+): /.exec(line)?.[1]),
      ['missing.torrent', 'album/a.txt'],
    );
    const json = await metainfo(['show', '--json', ...files], { cwd });
    assert.equal(json.code, 1);
    const lines = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.map(({ torrent: file, error }) => [file ?? error.path, error?.code]),
      [
        ['a.torrent', undefined],
        ['missing.torrent', 'ERR_NOT_FOUND'],
        ['album/a.txt', 'ERR_BENCODE'],
        ['b.torrent', undefined],
      ],
    );
  });
});

describe('the command', () => {
  it('prints its version and its help', async (t) => {
    const cwd = await temporaryFolder(t);
    const version = await metainfo(['--version'], { cwd });
    assert.equal(version.code, 0);
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
    const help = await metainfo(['create', '--help'], { cwd });
    assert.equal(help.code, 0);
    for (const option of [
      '--output',
      '--torrent-version',
      '--piece-length',
      '--tracker',
      '--webseed',
      '--comment',
      '--source',
    ]) {
      assert.ok(help.stdout.includes(option), option);
    }
  });

  describe('escapes untrusted text', () => {
    /** Makes a torrent with hostile text in every text field. */
    const hostile = (error: boolean) =>
      encode(
        new Map<string, never>(
          Object.entries({
            announce: EVIL,
            comment: EVIL,
            'created by': EVIL,
            info: new Map(
              Object.entries({
                name: EVIL,
                source: EVIL,
                ...{ 'piece length': 16_384, pieces: Buffer.alloc(error ? 40 : 20) },
                files: [new Map(Object.entries({ length: 5, path: [EVIL, EVIL] }))],
              }),
            ),
          }) as never,
        ),
      );

    for (const args of [
      ['show'],
      ['show', '-vvv'],
      ['show', '--json'],
      ['show', '--compat'],
      ['validate'],
      ['validate', '--json'],
    ]) {
      for (const error of [false, true]) {
        it(`in metainfo ${args.join(' ')} of ${error ? 'an invalid' : 'a valid'} torrent`, async (t) => {
          const cwd = await temporaryFolder(t);
          await writeFile(path.join(cwd, EVIL), hostile(error));
          const { code, stdout, stderr } = await metainfo([...args, EVIL], { cwd });
          assert.equal(code, error ? 1 : 0);
          assert.doesNotMatch(stdout + stderr, HOSTILE);
        });
      }
    }

    it('in metainfo create', async (t) => {
      const cwd = await temporaryFolder(t);
      await writeFile(path.join(cwd, EVIL), 'x');
      for (const args of [[], ['--json'], ['--force', '--name', 'x']]) {
        // The second run fails, because the output exists; the error names it.
        const { stdout, stderr } = await metainfo(['create', EVIL, ...args], { cwd });
        assert.notEqual(stdout + stderr, '');
        assert.doesNotMatch(stdout + stderr, HOSTILE);
      }
    });
  });

  it('shortens names only on a terminal, in the middle', { skip: process.platform === 'win32' }, async (t) => {
    const cwd = await workFolder(t);
    const long = `${'long '.repeat(25)}end`;
    await writeTree(cwd, { [`tree/${long}`]: 5, 'tree/長い名前長い名前長い名前長い名前長い名前': 6 });
    await metainfo(['create', 'tree', '-q'], { cwd });
    const piped = await metainfo(['show', '-v', 'tree.torrent'], { cwd });
    assert.ok(piped.stdout.includes(`─ ${long}\n`));
    for (const columns of [40, 80, 160]) {
      const shell = `stty cols ${columns}; ${command(['show', '-v', 'tree.torrent']).join(' ')}`;
      const { stdout } = spawnSync('script', ['-qec', shell, '/dev/null'], { cwd, encoding: 'utf8', stdio: 'pipe' });
      const rows = stdout.split('\r\n').filter((line) => line.includes('─ '));
      assert.equal(rows.length, 2);
      for (const row of rows) assert.equal(cliTruncate(row, columns), row);
      assert.ok(rows[0]?.endsWith('end') && rows[0].includes('─ long'), rows[0]);
      assert.equal(rows[0]?.includes('…'), columns < 160);
    }
  });

  it('shows names of millions of characters on a terminal at once', {
    skip: process.platform === 'win32',
    timeout: 60_000,
  }, async (t) => {
    const cwd = await workFolder(t);
    const paths = [['n'.repeat(2_000_000)], ['长 '.repeat(500_000)], Array(10_000).fill('a')];
    const files = paths.map((one) => ({ length: 5, path: one }));
    await writeFile(
      path.join(cwd, 'huge'),
      torrent({ name: 'n', files, 'piece length': 16_384, pieces: Buffer.alloc(20) }),
    );
    const shell = `stty cols 40; ${command(['show', '-v', 'huge']).join(' ')}`;
    const { stdout } = spawnSync('script', ['-qec', shell, '/dev/null'], {
      cwd,
      encoding: 'utf8',
      stdio: 'pipe',
      maxBuffer: 10_000_000,
    });
    const rows = stdout.split('\r\n').filter((line) => line.includes('─ '));
    assert.equal(rows.length, 2 + 10_000);
    // The slow check of columns is needed for the wide names only.
    for (const row of rows.slice(0, 10)) assert.equal(cliTruncate(row, 40), row);
    for (const row of rows) assert.ok(row.length <= 40, row);
    assert.match(rows.at(-1) as string, /└─ \+\d+ a$/);
  });
});

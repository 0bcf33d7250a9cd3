import assert from 'node:assert/strict';
import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { InfoDictV1 } from '../../src/model/info-dict.ts';
import { CREATED_BY } from '../../src/text/version.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { notMountable, smallDisk } from './disk.ts';
import { bytesOf, entries, metainfo, metainfoProcess, metainfoUnread, read, workFolder } from './run.ts';

const URL_A = 'udp://a.example:1/x';
const URL_B = 'udp://b.example:1/x';
const URL_C = 'udp://c.example:1/x';

describe('metainfo create', () => {
  it('writes NAME.torrent for a folder into the current folder', async (t) => {
    const cwd = await workFolder(t);
    const { code, stdout, stderr } = await metainfo(['create', 'album'], { cwd });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.deepEqual(await entries(cwd), ['album', 'album.torrent']);
    const torrent = await read(cwd, 'album.torrent');
    assert.deepEqual(
      [torrent.torrentVersion, torrent.info.name, torrent.files.map((file) => file.path)],
      ['hybrid', 'album', ['a.txt', 'b/c.nfo']],
    );
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines[0], 'album.torrent: hybrid, 2 files, 19.5 KiB, 3 pieces of 16 KiB');
    assert.equal(lines[1], `infohash v1  ${torrent.infohashV1}`);
    assert.equal(lines[2], `infohash v2  ${torrent.infohashV2}`);
    const [, kernel = ''] = /^hashed in \d+\.\d\d s \(.+B\/s, (.+)\)$/.exec(lines[3] ?? '') ?? [];
    assert.match(kernel, process.env['METAINFO_ENGINE'] === 'node' ? /^node:crypto$/ : /^[\w-]+$/);
    assert.equal(lines.length, 4);
  });

  it('creates a torrent from a file', async (t) => {
    const cwd = await workFolder(t);
    const { code } = await metainfo(['create', 'album/a.txt', '-k', 'v1'], { cwd });
    assert.equal(code, 0);
    const { info, torrentVersion } = await read(cwd, 'a.txt.torrent');
    assert.deepEqual([torrentVersion, info.name, (info as { length?: number }).length], ['v1', 'a.txt', 20_000]);
  });

  it('creates a torrent from several paths below their common folder', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'x/a': 1, 'x/b': 1, 'x/c/d': 1, 'x/c/e': 1 });
    const { code } = await metainfo(['create', 'x/a', 'x/c/d'], { cwd });
    assert.equal(code, 0);
    const torrent = await read(cwd, 'x.torrent');
    assert.deepEqual(
      torrent.files.map((file) => file.path),
      ['a', 'c/d'],
    );
    assert.equal((await metainfo(['create', 'x/c/d', 'x/c/e', '--force'], { cwd })).code, 0);
    assert.equal((await read(cwd, 'c.torrent')).info.name, 'c');
  });

  it('accepts several paths whose names begin with dots', async (t) => {
    const cwd = path.join(await temporaryFolder(t), 'x');
    await writeTree(cwd, { a: 1, '..b': 1 });
    const { code } = await metainfo(['create', 'a', '..b', '-o', 'out'], { cwd });
    assert.equal(code, 0);
    const torrent = await read(cwd, 'out');
    assert.deepEqual([torrent.info.name, torrent.files.map((file) => file.path)], ['x', ['..b', 'a']]);
  });

  for (const version of ['v1', 'v2', 'hybrid']) {
    it(`prints the documented keys of a ${version} torrent with --json`, async (t) => {
      const cwd = await workFolder(t);
      const { code, stdout, stderr } = await metainfo(['create', 'album', '--json', '--torrent-version', version], {
        cwd,
      });
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      const { seconds, bytesPerSecond, kernel, ...rest } = JSON.parse(stdout) as Record<string, unknown>;
      const torrent = await read(cwd, 'album.torrent');
      assert.deepEqual(rest, {
        event: 'done',
        job: 0,
        torrent: 'album.torrent',
        path: 'album',
        version,
        name: 'album',
        infohash: { v1: torrent.infohashV1, v2: torrent.infohashV2 },
        pieceLength: 16_384,
        pieces: version === 'v1' ? 2 : 3,
        files: 2,
        totalSize: 20_005,
        warnings: [],
      });
      assert.deepEqual([typeof seconds, typeof bytesPerSecond, typeof kernel], ['number', 'number', 'string']);
      assert.equal(stdout.indexOf('\n'), stdout.length - 1, 'one line');
    });
  }

  it('applies every option', async (t) => {
    const cwd = await workFolder(t);
    const similar = ['a'.repeat(40), 'b'.repeat(64)] as const;
    const { code, stderr } = await metainfo(
      [
        ...['create', 'album', '-o', 'out.torrent', '-k', 'v2', '--piece-length', '32KiB'],
        ...[
          '-t',
          URL_A,
          '--tracker',
          `${URL_B}, ${URL_C}`,
          '-w',
          'http://w.example/1',
          '--webseed',
          'http://w.example/2',
        ],
        ...['--comment', 'a comment', '--source', 'SRC', '--private', '--name', 'other', '--created-by', 'me'],
        ...['--collection', 'one', '--collection', 'two'],
        ...['--similar', similar[0], '--similar', similar[1], '--date', '2024-02-03T04:05:06Z', '--threads', '2'],
      ],
      { cwd },
    );
    const said = 'The tracker a.example may be public: its URL has no personal key. [public_tracker]';
    assert.deepEqual([code, stderr.split('\n')[0], stderr.match(/\[\w+\]/g)?.length], [0, `warning: ${said}`, 3]);
    const torrent = await read(cwd, 'out.torrent');
    assert.equal(torrent.torrentVersion, 'v2');
    assert.equal(torrent.info.pieceLength, 32_768);
    assert.deepEqual([torrent.announce, torrent.announceList], [URL_A, [[URL_A], [URL_B, URL_C]]]);
    assert.deepEqual(torrent.urlList, ['http://w.example/1', 'http://w.example/2']);
    assert.deepEqual([torrent.comment, torrent.createdBy, torrent.info.source], ['a comment', 'me', 'SRC']);
    assert.deepEqual([torrent.info.name, torrent.info.private], ['other', true]);
    assert.deepEqual(torrent.creationDate, new Date('2024-02-03T04:05:06Z'));
    assert.deepEqual(
      torrent.info.similar?.map((hash) => Buffer.from(hash).toString('hex')),
      similar,
    );
    assert.deepEqual(torrent.info.collections, ['one', 'two']);
  });

  it('writes no optional fields by default', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const torrent = await read(cwd, 'album.torrent');
    const { announce, announceList, comment, createdBy, creationDate, urlList, info } = torrent;
    assert.deepEqual([announce, announceList, comment, creationDate, urlList], [null, null, null, null, null]);
    assert.deepEqual([createdBy, info.private, info.source, info.extra.size], [CREATED_BY, null, null, 0]);
    await metainfo(['create', 'album', '--force', '--no-created-by'], { cwd });
    assert.equal((await read(cwd, 'album.torrent')).createdBy, null);
  });

  for (const [text, bytes] of Object.entries({
    '16384': 2 ** 14,
    '64k': 2 ** 16,
    '1MiB': 2 ** 20,
    '2M': 2 ** 21,
    auto: 2 ** 14,
  })) {
    it(`accepts a piece length of ${text}`, async (t) => {
      const cwd = await workFolder(t);
      assert.equal((await metainfo(['create', 'album', '--piece-length', text], { cwd })).code, 0);
      assert.equal((await read(cwd, 'album.torrent')).info.pieceLength, bytes);
    });
  }

  for (const option of ['-k', '--torrent-version']) {
    it(`accepts the version with ${option}`, async (t) => {
      const cwd = await workFolder(t);
      assert.equal((await metainfo(['create', 'album', option, 'v2'], { cwd })).code, 0);
      assert.equal((await read(cwd, 'album.torrent')).torrentVersion, 'v2');
    });
  }

  it('has no --kind and no --maker', async (t) => {
    const cwd = await workFolder(t);
    for (const args of [
      ['--kind', 'v1'],
      ['--maker', 'libtorrent'],
    ]) {
      const { code, stderr } = await metainfo(['create', 'album', ...args], { cwd });
      assert.equal(code, 2);
      assert.match(stderr, /unknown option '--(kind|maker)'/);
    }
    assert.deepEqual(await entries(cwd), ['album']);
  });

  it('accepts small pieces for v1', async (t) => {
    const cwd = await workFolder(t);
    assert.equal((await metainfo(['create', 'album', '-k', 'v1', '--piece-length', '1024'], { cwd })).code, 0);
    assert.equal((await read(cwd, 'album.torrent')).nPieces, 20);
  });

  it('accepts dates as seconds, as now and from SOURCE_DATE_EPOCH', async (t) => {
    const cwd = await workFolder(t);
    const dateOf = async (args: string[], env: Record<string, string> = {}) => {
      assert.equal((await metainfo(['create', 'album', '--force', ...args], { cwd, env })).code, 0);
      return (await read(cwd, 'album.torrent')).creationDate?.getTime() ?? 0;
    };
    assert.equal(await dateOf(['--date', '@1700000000']), 1_700_000_000_000);
    assert.ok(Math.abs((await dateOf(['--date', 'now'])) - Date.now()) < 60_000);
    assert.equal(await dateOf([], { SOURCE_DATE_EPOCH: '86400' }), 86_400_000);
    assert.equal(await dateOf(['--date', '@5'], { SOURCE_DATE_EPOCH: '86400' }), 5000);
  });

  it('makes the folder of an output that ends with a slash, unless it only plans', async (t) => {
    const cwd = await workFolder(t);
    assert.equal((await metainfo(['create', 'album', '-o', 'new/deep/', '--dry-run'], { cwd })).code, 0);
    assert.ok(!(await entries(cwd)).includes('new'));
    assert.equal((await metainfo(['create', 'album', '-o', 'new/deep/'], { cwd })).code, 0);
    assert.deepEqual(await entries(path.join(cwd, 'new/deep')), ['album.torrent']);
    await metainfo(['edit', 'new/deep/album.torrent', '--comment', 'x', '-o', 'edited/'], { cwd });
    assert.deepEqual(await entries(path.join(cwd, 'edited')), ['album.torrent']);
  });

  it('includes and excludes files by globs', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'x/a.txt': 1, 'x/.hidden.txt': 1, 'x/b/c.nfo': 1, 'x/b/d.txt': 1, 'x/b/e/f.txt': 1 });
    const filesOf = async (...args: string[]) => {
      assert.equal((await metainfo(['create', 'x', '--force', ...args], { cwd })).code, 0);
      return (await read(cwd, 'x.torrent')).files.map((file) => file.path);
    };
    assert.deepEqual(await filesOf('--exclude', '*.nfo'), ['.hidden.txt', 'a.txt', 'b/d.txt', 'b/e/f.txt']);
    assert.deepEqual(await filesOf('--exclude', 'b/e', '--exclude', '.*'), ['a.txt', 'b/c.nfo', 'b/d.txt']);
    assert.deepEqual(await filesOf('--exclude', 'b'), ['.hidden.txt', 'a.txt']);
    assert.deepEqual(await filesOf('--exclude', 'b/'), ['.hidden.txt', 'a.txt']);
    assert.deepEqual(await filesOf('--exclude', 'e/', '--exclude', 'a.txt/', '--exclude', '/'), [
      '.hidden.txt',
      'a.txt',
      'b/c.nfo',
      'b/d.txt',
    ]);
    assert.deepEqual(await filesOf('--include', 'b/e/'), ['b/e/f.txt']);
    assert.deepEqual(await filesOf('--include', 'b/*.txt', '--include', '*.nfo'), ['b/c.nfo', 'b/d.txt']);
    assert.deepEqual(await filesOf('--include', '*.txt', '--exclude', 'b/**'), ['.hidden.txt', 'a.txt']);
    const none = await metainfo(['create', 'x', '--force', '--include', '*.jpg'], { cwd });
    assert.equal(none.code, 1);
    assert.match(none.stderr, /\[ERR_NO_FILES\]/);
  });

  it('writes to the file or folder of -o', async (t) => {
    const cwd = await workFolder(t);
    await mkdir(path.join(cwd, 'out'));
    for (const [output, written] of [
      ['x.torrent', 'x.torrent'],
      ['out', 'out/album.torrent'],
      ['out/y', 'out/y'],
    ] as const) {
      const { code, stdout } = await metainfo(['create', 'album', '-o', output], { cwd });
      assert.equal(code, 0);
      assert.ok(stdout.startsWith(`${written}: `), stdout);
      await read(cwd, written);
    }
    const missing = await metainfo(['create', 'album', '-o', 'none/x.torrent'], { cwd });
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /none.*\[ERR_NOT_FOUND\]/);
  });

  it('does not replace an existing output without --force', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'album.torrent'), 'precious');
    const { code, stdout, stderr } = await metainfo(['create', 'album'], { cwd });
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.match(
      stderr,
      /^error: output file exists: album\.torrent \(use --force to replace it\) \[ERR_OUTPUT_EXISTS\]\n$/,
    );
    assert.equal(String(await bytesOf(cwd, 'album.torrent')), 'precious');
    assert.equal((await metainfo(['create', 'album', '--force'], { cwd })).code, 0);
    assert.equal((await read(cwd, 'album.torrent')).info.name, 'album');
    assert.deepEqual(await entries(cwd), ['album', 'album.torrent']);
  });

  it('never adds its own output to the torrent', async (t) => {
    const cwd = await workFolder(t);
    const infohash = async () => {
      const { stdout } = await metainfo(['create', 'album', '-o', 'album/out.torrent', '--force', '--json'], { cwd });
      return (JSON.parse(stdout) as { infohash: object }).infohash;
    };
    const first = await infohash();
    assert.deepEqual(await infohash(), first);
    assert.deepEqual(await entries(path.join(cwd, 'album')), ['a.txt', 'b', 'out.torrent']);
  });

  it('rejects an output that is one of the files, under any name, and leaves it unchanged', async (t) => {
    const cwd = await workFolder(t);
    const content = await bytesOf(cwd, 'album/a.txt');
    await link(path.join(cwd, 'album/a.txt'), path.join(cwd, 'hard'));
    await symlink('album/a.txt', path.join(cwd, 'soft'));
    const create = (...args: string[]) => metainfo(['create', ...args, '--force', '--json'], { cwd });
    const refused = async (...args: string[]) => {
      const { code, stdout } = await create(...args);
      const { error } = JSON.parse(stdout);
      assert.deepEqual([code, error.code], [1, 'ERR_OUTPUT_IS_INPUT'], args.join(' '));
      assert.match(error.message, /album\/a\.txt\): choose another output, or it would be replaced\.$/);
      assert.deepEqual(await bytesOf(cwd, 'album/a.txt'), content);
    };
    for (const output of ['album/a.txt', 'hard', 'soft']) {
      await refused('album', '-o', output);
      await refused('album/a.txt', '-o', output);
      await refused('album/a.txt', 'album/b', '-o', output);
    }
    // An excluded file or a torrent from an earlier run can be replaced.
    assert.equal((await create('album', '-o', 'album/a.torrent')).code, 0);
    assert.equal((await create('album', '-o', 'album/a.torrent')).code, 0);
    assert.deepEqual(await entries(path.join(cwd, 'album')), ['a.torrent', 'a.txt', 'b']);
    const update = ['update', 'album/a.torrent', 'album', '-o', 'album/a.txt', '--force', '--json'];
    assert.equal(JSON.parse((await metainfo(update, { cwd })).stdout).error.code, 'ERR_OUTPUT_IS_INPUT');
    await create('album', '-k', 'v1', '-o', 'v1.torrent', '--exclude', '*.torrent');
    const upgrade = ['upgrade', 'v1.torrent', 'album', '-o', 'album/a.txt', '--force', '--json'];
    assert.equal(JSON.parse((await metainfo(upgrade, { cwd })).stdout).error.code, 'ERR_OUTPUT_IS_INPUT');
    assert.deepEqual(await bytesOf(cwd, 'album/a.txt'), content);
    assert.equal((await create('album', '--exclude', 'a.*', '-o', 'album/a.txt')).code, 0);
  });

  it('creates torrents that every command reads with the limit that its error suggests', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-q'], { cwd });
    await metainfo(['create', 'album', '-q', '-k', 'v1', '-o', 'v1.torrent'], { cwd });
    const commands = [
      ['show', 'album.torrent'],
      ['magnet', 'album.torrent'],
      ['verify', 'album.torrent', 'album'],
      ['edit', 'album.torrent', '--comment', 'x', '-o', 'edited.torrent'],
      ['update', 'album.torrent', 'album', '--dry-run'],
      ['upgrade', 'v1.torrent', 'album', '-o', 'upgraded.torrent'],
    ];
    for (const command of commands) {
      const refused = await metainfo([...command, '--limit', 'items=12'], { cwd });
      assert.equal(refused.code, 1, command[0]);
      assert.match(refused.stderr, /limit of 12 values .*--limit items=N.*\[ERR_LIMIT\]/, command[0]);
      assert.equal((await metainfo([...command, '--limit', 'items=100'], { cwd })).code, 0, command[0]);
    }
  });

  it('warns of what clients reject, on standard error or in JSON', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'album/a': 1, 'album/b': 1, 'one/a': 1 });
    const names = ['--pad-names', 'libtorrent'];
    const created = await metainfo(['create', 'album', '-q', ...names], { cwd });
    assert.match(
      created.stderr,
      /^warning: Several pad files have the same path, such as \.pad\/16383 \(1 repeat among 2 pad files\): .+ \[pad_names\]\n {2}--pad-names auto or -k v1 avoids that, but changes the infohash\.\n$/,
    );
    const json = await metainfo(['create', 'album', '--json', '--force', ...names], { cwd });
    assert.equal(json.stderr, '');
    assert.deepEqual(
      JSON.parse(json.stdout).warnings.map(({ code }: { code: string }) => code),
      ['pad_names'],
    );
    const auto = await metainfo(['create', 'album', '-q', '--force'], { cwd });
    assert.deepEqual({ ...auto, signal: null }, { code: 0, signal: null, stdout: '', stderr: '' });
    const padsOf = async () => {
      const { files } = (await read(cwd, 'album.torrent')).info as InfoDictV1;
      return (files ?? []).flatMap(({ attr, path: parts }) => (attr === 'p' ? [parts.join('/')] : []));
    };
    assert.deepEqual(await padsOf(), ['.pad/16383', '.pad/16383.1']);
    await writeTree(cwd, { 'album/c': 1 });
    assert.deepEqual((await metainfo(['update', 'album.torrent', 'album', '-q'], { cwd })).stderr, '');
    assert.deepEqual(await padsOf(), ['.pad/16383', '.pad/16383.1', '.pad/16383.2']);
    await metainfo(['create', 'album', '-q', '--force', '--pad-names', 'unique'], { cwd });
    assert.deepEqual(await padsOf(), ['.pad/16383.1', '.pad/16383.2', '.pad/16383.3']);
    await writeTree(cwd, { 'album/d': 1 });
    assert.deepEqual((await metainfo(['update', 'album.torrent', 'album', '-q'], { cwd })).stderr, '');
    assert.deepEqual((await padsOf()).at(-1), '.pad/16383.4');
    assert.equal((await metainfo(['verify', 'album.torrent', 'album'], { cwd })).code, 0);
    const other = await metainfo(['update', 'album.torrent', 'album', '--pad-names', 'libtorrent', '--json'], { cwd });
    assert.equal(JSON.parse(other.stdout).warnings[0].code, 'pad_names');
    await metainfo(['create', 'album', '-k', 'v1', '-o', 'v1.torrent', '-q'], { cwd });
    const upgraded = await metainfo(['upgrade', 'v1.torrent', 'album', '--force', '--json'], { cwd });
    assert.deepEqual(JSON.parse(upgraded.stdout).warnings, []);
    const folder = await metainfo(['create', 'one', '-k', 'v2', '-q'], { cwd });
    assert.match(
      folder.stderr,
      /drop the folder "one", because this v2 torrent has a single file .+ \[single_file_folder\]/,
    );
  });

  it('never adds its own output to the torrent through a symlink', async (t) => {
    const cwd = await workFolder(t);
    await symlink('album', path.join(cwd, 'link'));
    const files = async () => {
      const { stdout } = await metainfo(['create', 'link', '-o', 'album/out.torrent', '--force', '--json'], { cwd });
      return (JSON.parse(stdout) as { files: number }).files;
    };
    assert.deepEqual([await files(), await files()], [2, 2]);
  });

  it('prints nothing with --quiet', async (t) => {
    const cwd = await workFolder(t);
    const { code, stdout, stderr } = await metainfo(['create', 'album', '--quiet'], { cwd });
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '' });
    const failed = await metainfo(['create', 'album', '-q'], { cwd });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /ERR_OUTPUT_EXISTS/);
  });

  it('does not fail if standard output is closed', async (t) => {
    const cwd = await workFolder(t);
    const { code, stderr } = await metainfoUnread(['create', 'album'], { cwd });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    await read(cwd, 'album.torrent');
  });

  it('leaves no file on a full disk', { skip: notMountable() }, async (t) => {
    const cwd = await workFolder(t);
    await writeTree(cwd, { big: 8 * 2 ** 20 });
    const disk = smallDisk(t);
    const args = ['create', 'big', '-k', 'v1', '--piece-length', '1024', '-o', `${disk}/x.torrent`];
    const { code, stdout, stderr } = await metainfo(args, { cwd });
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    // Before it comes the warning of short pieces.
    assert.equal(stderr.split('\n').at(-2), `error: ${disk}/x.torrent: the disk is full. [ERR_NO_SPACE]`);
    assert.deepEqual(await entries(disk), []);
  });
});

describe('metainfo create with wrong usage', () => {
  const CASES: Record<string, string[]> = {
    'no path': ['create'],
    'an unknown option': ['create', 'album', '--frobnicate'],
    'an unknown command': ['frobnicate'],
    'no command': [],
    'an option without its value': ['create', 'album', '-o'],
    'an unknown version': ['create', 'album', '-k', 'v3'],
    ...Object.fromEntries(
      ['0', '3', '24576', '-1', '1.5MiB', '1TiB', '4GiB', '1 MiBs', '', 'auto '].map((text) => [
        `a piece length of ${JSON.stringify(text)}`,
        ['create', 'album', `--piece-length=${text}`],
      ]),
    ),
    'small pieces for a hybrid': ['create', 'album', '--piece-length', '8KiB'],
    'small pieces for v2': ['create', 'album', '-k', 'v2', '--piece-length', '1024'],
    ...Object.fromEntries(
      ['0', '-1', '1.5', 'all', '', '2000'].map((text) => [
        `${JSON.stringify(text)} threads`,
        ['create', 'album', `--threads=${text}`],
      ]),
    ),
    ...Object.fromEntries(
      ['yesterday', '', '2024-13-01', '2026-02-30', '2026-1-5', '20260131', '170000000'].map((text) => [
        `the date ${JSON.stringify(text)}`,
        ['create', 'album', `--date=${text}`],
      ]),
    ),
    'a --similar that is not an infohash': ['create', 'album', '--similar', 'abc'],
    'a tracker that is not a URL': ['create', 'album', '-t', 'not a URL'],
    'a webseed that is not a URL': ['create', 'album', '-w', 'not a URL'],
  };
  for (const [what, args] of Object.entries(CASES)) {
    it(`exits with 2: ${what}`, async (t) => {
      const cwd = await workFolder(t);
      const { code, stdout, stderr } = await metainfo(args, { cwd });
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.notEqual(stderr, '');
      assert.doesNotMatch(stderr, /\n {4}at /, 'a stack');
      assert.deepEqual(await entries(cwd), ['album']);
    });
  }
});

describe('metainfo create fails', () => {
  const CASES: Record<string, { args: string[]; code: string; named: string }> = {
    'on a path that does not exist': { args: ['missing'], code: 'ERR_NOT_FOUND', named: 'missing' },
    'on one of several paths that does not exist': {
      args: ['album', 'missing'],
      code: 'ERR_NOT_FOUND',
      named: 'missing',
    },
    'on an empty folder': { args: ['empty'], code: 'ERR_NO_FILES', named: 'empty' },
    'on a folder of empty files': { args: ['zeros'], code: 'ERR_NO_DATA', named: 'zeros' },
    'on a broken link': { args: ['links'], code: 'ERR_BROKEN_LINK', named: 'links/broken' },
    'on a path named twice': { args: ['album/a.txt', 'album/a.txt'], code: 'ERR_DUPLICATE_PATH', named: 'album/a.txt' },
    'on a device': { args: ['/dev/zero'], code: 'ERR_NOT_A_FILE', named: '/dev/zero' },
  };
  for (const [what, { args, code, named }] of Object.entries(CASES)) {
    it(what, async (t) => {
      const cwd = await workFolder(t);
      await mkdir(path.join(cwd, 'empty'));
      await writeTree(cwd, { 'zeros/a': 0, 'links/a': 1 });
      await symlink('nothing', path.join(cwd, 'links/broken'));
      const before = await entries(cwd);
      const plain = await metainfo(['create', ...args], { cwd });
      assert.deepEqual([plain.code, plain.stdout], [1, '']);
      assert.match(plain.stderr, new RegExp(`^error: .*${named}.* \\[${code}\\]\\n$`));

      const json = await metainfo(['create', ...args, '--json'], { cwd });
      assert.deepEqual([json.code, json.stderr], [1, '']);
      const { error } = JSON.parse(json.stdout) as { error: { code: string; message: string; path: string } };
      assert.deepEqual([error.code, error.path], [code, path.resolve(cwd, named)]);
      assert.deepEqual(await entries(cwd), before);
    });
  }

  it('on a name that is not a file name', async (t) => {
    const cwd = await workFolder(t);
    const { code, stderr } = await metainfo(['create', 'album', '--name', '../x'], { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /\[ERR_NAME\]/);
    assert.deepEqual(await entries(cwd), ['album']);
  });

  it('with one JSON object for wrong values', async (t) => {
    const cwd = await workFolder(t);
    const args = ['create', 'album', '--json', '--piece-length', '1024'];
    const { code, stdout, stderr } = await metainfo(args, { cwd });
    assert.deepEqual({ code, stderr }, { code: 2, stderr: '' });
    const { error } = JSON.parse(stdout) as { error: { code: string } };
    assert.equal(error.code, 'ERR_PIECE_LENGTH');
  });

  it('on an unknown kernel', async (t) => {
    const cwd = await workFolder(t);
    const env = { METAINFO_ENGINE: 'native', METAINFO_KERNEL: 'abacus' };
    const { code, stderr } = await metainfoProcess(['create', 'album'], { cwd, env });
    assert.equal(code, 2);
    assert.match(stderr, /METAINFO_KERNEL=abacus .*\[ERR_KERNEL\]/);
    assert.deepEqual(await entries(cwd), ['album']);
  });
});

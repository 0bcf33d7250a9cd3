import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import cliTruncate from 'cli-truncate';
import fc from 'fast-check';
import { shorten } from '../../src/cli/terminal/shorten.ts';
import { toHex } from '../../src/errors/errors.ts';
import type { InfoDictV1 } from '../../src/model/info-dict.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { detailLines, formatTorrent, pprint, type Verbosity } from '../../src/print/print-torrent.ts';
import { plural } from '../../src/text/format.ts';
import { type Plain, reference } from '../bencode/reference.ts';
import { noise, sha1, sha256, v2Hashes } from '../hash/reference.ts';
import { build, PIECE } from '../model/build.ts';
import { runs } from '../support/runs.ts';

const FILE = noise(3 * PIECE);

/** The label and the value of each line. */
function rows(torrent: Torrent): string[][] {
  const lines = [...formatTorrent(torrent)];
  const width = lines[0]?.search(/(?<= {2})\S/) ?? 0;
  return lines.map((line) => [line.slice(0, width).trim(), line.slice(width)]);
}

const made = (top: Record<string, Plain>, info: Record<string, Plain> = {}) =>
  Torrent.fromBytes(build({ version: 'v1', content: FILE, top, info }).bytes);

describe('formatTorrent', () => {
  it('shows a torrent with every field', () => {
    const { bytes, info } = build({
      version: 'hybrid',
      content: { a: FILE, b: noise(5) },
      info: { private: 1, source: 'S' },
      top: {
        'announce-list': [['http://a/', 'http://b/']],
        comment: 'A comment',
        'created by': 'me',
        'creation date': 1_700_000_000,
        'url-list': ['http://w/'],
      },
    });
    assert.deepEqual(rows(Torrent.fromBytes(bytes)), [
      ['name', 'album'],
      ['version', 'hybrid'],
      ['infohash v1', sha1(info).toString('hex')],
      ['infohash v2', sha256(info).toString('hex')],
      ['size', '96 KiB in 2 files'],
      ['pieces', '4 of 32 KiB'],
      ['tracker 1', 'http://a/'],
      ['tracker 1', 'http://b/'],
      ['webseed', 'http://w/'],
      ['private', 'yes'],
      ['source', 'S'],
      ['comment', 'A comment'],
      ['created by', 'me'],
      ['created', '2023-11-14T22:13:20.000Z'],
    ]);
  });

  it('counts rare fields, and lists them at -v', () => {
    const [a, b] = [Buffer.alloc(20, 1), Buffer.alloc(32, 2)];
    const torrent = made(
      {
        nodes: [
          ['router.example', 1],
          ['::1', 65_535],
        ],
        httpseeds: ['http://h/'],
        similar: [b],
        collections: ['\u001b[2J'],
      },
      { similar: [a], 'update-url': 'http://f/' },
    );
    const also = 'also  1 httpseed, 2 nodes, 2 similar torrents, 1 collection, 1 feed';
    const [short, long] = ([0, 1] as const).map((verbose) =>
      [...formatTorrent(torrent, { verbose })].map((line) => line.replace(/ {2,}/, '  ')),
    );
    assert.ok(short?.includes(also), short?.join('\n'));
    const from = long?.indexOf('httpseed  http://h/') as number;
    assert.deepEqual(long?.slice(from, from + 7), [
      ...['httpseed  http://h/', 'node  router.example:1', 'node  [::1]:65535'],
      ...[`similar torrent  ${toHex(a)}`, `similar torrent  ${toHex(b)}`],
      ...['collection  \\x1b[2J', 'feed  http://f/'],
    ]);
    assert.ok(!long?.some((line) => line.startsWith('also')));
  });

  it('leaves out absent fields', () => {
    const labels = rows(made({})).map(([label]) => label);
    assert.deepEqual(labels, ['name', 'version', 'infohash v1', 'size', 'pieces']);
    assert.deepEqual(
      rows(made({}, { private: 0 })).map(([label]) => label),
      labels,
    );
  });

  it('fits one screen for any torrent', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `http://${i}/${'x'.repeat(1000)}`);
    // Escaping makes it longer.
    const long = '\u0001'.repeat(100_000);
    const top = { 'announce-list': [many], 'url-list': many, comment: long, 'created by': long, 'creation date': 0 };
    const hints = { nodes: many.map((host) => [host, 1]), httpseeds: many, collections: many };
    const lines = [...formatTorrent(made({ ...top, ...hints }, { name: long, source: long, private: 1 }))];
    assert.ok(lines.length <= 24, `${lines.length} lines`);
    for (const line of lines) assert.ok(line.length <= 80, `${line.length} characters`);
    assert.equal(lines.filter((line) => line.includes('and 997 more')).length, 2);
  });

  it('escapes hostile text', () => {
    const hostile = '\u001b[2J\nversion  v9\u202e';
    const lines = [...formatTorrent(made({ comment: hostile, announce: hostile }, { name: hostile }))];
    const text = lines.join('\n');
    for (const line of lines) assert.doesNotMatch(line, /\p{Cc}|\u202e/u);
    assert.equal(lines.length, 7);
    assert.match(text, /^name .*\\x1b\[2J\\x0aversion {2}v9\\u202e$/m);
  });
});

/** All folders above files, and the root. */
function foldersOf(names: readonly string[]): Set<string> {
  return new Set(names.flatMap((name) => name.split('/').map((_, depth, parts) => parts.slice(0, depth).join('/'))));
}

describe('formatTorrent with a higher verbosity', () => {
  const root = (bytes: Buffer) => v2Hashes(bytes, PIECE).root.toString('hex');
  const content = { 'a/b/c': noise(5, 2), 'a/d': FILE, z: Buffer.alloc(0) };
  const { bytes, info } = build({ version: 'hybrid', content });
  const torrent = Torrent.fromBytes(bytes);
  const shown = (verbose: Verbosity) => [...formatTorrent(torrent, { verbose })];
  /** The lines that a level adds to the one before. */
  const added = (verbose: Verbosity) => shown(verbose).slice(shown((verbose - 1) as Verbosity).length);

  it('adds the tree of files with their sizes at -v, without pad files', () => {
    assert.deepEqual(added(1), [
      '',
      '96 KiB  album/ (3 files)',
      '96 KiB  ├─ a/ (2 files)',
      '   5 B  │  ├─ b/ (1 file)',
      '   5 B  │  │  └─ c',
      '96 KiB  │  └─ d',
      '   0 B  └─ z',
    ]);
  });

  it('adds shortened hashes at -vv', () => {
    const text = added(2).join('\n');
    assert.match(text, /^v1 pieces \(SHA-1\), 1 pad file among the files$/m);
    for (const [, hash = ''] of text.matchAll(/([0-9a-f]{8,})/g)) assert.equal(hash.length, 16);
    assert.match(text, new RegExp(`root ${root(FILE).slice(0, 16)}…`));
    assert.ok(!text.includes('z'), 'an empty file has no hashes');
  });

  it('lists all hashes at -vvv, one piece a line', () => {
    const lines = shown(3);
    const expected = [
      ...[...(torrent.info as InfoDictV1).pieces].map(toHex),
      ...v2Hashes(FILE, PIECE).layer.map(toHex),
      `root ${root(FILE)}`,
      `root ${root(content['a/b/c'])}`,
    ];
    for (const hash of expected) assert.equal(lines.filter((line) => line.endsWith(` ${hash}`)).length, 1, hash);
    assert.ok(!lines.join().includes('…'));
    assert.ok(lines.includes(`infohash v1  ${sha1(info).toString('hex')}`));
  });

  it('does not cut text and lists', () => {
    const urls = Array.from({ length: 10 }, (_, i) => `http://${i}/${'x'.repeat(100)}`);
    const text = [...formatTorrent(made({ 'announce-list': [urls] }), { verbose: 1 })].join('\n');
    for (const url of urls) assert.ok(text.includes(url));
  });

  it('escapes the names of files', () => {
    const made = Torrent.fromBytes(build({ version: 'v1', content: { 'a\u001b[2J/b\n': noise(5) } }).bytes);
    for (const line of formatTorrent(made, { verbose: 3 })) assert.doesNotMatch(line, /\p{Cc}/u);
  });

  it('lists every file and folder once, with the sums of folders', () => {
    const part = fc.constantFrom('a', 'b', 'c', 'ü');
    const paths = fc.uniqueArray(fc.array(part, { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 12,
      selector: (one) => one.join('/'),
    });
    fc.assert(
      fc.property(paths, fc.constantFrom('v1' as const, 'v2' as const), (all, version) => {
        // A file cannot be a folder too.
        const names = all.map((one) => `${one.join('/')}/file`);
        const content = Object.fromEntries(names.map((name, i) => [name, noise(i + 1)]));
        const torrent = Torrent.fromBytes(build({ version, content }).bytes);
        const lines = [...formatTorrent(torrent, { verbose: 1 })].slice(-names.length - foldersOf(names).size);
        const rows = lines.map((line) => {
          const [, size = '', branches = '', name = ''] = /^ *(\d+ B) {2}((?:[│ ] {2}|[├└]─ )*)(.+)$/u.exec(line) ?? [];
          return { size, depth: branches.length / 3, name };
        });
        // Rebuild the paths from the depths.
        const open: string[] = [];
        const seen = rows.map(({ size, depth, name }) => {
          const [, plain = name, count] = /^(.*)\/ \((\d+) files?\)$/.exec(name) ?? [];
          open.length = depth;
          open.push(plain);
          return { path: open.slice(1).join('/'), size, count };
        });
        const below = (folder: string) => names.filter((name) => folder === '' || name.startsWith(`${folder}/`));
        const sum = (some: string[]) => some.reduce((bytes, name) => bytes + (content[name]?.length ?? 0), 0);
        const expected = [
          ...names.map((name) => ({ path: name, size: `${sum([name])} B`, count: undefined })),
          ...[...foldersOf(names)].map((path) => ({
            path,
            size: `${sum(below(path))} B`,
            count: String(below(path).length),
          })),
        ];
        const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
        assert.deepEqual(seen.sort(byPath), expected.sort(byPath));
      }),
      { numRuns: runs(100) },
    );
  });

  it('shows the targets of stored links and other flags, and a single file without a folder', () => {
    const files = [
      { length: 5, path: ['a'], attr: 'xh' },
      { length: 0, path: ['b', 'link'], attr: 'lx', 'symlink path': ['a\u001b'] },
    ];
    const pieces = Buffer.alloc(20);
    const torrent = Torrent.fromBytes(reference({ info: { name: 'n', files, 'piece length': 16384, pieces } }));
    assert.deepEqual([...formatTorrent(torrent, { verbose: 1 })].slice(-4), [
      '5 B  n/ (2 files)',
      '5 B  ├─ a  [xh]',
      '0 B  └─ b/ (1 file)',
      '0 B     └─ link → a\\x1b  [x]',
    ]);
    const single = Torrent.fromBytes(build({ version: 'v2', content: noise(5) }).bytes);
    assert.equal([...formatTorrent(single, { verbose: 1 })].at(-1), `5 B  ${single.name}`);
  });

  it('limits the indentation of deep paths', () => {
    const depth = 10_000;
    const content = { [`${'a/'.repeat(depth)}b`]: noise(5) };
    const lines = [...formatTorrent(Torrent.fromBytes(build({ version: 'v1', content }).bytes), { verbose: 1 })];
    assert.ok(lines.length > depth);
    for (const line of lines) assert.ok(line.length < 200, `${line.length} columns`);
    assert.equal(lines.at(-1), `5 B  ${' '.repeat(3 * 32)}└─ +${depth - 32} b`);
  });
});

describe('detailLines for a terminal', () => {
  const unit = fc.constantFrom('a', 'b', ' ', '長', '🎉', 'e\u0301', 'ש', '\u001b', '\u202e');
  const part = fc.string({ unit, minLength: 1, maxLength: 60 });
  const paths = fc.array(fc.array(part, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 });

  it('fits its columns, with the same entries in the same order as without one', () => {
    fc.assert(
      fc.property(paths, fc.constantFrom(40, 80, 160), (all, columns) => {
        // Unique, and no file is a folder too.
        const files = all.map((path, i) => ({ length: i + 1, path: [...path, `file ${i}`], attr: i % 2 ? 'x' : 'h' }));
        const pieces = Buffer.alloc(20);
        const torrent = Torrent.fromBytes(reference({ info: { name: 'n', files, 'piece length': 16384, pieces } }));
        const whole = [...detailLines(torrent, 1)];
        const fitted = [...detailLines(torrent, 1, { columns, shorten })];
        assert.equal(fitted.length, whole.length);
        fitted.forEach((line, i) => {
          assert.equal(cliTruncate(line, columns), line, 'it is too wide');
          if (cliTruncate(whole[i] as string, columns) === whole[i] && !/\+\d+ /.test(line))
            assert.equal(line, whole[i]);
          // Sizes and the notes of files are never shortened.
          assert.equal(line.slice(0, 8), whole[i]?.slice(0, 8));
          if (whole[i]?.endsWith(']')) assert.equal(line.slice(-5), whole[i]?.slice(-5));
        });
        for (const i of files.keys()) assert.equal(fitted.filter((line) => line.includes(`file ${i}  [`)).length, 1);
      }),
      { numRuns: runs(100) },
    );
  });

  it('counts the indentations that would leave no room for names', () => {
    const name = 'sixteen columns!';
    const path = [...'abcdefghij', name];
    const info = { name: 'n', files: [{ length: 5, path }], 'piece length': 16384, pieces: Buffer.alloc(20) };
    const lines = [...detailLines(Torrent.fromBytes(reference({ info })), 1, { columns: 40, shorten })];
    assert.deepEqual(lines.slice(-6), [
      '5 B                 └─ f/ (1 file)',
      '5 B                 └─ +1 g/ (1 file)',
      '5 B                 └─ +2 h/ (1 file)',
      '5 B                 └─ +3 i/ (1 file)',
      '5 B                 └─ +4 j/ (1 file)',
      '5 B                 └─ +5 sixteen…lumns!',
    ]);
  });
});

describe('pprint', () => {
  it('prints to standard output', (t) => {
    const torrent = made({ comment: 'x' });
    const write = t.mock.method(process.stdout, 'write', () => true);
    pprint(torrent);
    const { calls } = write.mock;
    write.mock.restore();
    assert.deepEqual(
      calls.map((call) => call.arguments[0]),
      [...formatTorrent(torrent)].map((line) => `${line}\n`),
    );
  });
});

describe('plural', () => {
  it('adds an s except for one', () => {
    assert.deepEqual([plural(0, 'file'), plural(1, 'file'), plural(2, 'file')], ['0 files', '1 file', '2 files']);
  });
});

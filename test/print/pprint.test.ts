import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Torrent } from '../../src/model/torrent.ts';
import { formatTorrent, plural, pprint } from '../../src/print/pprint.ts';
import type { Plain } from '../bencode/reference.ts';
import { noise, sha1, sha256 } from '../hash/reference.ts';
import { build, PIECE } from '../model/build.ts';

const FILE = noise(3 * PIECE);

/** Label and value of every line. */
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
      ['tracker', 'http://a/'],
      ['tracker', 'http://b/'],
      ['webseed', 'http://w/'],
      ['private', 'yes'],
      ['source', 'S'],
      ['comment', 'A comment'],
      ['created by', 'me'],
      ['created', '2023-11-14T22:13:20.000Z'],
    ]);
  });

  it('leaves out what is absent', () => {
    const labels = rows(made({})).map(([label]) => label);
    assert.deepEqual(labels, ['name', 'version', 'infohash v1', 'size', 'pieces']);
    assert.deepEqual(
      rows(made({}, { private: 0 })).map(([label]) => label),
      labels,
    );
  });

  it('fits one screen whatever a torrent holds', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `http://${i}/${'x'.repeat(1000)}`);
    // Longer still when it is escaped.
    const long = '\u0001'.repeat(100_000);
    const top = { 'announce-list': [many], 'url-list': many, comment: long, 'created by': long, 'creation date': 0 };
    const lines = [...formatTorrent(made(top, { name: long, source: long, private: 1 }))];
    assert.ok(lines.length <= 24, `${lines.length} lines`);
    for (const line of lines) assert.ok(line.length <= 220, `${line.length} characters`);
    assert.equal(lines.filter((line) => line.includes('and 995 more')).length, 2);
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

describe('pprint', () => {
  it('writes that on standard output', (t) => {
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
  it('counts', () => {
    assert.deepEqual([plural(0, 'file'), plural(1, 'file'), plural(2, 'file')], ['0 files', '1 file', '2 files']);
  });
});

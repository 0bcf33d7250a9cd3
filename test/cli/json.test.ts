import assert from 'node:assert/strict';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { writeTree } from '../support/tree.ts';
import { metainfo, workFolder } from './run.ts';

type Json = Record<string, unknown>;

/** Runs a command with `--json`, and gives its objects. */
async function jsonOf(cwd: string, ...args: string[]): Promise<Json[]> {
  const { stdout, stderr } = await metainfo([...args, '--json'], { cwd });
  assert.equal(stderr, '', args.join(' '));
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Json);
}

/** The paths of an object. */
const places = ({ torrent, path: content, output, file }: Json = {}) => ({ torrent, path: content, output, file });

/** A folder with `album` and two torrents of it, one of them v1. */
async function setUp(t: TestContext): Promise<string> {
  const cwd = await workFolder(t);
  await metainfo(['create', 'album', '-q'], { cwd });
  await metainfo(['create', 'album', '-q', '-k', 'v1', '-o', 'old.torrent'], { cwd });
  return cwd;
}

const NONE = { torrent: undefined, path: undefined, output: undefined, file: undefined };

/** The paths that each command line prints: `torrent` is always the torrent, `path` its content, and `output` another file that is written. */
const CASES: readonly [string, string[], Partial<Record<keyof typeof NONE, string | null>>][] = [
  ['create', ['create', 'album', '-o', 'x.torrent'], { torrent: 'x.torrent', path: 'album' }],
  ['create of several paths', ['create', 'album/a.txt', 'album/b'], { torrent: 'album.torrent', path: null }],
  ['create --dry-run', ['create', 'album', '--dry-run', '--force'], { torrent: 'album.torrent', path: 'album' }],
  ['plan', ['plan', 'album', '--force'], { torrent: 'album.torrent', path: 'album' }],
  ['plan of parts', ['plan', 'album', '--part-size', '16KiB'], { output: 'album.plan.json', path: 'album' }],
  ['show', ['show', 'album.torrent'], { torrent: 'album.torrent' }],
  ['validate', ['validate', 'album.torrent'], { torrent: 'album.torrent' }],
  ['validate of none', ['validate', 'none.torrent'], { torrent: 'none.torrent' }],
  ['magnet', ['magnet', 'album.torrent'], { torrent: 'album.torrent' }],
  ['verify', ['verify', 'album.torrent', 'album'], { torrent: 'album.torrent', path: 'album' }],
  ['verify without a path', ['verify', 'album.torrent'], { torrent: 'album.torrent', path: 'album' }],
  ['verify --find', ['verify', 'album.torrent', 'album', '--find', '.'], { torrent: 'album.torrent', path: 'album' }],
  [
    'update',
    ['update', 'album.torrent', 'album', '-o', 'new.torrent'],
    { torrent: 'album.torrent', path: 'album', output: 'new.torrent' },
  ],
  [
    'update --dry-run',
    ['update', 'album.torrent', 'album', '--dry-run'],
    { torrent: 'album.torrent', path: 'album', output: null },
  ],
  [
    'upgrade',
    ['upgrade', 'old.torrent', 'album', '-o', 'new.torrent'],
    { torrent: 'old.torrent', path: 'album', output: 'new.torrent' },
  ],
  [
    'edit',
    ['edit', 'album.torrent', '--comment', 'x', '-o', 'new.torrent'],
    { torrent: 'album.torrent', output: 'new.torrent' },
  ],
  [
    'edit --dry-run',
    ['edit', 'album.torrent', '--no-comment', '--dry-run'],
    { torrent: 'album.torrent', output: null },
  ],
];

describe('--json', () => {
  for (const [what, args, expected] of CASES)
    it(`names the torrent and its content by the same keys: ${what}`, async (t) => {
      const cwd = await setUp(t);
      const more = what === 'create of several paths' ? ['--force'] : [];
      const objects = await jsonOf(cwd, ...args, ...more);
      assert.equal(objects.length, 1);
      assert.deepEqual(places(objects[0]), { ...NONE, ...expected });
    });

  it('names both torrents of diff, and the torrent of join', async (t) => {
    const cwd = await setUp(t);
    const [diff] = await jsonOf(cwd, 'diff', 'album.torrent', 'old.torrent');
    assert.deepEqual(places(diff?.['before'] as Json), { ...NONE, torrent: 'album.torrent' });
    assert.deepEqual(places(diff?.['after'] as Json), { ...NONE, torrent: 'old.torrent' });
    await metainfo(['plan', 'album', '--part-size', '1GiB', '-o', 'plan.json', '-q'], { cwd });
    await metainfo(['hash-part', 'plan.json', '--index', '0', '--parts', 'parts', '-q'], { cwd });
    const [joined] = await jsonOf(cwd, 'join', 'plan.json', '--parts', 'parts', '-o', 'x.torrent');
    assert.deepEqual(places(joined), { ...NONE, torrent: 'x.torrent' });
  });

  it('prints the same record of a creation, alone, in a folder and in a list', async (t) => {
    const cwd = await setUp(t);
    await writeTree(cwd, { 'jobs.json': 0, 'lib/album/x': 20_000 });
    const job = JSON.stringify({ path: 'lib/album', output: 'out/album.torrent' });
    const more = ['--force', '--date', '@5'];
    const alone = await jsonOf(cwd, 'create', 'lib/album', '-o', 'out/', ...more);
    const each = await jsonOf(cwd, 'create', '--each', 'lib', '-o', 'out', ...more);
    const { stdout } = await metainfo(['create', '--batch', '-', '--json', ...more], { cwd, input: job });
    const batch = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Json]));
    const done = [alone, each, batch].map((objects) => objects.filter(({ event }) => event === 'done'));
    const times = { seconds: 0, bytesPerSecond: 0 };
    const [first, ...others] = done.map((records) => records.map((record) => ({ ...record, ...times })));
    assert.deepEqual([alone.length, first?.length], [1, 1]);
    const [record] = first as Json[];
    assert.deepEqual(places(record), { ...NONE, torrent: 'out/album.torrent', path: 'lib/album' });
    assert.equal(record?.['job'], 0);
    for (const other of others) assert.deepEqual(other, first);
    const starts = [...each, ...batch].filter(({ event }) => event === 'start');
    const start = { event: 'start', job: 0, torrent: 'out/album.torrent', path: 'lib/album' };
    assert.deepEqual(starts, [start, start]);
  });

  it('prints the same record of a verification, alone and of several torrents', async (t) => {
    const cwd = await setUp(t);
    for (const status of ['complete', 'incomplete']) {
      const alone = await jsonOf(cwd, 'verify', 'album.torrent', 'album');
      const many = await jsonOf(cwd, 'verify', '--content', '.', 'album.torrent');
      const [record] = alone;
      assert.deepEqual([record?.['event'], record?.['job'], record?.['status']], ['done', 0, status]);
      assert.deepEqual(
        many.filter(({ event }) => event === 'done'),
        alone,
      );
      await appendFile(path.join(cwd, 'album/a.txt'), 'x');
    }
  });

  it('prints the same line for one torrent and for several, and a summary of several in the end', async (t) => {
    const cwd = await setUp(t);
    for (const args of [['show'], ['validate'], ['magnet'], ['edit', '--comment', 'x', '--dry-run']]) {
      const several = await jsonOf(cwd, ...args, 'album.torrent', 'old.torrent');
      const alone = await Promise.all(['album', 'old'].map((name) => jsonOf(cwd, ...args, `${name}.torrent`)));
      const [first, second, ...rest] = several;
      assert.deepEqual([first, second], alone.flat());
      const summaries: Record<string, Json[]> = {
        validate: [{ event: 'summary', jobs: 2, valid: 2, invalid: 0 }],
        edit: [{ event: 'summary', jobs: 2, changed: 2, unchanged: 0 }],
      };
      assert.deepEqual(rest, summaries[args[0] as string] ?? []);
    }
  });
});

import assert from 'node:assert/strict';
import { appendFile, readFile, rename, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { noise } from '../hash/reference.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { webServer } from '../support/web-server.ts';
import { bytesOf, metainfo } from './run.ts';

const OUTPUT = 'album.torrent';

/** A folder `lib` with one album, and its torrent. */
async function made(t: TestContext, ...options: string[]): Promise<string> {
  const cwd = await temporaryFolder(t);
  await writeTree(cwd, { 'lib/album/a.flac': 40_000, 'lib/album/b/c.flac': 50_000, 'lib/album/empty': 0 });
  const { code, stderr } = await metainfo(['create', '--each', 'lib', ...options], { cwd });
  assert.deepEqual([code, stderr], [0, '']);
  return cwd;
}

const resume = (cwd: string, ...options: string[]) =>
  metainfo(['create', '--each', 'lib', '--resume', ...options], { cwd });

/** Asserts that the output is not whole for this reason, that it is kept, and that `--force` makes it again. */
async function assertMadeAgain(cwd: string, reason: RegExp, ...options: string[]): Promise<void> {
  const before = await bytesOf(cwd, OUTPUT);
  const { code, stderr } = await resume(cwd, ...options);
  assert.equal(code, 1);
  assert.match(stderr, reason);
  assert.match(
    stderr,
    /output file exists: album\.torrent, but .* \(use --force to make it again\) \[ERR_OUTPUT_EXISTS\]/,
  );
  assert.deepEqual(await bytesOf(cwd, OUTPUT), before);
  const forced = await resume(cwd, '--force', ...options);
  assert.equal(forced.code, 0, forced.stderr);
  assert.match(forced.stdout, /^1 torrent made/m);
  await assertSkipped(cwd, ...options);
}

async function assertSkipped(cwd: string, ...options: string[]): Promise<void> {
  const { code, stdout, stderr } = await resume(cwd, ...options);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^album\.torrent: skipped, because it is up to date$/m);
}

describe('metainfo create --resume', () => {
  const ALL = [
    ...['-t', 'https://a.example/x,https://b.example/x', '-w', 'https://w.example/', '-p', '-s', 'SITE', '-c', 'text'],
    ...['--similar', 'a'.repeat(40), '--collection', 'x', '--httpseed', 'https://h.example/'],
    ...['--update-url', 'https://u.example/', '--set', 'a=b', '--set', 'info.c=d', '--attributes', '-l', '16KiB'],
  ];

  for (const version of ['v1', 'v2', 'hybrid'])
    it(`skips what has not changed: ${version}`, async (t) => {
      for (const options of [[], ['--date', 'now'], ['--entropy'], ['--no-created-by'], ALL]) {
        const cwd = await made(t, '-k', version, ...options);
        await assertSkipped(cwd, '-k', version, ...options);
      }
    });

  it('skips a torrent of many files, of a single file, and one by another version of metainfo', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(
      cwd,
      Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`lib/album/${i % 7}/${i}`, i + 1])),
    );
    await metainfo(['create', '--each', 'lib'], { cwd });
    await assertSkipped(cwd);
    const file = await made(t);
    await rm(path.join(file, 'lib/album/b'), { recursive: true });
    await rm(path.join(file, 'lib/album/empty'));
    await rename(path.join(file, 'lib/album/a.flac'), path.join(file, 'lib/single'));
    await rm(path.join(file, 'lib/album'), { recursive: true });
    await rename(path.join(file, 'lib/single'), path.join(file, 'lib/album'));
    await rm(path.join(file, OUTPUT));
    await metainfo(['create', '--each', 'lib', '--created-by', 'metainfo 0.0.1'], { cwd: file });
    await assertSkipped(file);
  });

  const CHANGES: Record<string, [change: (album: string) => Promise<unknown>, reason: RegExp]> = {
    'a file was added': [(album) => writeFile(path.join(album, 'new'), 'x'), /but new was added/],
    'an empty file was added': [(album) => writeFile(path.join(album, 'new'), ''), /but new was added/],
    'a file was removed': [(album) => rm(path.join(album, 'empty')), /but empty was removed/],
    'a file grew': [(album) => appendFile(path.join(album, 'a.flac'), 'x'), /a\.flac has 40001 bytes, and had 40000/],
    'a file shrank': [(album) => truncate(path.join(album, 'a.flac'), 39_999), /a\.flac has 39999 bytes/],
    'a file was renamed': [
      (album) => rename(path.join(album, 'a.flac'), path.join(album, 'z.flac')),
      /but (z\.flac was added|a\.flac was removed)/,
    ],
    'a file was touched': [
      (album) => utimes(path.join(album, 'a.flac'), new Date(), new Date(Date.now() + 60_000)),
      /but a\.flac changed after it was made/,
    ],
    'the content changed, and its time was set back': [
      async (album) => {
        const file = path.join(album, 'b/c.flac');
        const { atime, mtime } = await stat(file);
        await writeFile(file, Buffer.alloc(50_000, 7));
        await utimes(file, atime, mtime);
      },
      /but b\/c\.flac changed after it was made/,
    ],
  };
  for (const [name, [change, reason]] of Object.entries(CHANGES))
    it(`notices that ${name}`, async (t) => {
      const cwd = await made(t);
      await change(path.join(cwd, 'lib/album'));
      if (name !== 'a file was touched') {
        await assertMadeAgain(cwd, reason);
        return;
      }
      // Its time is in the future, so a new torrent is older too.
      assert.match((await resume(cwd)).stderr, reason);
    });

  const OPTIONS: Record<string, [before: string[], after: string[], reason: RegExp]> = {
    'a new tracker': [[], ['-t', 'udp://a.example:1/x'], /but it has other trackers/],
    'another tracker': [['-t', 'udp://a.example:1/x'], ['-t', 'udp://b.example:1/x'], /but it has other trackers/],
    'one more tracker': [
      ['-t', 'udp://a.example:1/x'],
      ['-t', 'udp://a.example:1/x', '-t', 'udp://b.example:1/x'],
      /but it has other trackers/,
    ],
    'a webseed': [[], ['-w', 'https://w.example/'], /but it has other webseeds/],
    'another piece length': [
      ['-l', '16KiB'],
      ['-l', '32KiB'],
      /but it has another piece length|it has another file list/,
    ],
    'another version': [['-k', 'v1'], ['-k', 'v2'], /but it is v1, not v2/],
    privacy: [['-t', 'udp://a.example:1/x'], ['-t', 'udp://a.example:1/x', '-p'], /but it has another privacy/],
    'another source': [['-s', 'A'], ['-s', 'B'], /but it has another source tag/],
    'another comment': [['-c', 'A'], ['-c', 'B'], /but it has another value of comment/],
    'another key': [['--set', 'info.x=1'], ['--set', 'info.x=2'], /but it has another value of info\.x/],
    'no creating program': [[], ['--no-created-by'], /but it has another value of created by/],
    'a date': [[], ['--date', '2026-01-01'], /but it has another creation date/],
    'padding in v1': [['-k', 'v1'], ['-k', 'v1', '--padding'], /but it has another file list/],
    'a filter': [[], ['--exclude', 'b/**'], /but b\/c\.flac was removed/],
  };
  for (const [name, [before, after, reason]] of Object.entries(OPTIONS))
    it(`notices other options: ${name}`, async (t) => {
      const cwd = await made(t, ...before);
      await assertMadeAgain(cwd, reason, ...after);
    });

  it('notices a damaged output, and another file in its place', async (t) => {
    const cwd = await made(t);
    const bytes = await readFile(path.join(cwd, OUTPUT));
    for (const damaged of [bytes.subarray(0, -5), Buffer.alloc(0), Buffer.from('hello')]) {
      await writeFile(path.join(cwd, OUTPUT), damaged);
      await assertMadeAgain(cwd, /but it is damaged, or not a torrent/);
    }
  });

  it('notices that a torrent has no entropy', async (t) => {
    await assertMadeAgain(await made(t), /but it has another value of info\.entropy/, '--entropy');
  });

  it('skips a job whose content is a URL', async (t) => {
    const cwd = await temporaryFolder(t);
    const web = await webServer(t, noise(100_000));
    await writeFile(path.join(cwd, 'jobs'), JSON.stringify([{ path: web.url() }]));
    const args = ['create', '--batch', 'jobs', '--resume'];
    assert.match((await metainfo(args, { cwd })).stdout, /^1 torrent made/m);
    const { code, stdout, stderr } = await metainfo(args, { cwd });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^film\.mkv\.torrent: skipped, because it is up to date$/m);
  });

  describe('with a torrent from the future', () => {
    const ahead = () => new Date(Date.now() + 3_600_000);
    const NOTE = 'its time is in the future, so its content was read';

    /** A torrent whose time proves nothing, and its folder. */
    const AHEAD: Record<string, (t: TestContext, ...options: string[]) => Promise<string>> = {
      'its modification time': async (t, ...options) => {
        const cwd = await made(t, ...options);
        await utimes(path.join(cwd, OUTPUT), ahead(), ahead());
        return cwd;
      },
      'its creation date': (t, ...options) => made(t, ...options, '--date', ahead().toISOString()),
    };
    for (const [name, make] of Object.entries(AHEAD))
      it(`reads the content: ${name}`, async (t) => {
        const date = name === 'its creation date' ? ['--date', ahead().toISOString()] : [];
        for (const version of ['v1', 'v2', 'hybrid']) {
          const cwd = await make(t, '-k', version);
          const options = ['-k', version, ...date];
          const { code, stdout, stderr } = await resume(cwd, ...options);
          assert.deepEqual([code, stderr], [0, '']);
          assert.match(stdout, new RegExp(`^album\\.torrent: skipped, because it is up to date \\(${NOTE}\\)$`, 'm'));
          const [event] = (await resume(cwd, '--json', ...options)).stdout.split('\n');
          assert.equal(JSON.parse(event as string).note, NOTE);
          await writeFile(path.join(cwd, 'lib/album/b/c.flac'), Buffer.alloc(50_000, 7));
          const before = await bytesOf(cwd, OUTPUT);
          const changed = await resume(cwd, ...options);
          assert.equal(changed.code, 1);
          assert.match(
            changed.stderr,
            /album\.torrent, but (a|b\/c)\.flac differs: its time is in the future.*--force/s,
          );
          assert.deepEqual(await bytesOf(cwd, OUTPUT), before);
          assert.equal((await resume(cwd, '--force', '-k', version)).code, 0);
          await assertSkipped(cwd, '-k', version);
        }
      });

    it('reads a single file, some files of a folder, and links that lead out of it', async (t) => {
      const cwd = await temporaryFolder(t);
      await writeTree(cwd, { 'lib/a': 40_000, 'lib/b': 30_000, 'lib/c': 5, target: 20_000 });
      await symlink('../target', path.join(cwd, 'lib/link'));
      const jobs = [
        { path: 'lib/a' },
        { paths: ['lib/b', 'lib/c'], name: 'some' },
        { path: 'lib', 'follow-outside': true },
      ];
      await writeFile(path.join(cwd, 'jobs'), jobs.map((job) => JSON.stringify(job)).join('\n'));
      const args = ['create', '--batch', 'jobs', '--resume'];
      const first = await metainfo(args, { cwd });
      assert.deepEqual([first.code, first.stderr], [0, '']);
      for (const name of ['a', 'some', 'lib']) await utimes(path.join(cwd, `${name}.torrent`), ahead(), ahead());
      const { code, stdout, stderr } = await metainfo(args, { cwd });
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal(stdout.split(NOTE).length, 4, stdout);
    });

    it('does not skip a job whose content is a URL', async (t) => {
      const cwd = await temporaryFolder(t);
      const web = await webServer(t, noise(100_000));
      await writeFile(path.join(cwd, 'jobs'), JSON.stringify([{ path: web.url() }]));
      const args = ['create', '--batch', 'jobs', '--resume'];
      assert.equal((await metainfo(args, { cwd })).code, 0);
      await utimes(path.join(cwd, 'film.mkv.torrent'), ahead(), ahead());
      const { code, stderr } = await metainfo(args, { cwd });
      assert.equal(code, 1);
      assert.match(stderr, /film\.mkv\.torrent, but its time is in the future, so it does not tell.*--force/);
    });
  });

  it('does not skip what --strict refuses', async (t) => {
    const cwd = await made(t);
    const args = ['-p', '--force'];
    assert.match((await resume(cwd, ...args)).stderr, /\[private_without_tracker\]/);
    await assertSkipped(cwd, '-p');
    const strict = await resume(cwd, '-p', '--strict');
    assert.equal(strict.code, 1);
    assert.match(strict.stderr, /\[ERR_FINDINGS\]/);
  });
});

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Torrent } from '../../src/index.ts';
import { bytesOf, command, entries, metainfo, read, workFolder } from './run.ts';

function run(cwd: string, ...args: string[]) {
  const [program, ...all] = command([...args, '-o', '-']);
  const { SOURCE_DATE_EPOCH: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(program, all, { cwd, env });
  return { code: status, bytes: stdout, stderr: String(stderr) };
}

describe('-o -', () => {
  it('writes the same bytes as to a file, and the summary to standard error', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const { code, bytes, stderr } = run(cwd, 'create', 'album');
    assert.equal(code, 0, stderr);
    assert.ok(bytes.equals(await bytesOf(cwd, 'album.torrent')));
    assert.match(stderr, /^standard output: hybrid, 2 files, .*\ninfohash v1 /);
    assert.equal(run(cwd, 'create', 'album', '--quiet').stderr, '');
    assert.deepEqual(await entries(cwd), ['album', 'album.torrent']);
  });

  it('works for edit, update and upgrade, and leaves the torrent file unchanged', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-k', 'v1', '-o', 'v1.torrent'], { cwd });
    await metainfo(['create', 'album'], { cwd });
    const before = await bytesOf(cwd, 'album.torrent');
    await writeFile(path.join(cwd, 'album/new'), 'new');
    const edited = run(cwd, 'edit', 'album.torrent', '--comment', 'x');
    assert.equal(Torrent.fromBytes(edited.bytes).comment, 'x');
    assert.match(edited.stderr, /^album\.torrent -> standard output: same infohash\n/);
    const updated = run(cwd, 'update', 'album.torrent', 'album');
    assert.equal(Torrent.fromBytes(updated.bytes).nFiles, 3);
    assert.match(updated.stderr, /^standard output: new infohash\n.*\n {2}\+ new\n/s);
    const upgraded = run(cwd, 'upgrade', 'v1.torrent', 'album', '--force');
    assert.equal(Torrent.fromBytes(upgraded.bytes).torrentVersion, 'hybrid');
    assert.match(upgraded.stderr, /^standard output: hybrid/);
    assert.ok(before.equals(await bytesOf(cwd, 'album.torrent')));
    assert.deepEqual(await entries(cwd), ['album', 'album.torrent', 'v1.torrent']);
  });

  it('does not write to a file named -; ./- does', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'album/-'), 'content');
    const { bytes } = run(path.join(cwd, 'album'), 'create', '.');
    assert.ok(Torrent.fromBytes(bytes).files.some((file) => file.path === '-'));
    assert.equal((await metainfo(['create', 'album', '-o', './-'], { cwd })).code, 0);
    assert.equal((await read(cwd, '-')).name, 'album');
  });

  it('is rejected with --json, for several torrents and in a terminal', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    await metainfo(['create', 'album', '-o', 'b.torrent'], { cwd });
    const json = await metainfo(['create', 'album', '-o', '-', '--json'], { cwd });
    assert.deepEqual([json.code, json.stderr], [2, '']);
    assert.match(JSON.parse(json.stdout).error.message, /^--json and -o - both write to standard output/);
    const two = await metainfo(['edit', 'album.torrent', 'b.torrent', '--comment', 'x', '-o', '-'], { cwd });
    assert.deepEqual([two.code, two.stdout], [2, '']);
    assert.match(two.stderr, /takes one torrent, but there are 2/);
    const shell = command(['create', 'album', '-o', '-']).join(' ');
    const terminal = spawnSync('script', ['-qec', shell, '/dev/null'], { cwd, encoding: 'utf8', stdio: 'pipe' });
    assert.equal(terminal.status, 2);
    assert.match(terminal.stdout, /a torrent is binary and cannot be shown in a terminal/);
  });

  it('can be piped to other programs', async (t) => {
    const cwd = await workFolder(t);
    const [create, show] = [command(['create', 'album', '-q', '-o', '-']), command(['show', '/dev/stdin'])];
    const output = execFileSync('sh', ['-c', `${create.join(' ')} | cat | ${show.join(' ')}`], {
      cwd,
      encoding: 'utf8',
    });
    assert.match(output, /^name +album\n/);
  });
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { notRoot } from '../support/unprivileged.ts';
import { command, metainfo, read, workFolder } from './run.ts';

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  show: ['show'],
  validate: ['validate'],
  edit: ['edit', '--comment', 'new'],
  verify: ['verify'],
};
const NEW = Object.entries(COMMANDS).filter(([name]) => name !== 'verify');

/** A folder `t` with two torrents, a link to a third one, and what counts as none. */
async function setUp(t: TestContext): Promise<string> {
  const cwd = await workFolder(t);
  await mkdir(path.join(cwd, 't/sub.torrent'), { recursive: true });
  const create = (output: string) => metainfo(['create', 'album', '-q', '-o', output], { cwd });
  for (const name of ['t/b', 't/a', 'linked', 't/sub.torrent/deep']) await create(`${name}.torrent`);
  await symlink('../linked.torrent', path.join(cwd, 't/c.torrent'));
  for (const name of ['._a.torrent', 'notes.txt']) await writeFile(path.join(cwd, 't', name), 'x');
  return cwd;
}

const FILES = ['a', 'b', 'c'].map((name) => `t/${name}.torrent`);

/** The JSON of a command without times. */
async function jsonOf(cwd: string, args: readonly string[]) {
  const { code, stdout, stderr } = await metainfo([...args, '--json'], { cwd });
  return { code, stderr, stdout: stdout.replace(/"(seconds|bytesPerSecond)":[\d.]+/g, '') };
}

describe('--each', () => {
  for (const [name, args] of NEW)
    it(`prints the same as for the torrents of the folder, sorted by name: ${name}`, async (t) => {
      const cwd = await setUp(t);
      const dry = name === 'edit' ? ['--dry-run'] : [];
      const [each, listed] = [['t', '--each'], FILES].map((files) => [...args, ...files, ...dry]);
      const [found, expected] = [
        await metainfo(each as string[], { cwd }),
        await metainfo(listed as string[], { cwd }),
      ];
      assert.deepEqual(found, { ...expected, code: 0, stderr: '' });
      assert.deepEqual(await jsonOf(cwd, each as string[]), await jsonOf(cwd, listed as string[]));
      const torrents = (await jsonOf(cwd, each as string[])).stdout.match(/^\{"torrent":"[^"]*/gm);
      assert.deepEqual(
        torrents,
        FILES.map((file) => `{"torrent":"${file}`),
      );
    });

  it('takes several folders, and reports one torrent as it reports many', async (t) => {
    const cwd = await setUp(t);
    await rm(path.join(cwd, 't/b.torrent'));
    await rm(path.join(cwd, 't/c.torrent'));
    const { stdout } = await metainfo(['validate', '--each', 't', 't/sub.torrent'], { cwd });
    assert.match(stdout, /^t\/a\.torrent: valid .*\nt\/sub\.torrent\/deep\.torrent: valid .*\n2 valid\n$/);
    assert.match((await metainfo(['validate', '--each', 't'], { cwd })).stdout, /\n1 valid\n$/);
    assert.match((await metainfo(['show', '--each', 't'], { cwd })).stdout, /^t\/a\.torrent\nname +album\n/);
    const edited = await metainfo(['edit', '--each', 't', '-c', 'x'], { cwd });
    assert.match(edited.stdout, /\n1 torrent: 1 changed, 0 as they were\n$/);
  });

  it('edits the torrents of a folder, and the target of a link', async (t) => {
    const cwd = await setUp(t);
    const { code, stdout } = await metainfo(['edit', '--each', 't', '--comment', 'new'], { cwd });
    assert.equal(code, 0);
    assert.match(stdout, /\n3 torrents: 3 changed, 0 as they were\n$/);
    for (const file of [...FILES, 'linked.torrent']) assert.equal((await read(cwd, file)).comment, 'new');
    assert.equal((await read(cwd, 't/sub.torrent/deep.torrent')).comment, null);
  });

  for (const [name, args] of Object.entries(COMMANDS))
    it(`names every torrent of the folder that cannot be read, and reads the others: ${name}`, async (t) => {
      const cwd = await setUp(t);
      await writeFile(path.join(cwd, 't/bad.torrent'), 'd4:info');
      await symlink('nowhere', path.join(cwd, 't/broken.torrent'));
      const { code, stdout, stderr } = await metainfo([...args, '--each', 't'], { cwd });
      assert.equal(code, 1);
      const said = stdout + stderr;
      assert.match(said, /t\/bad\.torrent\b.*\n?.*\[(ERR_BENCODE|.*truncated.*|ERR_BENCODE, byte \d+)\]/);
      assert.match(said, /t\/broken\.torrent\b.*\n?.*no such file/);
      if (name === 'edit') {
        assert.match(stderr, /\nnothing was changed\n$/);
        for (const file of FILES) assert.equal((await read(cwd, file)).comment, null);
      } else assert.match(stdout, /t\/c\.torrent/);
      const json = await metainfo([...args, '--each', 't', '--json'], { cwd });
      assert.deepEqual([json.code, json.stderr], [1, '']);
      for (const bad of ['bad', 'broken']) assert.ok(json.stdout.includes(`"t/${bad}.torrent"`), json.stdout);
    });

  for (const [name, args] of Object.entries(COMMANDS)) {
    it(`says what to do about a folder of torrents without --each, and about one that has none: ${name}`, async (t) => {
      const cwd = await setUp(t);
      const without = await metainfo([...args, 't'], { cwd });
      assert.equal(without.code, 1);
      assert.match(
        without.stdout + without.stderr,
        /^.*\bt: .*is a folder.* To read all torrents in it, use --each\./m,
      );
      const content = await metainfo([...args, 'album'], { cwd });
      assert.match(content.stdout + content.stderr, /Expected a torrent file: create one with metainfo create\./);
      const none = await metainfo([...args, '--each', 'album'], { cwd });
      const message = 'error: There are no torrents (*.torrent) in album. [ERR_NO_FILES]\n';
      assert.deepEqual([none.code, none.stdout, none.stderr], [1, '', message]);
    });

    it(`refuses a file, standard input and a folder that is not there: ${name}`, async (t) => {
      const cwd = await setUp(t);
      const errorOf = async (file: string) => {
        const { code, stderr } = await metainfo([...args, '--each', file], { cwd });
        return `${code} ${stderr}`;
      };
      assert.match(await errorOf('t/a.torrent'), /^2 .*--each needs a folder of torrents, and t\/a\.torrent is a file/);
      assert.match(await errorOf('-'), /^2 .*--each needs a folder of torrents, not standard input/);
      assert.match(await errorOf('nowhere'), /^1 .*nowhere: no such file or folder\. \[ERR_NOT_FOUND\]/);
    });
  }

  it('reports a folder that may not be read', { skip: notRoot() }, async (t) => {
    const cwd = await setUp(t);
    await chmod(cwd, 0o755);
    await chmod(path.join(cwd, 't'), 0);
    const [program, ...args] = command(['show', '--each', 't']);
    const { status, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', uid: 65_534, gid: 65_534 });
    assert.deepEqual([status, stderr], [1, 'error: t: no permission to read it. [ERR_UNREADABLE]\n']);
  });

  it('is no advice where a command has no --each', async (t) => {
    const cwd = await setUp(t);
    assert.doesNotMatch((await metainfo(['magnet', 't'], { cwd })).stderr, /--each/);
  });
});

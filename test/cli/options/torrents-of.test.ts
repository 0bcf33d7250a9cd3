import assert from 'node:assert/strict';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { entries, metainfo, read, workFolder } from '../run.ts';

/** A folder with torrents of one content. */
async function torrents(t: TestContext, count = 3): Promise<string> {
  const cwd = await workFolder(t);
  await mkdir(path.join(cwd, 'torrents'));
  await metainfo(['create', 'album', '-o', 'torrents/0.torrent'], { cwd });
  for (let i = 1; i < count; i += 1)
    await copyFile(path.join(cwd, 'torrents/0.torrent'), path.join(cwd, `torrents/${i}.torrent`));
  return cwd;
}

const commentsOf = async (cwd: string) => {
  const names = await entries(path.join(cwd, 'torrents'));
  return Promise.all(names.map(async (name) => (await read(cwd, `torrents/${name}`)).comment));
};

describe('--from-file', () => {
  it('takes lines of any system, or names with NUL between them, also from standard input', async (t) => {
    const cwd = await torrents(t);
    const [first, second] = ['torrents/0.torrent', 'torrents/1.torrent'];
    const odd = 'torrents/ two\nlines .torrent';
    await copyFile(path.join(cwd, first), path.join(cwd, odd));
    for (const [text, names] of [
      [`${first}\n${second}\n`, [first, second]],
      [`\uFEFF${first}\r\n\r\n \n${second}`, [first, second]],
      [`${odd}\0${first}\0`, [odd, first]],
      [`${first}`, [first]],
    ] as const) {
      const lines = [...names.map((torrent) => ({ torrent, ok: true })), { jobs: names.length }];
      await writeFile(path.join(cwd, 'list'), text);
      for (const [list, input] of [['list'], ['-', text]] as const) {
        const { code, stdout, stderr } = await metainfo(['validate', '--json', '--from-file', list], {
          cwd,
          ...(input && { input }),
        });
        assert.deepEqual([code, stderr], [0, '']);
        const found = stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
          .map(({ torrent, ok, jobs }) => (torrent ? { torrent, ok } : { jobs }));
        assert.deepEqual(found, lines);
      }
    }
    await writeFile(path.join(cwd, 'list'), second);
    const { stdout } = await metainfo(['show', first, '--from-file', 'list'], { cwd });
    assert.match(stdout, /^torrents\/0\.torrent\n.*\n\ntorrents\/1\.torrent\n/s, 'the arguments come first');
    const folders = await metainfo(['validate', '--each', '--from-file', '-'], { cwd, input: 'torrents\n' });
    assert.match(folders.stdout, /\n4 valid\n$/);
  });

  it('edits every torrent of a list or, if one of them cannot be edited, none', async (t) => {
    const cwd = await torrents(t, 300);
    const names = await entries(path.join(cwd, 'torrents'));
    const list = names.map((name) => path.join(cwd, 'torrents', name)).join('\n');
    const edit = (input: string) => metainfo(['edit', '--from-file', '-', '--comment', 'x', '-q'], { cwd, input });
    const failed = await edit(`${list}\nabsent.torrent`);
    assert.deepEqual([failed.code, failed.stdout], [1, '']);
    assert.match(failed.stderr, /^error: absent\.torrent: no such file/m);
    assert.deepEqual(new Set(await commentsOf(cwd)), new Set([null]));
    assert.deepEqual(await edit(list), { code: 0, signal: null, stdout: '', stderr: '' });
    assert.deepEqual(new Set(await commentsOf(cwd)), new Set(['x']));
  });

  it('verifies the torrents of a list, which is never the content', async (t) => {
    const cwd = await torrents(t, 2);
    const list = 'torrents/0.torrent\ntorrents/1.torrent\n';
    const { code, stdout } = await metainfo(['verify', '--from-file', '-', '--content', '.'], { cwd, input: list });
    assert.equal(code, 0);
    assert.match(stdout, /^2 complete: /m);
    const absent = await metainfo(['verify', '--from-file', '-'], { cwd, input: 'torrents/0.torrent\nabsent.torrent' });
    assert.match(absent.stdout, /^1 complete, 1 failed: /m);
    const both = await metainfo(['verify', '--each', 'torrents', '--from-file', '-'], { cwd, input: list });
    assert.deepEqual([both.code, both.stdout], [2, '']);
    assert.match(both.stderr, /--each takes one folder of torrents: omit --from-file/);
  });

  it('refuses lists without names, and standard input for two things', async (t) => {
    const cwd = await torrents(t, 1);
    await writeFile(path.join(cwd, 'blank'), '\r\n \n\n');
    for (const [args, code, error, input] of [
      [['--from-file', 'blank'], 1, /^error: There are no files in the list blank\. \[ERR_NO_FILES\]/],
      [['--from-file', '-'], 1, /^error: standard input: it is empty: pipe a list of files to it\. \[ERR_NO_DATA\]/],
      [['--from-file', 'absent'], 1, /^error: absent: no such file or folder/],
      [['--from-file', '-', '-'], 2, /Standard input can be read only once/, 'x'],
      [['--from-file', '-'], 2, /Standard input can be read only once/, '-\n'],
      [['--from-file', ''], 2, /Expected a file/],
      [[], 2, /^error: missing required argument 'file'\n/],
    ] as const)
      for (const command of ['show', 'validate', 'edit', 'verify']) {
        const result = await metainfo([command, ...args], { cwd, ...(input && { input }) });
        assert.equal(result.code, code, `${command} ${args}: ${result.stderr}`);
        assert.match(result.stderr, error);
      }
  });
});

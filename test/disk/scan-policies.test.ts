import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { chmod, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type LeftOutReason, type ScanOptions, scan, scannedFiles } from '../../src/disk/scan.ts';
import type { MetainfoError } from '../../src/errors/errors.ts';
import { chooseEngine, ENGINES } from '../support/choose-engine.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

/** A folder `root` with files and links, beside a folder `other` with files. */
async function rootWith(t: TestContext, links: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder(t);
  await writeTree(folder, { 'root/a': 1, 'root/sub/b': 2, 'other/o': 3, 'other/deep/p': 4 });
  for (const [name, target] of Object.entries(links)) await symlink(target, path.join(folder, 'root', name));
  return path.join(folder, 'root');
}

function swapForLink(folder: string, target: string): void {
  rmSync(folder, { recursive: true });
  symlinkSync(target, folder);
}

interface Outcome {
  files: string[];
  links: Record<string, string>;
  leftOut: [string, LeftOutReason][];
  problems: string[];
}

/** Scans, and collects everything that the scan tells. */
async function outcome(root: string, options: ScanOptions): Promise<Outcome> {
  const leftOut: [string, LeftOutReason][] = [];
  const problems: string[] = [];
  const onLeftOut = (name: string, reason: LeftOutReason) => void leftOut.push([name, reason]);
  const onProblem = ({ code, path: at = '' }: MetainfoError) =>
    void problems.push(`${code} ${path.relative(root, at)}`);
  const scanned = await scan(root, null, { readable: true, ...options, onLeftOut, onProblem });
  return {
    files: scannedFiles(scanned)
      .map((file) => file.path.join('/'))
      .sort(),
    links: Object.fromEntries(scanned.links.map((link) => [link.path.join('/'), link.symlinkPath.join('/')]).sort()),
    leftOut: leftOut.sort(),
    problems: problems.sort(),
  };
}

const NOTHING = { files: ['a', 'sub/b'], links: {}, leftOut: [], problems: [] };

for (const engine of ENGINES)
  describe(`policies of a scan, ${engine} engine`, () => {
    let restore = () => {};
    before(() => {
      restore = chooseEngine(engine);
    });
    after(() => restore());

    it('leave out torrents at the top, unless they are included, named or kept', async (t) => {
      const root = await rootWith(t, { 'link.torrent': 'a', 'folder.torrent': 'sub' });
      const [top, below] = [
        ['b.torrent', 'C.TORRENT'],
        ['d.torrent2', 'sub/e.torrent', 'sub/F.Torrent', 'g.torrent/x'],
      ];
      await writeTree(root, Object.fromEntries([...top, ...below].map((name) => [name, 1])));
      const scanned = await scan(root, null);
      assert.deepEqual([...scanned.torrents].sort(), [
        'folder.torrent/F.Torrent',
        'folder.torrent/e.torrent',
        'sub/F.Torrent',
        'sub/e.torrent',
      ]);
      const { files, leftOut } = await outcome(root, { exclude: (file) => file === 'folder.torrent' });
      assert.deepEqual(files, [...NOTHING.files, ...below].sort());
      assert.deepEqual(
        leftOut,
        ['C.TORRENT', 'b.torrent', 'link.torrent'].map((name) => [name, 'torrent']),
      );
      const all = [...top, 'link.torrent'];
      const included = await outcome(root, { include: (file) => all.includes(file) });
      assert.deepEqual([included.files, included.leftOut], [[...all].sort(), []]);
      const kept = await outcome(root, {
        keepsTorrent: (name) => name === 'b.torrent',
        exclude: (file) => file.includes('/'),
      });
      assert.ok(kept.files.includes('b.torrent') && !kept.files.includes('C.TORRENT'), kept.files.join());
      const named = await scan(root, [['b.torrent'], ['C.TORRENT']]);
      assert.deepEqual(named.torrents, top);
      assert.equal((await scan(path.join(root, 'b.torrent'), null)).columns.lengths.length, 1);
      assert.ok((await outcome(root, { anyFiles: true })).files.includes('b.torrent'));
    });

    it('leave out files of systems and unfinished downloads, which are added by default', async (t) => {
      const root = await rootWith(t, {});
      const stray = [
        '#recycle/x',
        '@eaDir/a@SynoEAStream',
        'sub/._b',
        'sub/film.mkv.part',
        '.fseventsd/0',
        'ehthumbs.db',
        '__MACOSX/b',
      ];
      const kept = ['@eaDirs/x', 'recycle', 'a.party', '.part', 'sub/.x', 'part'];
      await writeTree(root, Object.fromEntries([...stray, ...kept, '.DS_Store', 'Icon\r'].map((name) => [name, 1])));
      assert.deepEqual((await outcome(root, {})).files, [...NOTHING.files, ...stray, ...kept].sort());
      const { files, leftOut } = await outcome(root, { systemFiles: false });
      assert.deepEqual(files, [...NOTHING.files, ...kept.filter((name) => name !== '.part')].sort());
      assert.deepEqual(
        leftOut.map(([name, reason]) => `${name} ${reason}`),
        [
          '#recycle system',
          '.DS_Store system',
          '.fseventsd system',
          '.part unfinished',
          '@eaDir system',
          'Icon\r system',
          '__MACOSX system',
          'ehthumbs.db system',
          'sub/._b system',
          'sub/film.mkv.part unfinished',
        ],
      );
      const both = await outcome(root, { systemFiles: false, hidden: false });
      assert.equal(both.leftOut.find(([name]) => name === 'sub/._b')?.[1], 'hidden');
    });

    it('leave out every link with skip: nothing is asked about its target', async (t) => {
      const root = await rootWith(t, {
        file: 'a',
        folder: 'sub',
        broken: 'x',
        outside: '../other',
        loop: '.',
        self: 'self',
      });
      const leftOut = ['broken', 'file', 'folder', 'loop', 'outside', 'self'].map((name) => [name, 'link']);
      assert.deepEqual(await outcome(root, { symlinks: 'skip' }), { ...NOTHING, leftOut });
    });

    it('report every link with error', async (t) => {
      const root = await rootWith(t, { file: 'a', folder: 'sub', broken: 'x' });
      const problems = ['ERR_LINK broken', 'ERR_LINK file', 'ERR_LINK folder'];
      assert.deepEqual(await outcome(root, { symlinks: 'error' }), { ...NOTHING, problems });
      await assert.rejects(scan(root, null, { symlinks: 'error' }), { code: 'ERR_LINK' });
    });

    it('store links whose target is in the root, as paths from the root', async (t) => {
      const root = await rootWith(t, {
        file: 'a',
        folder: './sub/',
        'sub/up': '../a',
        chain: 'file',
        'sub/through': '../folder/b',
      });
      await symlink(path.join(root, 'sub/b'), path.join(root, 'absolute'));
      assert.deepEqual(await outcome(root, { symlinks: 'store' }), {
        ...NOTHING,
        links: {
          absolute: 'sub/b',
          chain: 'file',
          file: 'a',
          folder: 'sub',
          'sub/through': 'folder/b',
          'sub/up': 'a',
        },
      });
    });

    it('cannot store links that are broken, lead out of the root, to the root or to themselves', async (t) => {
      const root = await rootWith(t, { broken: 'x', outside: '../other', top: '.', self: 'self' });
      assert.deepEqual(await outcome(root, { symlinks: 'store' }), {
        ...NOTHING,
        problems: ['ERR_BROKEN_LINK broken', 'ERR_LINK_LOOP self', 'ERR_LINK_LOOP top', 'ERR_LINK_OUTSIDE outside'],
      });
    });

    it('ask the filters about links too', async (t) => {
      const root = await rootWith(t, { file: 'a', other: 'a' });
      const exclude = (name: string) => name === 'other';
      for (const symlinks of ['skip', 'error', 'store'] as const) {
        const { leftOut, links, problems } = await outcome(root, { symlinks, exclude });
        assert.deepEqual([leftOut.length, Object.keys(links).length, problems.length].sort(), [0, 0, 1], symlinks);
      }
    });

    it('follow links out of the root with followOutside, also several and nested ones', async (t) => {
      const root = await rootWith(t, { one: '../other', 'sub/two': '../../other/deep', three: '../other/o' });
      const files = ['a', 'one/deep/p', 'one/o', 'sub/b', 'sub/two/p', 'three'];
      assert.deepEqual(await outcome(root, { followOutside: true }), { ...NOTHING, files });
      const rows = scannedFiles(await scan(root, null, { followOutside: true }));
      const diskPaths = new Map(rows.map((file) => [file.path.join('/'), file.diskPath]));
      assert.equal(diskPaths.get('sub/two/p'), path.join(root, '../other/deep/p'));
      assert.equal(diskPaths.get('sub/b'), path.join(root, 'sub/b'));
    });

    it('end at a link to a folder outside that contains the root', async (t) => {
      const root = await rootWith(t, { up: '..' });
      const { problems } = await outcome(root, { followOutside: true });
      assert.ok(problems.length > 0);
      assert.ok(problems.every((problem) => problem.startsWith('ERR_LINK_LOOP ')));
    });

    it('leave out hidden files and folders, but not those that are named outright', async (t) => {
      const root = await rootWith(t, {});
      await writeTree(root, { '.h': 1, '.folder/x': 1, 'sub/.i': 1, 'sub/b.c': 1 });
      assert.deepEqual(await outcome(root, { hidden: false }), {
        ...NOTHING,
        files: ['a', 'sub/b', 'sub/b.c'],
        leftOut: [
          ['.folder', 'hidden'],
          ['.h', 'hidden'],
          ['sub/.i', 'hidden'],
        ],
      });
      const named = await scan(root, [['.h']], { hidden: false });
      assert.deepEqual(
        scannedFiles(named).map((file) => file.path),
        [['.h']],
      );
    });
  });

describe('skipUnreadable', { skip: process.getuid?.() === 0 ? false : 'only root can become another user' }, () => {
  it('leaves out files and folders that cannot be read, and names them', async (t) => {
    const root = await rootWith(t, { link: 'secret' });
    await writeTree(root, { secret: 1, 'closed/x': 1 });
    await chmod(path.join(root, 'secret'), 0);
    await mkdir(path.join(root, 'empty'), { mode: 0 });
    await chmod(path.join(root, 'closed'), 0);
    for (const folder of [path.dirname(root), root, path.join(root, 'sub')]) await chmod(folder, 0o755);
    const script = `
      import { scan, scannedFiles } from ${JSON.stringify(new URL('../../src/disk/scan.ts', import.meta.url).href)};
      const leftOut = [];
      const options = { readable: true, onLeftOut: (...about) => leftOut.push(about.join(' ')) };
      const root = ${JSON.stringify(root)};
      const failure = await scan(root, null, options).catch(({ code }) => code);
      const scanned = await scan(root, null, { ...options, skipUnreadable: true });
      const files = scannedFiles(scanned).map(({ path }) => path.join('/')).sort();
      process.stdout.write(JSON.stringify({ failure, files, leftOut: leftOut.sort() }));`;
    const out = execFileSync(process.execPath, ['--import', './scripts/ts.mjs', '--input-type=module', '-e', script], {
      cwd: path.join(import.meta.dirname, '../..'),
      encoding: 'utf8',
      uid: 65534,
      gid: 65534,
    });
    assert.deepEqual(JSON.parse(out), {
      failure: 'ERR_UNREADABLE',
      files: ['a', 'sub/b'],
      leftOut: ['closed unreadable', 'empty unreadable', 'link unreadable', 'secret unreadable'],
    });
  });
});

// Node's functions cannot list a folder without following a link in its place: the files behind it are refused when they are opened.
describe('a folder that changes during a native scan', { skip: !ENGINES.includes('native') }, () => {
  it('gives a folder that became a link as a problem, and fails if nobody takes problems', async (t) => {
    const root = await rootWith(t, {});
    const sub = path.join(root, 'sub');
    // With a filter, the scan asks it after it has listed the parent, and before it lists the folder.
    const swapping = (name: string) => {
      if (name === 'sub') swapForLink(sub, '../other');
      return false;
    };
    const { files, problems } = await outcome(root, { symlinks: 'skip', exclude: swapping });
    assert.deepEqual([files, problems], [['a'], ['ERR_FILE_CHANGED sub']]);
    unlinkSync(sub);
    await mkdir(sub);
    await assert.rejects(scan(root, null, { exclude: swapping }), { code: 'ERR_FILE_CHANGED', path: sub });
  });
});

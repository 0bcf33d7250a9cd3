import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readFile,
  rename,
  stat,
  symlink,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { single, torrent } from '../support/build.ts';
import { buildShim, type Fault, Faults, faultsEnv, shimMissing } from '../support/faults.ts';
import { command, entries, finish, metainfo, metainfoUnread, read, start, startProgram, workFolder } from './run.ts';

/** Starts an edit of many torrents in the folders a, b and c, with a fault in b. */
async function startInFolders(t: TestContext, fault: Fault) {
  const cwd = await workFolder(t);
  await metainfo(['create', 'album', '-o', 'one.torrent'], { cwd });
  const names = { a: 66, b: 1, c: 4 };
  const files = Object.entries(names).flatMap(([folder, count]) =>
    Array.from({ length: count }, (_, i) => `${folder}/${i}.torrent`),
  );
  for (const folder of Object.keys(names)) await mkdir(path.join(cwd, folder));
  for (const file of files) await copyFile(path.join(cwd, 'one.torrent'), path.join(cwd, file));
  const control = path.join(cwd, 'control');
  const faults = Faults.create(control);
  t.after(() => faults.close());
  faults.arm({ ...fault, match: '/b/' });
  const env = faultsEnv({ shim: buildShim(cwd), control, folder: cwd });
  /** Edits them. The edit begins with the torrents of the first folder that is given. */
  const edit = (folders: string, ...args: string[]) => {
    const sorted = [...folders].flatMap((folder) => files.filter((file) => file.startsWith(folder)));
    return start(['edit', ...sorted, '--comment', 'x', ...args], { cwd, env });
  };
  const countWritten = async () => {
    const torrents = await Promise.all(files.map((file) => Torrent.read(path.join(cwd, file))));
    const lists = await Promise.all(Object.keys(names).map((folder) => entries(path.join(cwd, folder))));
    assert.deepEqual(lists.flat().length, files.length, 'no other file is left');
    return torrents.filter(({ comment }) => comment === 'x').length;
  };
  return { faults, edit, countWritten };
}

describe('metainfo edit', () => {
  it('edits torrents in place, and prints the changes', async (t) => {
    const cwd = await workFolder(t);
    const read = (name: string) => Torrent.read(path.join(cwd, name));
    await metainfo(['create', 'album', '-t', 'udp://old.example', '--comment', 'first'], { cwd });
    await metainfo(['create', 'album', '-k', 'v1', '-o', 'one.torrent'], { cwd });
    const before = await read('album.torrent');
    const added = 'udp://new.example:1';
    const args = ['edit', 'album.torrent', 'one.torrent', '--add-tracker', added, '--comment', 'second'];
    const { code, stdout, stderr } = await metainfo([...args, '--no-created-by', '--keep-infohash', '--set', 'x=ü'], {
      cwd,
    });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^album\.torrent: same infohash\n/);
    assert.match(stdout, /\n {2}comment {2}"first" -> "second"\n/);
    assert.match(stdout, /\n {2}created by {2}- "metainfo \([^\n]*"\n/);
    assert.match(stdout, /\n {2}x {2}\+ "ü"\n/);
    assert.match(stdout, /\none\.torrent: same infohash\n/);
    const after = await read('album.torrent');
    assert.equal(after.infohashV2, before.infohashV2);
    assert.deepEqual(after.announceList, [['udp://old.example'], [added]]);
    assert.deepEqual([after.comment, after.createdBy], ['second', null]);
    assert.equal((await read('one.torrent')).announce, added);
  });

  it('removes the trackers of a host from every torrent, and says how many', async (t) => {
    const cwd = await workFolder(t);
    const trackers = ['-t', 'udp://Old.example:1/x,udp://old.example:2/x', '-t', 'http://b.example/x'];
    await metainfo(['create', 'album', ...trackers], { cwd });
    await metainfo(['create', 'album', '-t', 'udp://old.example:1', '-o', 'one.torrent'], { cwd });
    await metainfo(['create', 'album', '-t', 'udp://b.example:1', '-o', 'other.torrent'], { cwd });
    const args = ['edit', '--each', '.', '--remove-tracker', 'old.example'];
    const dry = await metainfo([...args, '--dry-run'], { cwd });
    assert.match(dry.stdout, /3 torrents: 2 to change, 1 as they are; 3 trackers to remove\n$/);
    const { code, stdout, stderr } = await metainfo(args, { cwd });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^album\.torrent: same infohash, 2 trackers removed\n/);
    assert.match(stdout, /^one\.torrent: same infohash, 1 tracker removed\n {2}announce {2}- "udp/m);
    assert.match(stdout, /^other\.torrent: no changes\n3 torrents: 2 changed, 1 as they were; 3 trackers removed\n$/m);
    assert.match(stderr, /^warning: other\.torrent: The torrent does not have a tracker of the host "old\.example"\./);
    assert.deepEqual(await read(cwd, 'album.torrent').then(({ flatTrackers }) => flatTrackers), ['http://b.example/x']);
    assert.equal((await read(cwd, 'one.torrent')).announce, null);
  });

  it('writes all torrents even if standard output is closed', async (t) => {
    const cwd = await workFolder(t);
    const names = Array.from({ length: 20 }, (_, i) => `${i}.torrent`);
    await metainfo(['create', 'album', '-o', '0.torrent'], { cwd });
    for (const name of names.slice(1)) await copyFile(path.join(cwd, '0.torrent'), path.join(cwd, name));
    const comments = () => Promise.all(names.map(async (name) => (await Torrent.read(path.join(cwd, name))).comment));
    assert.equal((await metainfoUnread(['edit', ...names, '--comment', 'x'], { cwd })).code, 0);
    assert.deepEqual(new Set(await comments()), new Set(['x']));
  });

  it('fails if standard output cannot be written, after writing the torrents', {
    skip: !existsSync('/dev/full'),
  }, async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const edit = command(['edit', 'album.torrent', '--comment', 'x']);
    const { code, stderr } = await finish(startProgram(['sh', '-c', '"$@" > /dev/full', 'sh', ...edit], { cwd }));
    assert.deepEqual([code, stderr], [1, 'error: standard output: the disk is full. [ERR_NO_SPACE]\n']);
    assert.equal((await Torrent.read(path.join(cwd, 'album.torrent'))).comment, 'x');
  });

  it('shortens long values of every type', async (t) => {
    const cwd = await workFolder(t);
    const unknown = {
      a: Buffer.alloc(300_000_000, 0xff),
      b: Array.from({ length: 1000 }, (_, i) => i),
      c: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${i}`, [i]])),
      d: 'ü'.repeat(1000),
      e: ['ü'.repeat(50), 1, ['b']],
    };
    await writeFile(path.join(cwd, 'x.torrent'), torrent(single, unknown));
    const unset = Object.keys(unknown).flatMap((key) => ['--unset', key]);
    const { code, stdout } = await metainfo(['edit', 'x.torrent', '--dry-run', ...unset], { cwd });
    const lines = stdout.trimEnd().split('\n').slice(1).toSorted();
    assert.deepEqual([code, lines.length], [0, 5]);
    assert.match(lines[0] as string, /^ {2}a {2}- "hex:(ff){96}\.\.\.$/);
    assert.match(lines[1] as string, /^ {2}b {2}- \[0,1,2,.*\.\.\.$/);
    assert.match(lines[2] as string, /^ {2}c {2}- \{"0":\[0\],"1":\[1\],.*\.\.\.$/);
    assert.match(lines[3] as string, /^ {2}d {2}- "ü{196}\.\.\.$/);
    assert.equal(lines[4], `  e  - ["${'ü'.repeat(50)}",1,["b"]]`);
    for (const line of lines.slice(0, 4)) assert.equal(line.length, '  a  - '.length + 200, line);
  });

  it('prints the changes with --dry-run without writing', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const bytes = await readFile(path.join(cwd, 'album.torrent'));
    const args = ['edit', 'album.torrent', '--dry-run', '--name', 'other', '--private', '--unset', 'info.x'];
    const { code, stdout } = await metainfo(args, { cwd });
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^album\.torrent: new infohash\n {2}infohash v1 {2}[0-9a-f]{40} -> [0-9a-f]{40}\n {2}infohash v2 /,
    );
    assert.match(stdout, /\n {2}info\.name {2}"album" -> "other"\n {2}info\.private {2}\+ 1\n$/);
    const json = JSON.parse((await metainfo([...args, '--json'], { cwd })).stdout);
    assert.equal(json.infohashChanged, true);
    assert.equal(json.output, null);
    assert.deepEqual(json.changes, [
      { key: 'info.name', before: 'album', after: 'other' },
      { key: 'info.private', before: null, after: 1 },
    ]);
    assert.deepEqual(await readFile(path.join(cwd, 'album.torrent')), bytes);
    assert.equal((await metainfo(['edit', 'album.torrent'], { cwd })).stdout, 'album.torrent: no changes\n');
  });

  it('writes to another file with -o, and does not replace one without --force', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const bytes = await readFile(path.join(cwd, 'album.torrent'));
    const args = ['edit', 'album.torrent', '--source', 'S', '-o'];
    assert.equal((await metainfo([...args, 'new.torrent'], { cwd })).code, 0);
    assert.equal((await Torrent.read(path.join(cwd, 'new.torrent'))).info.source, 'S');
    assert.equal((await metainfo([...args, 'new.torrent'], { cwd })).code, 1);
    assert.equal((await metainfo([...args, 'new.torrent', '--force'], { cwd })).code, 0);
    await mkdir(path.join(cwd, 'out'));
    const { stdout } = await metainfo(['edit', 'album.torrent', 'new.torrent', '--no-source', '-o', 'out'], { cwd });
    assert.match(stdout, /album\.torrent -> out\/album\.torrent|no changes/);
    assert.equal((await Torrent.read(path.join(cwd, 'out/new.torrent'))).info.source ?? null, null);
    assert.deepEqual(await readFile(path.join(cwd, 'album.torrent')), bytes);
  });

  it('keeps the mode of the file, and follows a symlink', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const file = path.join(cwd, 'album.torrent');
    await chmod(file, 0o600);
    await mkdir(path.join(cwd, 'links'));
    await symlink('../album.torrent', path.join(cwd, 'links/l.torrent'));
    assert.equal((await metainfo(['edit', 'links/l.torrent', '--comment', 'x'], { cwd })).code, 0);
    assert.equal((await Torrent.read(file)).comment, 'x');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.ok((await lstat(path.join(cwd, 'links/l.torrent'))).isSymbolicLink());
  });

  it('sets and removes nodes, HTTP seeds, the update URL and collections', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const edited = async (...args: string[]) => {
      const { code, stderr } = await metainfo(['edit', 'album.torrent', ...args], { cwd });
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      const { nodes, httpseeds, collections, info } = await Torrent.read(path.join(cwd, 'album.torrent'));
      return [nodes, httpseeds, collections, info.updateUrl ?? null];
    };
    const outside = [
      '--node',
      'a.example:1',
      '--node',
      '[::1]:65535',
      '--httpseed',
      'http://a/',
      '--httpseed',
      'http://b/',
    ];
    const inside = ['--update-url', 'http://f/', '--collection', 'a', '--collection', 'b'];
    const nodes = [
      ['a.example', 1],
      ['::1', 65_535],
    ];
    const seeds = ['http://a/', 'http://b/'];
    assert.deepEqual(await edited(...outside, '--keep-infohash'), [nodes, seeds, [], null]);
    assert.deepEqual(await edited(...inside), [nodes, seeds, ['a', 'b'], 'http://f/']);
    const none = ['--no-nodes', '--no-httpseeds', '--no-update-url', '--no-collections'];
    assert.deepEqual(await edited(...none), [null, null, [], null]);
  });

  it('warns as create does, and of trackers that the torrent does not have', async (t) => {
    const cwd = await workFolder(t);
    const bad = ['-t', 'udp://x.example/announce', '-p'];
    const { stderr } = await metainfo(['create', 'album', ...bad], { cwd });
    await metainfo(['create', 'album', '--force'], { cwd });
    const first = await metainfo(['edit', 'album.torrent', ...bad], { cwd });
    assert.deepEqual([first.code, first.stderr], [0, stderr]);
    assert.match(stderr, /^warning: .*\[tracker_url\]\n.*\nwarning: .*\[public_tracker\]\n/);
    await copyFile(path.join(cwd, 'album.torrent'), path.join(cwd, 'b.torrent'));
    const args = ['edit', 'album.torrent', 'b.torrent', '--remove-tracker', 'udp://no.example'];
    const { code, stderr: absent } = await metainfo(args, { cwd });
    assert.equal(code, 0);
    const line = 'warning: 2 torrents do not have the tracker "udp://no.example". [not_in_torrent]';
    assert.equal(absent, `${line}\n  metainfo show lists what it has.\n`);
    const json = (await metainfo([...args, '--json'], { cwd })).stdout.split('\n')[0] as string;
    const { changes, warnings } = JSON.parse(json);
    assert.deepEqual([changes, warnings.length, warnings[0].code], [[], 1, 'not_in_torrent']);
    assert.match(warnings[0].message, /^The torrent does not have the tracker/);
  });

  it('changes no torrent if one edit fails', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const bytes = await readFile(path.join(cwd, 'album.torrent'));
    const cases: [string[], number, RegExp][] = [
      [['album.torrent', 'absent.torrent', '--comment', 'x'], 1, /ERR_NOT_FOUND/],
      [['album.torrent', '--source', 'S', '--keep-infohash'], 1, /source would change the infohash.*ERR_INFOHASH/],
      [['album.torrent', '--add-tracker', 'no url'], 2, /error: --add-tracker: expected a URL.*ERR_VALIDATION/],
      [['album.torrent', '--remove-tracker', 'udp://a', '--strict'], 1, /^error: .*"udp:\/\/a".*ERR_FINDINGS/s],
      [
        ['album.torrent', '--date', '@1449000000000'],
        2,
        /year 9999: the number after @ counts seconds, not milliseconds/,
      ],
      [['album.torrent', '--set', 'x'], 2, /'--set <key=text>' argument 'x' is invalid\. Expected KEY=TEXT/],
      [['album.torrent', '--set', 'comment=x'], 2, /--set and --unset cannot hold comment/],
      [['album.torrent', '--set', 'nodes=x'], 2, /--set and --unset cannot hold nodes/],
      [['album.torrent', '--set', 'similar=x'], 1, /expected a list/],
      [['album.torrent', '--node', 'a.example'], 2, /Expected HOST:PORT/],
      [['album.torrent', '--node', 'a.example:0'], 2, /Expected HOST:PORT/],
      [['album.torrent', '--httpseed', 'no url'], 2, /expected a URL/],
      [
        ['album.torrent', 'album/../album.torrent', '-o', '.', '--force', '--comment', 'y'],
        2,
        /album\/\.\.\/album\.torrent is given twice/,
      ],
      [['album.torrent', './album.torrent', '--comment', 'y'], 2, /album\.torrent is given twice/],
      [['album.torrent', 'album/album.torrent', '-o', 'album'], 2, /Two torrents would be written to/],
      [['album.torrent', '--name', '..'], 2, /^error: --name: a name of dots cannot be the name of a torrent\. /],
      [['album.torrent', '-o', '.', '--comment', 'y'], 1, /ERR_OUTPUT_EXISTS/],
      [['album.torrent', '--set', 'info.pieces=x'], 2, /--set and --unset cannot hold pieces/],
      [['album.torrent', 'album.torrent', '-o', 'x', '--comment', 'y'], 2, /must be a folder/],
    ];
    for (const [args, expected, message] of cases) {
      const { code, stdout, stderr } = await metainfo(['edit', ...args], { cwd });
      assert.deepEqual([code, stdout], [expected, ''], args.join(' '));
      assert.match(stderr, message);
    }
    assert.deepEqual(await readFile(path.join(cwd, 'album.torrent')), bytes);
  });

  it('replaces texts in the trackers of many torrents, and prints a summary', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-t', 'https://old.example/?key=abc', '-w', 'http://old.example/x'], { cwd });
    await metainfo(['create', 'album', '-o', 'none.torrent'], { cwd });
    const replace = ['--replace-tracker', 'old.example=new.example', '--replace-tracker', 'key\\=abc=key\\=d'];
    const args = ['edit', 'album.torrent', 'none.torrent', ...replace, '--replace-webseed', 'old=new'];
    const dry = await metainfo([...args, '--dry-run'], { cwd });
    assert.match(dry.stdout, /\n2 torrents: 1 to change, 1 as they are\n$/);
    const { code, stdout, stderr } = await metainfo(args, { cwd });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /\n2 torrents: 1 changed, 1 as they were\n$/);
    assert.match(stderr, /^warning: none\.torrent: The torrent does not have a tracker with "old\.example"\. \[not_in/);
    const { announce, webseeds } = await Torrent.read(path.join(cwd, 'album.torrent'));
    assert.deepEqual([announce, webseeds], ['https://new.example/?key=d', ['http://new.example/x']]);
    const again = await metainfo(['edit', 'album.torrent', 'none.torrent', '-c', 'x', '-q'], { cwd });
    assert.deepEqual(again, { ...again, code: 0, stdout: '', stderr: '' });
    const json = await metainfo(['edit', 'album.torrent', 'none.torrent', '-c', 'y', '--json'], { cwd });
    const last = JSON.parse(json.stdout.trimEnd().split('\n')[2] as string);
    assert.deepEqual(last, { event: 'summary', jobs: 2, changed: 2, unchanged: 0 });
  });

  it('names every torrent that cannot be edited, and changes none', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-t', 'udp://a.example:1'], { cwd });
    const bytes = await readFile(path.join(cwd, 'album.torrent'));
    await copyFile(path.join(cwd, 'album.torrent'), path.join(cwd, 'b.torrent'));
    const files = ['no.torrent', 'album.torrent', 'not.torrent', 'b.torrent'];
    const absent = await metainfo(['edit', ...files, '--comment', 'x'], { cwd });
    assert.deepEqual([absent.code, absent.stdout], [1, '']);
    assert.match(absent.stderr, /no\.torrent: .*\n.*not\.torrent: .*|not\.torrent: .*\n.*no\.torrent: /);
    assert.match(absent.stderr, /\nnothing was changed\n$/);
    const bad = await metainfo(['edit', ...files.slice(1, 2), 'b.torrent', '--replace-tracker', 'udp:='], { cwd });
    assert.match(bad.stderr, /album\.torrent: --replace-tracker: expected a URL/);
    assert.match(bad.stderr, /b\.torrent: --replace-tracker: expected a URL.*\nnothing was changed\n$/s);
    const infohash = await metainfo(['edit', 'album.torrent', 'b.torrent', '-s', 'S', '--keep-infohash'], { cwd });
    assert.match(infohash.stderr, /b\.torrent: Changing source would change the infohash: leave out --keep-infohash/);
    assert.deepEqual(await readFile(path.join(cwd, 'album.torrent')), bytes);
    const cases: [string[], RegExp][] = [
      [['--replace-tracker', 'a=b=c'], /write \\= for each/],
      [['--replace-tracker', 'a'], /Expected OLD=NEW/],
      [['--entropy', '--keep-infohash'], /cannot be used with/],
      [['--entropy', '--set', 'info.entropy=x'], /set the same key/],
      [['--preset', 'films'], /There is no preset "films"/],
      [['--set', 'x:=1.5'], /Bencode has only whole numbers/],
      [['--set', 'x:=[null]'], /Bencode has no null/],
      [['--set', 'x:={"a":true}'], /write 1/],
      [['--set', 'x:=9223372036854775808'], /2\^63/],
      [['--set', 'x:=me'], /For a plain text, use = alone/],
      [['--set', 'x:=[{"a":1,"\\u0061":2}]'], /A dictionary has a key twice/],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await metainfo(['edit', 'album.torrent', ...args], { cwd });
      assert.deepEqual([code, message.test(stderr)], [2, true], stderr);
    }
  });

  it('says how many torrents were written if a write fails', { skip: shimMissing() }, async (t) => {
    const first = await startInFolders(t, { call: 'write', action: 'EIO', every: 1 });
    const { code, stdout, stderr } = await finish(first.edit('bac'));
    const written = await first.countWritten();
    assert.deepEqual([code, stdout], [1, '']);
    const message = `; ${written} of 71 torrents were written\\. \\[ERR_WRITE\\]\n$`;
    assert.match(stderr, new RegExp(`^error: .*b/0\\.torrent.*${message}`));
    // Writes that have begun end, and no other begins.
    assert.ok(written >= 63 && written < 71, `${written}`);
    const last = await startInFolders(t, { call: 'write', action: 'ENOSPC', every: 1 });
    const { error } = JSON.parse((await finish(last.edit('acb', '--json'))).stdout);
    assert.deepEqual([error.code, await last.countWritten()], ['ERR_NO_SPACE', 70]);
    assert.match(error.message, /b\/0\.torrent.*; 70 of 71 torrents were written\.$/);
  });

  it('says how many torrents were written if it is cancelled', { skip: shimMissing() }, async (t) => {
    const { faults, edit, countWritten } = await startInFolders(t, { call: 'write', action: 'stall', every: 1 });
    const child = edit('bac');
    const ended = finish(child);
    while (faults.counts().stalled === 0 && child.exitCode === null) await sleep(5);
    child.kill('SIGINT');
    await sleep(500);
    faults.go();
    const { code, stdout, stderr } = await ended;
    const written = await countWritten();
    assert.deepEqual([code, stdout], [130, '']);
    assert.equal(stderr, `cancelled: ${written} of 71 torrents were written; run the command again to go on\n`);
    assert.ok(written > 0);
  });

  it('writes none of the torrents if one was replaced after its check', {
    skip: process.platform === 'win32',
  }, async (t) => {
    const replacements: Record<string, (file: string, other: string) => Promise<unknown>> = {
      'by another file': (file, other) => rename(other, file),
      'in place, with its size and times': async (file, other) => {
        const { atime, mtime } = await stat(file);
        await copyFile(other, file);
        await utimes(file, atime, mtime);
      },
      'by nothing': (file) => unlink(file),
    };
    for (const [how, replace] of Object.entries(replacements))
      for (const more of [[], ['--keep-infohash']]) {
        const cwd = await workFolder(t);
        for (const [name, tag] of [
          ['first', 'X'],
          ['other', 'Y'],
          ['second', 'X'],
        ] as const)
          await metainfo(['create', 'album', '-s', tag, '-o', `${name}.torrent`], { cwd });
        const at = (name: string) => path.join(cwd, `${name}.torrent`);
        execFileSync('mkfifo', [at('fifo')]);
        const args = ['first.torrent', 'fifo.torrent', '--source', 'X', '-c', 'new', '-o', 'out/', ...more];
        const editing = metainfo(['edit', ...args], { cwd });
        // It opens for writing when the first torrent has been checked.
        const fifo = await open(at('fifo'), 'w');
        await replace(at('first'), at('other'));
        await fifo.writeFile(await readFile(at('second')));
        await fifo.close();
        const { code, stderr } = await editing;
        assert.deepEqual([code, await entries(path.join(cwd, 'out'))], [1, []], how);
        assert.match(
          stderr,
          /^error: first\.torrent changed while it was edited.*; 0 of 2 torrents were written\. \[ERR_FILE_CHANGED\]\n$/,
        );
      }
  });

  it('does not write a torrent that was replaced while others are written', { skip: shimMissing() }, async (t) => {
    const cwd = await workFolder(t);
    for (const [name, tag] of [
      ['a', 'X'],
      ['b', 'X'],
      ['other', 'Y'],
    ])
      await metainfo(['create', 'album', '-s', tag as string, '-o', `${name}.torrent`], { cwd });
    const other = await readFile(path.join(cwd, 'other.torrent'));
    const control = path.join(cwd, 'control');
    const faults = Faults.create(control);
    t.after(() => faults.close());
    // The first time is the check.
    faults.arm({ call: 'open', action: 'stall', first: 2, match: 'b.torrent' });
    const env = faultsEnv({ shim: buildShim(cwd), control, folder: cwd });
    const child = start(['edit', 'a.torrent', 'b.torrent', '-s', 'X', '-c', 'new', '--keep-infohash'], { cwd, env });
    const ended = finish(child);
    while (faults.counts().stalled === 0 && child.exitCode === null) await sleep(5);
    await rename(path.join(cwd, 'other.torrent'), path.join(cwd, 'b.torrent'));
    faults.go();
    const { code, stderr } = await ended;
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^error: b\.torrent changed while it was edited.*; 1 of 2 torrents were written\. \[ERR_FILE_CHANGED\]\n$/,
    );
    assert.deepEqual(await readFile(path.join(cwd, 'b.torrent')), other);
    assert.equal((await Torrent.read(path.join(cwd, 'a.torrent'))).comment, 'new');
  });

  it('fills in the placeholders of an output, as create does, and update and upgrade do too', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'single'), 'x');
    await metainfo(['create', 'album', '-k', 'v1', '-t', 'udp://old.example:1/x'], { cwd });
    await metainfo(['create', 'single', '-k', 'v2'], { cwd });
    const torrents = ['album.torrent', 'single.torrent'];
    const edited = await metainfo(
      ['edit', ...torrents, '-t', 'udp://new.example:1/x', '-o', '{tracker}/{name}.{version}.{{name}}'],
      { cwd },
    );
    assert.equal(edited.code, 0, edited.stderr);
    assert.deepEqual(await entries(path.join(cwd, 'new.example')), ['album.v1.{name}', 'single.v2.{name}']);
    const same = await metainfo(['edit', ...torrents, '-c', 'x', '-o', 'all/{tracker}', '--no-trackers'], { cwd });
    assert.equal(same.code, 2);
    assert.match(same.stderr, /\{tracker\} in the output all\/\{tracker\} needs a tracker with a host/);
    const twice = await metainfo(['edit', ...torrents, '-t', 'udp://new.example:1/x', '-o', 'x-{tracker}'], { cwd });
    assert.match(twice.stderr, /Two torrents would be written to x-new\.example/);
    for (const [command, torrent, file] of [
      ['update', 'single.torrent', 'made/single-v2'],
      ['upgrade', 'album.torrent', 'made/album-hybrid'],
    ] as const) {
      const content = path.basename(torrent, '.torrent');
      const { code, stderr } = await metainfo([command, torrent, content, '-o', 'made/{name}-{version}'], { cwd });
      assert.equal(code, 0, stderr);
      assert.equal((await Torrent.read(path.join(cwd, file))).name, content);
    }
    for (const command of ['edit', 'update', 'upgrade']) {
      const args = [command, 'single.torrent', ...(command === 'edit' ? [] : ['single']), '-o', '{nonsense}'];
      const { code, stderr } = await metainfo(args, { cwd });
      assert.equal(code, 2);
      assert.match(stderr, /Unknown placeholder \{nonsense\}/);
    }
  });

  it('removes a field by an empty text, also one of a preset', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '--no-created-by', '-o', 'bare.torrent'], { cwd });
    const bare = await readFile(path.join(cwd, 'bare.torrent'));
    const texts = ['-s', '-c', '--created-by', '--collection'];
    const full = texts.flatMap((option) => [option, 'x']);
    const preset = '[presets.none]\nsource = ""\ncomment = ""\ncreated-by = ""\ncollection = [""]\n';
    await writeFile(path.join(cwd, 'c.toml'), preset);
    for (const args of [texts.flatMap((option) => [option, '']), ['--config', 'c.toml', '--preset', 'none']]) {
      await metainfo(['create', 'album', '-o', 'full.torrent', '--force', ...full], { cwd });
      const { code, stderr } = await metainfo(['edit', 'full.torrent', ...args], { cwd });
      assert.deepEqual([code, stderr], [0, '']);
      assert.deepEqual(await readFile(path.join(cwd, 'full.torrent')), bare, args.join(' '));
    }
    const kept = await metainfo(['edit', 'bare.torrent', '-s', '', '--keep-infohash'], { cwd });
    assert.deepEqual([kept.code, kept.stderr], [0, '']);
    assert.deepEqual(await readFile(path.join(cwd, 'bare.torrent')), bare);
  });

  it('sets numbers, lists and dictionaries with :=', async (t) => {
    const cwd = await workFolder(t);
    const set = [
      'info.num:=5',
      'info.big:=-9223372036854775808',
      'info.odd:=9007199254740993',
      'tags:=["a","1",{"n":[]}]',
      'text=:=5',
    ];
    const args = set.flatMap((one) => ['--set', one]);
    await metainfo(['create', 'album', ...args], { cwd });
    await metainfo(['create', 'album', '-o', 'b.torrent'], { cwd });
    const edited = await metainfo(['edit', 'b.torrent', ...args], { cwd });
    assert.equal(edited.code, 0);
    assert.match(edited.stdout, /\n {2}info\.odd {2}\+ 9007199254740993\n/);
    assert.match(edited.stdout, /\n {2}tags {2}\+ \["a","1",\{"n":\[\]\}\]\n/);
    for (const name of ['album.torrent', 'b.torrent']) {
      const { info, extra } = await Torrent.read(path.join(cwd, name));
      const own = ['num', 'big', 'odd'].map((key) => info.extra?.get(key));
      assert.deepEqual(own, [5, -(2n ** 63n), 2n ** 53n + 1n]);
      const bytes = (text: string) => Buffer.from(text);
      assert.deepEqual(extra.get('tags'), [bytes('a'), bytes('1'), new Map([['n', []]])]);
      assert.deepEqual(extra.get('text'), bytes(':=5'));
    }
  });

  it('gives each torrent a random key with --entropy, and writes what it prints', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    await copyFile(path.join(cwd, 'album.torrent'), path.join(cwd, 'b.torrent'));
    const { stdout } = await metainfo(['edit', 'album.torrent', 'b.torrent', '--entropy', '--json'], { cwd });
    const printed = stdout
      .trimEnd()
      .split('\n')
      .slice(0, 2)
      .map((line) => JSON.parse(line).infohash.v1);
    const read = ['album.torrent', 'b.torrent'].map(
      async (name) => (await Torrent.read(path.join(cwd, name))).infohashV1,
    );
    assert.deepEqual(printed, await Promise.all(read));
    assert.notEqual(printed[0], printed[1]);
  });

  it('takes the fields of a preset, aliases, and the rules of hosts', async (t) => {
    const cwd = await workFolder(t);
    const config = `[create]
comment = "not for edits"
[presets.films]
tracker = ["site"]
piece-length = "1MiB"
exclude = ["x"]
source = "PRESET"
webseed = []
[presets.other]
piece-length = "1MiB"
[trackers]
site = "https://site.example/announce"
other = "https://other.example/announce"
[hosts."site.example"]
private = true
source = "SITE"
[hosts."other.example"]
private = true
`;
    await writeFile(path.join(cwd, 'c.toml'), config);
    const edited = async (...args: string[]) => {
      await metainfo(['create', 'album', '-t', 'udp://a.example:1', '-w', 'http://w/', '--force'], { cwd });
      const { code, stderr } = await metainfo(['edit', 'album.torrent', '--config', 'c.toml', ...args], { cwd });
      const { announce, announceList, comment, info, webseeds } = await Torrent.read(path.join(cwd, 'album.torrent'));
      assert.deepEqual([comment, webseeds], [null, ['http://w/']]);
      const trackers = announceList?.flat() ?? [announce];
      return { code, stderr, trackers, source: info.source ?? null, private: info.private ?? false };
    };
    const site = 'https://site.example/announce';
    const preset = await edited('--preset', 'films', '--allow', 'tracker_rule');
    assert.deepEqual([preset.trackers, preset.source, preset.private], [[site], 'PRESET', true]);
    assert.match(
      preset.stderr,
      /site\.example wants the source tag "SITE", not "PRESET" \(the rule is in c\.toml:16\)\./,
    );
    const own = await edited('--preset', 'films', '--source', 'SITE', '--no-trackers');
    assert.deepEqual([own.trackers, own.source, own.private], [[null], 'SITE', false]);
    const added = await edited('--add-tracker', 'other');
    assert.deepEqual([added.trackers.length, added.private], [2, true]);
    const replaced = await edited('--replace-tracker', 'udp://a.example:1=site');
    assert.deepEqual([replaced.trackers, replaced.source, replaced.private], [[site], 'SITE', true]);
    const kept = await edited('--add-tracker', 'other', '--keep-infohash');
    assert.equal(kept.code, 1);
    assert.match(kept.stderr, /other\.example wants private torrents, but this one is not .*\[tracker_rule\]/);
    assert.match(kept.stderr, /Leave out --keep-infohash, change the rule, or use other trackers\./);
    const none = await edited('--add-tracker', 'site', '--keep-infohash', '--allow', 'tracker_rule');
    assert.match(none.stderr, /site\.example wants the source tag "SITE", but this one has none \(the rule/);
    const other = await edited('--preset', 'other');
    assert.deepEqual([other.code, other.stderr], [0, 'warning: the preset other sets nothing that edit changes\n']);
    assert.match(
      kept.stderr,
      /Nothing was written because of tracker_rule: fix that, or accept it with --allow tracker/,
    );
    const wrong = await edited('--add-tracker', 'sit');
    assert.match(wrong.stderr, /sit is neither a URL nor an alias/);
  });

  it('compares the version and a missing private flag with the rules of hosts', async (t) => {
    const cwd = await workFolder(t);
    const config = `[hosts."v1.example"]
torrent-version = ["v1"]
private = false
[hosts."other.example"]
torrent-version = ["v2", "hybrid"]
`;
    await writeFile(path.join(cwd, 'c.toml'), config);
    await metainfo(['create', 'album', '-k', 'v1'], { cwd });
    const edited = (host: string) =>
      metainfo(['edit', 'album.torrent', '--config', 'c.toml', '-t', `https://${host}/announce`], { cwd });
    const refused = await edited('other.example');
    assert.match(refused.stderr, /other\.example wants v2 or hybrid torrents, but this one is v1 /);
    const { code, stderr } = await edited('v1.example');
    assert.deepEqual([code, stderr], [0, '']);
  });
});

import assert from 'node:assert/strict';
import { readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TorrentCreate } from '../../src/create/draft.ts';
import { openFilesIn } from '../support/proc.ts';
import { HUGE, sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';
import { webServer } from '../support/web-server.ts';
import { bytesOf, entries, finish, metainfo, start } from './run.ts';

const KIB = 1024;
const PLAN = ['plan', 'set', '-o', 'plan.json', '--part-size', '64KiB', '-l', '16KiB'];

/** A working folder with content and its plan of four parts. */
async function planned(t: TestContext) {
  const cwd = await temporaryFolder(t);
  await writeTree(cwd, { 'set/a': 150 * KIB, 'set/b/c': 60 * KIB, 'set/empty': 0 });
  const { code, stderr } = await metainfo(PLAN, { cwd });
  assert.deepEqual([code, stderr], [0, '']);
  const hash = (index: number, ...more: string[]) =>
    metainfo(['hash-part', 'plan.json', '--index', String(index), '--parts', 'parts', ...more], { cwd });
  const join = (...more: string[]) => metainfo(['join', 'plan.json', '--parts', 'parts', ...more], { cwd });
  return { cwd, hash, join };
}

describe('metainfo plan --part-size, hash-part and join', () => {
  it('make the same torrent as create, parts in any order', async (t) => {
    const { cwd, hash, join } = await planned(t);
    const { parts, id } = JSON.parse(String(await bytesOf(cwd, 'plan.json')));
    assert.equal(parts, 4);
    for (const index of [2, 0, 3, 1]) {
      const { code, stdout, stderr } = await hash(index);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^part ${index}: hashed [\\d.]+ KiB in `));
    }
    assert.deepEqual(await entries(path.join(cwd, 'parts', id)), ['0.part', '1.part', '2.part', '3.part']);
    const joined = await join('-o', 'joined.torrent', '--magnet');
    assert.deepEqual([joined.code, joined.stderr], [0, '']);
    assert.match(joined.stdout, /^joined\.torrent: hybrid, 3 files, 210 KiB, from 4 parts\ninfohash v1 .*\nmagnet:/s);
    await metainfo(['create', 'set', '-l', '16KiB'], { cwd });
    assert.ok((await bytesOf(cwd, 'joined.torrent')).equals(await bytesOf(cwd, 'set.torrent')));
  });

  it('join refuses to replace a planned file', async (t) => {
    const { cwd, hash, join } = await planned(t);
    for (const index of [0, 1, 2, 3]) await hash(index);
    const before = await bytesOf(cwd, 'set/b/c');
    for (const more of [[], ['--root', 'set'], ['--no-recheck']]) {
      const { code, stderr } = await join('-o', 'set/b/c', '--force', ...more);
      assert.equal(code, 1);
      assert.match(stderr, /set\/b\/c is one of the torrent's files .*\[ERR_OUTPUT_IS_INPUT\]/);
      assert.ok((await bytesOf(cwd, 'set/b/c')).equals(before));
    }
  });

  it('shows the plan as text and as JSON, and never replaces a file without --force', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'set/a': 150 * KIB });
    const text = await metainfo(['plan', 'set', '--part-size', '64KiB', '-l', '16KiB'], { cwd });
    assert.match(
      text.stdout,
      /^output {9}set\.plan\.json\n.*parts {10}3 parts of at most 64 KiB\nplan {11}[0-9a-f]{64}\n$/s,
    );
    const again = await metainfo(['plan', 'set', '--part-size', '64KiB'], { cwd });
    assert.equal(again.code, 1);
    assert.match(again.stderr, /output file exists: set\.plan\.json \(use --force to replace it\)/);
    const args = ['plan', 'set', '--part-size', '64KiB', '-l', '16KiB', '--force', '--json'];
    const { stdout } = await metainfo(args, { cwd });
    const { output: file, id, parts, partSize, files, findings } = JSON.parse(stdout);
    const plan = JSON.parse(String(await bytesOf(cwd, 'set.plan.json')));
    assert.deepEqual([file, id, parts, partSize, files], ['set.plan.json', plan.id, plan.parts, 64 * KIB, 1]);
    assert.deepEqual(findings, []);
    const piped = await metainfo(['plan', 'set', '--part-size', '64KiB', '-l', '16KiB', '-o', '-'], { cwd });
    assert.deepEqual(JSON.parse(piped.stdout), plan);
    assert.match(piped.stderr, /^output {9}standard output\n/);
  });

  it('chooses a part size by the content and the number of workers', async (t) => {
    const cwd = await temporaryFolder(t);
    await sparseFile(cwd, 'large', 64 * 2 ** 30);
    const plan = async (...args: string[]) => {
      const { stdout, stderr } = await metainfo(['plan', 'large', '-k', 'v1', '--force', '--json', ...args], { cwd });
      assert.equal(stderr, '');
      const { parts, partSize } = JSON.parse(stdout);
      return [parts, partSize / 2 ** 20];
    };
    assert.deepEqual(await plan('--part-size', 'auto'), [128, 512]);
    assert.deepEqual(await plan('--part-size', 'auto', '--workers', '1'), [32, 2048]);
    for (const args of [
      ['--workers', '5'],
      ['--workers', '5', '--part-size', '1GiB'],
    ]) {
      const { code, stderr } = await metainfo(['plan', 'large', ...args], { cwd });
      assert.deepEqual([code, /give --part-size auto, or omit --workers/.test(stderr)], [2, true], stderr);
    }
    for (const args of [
      ['--part-size', 'automatic'],
      ['--part-size', '0'],
      ['--part-size', 'auto', '--workers', '0'],
    ])
      assert.equal((await metainfo(['plan', 'large', ...args], { cwd })).code, 2);
  });

  it('says that a part is there already, and hashes a damaged one again', async (t) => {
    const { cwd, hash } = await planned(t);
    await hash(1);
    assert.equal((await hash(1)).stdout, 'part 1: it is there already\n');
    const { id } = JSON.parse(String(await bytesOf(cwd, 'plan.json')));
    const file = path.join(cwd, 'parts', id, '1.part');
    const good = await readFile(file);
    await writeFile(file, good.subarray(0, -1));
    const { hashed, index, parts, bytes } = JSON.parse((await hash(1, '--json')).stdout);
    assert.deepEqual([hashed, index, parts, bytes], [true, 1, 4, 64 * KIB]);
    assert.ok(good.equals(await readFile(file)));
    // No content is needed for a part that is there.
    await rm(path.join(cwd, 'set'), { recursive: true });
    assert.equal((await hash(1)).code, 0);
  });

  it('join names the missing parts with exit code 75, and damaged ones with 1', async (t) => {
    const { cwd, hash, join } = await planned(t);
    await hash(0);
    const missing = await join();
    assert.equal(missing.code, 75);
    assert.match(
      missing.stderr,
      /3 of 4 parts are missing \(1, 2, 3\): hash them, then join again\. \[ERR_PART_MISSING\]/,
    );
    const { error } = JSON.parse((await join('--json')).stdout);
    assert.deepEqual([error.code, error.indexes], ['ERR_PART_MISSING', [1, 2, 3]]);
    for (const index of [1, 2, 3]) await hash(index);
    const { id } = JSON.parse(String(await bytesOf(cwd, 'plan.json')));
    const folder = path.join(cwd, 'parts', id);
    await writeFile(path.join(folder, '2.part'), await readFile(path.join(folder, '3.part')));
    const damaged = await join();
    assert.equal(damaged.code, 1);
    assert.match(damaged.stderr, /Part 2 holds part 3: delete it and hash the part again\. \[ERR_PART\]/);
    assert.deepEqual(await entries(cwd), ['parts', 'plan.json', 'set']);
  });

  it('refuses files that changed, even if their mtime was put back', async (t) => {
    const { cwd, hash, join } = await planned(t);
    for (const index of [0, 1, 2]) assert.equal((await hash(index)).code, 0);
    const file = path.join(cwd, 'set/a');
    await utimes(file, 1000, 1000);
    await metainfo([...PLAN, '--force'], { cwd });
    for (const index of [0, 1, 2]) await hash(index);
    await writeFile(file, Buffer.alloc(150 * KIB, 'other'));
    await utimes(file, 1000, 1000);
    const late = await hash(0, '--parts', 'others');
    assert.deepEqual([late.code, late.stdout], [1, '']);
    assert.match(late.stderr, /set\/a changed after it was planned: its status changed \(ctime\)/);
    assert.equal((await hash(3)).code, 0, 'the last part has none of the file');
    const joined = await join();
    assert.deepEqual([joined.code, joined.stdout], [1, '']);
    assert.match(joined.stderr, /\[ERR_FILE_CHANGED\]/);
    assert.equal((await join('--no-recheck', '-o', 'x.torrent')).code, 0);
  });

  it('reads the content from another root', async (t) => {
    const { cwd, hash, join } = await planned(t);
    const moved = path.join(cwd, 'elsewhere');
    await rename(path.join(cwd, 'set'), moved);
    const lost = await hash(0);
    assert.equal(lost.code, 1);
    assert.match(lost.stderr, /\[ERR_NOT_FOUND\]/);
    for (const index of [0, 1, 2, 3]) assert.equal((await hash(index, '--root', 'elsewhere')).code, 0);
    assert.equal((await join('--root', 'elsewhere')).code, 0);
    assert.ok((await entries(cwd)).includes('set.torrent'));
  });

  it('takes the index of an array job, unless --index is given', async (t) => {
    const { cwd } = await planned(t);
    const args = ['hash-part', 'plan.json', '--parts', 'parts', '--json'];
    const hash = (env: Record<string, string>, ...more: string[]) => metainfo([...args, ...more], { cwd, env });
    for (const [i, name] of ['JOB_COMPLETION_INDEX', 'AWS_BATCH_JOB_ARRAY_INDEX', 'SLURM_ARRAY_TASK_ID'].entries())
      assert.equal(JSON.parse((await hash({ [name]: String(i) })).stdout).index, i);
    assert.equal(JSON.parse((await hash({ JOB_COMPLETION_INDEX: '1' }, '--index', '3')).stdout).index, 3);
    for (const bad of ['', '-1', '1.5', 'x', '9'.repeat(400)]) {
      const { code, stdout } = await hash({ SLURM_ARRAY_TASK_ID: bad });
      assert.equal(code, 2, bad);
      assert.match(stdout, /required option '--index <n>' not specified/);
    }
    assert.equal((await hash({ SLURM_ARRAY_TASK_ID: '4' })).code, 2, 'the plan has no part 4');
  });

  it('refuses plans that are none, and indexes beyond the last part', async (t) => {
    const { cwd, hash } = await planned(t);
    assert.deepEqual([(await hash(4)).code, (await hash(-1)).code], [2, 2]);
    const text = String(await bytesOf(cwd, 'plan.json'));
    const cases = [
      '',
      '{}',
      'null',
      '[]',
      text.slice(1),
      text.replace('"a"', '"../a"'),
      text.replace('"parts":4', '"parts":5'),
    ];
    for (const bad of cases) {
      await writeFile(path.join(cwd, 'plan.json'), bad);
      const { code, stdout, stderr } = await hash(0);
      assert.deepEqual([code, stdout], [1, ''], bad.slice(0, 40));
      assert.match(stderr, /^error: .*plan.*\[ERR_PLAN\]\n$/, bad.slice(0, 40));
    }
    assert.deepEqual(await entries(cwd), ['plan.json', 'set']);
  });

  it('hashes the parts of a file on a web server', async (t) => {
    const cwd = await temporaryFolder(t);
    const content = Buffer.alloc(100 * KIB, 'film');
    const web = await webServer(t, content);
    const url = web.url();
    const planning = await metainfo(
      ['plan', url, '-o', 'plan.json', '--part-size', '48KiB', '-l', '16KiB', '-k', 'v2'],
      { cwd },
    );
    assert.equal(planning.code, 0, planning.stderr);
    const { parts } = JSON.parse(String(await bytesOf(cwd, 'plan.json')));
    const { host, hostname } = new URL(url);
    const hash = (index: number, ...more: string[]) =>
      metainfo(['hash-part', 'plan.json', '--index', `${index}`, '--parts', 'p', ...more], { cwd });
    const join = (...more: string[]) =>
      metainfo(['join', 'plan.json', '--parts', 'p', '-o', 'x.torrent', ...more], { cwd });
    const requests = web.requests.length;
    for (const refused of [await hash(0), await hash(0, '--allow-host', 'other.example'), await join()]) {
      assert.equal(refused.code, 1);
      assert.ok(refused.stderr.includes(`reads files from ${host}: `), refused.stderr);
      assert.match(refused.stderr, /--allow-host HOST\. \[ERR_PLAN\]/);
    }
    assert.equal(web.requests.length, requests);
    for (let index = 0; index < parts; index += 1) {
      const { code, stderr } = await hash(index, '--allow-host', index === 0 ? host : hostname);
      assert.equal(code, 0, stderr);
    }
    const { code, stderr } = await join('--allow-host', 'other.example', '--allow-host', host);
    assert.equal(code, 0, stderr);
    const draft = new TorrentCreate({
      sources: [{ path: path.basename(url), data: content }],
      urlList: [url],
      pieceLength: 16 * KIB,
    });
    assert.ok(Buffer.from((await draft.generate({ version: 'v2' })).bencode()).equals(await bytesOf(cwd, 'x.torrent')));
  });

  it('follows a redirect only to a host that is allowed', async (t) => {
    const cwd = await temporaryFolder(t);
    const other = await webServer(t, Buffer.alloc(100, 'film'));
    const web = await webServer(t, Buffer.alloc(0), ({ response }) =>
      response.writeHead(302, { location: other.url() }).end(),
    );
    await metainfo(['plan', web.url(), '-o', 'plan.json', '--part-size', '48KiB', '-k', 'v2'], { cwd });
    const hash = (...hosts: string[]) => {
      const allow = hosts.flatMap((host) => ['--allow-host', host]);
      return metainfo(['hash-part', 'plan.json', '--index', '0', '--parts', 'p', ...allow], { cwd });
    };
    const [own, target] = [new URL(web.origin).host, new URL(other.origin).host];
    const before = other.requests.length;
    const refused = await hash(own);
    assert.equal(refused.code, 1);
    assert.ok(refused.stderr.includes(`redirects to ${target}: if you trust it`), refused.stderr);
    assert.match(refused.stderr, /\[ERR_PLAN\]/);
    assert.equal(other.requests.length, before);
    const { code, stderr } = await hash(own, target);
    assert.equal(code, 0, stderr);
  });

  it('hash-part is cancelled by SIGTERM and leaves nothing behind', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'set/x': 1 });
    await sparseFile(path.join(cwd, 'set'), 'x', HUGE);
    await metainfo(['plan', 'set', '-o', 'plan.json', '--part-size', '64GiB'], { cwd });
    const child = start(['hash-part', 'plan.json', '--index', '0', '--parts', 'parts', '-q'], { cwd });
    const ended = finish(child);
    while (child.exitCode === null && openFilesIn(path.join(cwd, 'set'), child.pid).length === 0) await delay(20);
    child.kill('SIGTERM');
    assert.equal((await ended).code, 143);
    assert.deepEqual(await entries(cwd), ['plan.json', 'set']);
  });
});

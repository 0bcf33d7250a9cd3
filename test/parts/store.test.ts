import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { folderStore, partKey } from '../../src/parts/store.ts';
import { exerciseStore, PLAN_ID } from '../support/exercise-store.ts';
import { temporaryFolder } from '../support/tree.ts';

const ID = PLAN_ID;

describe('folderStore', () => {
  it('keeps what was put, and gives null for everything else', async (t) => {
    const folder = path.join(await temporaryFolder(t), 'a/b');
    const store = folderStore(folder);
    await exerciseStore(store);
    assert.equal(await store.get(ID, 1), null);
    await store.delete?.(ID, 1);
    assert.equal(await store.get('cd'.repeat(32), 0), null);
    assert.deepEqual((await readdir(path.join(folder, ID))).sort(), [
      ...['0.part', 'batch.json', 'items-3.json', 'key.json', 'plan.json', 'results-3.json'],
    ]);
  });

  it('writes objects while others are deleted, the last one with its folder', async (t) => {
    const store = folderStore(await temporaryFolder(t));
    const flicker = async (name: string) => {
      for (let i = 0; i < 25; i += 1) {
        await store.put(ID, name, Buffer.from('x'));
        await store.delete?.(ID, name);
      }
    };
    await Promise.all(['items-0', 'results-0', 'items-1'].map(flicker));
    assert.equal(await store.get(ID, 'items-0'), null);
  });

  it('refuses a FIFO instead of waiting for a writer', async (t) => {
    const folder = await temporaryFolder(t);
    await mkdir(path.join(folder, ID));
    execFileSync('mkfifo', [path.join(folder, ID, '0.part')]);
    await assert.rejects(folderStore(folder).get(ID, 0), {
      code: 'ERR_NOT_A_FILE',
      message: /0\.part: not a regular file/,
    });
  });

  it('deletes objects, and the folder of a plan with its last one', async (t) => {
    const folder = await temporaryFolder(t);
    const store = folderStore(folder);
    await store.put(ID, 0, Buffer.from('a'));
    await store.put(ID, 'plan', Buffer.from('b'));
    await store.delete?.(ID, 0);
    assert.equal(await store.get(ID, 0), null);
    assert.deepEqual(await readdir(folder), [ID]);
    await store.delete?.(ID, 'plan');
    assert.deepEqual(await readdir(folder), []);
    await assert.rejects(async () => store.delete?.('..', 0), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('neither reads, writes nor deletes through a link in the place of a plan', async (t) => {
    const folder = await temporaryFolder(t);
    const [root, outside] = [path.join(folder, 'store'), path.join(folder, 'outside')];
    const [plan, name] = [path.join(root, path.dirname(partKey(ID, 0))), path.basename(partKey(ID, 0))];
    await mkdir(path.dirname(plan), { recursive: true });
    await mkdir(outside);
    await writeFile(path.join(outside, name), 'secret');
    await symlink(outside, plan);
    const store = folderStore(root);
    const refused = { code: 'ERR_PATH_OUTSIDE' };
    await assert.rejects(async () => store.get(ID, 0), refused);
    await assert.rejects(async () => store.put(ID, 0, Buffer.from('x')), refused);
    await assert.rejects(async () => store.delete?.(ID, 0), refused);
    assert.deepEqual(await readdir(outside), [name]);
    assert.equal(await readFile(path.join(outside, name), 'utf8'), 'secret');
  });

  it('replaces an object as a whole, also by many writers at once', async (t) => {
    const store = folderStore(await temporaryFolder(t));
    const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(50_000));
    await Promise.all(texts.map((text) => store.put(ID, 0, Buffer.from(text))));
    assert.ok(texts.includes(String(await store.get(ID, 0))));
  });

  it('leaves nothing half-written when it cannot write', async (t) => {
    const folder = await temporaryFolder(t);
    const store = folderStore(folder);
    await store.put(ID, 0, Buffer.from('old'));
    // A folder in the place of the file: nobody can rename a file over it.
    await mkdir(path.join(folder, ID, '1.part'));
    await writeFile(path.join(folder, ID, '1.part/x'), '');
    await assert.rejects(store.put(ID, 1, Buffer.from('new')), { code: 'ERR_NOT_A_FILE' });
    await writeFile(path.join(folder, 'cd'.repeat(32)), 'a file where a folder should be');
    await assert.rejects(store.put('cd'.repeat(32), 0, Buffer.from('new')), { code: 'ERR_WRITE' });
    assert.deepEqual((await readdir(path.join(folder, ID))).sort(), ['0.part', '1.part']);
    assert.equal(String(await readFile(path.join(folder, ID, '0.part'))), 'old');
  });
});

describe('partKey', () => {
  it('is a path of an id and a name', () => {
    assert.equal(partKey(ID, 12), `${ID}/12.part`);
    assert.equal(partKey(ID, 'plan'), `${ID}/plan.json`);
    assert.equal(partKey(ID, 'items-0'), `${ID}/items-0.json`);
  });

  it('refuses names that lead elsewhere', () => {
    const names: unknown[] = [
      '../x',
      '',
      'plan/..',
      'items-',
      'items-x',
      'results-1/..',
      -1,
      1.5,
      Number.NaN,
      2 ** 53,
      null,
      undefined,
      {},
    ];
    for (const name of names) assert.throws(() => partKey(ID, name as never), { code: 'ERR_INVALID_ARGUMENT' });
    for (const id of ['', '..', 'x'.repeat(64), ID.toUpperCase(), `${ID}/..`, `${ID}0`, null, 5])
      assert.throws(() => partKey(id as never, 0), { code: 'ERR_INVALID_ARGUMENT' });
  });
});

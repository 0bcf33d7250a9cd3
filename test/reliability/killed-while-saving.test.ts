// A process is killed while it saves a source, or copies a file to its place: on Linux, nothing of the file stays.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { create } from '../../src/create/create.ts';
import { groupWriter } from '../../src/disk/write-group.ts';
import { noise } from '../hash/reference.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** The third write of the process kills it. */
const KILL = `
import { open } from 'node:fs/promises';
const probe = await open(process.execPath);
const prototype = Object.getPrototypeOf(probe);
await probe.close();
const { write } = prototype;
let writes = 0;
prototype.write = async function (...given) {
  writes += 1;
  if (writes === 3) process.kill(process.pid, 'SIGKILL');
  return write.apply(this, given);
};
`;

const WORKS: Record<string, string> = {
  saving: `
const { create } = await import('${root}/src/create/create.ts');
const upload = async function* () { for (let i = 0; i < 9; i += 1) yield Buffer.alloc(2 ** 20, i); };
await create([{ path: 'a', data: upload(), saveTo: 'album/a' }]);
`,
  copying: `
const { Torrent } = await import('${root}/src/model/torrent/torrent.ts');
const { findMoved } = await import('${root}/src/verify/moved/find-moved.ts');
const { placeMoved } = await import('${root}/src/verify/moved/place-moved.ts');
await placeMoved(await findMoved(await Torrent.read('album.torrent'), 'album', ['other']), 'copy');
`,
};

describe('a killed process', { skip: groupWriter() === null && 'needs files without names' }, () => {
  for (const [name, work] of Object.entries(WORKS))
    it(`leaves nothing of a file: ${name}`, async (t) => {
      const cwd = await temporaryFolder(t);
      await writeTree(cwd, { 'album/a': noise(2 ** 22), 'album/b': 'b' });
      await (await create(path.join(cwd, 'album'), { version: 'v2' })).write(path.join(cwd, 'album.torrent'));
      await mkdir(path.join(cwd, 'other'));
      await rename(path.join(cwd, 'album/a'), path.join(cwd, 'other/x'));
      const args = ['--import', path.join(root, 'scripts/ts.mjs'), '--input-type=module', '-e', KILL + work];
      const child = spawn(process.execPath, args, { cwd, stdio: 'inherit' });
      const [, signal] = await once(child, 'exit');
      assert.equal(signal, 'SIGKILL');
      assert.deepEqual(await readdir(path.join(cwd, 'album')), ['b']);
      assert.deepEqual(await readdir(path.join(cwd, 'other')), ['x']);
    });
});

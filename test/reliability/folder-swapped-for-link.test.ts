// An attacker with write access repeatedly replaces a folder by a symbolic link while it is read. The target has files with the same
// names, sizes and times, and only these have the content of the torrent: reading one byte there would make a piece correct.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import { upgrade } from '../../src/edit/upgrade.ts';
import { MetainfoError, toHex } from '../../src/errors/errors.ts';
import type { Engine } from '../../src/hash/engine.ts';
import { nativeEngine } from '../../src/hash/native.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { verify } from '../../src/verify/verify.ts';
import { noise } from '../hash/reference.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const FILES = 40;
const SIZE = 20_000;
/** The number of swaps that a test must see, and the time after which it gives up. */
const ENOUGH = { swaps: 3000, met: 10 };
const MOST_SECONDS = 60;

const SWAP = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
const [folder, outside] = process.argv.slice(1);
let swaps = 0;
const work = () => {
  for (let i = 0; i < 50; i += 1) {
    renameSync(folder + '/sub', folder + '/.away');
    symlinkSync(outside, folder + '/sub');
    unlinkSync(folder + '/sub');
    renameSync(folder + '/.away', folder + '/sub');
  }
  swaps += 50;
  process.send(swaps);
  setImmediate(work);
};
work();
`;

interface Place {
  folder: string;
  /** The folder with the content of the torrent, outside the root. */
  outside: string;
}

async function place(t: TestContext): Promise<Place> {
  const root = await temporaryFolder(t);
  const [folder, outside] = [path.join(root, 'data'), path.join(root, 'right/sub')];
  const names = Array.from({ length: FILES }, (_, i) => `f${i}`);
  await writeTree(outside, Object.fromEntries(names.map((name, i) => [name, noise(SIZE, i + 1)])));
  await writeTree(folder, Object.fromEntries(names.map((name) => [`sub/${name}`, Buffer.alloc(SIZE)])));
  for (const name of names)
    for (const file of [path.join(outside, name), path.join(folder, 'sub', name)]) await utimes(file, 1e9, 1e9);
  return { folder, outside };
}

/** Repeats a job while the folder is swapped. The job returns whether it met the link in place of the folder. */
async function whileSwapped({ folder, outside }: Place, work: () => Promise<boolean>): Promise<string> {
  const child = spawn(process.execPath, ['-e', SWAP, folder, outside], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let [swaps, met, runs] = [0, 0, 0];
  child.on('message', (count: number) => {
    swaps = count;
  });
  const begin = performance.now();
  try {
    while (swaps < ENOUGH.swaps || met < ENOUGH.met) {
      assert.ok(performance.now() - begin < MOST_SECONDS * 1000, `${swaps} swaps, of which ${runs} runs met ${met}`);
      assert.equal(child.exitCode, null, 'it cannot swap');
      if (await work()) met += 1;
      runs += 1;
    }
  } finally {
    child.kill();
    await once(child, 'exit');
  }
  return `${swaps} swaps: of ${runs} runs ${met} met a link where there had been a folder`;
}

const A_LINK = /there is a symbolic link in its path/;
const torrentOf = (version: 'v1' | 'hybrid') => {
  const sources = Array.from({ length: FILES }, (_, i) => ({ path: `sub/f${i}`, data: noise(SIZE, i + 1) }));
  return new TorrentCreate({ info: { name: 'data' }, pieceLength: 16_384, sources }).generate({ version });
};

/** The codes that such a race may end with. */
function isTyped(error: unknown): boolean {
  assert.ok(error instanceof MetainfoError, String(error));
  assert.notEqual(error.code, 'ERR_INTERNAL');
  return A_LINK.test(error.message);
}

const ENGINES: Record<string, () => Engine> = { native: () => nativeEngine(), node: () => nodeEngine() };

describe('a folder that is swapped for a link while it is read', () => {
  for (const [name, engineOf] of Object.entries(ENGINES)) {
    it(`does not lead verify out of the root: ${name}`, async (t) => {
      const where = await place(t);
      const torrent = await torrentOf('hybrid');
      const engine = engineOf();
      // Reading there would make a piece correct.
      assert.ok((await verify(torrent, path.dirname(where.outside), { engine })).ok);
      const work = async () => {
        const { goodBytes, files } = await verify(torrent, where.folder, { engine, threads: 2 });
        assert.equal(goodBytes, 0);
        return files.some(({ problem = '' }) => A_LINK.test(problem));
      };
      t.diagnostic(await whileSwapped(where, work));
    });
  }

  it('does not lead upgrade out of the root', async (t) => {
    const where = await place(t);
    const torrent = await torrentOf('v1');
    assert.ok(await upgrade(torrent, path.dirname(where.outside)));
    const work = async () => {
      try {
        await upgrade(torrent, where.folder);
      } catch (error) {
        return isTyped(error);
      }
      return assert.fail('what was outside was read');
    };
    t.diagnostic(await whileSwapped(where, work));
  });

  for (const [name, engineOf] of Object.entries(ENGINES)) {
    it(`does not lead generate out of the root: ${name}`, async (t) => {
      const where = await place(t);
      const roots = new Set(
        (await torrentOf('hybrid')).files.map(({ piecesRoot }) => toHex(piecesRoot ?? Buffer.alloc(0))),
      );
      assert.equal(roots.size, FILES);
      const engine = engineOf();
      const work = async () => {
        try {
          const { files } = await new TorrentCreate({ pathRoot: where.folder }).generate({ engine, threads: 2 });
          for (const { piecesRoot } of files) assert.ok(!roots.has(toHex(piecesRoot ?? Buffer.alloc(0))));
          return false;
        } catch (error) {
          return isTyped(error);
        }
      };
      t.diagnostic(await whileSwapped(where, work));
    });
  }
});

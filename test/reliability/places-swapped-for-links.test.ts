// Somebody who may write to the searched folder and to the content swaps folders of both for symlinks that lead outside, while files are placed,
// saved and written for a queue. The swaps are made between the calls of Node, where a test can count them; the release gate also runs a
// process that swaps freely (METAINFO_SWAPS=1000).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { writeOnce } from '../../packages/metainfo-bullmq/src/write-once.ts';
import { create } from '../../src/create/create.ts';
import { MetainfoError } from '../../src/errors/errors.ts';
import type { Torrent } from '../../src/model/torrent/torrent.ts';
import { type FoundContent, findMoved } from '../../src/verify/moved/find-moved.ts';
import { placeMoved } from '../../src/verify/moved/place-moved.ts';
import { temporaryFolder } from '../support/tree.ts';

const SWAPS = Number(process.env['METAINFO_SWAPS'] ?? 24);
const FILES = 12;
const SIZE = 20_000;
const SECRET = 'the secret of somebody else'.padEnd(SIZE, '.');
const skip = process.platform !== 'linux' && 'only Linux holds folders by descriptors';

const contentOf = (i: number) => Buffer.from(`good ${i}`.padEnd(SIZE, `${i}`));
const nameOf = (i: number) => `d/secret${i}`;

/** Exchanges a folder with a link beside it: one step where python3 can do that, as nothing is missing then. */
const SWAPPER = `
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
pairs = [one.split(':') for one in sys.argv[1:]]
print(os.getpid(), flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
while True:
    for folder, link in pairs:
        libc.renameat2(-100, folder.encode(), -100, link.encode(), 2)
`;

/** Takes a step again as long as it fails with a code. */
function untilItWorks(code: string, step: () => void): void {
  for (;;) {
    try {
      step();
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== code) throw error;
    }
  }
}

/** Two folders with links beside them, and what is outside. */
class Place {
  readonly cwd: string;
  /** How often a folder was swapped. */
  swaps = 0;

  constructor(cwd: string) {
    this.cwd = cwd;
  }

  at(...names: string[]): string {
    return path.join(this.cwd, ...names);
  }

  /** Makes all folders anew. */
  fill(): void {
    for (const name of ['album', 'found', 'outside']) rmSync(this.at(name), { recursive: true, force: true });
    for (const name of ['album/d', 'found/d', 'outside']) mkdirSync(this.at(name), { recursive: true });
    writeFileSync(this.at('album/other'), 'x');
    for (let i = 0; i < FILES; i += 1) {
      writeFileSync(this.at('found', nameOf(i)), contentOf(i));
      writeFileSync(this.at('outside', path.basename(nameOf(i))), SECRET);
    }
  }

  /** The links that are swapped for the folders. */
  link(): void {
    for (const side of ['found', 'album']) symlinkSync('../outside', this.at(side, 'evil'));
  }

  /** The job may make or remove an empty folder between two calls of this. */
  swap(side: 'found' | 'album'): void {
    const [folder, link, away] = ['d', 'evil', 'away'].map((name) => this.at(side, name)) as [string, string, string];
    untilItWorks('ENOENT', () => {
      mkdirSync(folder, { recursive: true });
      renameSync(folder, away);
    });
    untilItWorks('EISDIR', () => {
      rmSync(folder, { recursive: true, force: true });
      renameSync(link, folder);
    });
    renameSync(away, link);
    this.swaps += 1;
  }

  /** Fails if a file outside has changed, or its content has come in. */
  requireUntouched(what: string): void {
    assert.equal(readdirSync(this.at('outside')).length, FILES, what);
    for (const name of readdirSync(this.at('outside')))
      assert.equal(readFileSync(this.at('outside', name), 'utf8'), SECRET, what);
    for (const folder of ['album/d', 'album/evil'].filter((one) => lstatSync(this.at(one)).isDirectory()))
      for (const name of readdirSync(this.at(folder))) {
        // A symlink leads to a path that is chosen by the torrent and by the search.
        if (lstatSync(this.at(folder, name)).isSymbolicLink()) continue;
        assert.notEqual(readFileSync(this.at(folder, name), 'utf8'), SECRET, what);
      }
  }

  /** Starts a process that can swap the folders, and stands still. Gives its id. */
  async startSwapper(t: TestContext): Promise<number> {
    const pairs = ['found', 'album'].map((side) => `${this.at(side, 'd')}:${this.at(side, 'evil')}`);
    const swapper = spawn('python3', ['-c', SWAPPER, ...pairs], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => swapper.kill('SIGKILL'));
    const [said] = (await once(swapper.stdout, 'data')) as [Buffer];
    return Number(said.toString());
  }

  /** Lets a process swap the folders until `work` has ended. */
  async whileSwapped(swapper: number, work: () => Promise<unknown>): Promise<void> {
    process.kill(swapper, 'SIGCONT');
    try {
      await work();
    } finally {
      process.kill(swapper, 'SIGSTOP');
      while (!readFileSync(`/proc/${swapper}/stat`, 'latin1').includes(') T ')) await new Promise(setImmediate);
    }
    for (const side of ['found', 'album'] as const) if (lstatSync(this.at(side, 'd')).isSymbolicLink()) this.swap(side);
  }
}

async function placeOf(t: TestContext): Promise<{ place: Place; torrent: Torrent }> {
  const place = new Place(await temporaryFolder(t));
  const sources = Array.from({ length: FILES }, (_, i) => ({ path: nameOf(i), data: contentOf(i) }));
  const torrent = await create([...sources, { path: 'other', data: Buffer.from('x') }], {
    name: 'album',
    version: 'v2',
    onWarning() {},
  });
  return { place, torrent };
}

/** The jobs that write into swapped folders, by name. */
const WORKS: Record<string, (place: Place, torrent: Torrent, found: FoundContent) => Promise<unknown>> = {
  ...Object.fromEntries(
    (['link', 'rename', 'copy', 'reflink', 'symlink'] as const).map((how) => [
      `placing: ${how}`,
      (_: Place, __: Torrent, found: FoundContent) => placeMoved(found, how),
    ]),
  ),
  'making empty files': (place, _, found) => {
    const empty = found.moved.map(({ path: name, to }) => ({ path: name, to }));
    return placeMoved({ moved: [], empty, root: place.at('album') }, 'link');
  },
  saving: async (place) => {
    for (let i = 0; i < FILES; i += 1) {
      const saveTo = place.at('album/d', `saved${i}`);
      await create([{ path: 'a', data: contentOf(i), saveTo }], { beneath: place.at('album') }).catch(requireTyped);
    }
  },
  'the output of a queue': async (place, torrent) => {
    for (let i = 0; i < FILES; i += 1) {
      const options = { force: i % 2 === 0, beneath: place.at('album') };
      await writeOnce(torrent, place.at('album/d', `secret${i}`), options).catch(requireTyped);
    }
  },
};

function requireTyped(error: unknown): void {
  assert.ok(error instanceof MetainfoError && error.code !== 'ERR_INTERNAL', String(error));
}

describe('a folder that is swapped for a link', { skip }, () => {
  for (const [name, work] of Object.entries(WORKS)) {
    it(`leads nothing outside before or during ${name}`, async (t) => {
      const { place, torrent } = await placeOf(t);
      for (const side of ['found', 'album'] as const) {
        place.fill();
        const found = await findMoved(torrent, place.at('album'), [place.at('found')]);
        assert.equal(found.moved.length, FILES);
        place.link();
        place.swap(side);
        await work(place, torrent, found);
        place.requireUntouched(`${name}, ${side}`);
      }
      let rounds = 0;
      for (const before = place.swaps; place.swaps - before < SWAPS; rounds += 1) {
        place.fill();
        const found = await findMoved(torrent, place.at('album'), [place.at('found')]);
        place.link();
        // Between any two system calls of the work, the event loop takes a turn.
        let isDone = false;
        const swapping = (async () => {
          for (let i = 0; !isDone; i += 1) {
            place.swap(i % 2 === 0 ? 'found' : 'album');
            for (let turns = 0; turns < rounds % 7; turns += 1) await new Promise(setImmediate);
            await new Promise(setImmediate);
          }
        })();
        await work(place, torrent, found);
        isDone = true;
        await swapping;
        place.requireUntouched(`${name}, round ${rounds}`);
      }
      t.diagnostic(`${place.swaps} swaps`);
    });

    it(`leads nothing outside while another process swaps it: ${name}`, { skip: SWAPS < 1000 }, async (t) => {
      const { place, torrent } = await placeOf(t);
      const swapper = await place.startSwapper(t);
      for (let round = 0; round < SWAPS / 20; round += 1) {
        place.fill();
        const found = await findMoved(torrent, place.at('album'), [place.at('found')]);
        place.link();
        await place.whileSwapped(swapper, () => work(place, torrent, found));
        place.requireUntouched(`${name}, round ${round}`);
      }
    });
  }
});

import assert from 'node:assert/strict';
import { appendFile, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import { update } from '../../src/edit/update.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { verify } from '../../src/verify/verify.ts';
import { withoutAddon } from '../support/choose-engine.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/tree.ts';

/** Enough for native code to read, sort and compare the files. */
const COUNT = 300;
const PIECE = 16384;

const names = Array.from({ length: COUNT }, (_, i) => {
  const name = i % 50 === 7 ? `é ${i}` : `file ${i}`;
  return i % 3 === 0 ? name : `folder ${i % 7}${i % 2 === 0 ? '' : '-x'}/${name}`;
});
const lengthOf = (i: number) => (i % 11 === 0 ? 0 : i % 97 === 5 ? 3 * PIECE + i : 10 + i);

async function writeAll(root: string): Promise<void> {
  for (const [i, name] of names.entries()) {
    const file = path.join(root, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, Buffer.alloc(lengthOf(i), `${i} `));
  }
}

type Damage = (file: string, root: string) => Promise<void>;
/** Changes of a file, each of which keeps the others in their places. */
const DAMAGES: Readonly<Record<string, Damage>> = {
  missing: (file) => rm(file),
  longer: (file) => appendFile(file, 'more'),
  empty: (file) => writeFile(file, ''),
  wrong: (file) => writeFile(file, Buffer.alloc(50, 'wrong')),
  unfinished: (file) => rename(file, `${file}.part`),
  decomposed: (file) => rename(file, path.join(path.dirname(file), path.basename(file).normalize('NFD'))),
  renamed: (file) => rename(file, `${file} renamed`),
  folder: async (file) => {
    await rm(file);
    await mkdir(file);
  },
  link: async (file, root) => {
    await rename(file, path.join(root, `target of ${path.basename(file)}`));
    await symlink(path.join(root, `target of ${path.basename(file)}`), file);
  },
  broken: async (file) => {
    await rm(file);
    await symlink('nowhere', file);
  },
  extra: (file) => writeFile(`${file} extra`, 'extra'),
  touched: (file) => utimes(file, 1, 1),
};

const damages = fc.array(fc.tuple(fc.nat(COUNT - 1), fc.constantFrom(...Object.keys(DAMAGES))), { maxLength: 6 });

describe('jobs in columns', () => {
  for (const version of ['v1', 'v2', 'hybrid'] as const) {
    it(`give what they give without the addon, whatever the damage: ${version}`, async (t) => {
      const folder = await temporaryFolder(t);
      let round = 0;
      const check = async (list: [number, string][], version_: typeof version) => {
        round += 1;
        const root = path.join(folder, `${round}`, 'root');
        await writeAll(root);
        const draft = new TorrentCreate({ pathRoot: root, pieceLength: PIECE });
        const made = await draft.generateWithTimes({ version: version_, onWarning: () => {} });
        const bytes = made.torrent.bencode();
        const done = new Set<number>();
        for (const [i, damage] of list) {
          if (done.has(i)) continue;
          done.add(i);
          await DAMAGES[damage]?.(path.join(root, names[i] as string), root);
        }
        const engine = nodeEngine();
        const read = () => Torrent.fromBytes(bytes);
        const job = async (work: () => Promise<unknown>) => structuredClone(await work().catch(String));
        const verified = await job(() => verify(read(), root));
        assert.deepEqual(verified, await withoutAddon(() => job(() => verify(read(), root, { engine }))));
        if (version_ === 'v1') return;
        for (const options of [{ since: null }, { fileTimes: made.fileTimes }, { since: new Date(0) }]) {
          const updated = async (more: object) => {
            const result = await update(read(), root, { ...options, ...more, onWarning: () => {} });
            return { ...result, torrent: Buffer.from(result.torrent.bencode()).toString('latin1') };
          };
          assert.deepEqual(await job(() => updated({})), await withoutAddon(() => job(() => updated({ engine }))));
        }
      };
      const input = fc.tuple(damages, fc.constant(version));
      await fc.assert(
        fc.asyncProperty(input, ([list, one]) => check(list, one)),
        {
          numRuns: runs(20),
          examples: [[[[], version]], [[Object.keys(DAMAGES).map((name, i) => [i + 1, name]), version]]],
        },
      );
    });
  }

  it('shows the files of a long report', async (t) => {
    const root = await temporaryFolder(t);
    for (let i = 0; i < 1100; i += 1) await writeFile(path.join(root, `${i}`), 'x');
    const torrent = await new TorrentCreate({ pathRoot: root }).generate();
    assert.match(inspect(await verify(torrent, root)), /files: \[\s+\{\s+path: '0'/);
  });
});

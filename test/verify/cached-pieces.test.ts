import assert from 'node:assert/strict';
import { readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import { MIN_CACHED_BYTES } from '../../src/create/known/known.ts';
import type { GenerateOptions } from '../../src/create/options.ts';
import { stepping } from '../../src/hash/steps.ts';
import type { Torrent } from '../../src/model/torrent/torrent.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { type VerifyOptions, verify } from '../../src/verify/verify.ts';
import { noise } from '../hash/reference.ts';
import { LAYOUTS } from '../support/generated.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const PIECE = 16_384;
const MIN = MIN_CACHED_BYTES;
const DEFAULTS = { ...stepping };

afterEach(() => Object.assign(stepping, DEFAULTS));

/** Ways to change a file of some bytes. */
const CHANGES: Record<string, (file: string) => Promise<void>> = {
  none: async () => {},
  'a byte': async (file) => {
    const content = await readFile(file);
    const at = content.length >> 1;
    content[at] = (content[at] as number) ^ 1;
    await writeFile(file, content);
  },
  'a byte, with the old time': async (file) => {
    const { atime, mtime } = await stat(file);
    const content = await readFile(file);
    content[content.length - 1] = (content[content.length - 1] as number) ^ 1;
    await writeFile(file, content);
    await utimes(file, atime, mtime);
  },
  shorter: (file) => truncate(file, PIECE + 1),
  gone: (file) => rm(file),
};
const CHANGE_NAMES = Object.keys(CHANGES);

/** A report, and the bytes that were read for it. */
async function verified(torrent: Torrent, content: string, options: VerifyOptions) {
  let bytesRead = 0;
  const onProgress = ({ bytes }: { bytes: number }) => {
    bytesRead = bytes;
  };
  const { cachedBytes, ...report } = await verify(torrent, content, { ...options, onProgress });
  return { report: report as VerifyReport, cachedBytes, bytesRead };
}

async function torrentOf(pathRoot: string, options: GenerateOptions): Promise<Torrent> {
  return new TorrentCreate({ pathRoot, pieceLength: PIECE, createdBy: null }).generate(options);
}

describe('a verification with a cache', () => {
  it('gives the report of one without, whatever changes between two of them', async (t) => {
    const root = await temporaryFolder(t);
    let count = 0;
    const size = fc.constantFrom(0, 1, PIECE, MIN - 1, MIN, MIN + 1, MIN + PIECE, MIN + PIECE + 7);
    const change = fc.constantFrom(...CHANGE_NAMES);
    const shape = fc.record({
      files: fc.array(fc.record({ size, before: change, after: change }), { minLength: 1, maxLength: 4 }),
      layout: fc.constantFrom(...LAYOUTS),
      keptBytes: fc.constantFrom(1, MIN * 100),
      version: fc.constantFrom(null, 'v1' as const, 'v2' as const),
      only: fc.constantFrom(null, ['0'], ['1']),
    });
    await fc.assert(
      fc.asyncProperty(shape, async ({ files, layout, keptBytes, version, only }) => {
        fc.pre(files.some((file) => file.size > 0) && (!only || files.length > Number(only[0])));
        count += 1;
        Object.assign(stepping, { keptBytes });
        const content = path.join(root, `${count}`);
        await writeTree(content, Object.fromEntries(files.map(({ size: bytes }, i) => [`${i}`, noise(bytes, i + 1)])));
        const torrent = await torrentOf(content, layout);
        const isOfTorrent = torrent.torrentVersion === 'hybrid' || torrent.torrentVersion === version;
        const options = { version: isOfTorrent ? version : null, files: only };
        const cache = path.join(root, `cache-${count}`);
        for (const when of ['before', 'after'] as const) {
          for (const [i, file] of files.entries()) {
            const isThere = when === 'before' || file.before !== 'gone';
            if (isThere && file.size > 0) await CHANGES[file[when]]?.(path.join(content, `${i}`));
          }
          const plain = await verified(torrent, content, options);
          assert.equal(plain.cachedBytes, undefined);
          for (const _ of ['first', 'second']) {
            const cached = await verified(torrent, content, { ...options, cache });
            assert.deepEqual(cached.report, plain.report);
            assert.equal(cached.bytesRead + (cached.cachedBytes ?? 0), plain.bytesRead);
          }
        }
        await rm(content, { recursive: true });
      }),
      { numRuns: runs(60) },
    );
  });

  it('reads nothing that a creation or verification has hashed', async (t) => {
    const root = await temporaryFolder(t);
    const content = path.join(root, 'set');
    await writeTree(content, { a: noise(MIN + 1, 1), b: noise(3 * MIN, 2), c: noise(MIN, 3) });
    // Files that share pieces are not in the cache.
    for (const [i, layout] of LAYOUTS.slice(1).entries()) {
      const cache = path.join(root, `cache-${i}`);
      const torrent = await torrentOf(content, { ...layout, cache });
      const { report, cachedBytes, bytesRead } = await verified(torrent, content, { cache });
      assert.equal(report.ok, true);
      assert.deepEqual({ cachedBytes, bytesRead }, { cachedBytes: 5 * MIN + 1, bytesRead: 0 }, JSON.stringify(layout));
      const other = path.join(root, `other-${i}`);
      await verify(torrent, content, { cache: other });
      assert.equal((await verified(torrent, content, { cache: other })).bytesRead, 0);
    }
  });

  it('reads only the files that no earlier one has hashed', async (t) => {
    Object.assign(stepping, { keptBytes: MIN });
    const root = await temporaryFolder(t);
    const content = path.join(root, 'set');
    await writeTree(content, Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`${i}`, noise(MIN, i + 1)])));
    const torrent = await torrentOf(content, { version: 'v2' });
    const cache = path.join(root, 'cache');
    await truncate(path.join(content, '6'), MIN - 1);
    await verify(torrent, content, { cache });
    await writeFile(path.join(content, '6'), noise(MIN, 7));
    const { report, bytesRead } = await verified(torrent, content, { cache });
    assert.deepEqual([report.ok, bytesRead], [true, MIN]);
  });

  it('reads everything for a sample', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { 'set/a': noise(2 * MIN) });
    const cache = path.join(root, 'cache');
    const content = path.join(root, 'set');
    const torrent = await torrentOf(content, { version: 'v2', cache });
    const plain = await verify(torrent, content, { fast: true });
    assert.deepEqual(await verify(torrent, content, { fast: true, cache }), plain);
  });

  it('gives no bytes of the cache for a short file', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: noise(10) });
    const torrent = await torrentOf(path.join(root, 'a'), {});
    const cache = path.join(root, 'cache');
    assert.equal((await verify(torrent, path.join(root, 'a'), { cache })).cachedBytes, 0);
  });
});

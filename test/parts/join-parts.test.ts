import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import { hashPart } from '../../src/parts/hash-part.ts';
import { joinParts } from '../../src/parts/join-parts.ts';
import type { TorrentPlan } from '../../src/parts/plan.ts';
import { planParts } from '../../src/parts/torrent-plan.ts';
import { tree, writeGenerated } from '../support/generated.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/tree.ts';

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const KIB = 1024;

/** The plan as another machine gets it. */
const sent = (plan: TorrentPlan): TorrentPlan => JSON.parse(JSON.stringify(plan));

/** Hashes all parts of a plan in this order. */
async function partsOf(plan: TorrentPlan, order: readonly number[]): Promise<Map<number, Uint8Array>> {
  const parts = new Map<number, Uint8Array>();
  for (const index of order) parts.set(index, await hashPart(plan, index));
  return parts;
}

describe('joinParts', () => {
  it('makes the bytes that generate makes, whatever the tree, the version, the part size and the order', async (t) => {
    const cwd = await temporaryFolder(t);
    let count = 0;
    const options = fc.record({
      version: fc.constantFrom(...VERSIONS),
      padding: fc.boolean(),
      tailPad: fc.boolean(),
      padNames: fc.constantFrom('auto' as const, 'libtorrent' as const, 'unique' as const),
    });
    const partSize = fc.oneof(
      fc.constantFrom(1, 16 * KIB, 64 * KIB, 256 * KIB, 2 ** 30),
      fc.integer({ min: 1, max: 700 * KIB }),
    );
    const property = fc.asyncProperty(
      tree,
      options,
      partSize,
      fc.infiniteStream(fc.nat()),
      async (generated, given, size, random) => {
        const folder = path.join(cwd, `tree${count++}`);
        await writeGenerated(folder, generated);
        const pathRoot = generated.single ? path.join(folder, generated.files[0]?.path as string) : folder;
        const draft = new TorrentCreate({
          pathRoot,
          pieceLength: generated.pieceLength,
          comment: 'x',
          createdBy: null,
        });
        const plan = sent(await planParts(draft, { ...given, partSize: size }));
        const order = Array.from({ length: plan.parts }, (_, i) => [random.next().value as number, i] as const);
        const parts = await partsOf(
          plan,
          order.sort(([a], [b]) => a - b).map(([, index]) => index),
        );
        const joined = await joinParts(plan, (index) => parts.get(index) ?? null);
        const whole = await draft.generate(given);
        assert.deepEqual(joined.bencode(), whole.bencode());
      },
    );
    await fc.assert(property, { numRuns: runs(300) });
  });
});

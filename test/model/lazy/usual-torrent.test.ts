import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { sortV2 } from '../../../src/layout/order.ts';
import { Torrent } from '../../../src/model/torrent/torrent.ts';
import { noise } from '../../hash/reference.ts';
import { withoutAddon } from '../../support/choose-engine.ts';
import { runs } from '../../support/runs.ts';
import { build, PIECE } from '../build.ts';
import { READERS } from '../readers.ts';

/** Enough for native code to read the lists. */
const COUNT = 200;
const nameOf = (i: number) => `${i % 5 === 0 ? '' : `folder ${i % 4}/`}${i % 20 === 3 ? 'é' : 'file'} ${i}`;
const contentOf = (i: number) => (i % 30 === 7 ? noise(2 * PIECE + i, i) : Buffer.alloc(i % 9 === 0 ? 0 : i, 'x'));
const files = Array.from({ length: COUNT }, (_, i) => ({ path: nameOf(i).split('/'), content: contentOf(i) }));
const CONTENT = Object.fromEntries(sortV2(files).map(({ path, content }) => [path.join('/'), content]));

/** Everything that can be read of bytes, or the error. */
function outcome(bytes: Buffer, limits: object): unknown {
  try {
    const { torrent, ...rest } = Torrent.inspect(bytes, { limits });
    if (!torrent) return rest;
    return [rest, ...Object.values(READERS).map((read) => read(torrent))];
  } catch (error) {
    return [String(error), { ...(error as Error) }];
  }
}

/** A change of bytes: what stands for a text is replaced, or a byte anywhere. */
const change = fc.oneof(
  fc.tuple(
    fc.constantFrom(
      '6:length',
      'i5e',
      '4:file',
      'ee',
      'd0:d',
      '4:attr1:p',
      'folder 1',
      'é',
      '11:pieces root32:',
      '/',
      '.pad',
    ),
    fc.constantFrom(
      '',
      'e',
      'le',
      '6:lengthi0e',
      'folder 2',
      'folder/1',
      '4:attr1:l',
      '4:attr1:x',
      '1:ai1e',
      '\\',
      ':',
      '\ud800',
    ),
    fc.nat(COUNT),
  ),
  fc.tuple(fc.nat(100_000), fc.nat(255), fc.constant(null)),
);

function changed(bytes: Buffer, list: readonly (readonly [string | number, string | number, number | null])[]): Buffer {
  let result = Buffer.from(bytes);
  for (const [from, to, skip] of list) {
    if (skip === null) {
      result[(from as number) % result.length] = to as number;
      continue;
    }
    let at = result.indexOf(from as string);
    for (let i = 0; i < skip && at >= 0; i += 1) at = result.indexOf(from as string, at + 1);
    if (at < 0) continue;
    result = Buffer.concat([
      result.subarray(0, at),
      Buffer.from(to as string),
      result.subarray(at + (from as string).length),
    ]);
  }
  return result;
}

describe('torrents of usual lists', () => {
  for (const version of ['v1', 'v2', 'hybrid'] as const) {
    const { bytes } = build({ version, content: CONTENT, info: { private: 1 }, top: { announce: 'http://t/' } });

    it(`read as they do without the addon: ${version}`, async () => {
      for (const [name, read] of Object.entries(READERS)) {
        const expected = await withoutAddon(() => read(Torrent.fromBytes(bytes)));
        assert.deepEqual(read(Torrent.fromBytes(bytes)), expected, name);
      }
    });

    it(`have the same issues and errors after any change: ${version}`, async () => {
      const limits = fc.constantFrom(
        {},
        { files: COUNT - 1 },
        { items: 1000 },
        { paths: 2000 },
        { text: 8 },
        { depth: 4 },
        { digits: 3 },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(change, { maxLength: 2 }), limits, async (list, most) => {
          const damaged = changed(bytes, list);
          const expected = await withoutAddon(() => outcome(damaged, most));
          assert.deepEqual(outcome(damaged, most), expected);
        }),
        { numRuns: runs(300) },
      );
    });
  }
});

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { lengthFor, type PieceLengthLimits } from '../../src/create/choose-length.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { measureFiles } from '../../src/create/findings/file-sizes.ts';
import { sizesOf, type TorrentShape } from '../../src/create/findings/torrent-sizes.ts';
import { MetainfoError } from '../../src/errors/errors.ts';
import { FileTable } from '../../src/layout/file-table.ts';
import { choosePieceLength } from '../../src/layout/piece-length.ts';
import type { TorrentVersion } from '../../src/model/discriminator.ts';
import { tree } from '../support/generated.ts';
import { runs } from '../support/runs.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const LENGTHS = Array.from({ length: 18 }, (_, i) => 2 ** (14 + i));

type Given = { version: TorrentVersion; lengths: readonly number[]; padding?: boolean; tailPad?: boolean };

function shapeOf({ version, lengths, padding = true, tailPad = true }: Given): TorrentShape {
  const isPadded = version === 'hybrid' || (version === 'v1' && padding);
  return {
    version,
    isSingleFile: false,
    name: 't',
    pieceLength: 16 * KIB,
    padding: isPadded ? { tailPad, padNames: 'libtorrent' } : null,
    files: new FileTable(lengths.map((length, i) => ({ path: [`folder${i % 3}`, `${i}`.padStart(3, '0')], length }))),
    otherFields: new Map(),
  };
}

/** The pieces of a torrent, counted without its code. */
function piecesOf({ version, lengths, padding = true, tailPad = true }: Given, pieceLength: number): number {
  const each = lengths.map((length) => Math.ceil(length / pieceLength));
  if (version === 'v2' || ((version === 'hybrid' || padding) && lengths.length > 1 && tailPad))
    return each.reduce((a, b) => a + b, 0);
  if (version === 'v1' && !padding) return Math.ceil(lengths.reduce((a, b) => a + b, 0) / pieceLength);
  return each.reduce((a, b) => a + b, 0);
}

const chosen = (given: Given, limits: PieceLengthLimits, pieceLength: number | null = null) =>
  lengthFor({ shape: shapeOf(given), pieceLength }, limits);

const distance = (a: number, b: number) => Math.abs(Math.log(a) - Math.log(b));

const size = fc.oneof(fc.nat(100), fc.nat(MIB), fc.nat(2 ** 33), fc.constantFrom(16 * KIB, MIB, 2 ** 31, 2 ** 40));
const given = fc
  .record({
    version: fc.constantFrom('v1' as const, 'v2' as const, 'hybrid' as const),
    lengths: fc.array(size, { minLength: 1, maxLength: 30 }),
    padding: fc.boolean(),
    tailPad: fc.boolean(),
  })
  .filter(({ lengths }) => lengths.some((length) => length > 0));
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
const wish = fc.record({
  maxPieceLength: maybe(fc.oneof(fc.constantFrom(...LENGTHS), fc.integer({ min: 16 * KIB, max: 2 ** 33 }))),
  targetPieces: maybe(fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.constantFrom(1, 2 ** 40))),
  maxTorrentSize: maybe(fc.oneof(fc.integer({ min: 1, max: 10 * KIB }), fc.integer({ min: 1, max: 10 * MIB }))),
});
const fixed = maybe(fc.constantFrom(...LENGTHS));

describe('lengthFor', () => {
  it('satisfies every wish with the length that brute force finds, or refuses where none does', async () => {
    await fc.assert(
      fc.asyncProperty(given, wish, async (how, limits) => {
        const shape = shapeOf(how);
        const { maxPieceLength, targetPieces, maxTorrentSize } = limits;
        const bytes = new Map<number, number>();
        for (const pieceLength of LENGTHS) {
          const tried = { ...shape, pieceLength };
          bytes.set(pieceLength, sizesOf(tried, await measureFiles(tried, 996)).bytes);
        }
        const capped = LENGTHS.filter((length) => length <= (maxPieceLength ?? Number.POSITIVE_INFINITY));
        const isSmall = (length: number) =>
          (bytes.get(length) as number) <= (maxTorrentSize ?? Number.POSITIVE_INFINITY);
        const total = how.lengths.reduce((a, b) => a + b, 0);
        const auto = Math.min(choosePieceLength(total), capped.at(-1) as number);
        const far = (length: number) => distance(piecesOf(how, length), targetPieces as number);
        const closest = (a: number, b: number) => (far(b) < far(a) - 1e-12 ? b : a);
        const start = targetPieces === null ? auto : capped.reduce(closest);
        const wanted = capped.find((length) => length >= start && isSmall(length)) ?? capped.findLast(isSmall);
        const result = await chosen(how, limits).catch((error: unknown) => error);
        if (wanted !== undefined) {
          assert.equal(result, wanted);
          return;
        }
        assert.ok(result instanceof MetainfoError && result.code === 'ERR_PIECE_LENGTH');
        const needed = LENGTHS.find(isSmall);
        if (needed)
          assert.match(result.message, /^maxTorrentSize .+ needs pieces of at least .+, but maxPieceLength is /);
        else assert.ok(result.message.includes(` has ${Math.min(...bytes.values())} bytes, `));
      }),
      { numRuns: runs(300) },
    );
  });

  it('accepts a given piece length unless it contradicts a wish', async () => {
    await fc.assert(
      fc.asyncProperty(given, wish, fixed, async (how, limits, pieceLength) => {
        if (pieceLength === null) return;
        const shape = { ...shapeOf(how), pieceLength };
        const { maxPieceLength, targetPieces, maxTorrentSize } = limits;
        const best = await chosen(how, limits).catch(() => null);
        const tooLong = maxPieceLength !== null && pieceLength > maxPieceLength;
        const tooLarge =
          maxTorrentSize !== null && sizesOf(shape, await measureFiles(shape, 996)).bytes > maxTorrentSize;
        const far = (length: number) => distance(piecesOf(how, length), targetPieces as number);
        const misses = targetPieces !== null && best !== null && far(pieceLength) > far(best) + 1e-12;
        const result = await chosen(how, limits, pieceLength).catch((error: unknown) => error);
        if (!(tooLong || tooLarge || misses)) assert.equal(result, pieceLength);
        else assert.equal((result as MetainfoError).code, 'ERR_PIECE_LENGTH');
      }),
      { numRuns: runs(300) },
    );
  });

  it('says which two contradict each other, and what each needs', async () => {
    const film: Given = { version: 'v1', lengths: [2 ** 34], padding: false };
    const cases: [limits: PieceLengthLimits, pieceLength: number | null, message: RegExp][] = [
      [
        { maxTorrentSize: 100 * KIB, maxPieceLength: MIB },
        null,
        /^maxTorrentSize 100 KiB needs pieces of at least 4 MiB, but maxPieceLength is 1 MiB\.$/,
      ],
      [
        { maxTorrentSize: 100_000 },
        2 * MIB,
        /^maxTorrentSize 100000 bytes needs pieces of at least 4 MiB, but pieceLength is 2 MiB\.$/,
      ],
      [{ maxPieceLength: 4 * MIB }, 8 * MIB, /^pieceLength is 8 MiB, but maxPieceLength is 4 MiB\.$/],
      [
        { targetPieces: 1000 },
        MIB,
        /^targetPieces 1000 needs a piece length of 16 MiB, which gives 1024 pieces, but pieceLength is 1 MiB, which gives 16384\.$/,
      ],
      [
        { maxTorrentSize: 200 },
        null,
        /^maxTorrentSize 200 bytes is too small: the smallest possible torrent has 2\d\d bytes, with pieces of 2 GiB\. Use fewer files, or another version\.$/,
      ],
    ];
    for (const [limits, pieceLength, message] of cases)
      await assert.rejects(chosen(film, limits, pieceLength), { code: 'ERR_PIECE_LENGTH', message });
  });

  it('finds a shorter piece length where pad files make longer ones larger', async () => {
    // Files of exactly one block need no pad files in pieces of one block.
    const blocks = Array.from({ length: 2000 }, () => 16 * KIB);
    const how: Given = { version: 'hybrid', lengths: [...blocks, 10 * MIB] };
    const shape = shapeOf(how);
    const { bytes } = sizesOf(shape, await measureFiles(shape, 996));
    assert.equal(await chosen(how, { targetPieces: 2002 }), 8 * MIB);
    assert.equal(await chosen(how, { targetPieces: 2002, maxTorrentSize: bytes }), 16 * KIB);
    await assert.rejects(chosen(how, { maxTorrentSize: bytes }, 4 * MIB), {
      message: /^maxTorrentSize \d+ bytes needs pieces of at most 16 KiB, but pieceLength is 4 MiB\.$/,
    });
  });
});

describe('generate and plan with limits', () => {
  const data = Buffer.alloc(3 * MIB, 7);
  const draft = () => new TorrentCreate({ sources: [{ path: 'film', data }] });

  it('choose the piece length', async () => {
    for (const [limits, pieceLength] of [
      [{}, 16 * KIB],
      [{ maxPieceLength: 16 * KIB }, 16 * KIB],
      [{ targetPieces: 12 }, 256 * KIB],
      [{ targetPieces: 12, maxPieceLength: 65 * KIB }, 64 * KIB],
      [{ maxTorrentSize: 1000 }, 256 * KIB],
      [{ targetPieces: null, maxTorrentSize: null, maxPieceLength: null }, 16 * KIB],
    ] as const) {
      const torrent = await draft().generate(limits);
      assert.equal(torrent.info.pieceLength, pieceLength, JSON.stringify(limits));
      const plan = await draft().plan(limits);
      assert.equal(plan.pieceLength, pieceLength);
    }
    const { length } = (await draft().generate({ maxTorrentSize: 1000 })).bencode();
    assert.ok(length <= 1000);
  });

  it('keep maxTorrentSize in the torrent that is made', async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.integer({ min: 300, max: 4000 }), async ({ files, single }, maxTorrentSize) => {
        const sources = files.map(({ path, size: bytes, seed }) => ({ path, data: Buffer.alloc(bytes, seed) }));
        const name = single ? files[0]?.path : 'name';
        const fields = new TorrentCreate({ sources, info: { name: name as string } });
        const options = { maxTorrentSize, onWarning: () => {} };
        const torrent = await fields.generate(options).catch((error: MetainfoError) => {
          assert.equal(error.code, 'ERR_PIECE_LENGTH');
          return null;
        });
        if (torrent) assert.ok(torrent.bencode().length <= maxTorrentSize);
      }),
      { numRuns: runs(60) },
    );
  });

  it('refuse wrong limits', async () => {
    for (const limits of [
      { maxPieceLength: 1024 },
      { maxPieceLength: 16_384.5 },
      { targetPieces: 0 },
      { targetPieces: '5' },
      { maxTorrentSize: -1 },
      { maxTorrentSize: Number.NaN },
    ])
      await assert.rejects(draft().generate(limits as PieceLengthLimits), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('list a contradiction as a finding of the plan, and go on', async () => {
    const plan = await draft().plan({ maxTorrentSize: 10 });
    assert.deepEqual(
      plan.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code),
      ['ERR_PIECE_LENGTH'],
    );
    assert.equal(plan.pieceLength, 16 * KIB);
    assert.ok((plan.torrentSize as number) > 10);
  });

  it('leave a torrent without content to its own error', async () => {
    const empty = new TorrentCreate({ sources: [{ path: 'a', data: Buffer.alloc(0) }] });
    await assert.rejects(empty.generate({ targetPieces: 5, maxTorrentSize: 1 }), { code: 'ERR_NO_DATA' });
  });

  it('need the size of a stream, except for maxPieceLength', async () => {
    const streamed = () =>
      new TorrentCreate({
        sources: [
          { path: 'a', data: Readable.from([data]) },
          { path: 'b', data },
        ],
        info: { name: 't' },
      });
    assert.equal((await streamed().generate({ maxPieceLength: 100 * KIB })).info.pieceLength, 64 * KIB);
    assert.equal((await streamed().generate({ maxPieceLength: 8 * MIB })).info.pieceLength, MIB);
    for (const limits of [{ targetPieces: 5 }, { maxTorrentSize: 5 }])
      await assert.rejects(streamed().generate(limits), {
        code: 'ERR_SIZE_UNKNOWN',
        message: /^The size of a must be given: (targetPieces|maxTorrentSize) needs the size of all files\.$/,
      });
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../../src/create/draft.ts';
import { measureFiles } from '../../../src/create/findings/file-sizes.ts';
import { limitFindings } from '../../../src/create/findings/reader-limits.ts';
import { type SizeChoice, SizesOf, sizesOf, type TorrentShape } from '../../../src/create/findings/torrent-sizes.ts';
import { FileTable } from '../../../src/layout/file-table.ts';
import type { TorrentVersion } from '../../../src/model/discriminator.ts';
import { tree } from '../../support/generated.ts';
import { runs } from '../../support/runs.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

const shapeOf = (
  version: TorrentVersion,
  pieceLength: number,
  lengths: readonly number[],
  folder = '',
): TorrentShape => ({
  version,
  pieceLength,
  isSingleFile: false,
  name: 't',
  padding: version === 'hybrid' ? { tailPad: true, padNames: 'unique' } : null,
  files: new FileTable(
    lengths.map((length, i) => ({ path: [...folder.split('/').filter(Boolean), `${i}`.padStart(6, '0')], length })),
  ),
  otherFields: new Map(),
});

const measured = async (shape: TorrentShape, choice: SizeChoice = {}) => {
  const tried = { ...shape, ...choice };
  return sizesOf(tried, await measureFiles(tried, 996));
};

/** The limit that a finding is about. */
function limitOf(message: string): { name: 'bytes' | 'items' | 'pieces'; max: number } {
  const [, noun = '', max] = /^The torrent has \d+ ([a-z ]+): .* at most (\d+)/.exec(message) ?? [];
  const name = noun === 'bencoded values' ? 'items' : (noun as 'bytes' | 'pieces');
  return { name, max: Number(max) };
}

/** The torrent that an advice describes. */
function choiceOf(advice: string, { pieceLength }: TorrentShape): SizeChoice | null {
  const [, number, unit] = /a piece length of (\d+) ([KM])iB/.exec(advice) ?? [];
  const version = /Make a (v1|v2) torrent/.exec(advice)?.[1] as TorrentVersion | undefined;
  if (number === undefined && !version) return null;
  const length = number === undefined ? pieceLength : Number(number) * (unit === 'K' ? KIB : MIB);
  return { pieceLength: length, ...(version && { version, padding: null }) };
}

describe('limitFindings', () => {
  const LENGTHS = Array.from({ length: 15 }, (_, i) => 2 ** (14 + i));

  it('advises the shortest longer piece length, or the version, that keeps the limit', async () => {
    const size = fc.oneof(fc.nat(2 ** 20), fc.integer({ min: 2 ** 30, max: 2 ** 43 }));
    const given = fc.record({
      version: fc.constantFrom('v1' as const, 'v2' as const, 'hybrid' as const),
      pieceLength: fc.constantFrom(...LENGTHS.slice(0, 9)),
      lengths: fc.array(size, { minLength: 1, maxLength: 6 }),
    });
    let advised = 0;
    await fc.assert(
      fc.asyncProperty(given, async ({ version, pieceLength, lengths }) => {
        const shape = shapeOf(version, pieceLength, lengths);
        for (const { code, message, advice } of await limitFindings(new SizesOf(shape))) {
          if (code !== 'reader_limit') continue;
          const { name, max } = limitOf(message);
          const longer = LENGTHS.filter((length) => length > pieceLength);
          const sizes = await Promise.all(
            longer.map(async (length) => (await measured(shape, { pieceLength: length }))[name]),
          );
          const enough = longer[sizes.findIndex((one) => one <= max)];
          const choice = choiceOf(advice, shape);
          if (enough !== undefined) assert.deepEqual(choice, { pieceLength: enough });
          if (choice === null) continue;
          advised += 1;
          assert.ok((await measured(shape, choice))[name] <= max, `${message} ${advice}`);
        }
      }),
      { numRuns: runs(100) },
    );
    assert.ok(advised > 10);
  });

  it('advises another version where only that keeps the limit', async () => {
    const folder = 'd/'.repeat(90);
    const many = shapeOf(
      'hybrid',
      16 * KIB,
      Array.from({ length: 27_000 }, () => 1),
      folder,
    );
    const found = (await limitFindings(new SizesOf(many))).filter(({ code }) => code === 'reader_limit');
    // The list of a hybrid repeats the folders of each file.
    assert.deepEqual(
      found.map(({ message, advice, path }) => [limitOf(message).name, advice, path]),
      ['items', 'items', 'bytes'].map((name) => [name, 'Make a v2 torrent.', null]),
    );
    assert.ok((await measured(many, { version: 'v2', padding: null })).items <= 3_000_000);
  });

  it('says so if no piece length or version avoids a problem', async () => {
    const shape = shapeOf(
      'v1',
      16 * KIB,
      Array.from({ length: 300_000 }, () => 1),
      'a/b/c/d/e',
    );
    const found = await limitFindings(new SizesOf(shape));
    assert.deepEqual(
      [...new Set(found.filter(({ code }) => code === 'reader_limit').map(({ advice }) => advice))],
      ['No piece length or version avoids that: use fewer files.'],
    );
  });

  it('measures nothing more if nothing is to be advised', async () => {
    const sizes = new SizesOf(shapeOf('hybrid', 16 * KIB, [1, 2, 3]));
    let count = 0;
    const files = sizes.files.bind(sizes);
    sizes.files = (choice) => {
      count += choice && Object.keys(choice).length > 0 ? 1 : 0;
      return files(choice);
    };
    assert.deepEqual(await limitFindings(sizes), []);
    assert.equal(count, 0);
  });

  it('advises what to do about lengths that libtorrent does not support', async () => {
    const shape = shapeOf('v2', 2 ** 29, [2 ** 44, 1]);
    assert.deepEqual(
      (await limitFindings(new SizesOf(shape))).map(({ advice }) => advice),
      ['Use a piece length of 256 MiB or less.', 'Split the file.'],
    );
  });

  it('says what is wrong and what to do', async () => {
    const shapes = [
      { ...shapeOf('hybrid', 16 * KIB, [1, 1]), padding: { tailPad: true, padNames: 'libtorrent' as const } },
      shapeOf('v2', 16 * KIB, [1]),
      { ...shapeOf('v1', 16 * KIB, [1]), files: new FileTable([{ path: ['_____padding_file_0_'], length: 1 }]) },
    ];
    const expected = ['pad_names .pad/16383', 'single_file_folder t', 'named_like_pad _____padding_file_0_'];
    for (const [i, shape] of shapes.entries()) {
      const [finding, ...rest] = await limitFindings(new SizesOf(shape));
      assert.ok(finding && rest.length === 0);
      assert.equal(`${finding.code} ${finding.path}`, expected[i]);
      assert.notEqual(finding.advice, '');
    }
  });

  it('lists at most 100 names like those of pad files', async () => {
    const files = Array.from({ length: 150 }, (_, i) => ({ path: [`_____padding_file_${i}_`], length: 1 }));
    const found = await limitFindings(new SizesOf({ ...shapeOf('v1', 16 * KIB, []), files: new FileTable(files) }));
    assert.equal(found.length, 101);
    assert.equal(found[100]?.message, '50 more names like those of pad files.');
  });

  it('refuses a tree that is too deep for any reader', async () => {
    await assert.rejects(limitFindings(new SizesOf(shapeOf('v2', 16 * KIB, [1, 1], 'd/'.repeat(996)))), {
      code: 'ERR_NAME',
    });
  });
});

describe('the size in a plan', () => {
  it('is that of the torrent that is made, and counts equal files separately', async () => {
    const options = fc.record({
      version: fc.constantFrom('v1' as const, 'v2' as const, 'hybrid' as const),
      tailPad: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(tree, options, async ({ files, pieceLength }, how) => {
        // Different content for each file, so that no layer is shared.
        const sources = files.map(({ path, size }, i) => ({ path, data: Buffer.alloc(size, i + 1) }));
        const draft = new TorrentCreate({ sources, pieceLength, info: { name: 'n' }, comment: 'é' });
        const torrent = await draft.generate({ ...how, onWarning: () => {} });
        const plan = await draft.plan(how);
        const pads =
          torrent.torrentVersion === 'v2' ? [] : (torrent.info.files ?? []).filter(({ attr }) => attr === 'p');
        assert.equal(plan.torrentSize, torrent.bencode().length);
        assert.deepEqual(
          [plan.pieces, plan.padFiles, plan.padBytes],
          [torrent.nPieces, pads.length, pads.reduce((sum, { length }) => sum + length, 0)],
        );
      }),
      { numRuns: runs(60) },
    );
  });
});

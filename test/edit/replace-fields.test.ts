import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BencodeError } from '../../src/bencode/bencode-error.ts';
import { type Encodable, RawBencode } from '../../src/bencode/value.ts';
import type { TorrentChanges } from '../../src/edit/changes.ts';
import { edit } from '../../src/edit/edit.ts';
import { ValidationError } from '../../src/errors/errors.ts';
import type { ValidationContext } from '../../src/model/profile.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { latin1 } from '../bencode/reference.ts';
import { FIXTURES } from '../fixtures/fixtures.ts';
import { text } from '../model/arbitraries.ts';

const CONTEXTS: ValidationContext[] = [
  ...(['default', 'strict', 'compat'] as const).map((profile) => ({ profile })),
  { padding: 'strict' },
  { padding: 'forbid' },
  { paddingPath: 'strict' },
];

/** Every fixture in every context that accepts it. */
const TORRENTS = FIXTURES.flatMap(({ bytes }) =>
  CONTEXTS.flatMap((context) => {
    try {
      return [{ torrent: Torrent.fromBytes(bytes, { context }), context }];
    } catch {
      return [];
    }
  }),
);

// Raw bytes that are not one canonical value may change how the bytes after them read.
const RAW = [
  '1:x',
  'i07e',
  'de',
  'd1:b0:1:a0:e',
  '1:x1:y1:z',
  '1:xi1e',
  '',
  'l',
  'd',
  '8:',
  '2:x',
  'li1eli2eee',
  '1:xe',
];
const value: fc.Arbitrary<Encodable | null> = fc.oneof(
  fc.option(text),
  fc.integer(),
  fc.constantFrom(...RAW).map((raw) => new RawBencode(latin1(raw))),
);
const key = fc.constantFrom(
  'a',
  'infos',
  'inf',
  'piece layer',
  'announc',
  'comments',
  'zz',
  'publisher',
  'comment.utf-8',
);
const changes = fc.record(
  {
    comment: fc.option(text),
    createdBy: fc.option(text),
    creationDate: fc.option(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }).map((seconds) => new Date(seconds * 1000))),
    trackers: fc.constantFrom(null, ['udp://a'], [['udp://a', 'http://b']]),
    urlList: fc.constantFrom(null, ['http://w/']),
    extra: fc.dictionary(key, value, { maxKeys: 3, noNullPrototype: true }),
  },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<TorrentChanges>;

/** Everything that a torrent holds, or the reason why it was rejected. */
function outcome(make: () => Torrent): object {
  try {
    const torrent = make();
    const { infoBytes, files, flatFiles, infohashV1, infohashV2, nPieces, name, fileSize } = torrent;
    return {
      ...torrent,
      bytes: torrent.bencode(),
      infoBytes,
      files,
      flatFiles,
      infohashV1,
      infohashV2,
      nPieces,
      name,
      fileSize,
    };
  } catch (error) {
    if (error instanceof BencodeError) return { code: error.bencodeCode, offset: error.offset, reason: error.reason };
    assert.ok(error instanceof ValidationError, String(error));
    return { issues: error.issues };
  }
}

describe('replaceFields without a second check of info', () => {
  it('equals a check of the whole result: same torrents, same errors', () => {
    const seen = { quick: 0, warned: 0, refused: 0 };
    const property = fc.property(
      fc.constantFrom(...TORRENTS),
      fc.option(fc.constantFrom(...CONTEXTS), { nil: null, freq: 3 }),
      changes,
      ({ torrent, context: read }, other, wanted) => {
        const context = other ?? read;
        // Reading with another context forces a check of the whole result.
        const whole = Torrent.fromBytes(torrent.bencode(), { context: { ...read, paddingPath: 'default' } });
        const got = outcome(() => edit(torrent, wanted, { context }));
        assert.deepEqual(
          got,
          outcome(() => edit(whole, wanted, { context })),
        );
        if (!('info' in got)) seen.refused += 1;
        else if (got.info === torrent.info) {
          seen.quick += 1;
          if ((got as Torrent).warnings.length > 0) seen.warned += 1;
        }
      },
    );
    fc.assert(property, { numRuns: 3000 });
    for (const [kind, count] of Object.entries(seen)) assert.ok(count > 20, `${kind}: ${count}`);
  });

  it('checks everything after a read with another context or with warnings', () => {
    // The caller may change the context object after the read.
    const changing: ValidationContext = { profile: 'compat' };
    const good = TORRENTS.find(
      ({ torrent, context }) => context.profile === 'default' && torrent.warnings.length === 0,
    );
    const before = Torrent.fromBytes(good?.torrent.bencode() as Uint8Array, { context: changing });
    assert.equal(edit(before, {}, { context: changing }).info, before.info);
    changing.profile = 'default';
    assert.notEqual(edit(before, {}, { context: changing }).info, before.info);

    const isQuick = (torrent: Torrent, context: ValidationContext) => {
      try {
        return edit(torrent, { comment: 'x' }, { context }).info === torrent.info;
      } catch (error) {
        assert.ok(error instanceof ValidationError || error instanceof BencodeError, String(error));
        return false;
      }
    };
    for (const { torrent, context } of TORRENTS) {
      assert.equal(isQuick(torrent, context), torrent.warnings.length === 0);
      for (const other of CONTEXTS.filter((one) => one !== context)) assert.ok(!isQuick(torrent, other));
    }
  });
});

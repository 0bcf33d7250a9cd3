// Fuzzes torrents in every profile: accepted torrents round-trip, and refusals say what is wrong and where.
import assert from 'node:assert/strict';
import { BENCODE_CODES, BencodeError } from '../src/bencode/bencode-error.ts';
import { encode } from '../src/bencode/encode.ts';
import { LimitError } from '../src/bencode/limits.ts';
import { ISSUE_CODES } from '../src/errors/codes.ts';
import { MetainfoError, ValidationError } from '../src/errors/errors.ts';
import { parseMagnet } from '../src/magnet/magnet.ts';
import type { Profile } from '../src/model/profile.ts';
import { Torrent } from '../src/model/torrent/torrent.ts';
import { formatTorrent } from '../src/print/print-torrent.ts';
import { hex, sha1, sha256 } from '../test/support/build.ts';
import { infoOf, offsetOf } from '../test/support/scan.ts';
import { fixtures, type Target, TORRENT_WORDS } from './engine/target.ts';

export const PROFILES = ['default', 'strict', 'compat'] as const;
/** Characters that must not reach a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
export const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Whether a path shows the name unchanged; others are shortened, or in hexadecimal. */
const isPlain = (step: string | number) =>
  typeof step === 'number' || (/^[ -~]{0,31}$/.test(step) && !/^[0-9a-f]+$/.test(step));

type Seen = { torrent: Torrent | null; why: string };

function inspect(bytes: Buffer, profile: Profile): Seen {
  const context = { profile };
  let seen: ReturnType<typeof Torrent.inspect>;
  try {
    seen = Torrent.inspect(bytes, { context });
  } catch (error) {
    const again = { name: (error as Error).name, message: (error as Error).message };
    assert.throws(() => Torrent.fromBytes(bytes, { context }), again);
    if (error instanceof LimitError) return { torrent: null, why: error.limit };
    if (!(error instanceof BencodeError)) throw error;
    assert.ok(Object.hasOwn(BENCODE_CODES, error.bencodeCode));
    assert.ok(error.offset >= 0 && error.offset <= bytes.length);
    return { torrent: null, why: error.bencodeCode };
  }
  const { torrent, issues } = seen;
  for (const { code, severity, path, message, offset } of issues) {
    assert.ok(Object.hasOwn(ISSUE_CODES, code), code);
    assert.ok(message.length > 0 && message.length < 1000, message);
    assert.ok(path.every((step) => typeof step === 'string' || Number.isInteger(step)));
    assert.ok(severity === 'error' || severity === 'warning');
    if (code === 'too_many_issues') continue;
    if (code === 'not_canonical' || code === 'trailing_data') assert.ok(offset !== undefined && offset <= bytes.length);
    else if (path.every(isPlain)) assert.equal(offset, offsetOf(bytes, path), `${code} at ${path}`);
    else assert.ok(offset !== undefined && offset < bytes.length);
  }
  const errors = issues.filter(({ severity }) => severity === 'error');
  assert.equal(torrent === null, errors.length > 0);
  if (torrent) assert.deepEqual(Torrent.fromBytes(bytes, { context }).warnings, torrent.warnings);
  else
    assert.throws(
      () => Torrent.fromBytes(bytes, { context }),
      (error) => error instanceof ValidationError && error.issues.length === issues.length,
    );
  return { torrent, why: errors.map(({ code }) => code).join(' ') };
}

function requireWhole(torrent: Torrent, bytes: Buffer, profile: Profile): void {
  const info = infoOf(bytes) as Uint8Array;
  assert.ok(bytes.equals(torrent.bencode()));
  assert.ok(Buffer.from(info).equals(torrent.infoBytes));
  assert.equal(torrent.infohashV1, torrent.torrentVersion === 'v2' ? null : hex(sha1(info)));
  assert.equal(torrent.infohashV2, torrent.torrentVersion === 'v1' ? null : hex(sha256(info)));
  const { files, safePaths } = torrent;
  assert.equal(
    torrent.totalSize,
    files.reduce((sum, { length }) => sum + length, 0),
  );
  assert.equal(safePaths.length, files.length);
  assert.equal(new Set(safePaths.map((path) => path.toLowerCase())).size, files.length);
  for (const path of safePaths)
    assert.ok(
      path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\\0]/.test(part)),
      path,
    );
  if (profile !== 'compat') assert.deepEqual(safePaths.length, new Set(files.map(({ path }) => path)).size);
  assert.ok(torrent.flatFiles === null || torrent.flatFiles.size <= files.length);

  const canonical = !torrent.warnings.some(({ code }) => code === 'not_canonical' || code === 'trailing_data');
  const dump = torrent.modelDumpTorrent({ mode: 'binary' });
  torrent.modelDumpTorrent();
  if (canonical) {
    assert.ok(bytes.equals(encode(dump)), 'dumped');
    const again = Torrent.fromDecoded(dump, { context: { profile } });
    assert.ok(bytes.equals(again.bencode()), 'from its dump');
  }
  requireRanges(torrent);
  requireShown(torrent);
}

/** Checks that the ranges of every piece cover all of its bytes. */
function requireRanges(torrent: Torrent): void {
  const { pieceLength } = torrent.info;
  if (torrent.torrentVersion !== 'v2') {
    for (const index of new Set([0, torrent.nPieces - 1])) {
      const { ranges } = torrent.v1PieceRange(index);
      const size = ranges.reduce((sum, { rangeStart, rangeEnd }) => sum + rangeEnd - rangeStart, 0);
      assert.ok(
        index === torrent.nPieces - 1 ? size > 0 && size <= pieceLength : size === pieceLength,
        `piece ${index}`,
      );
    }
    assert.throws(() => torrent.v1PieceRange(torrent.nPieces), { code: 'ERR_OUT_OF_RANGE' });
  }
  for (const { path, length } of torrent.torrentVersion === 'v1' ? [] : torrent.files.slice(0, 3)) {
    const last = Math.max(0, Math.ceil(length / pieceLength) - 1);
    try {
      const { rangeEnd } = torrent.v2PieceRange(path, last);
      assert.equal(rangeEnd, length);
    } catch (error) {
      // Empty files have no pieces; in compat layers may be missing.
      assert.ok(error instanceof MetainfoError && error.code === 'ERR_INVALID_ARGUMENT', String(error));
    }
  }
}

function requireShown(torrent: Torrent): void {
  for (const line of formatTorrent(torrent, { verbose: 3 })) assert.doesNotMatch(line, CONTROL);
  const { infohashV1, infohashV2, trackers, length } = parseMagnet(torrent.magnet());
  assert.deepEqual([infohashV1, infohashV2], [torrent.infohashV1, torrent.infohashV2]);
  assert.deepEqual(trackers, torrent.flatTrackers);
  assert.equal(length, torrent.totalSize);
}

/** An unknown key, which makes a torrent so large that native code reads its lists of files. */
const LARGE = Buffer.concat([Buffer.from('d1:!16384:'), Buffer.alloc(16384)]);

/** Checks that native code reads the lists of files as JavaScript does. */
function requireSameLists(input: Buffer, { torrent, why }: Seen): void {
  const bytes = Buffer.concat([LARGE, input.subarray(1)]);
  const large = inspect(bytes, 'default');
  // The first key of the input may belong before the one that was added, and broken bencode breaks elsewhere.
  if (large.why.includes('unsorted_key') || Object.hasOwn(BENCODE_CODES, why) || input[0] !== 0x64) return;
  assert.equal(large.why, why);
  if (!torrent || !large.torrent) return;
  requireWhole(large.torrent, bytes, 'default');
  assert.deepEqual(large.torrent.files, torrent.files);
  assert.deepEqual(large.torrent.info, torrent.info);
}

/** Rules of compat that default does not have, as in libtorrent: docs/validation.md. */
const ONLY_COMPAT = [
  ...['depth', 'bad_integer', 'digits', 'duplicate_key', 'leading_zero', 'negative_zero', 'unsorted_key'],
  ...['piece_length', 'too_large', 'v1_v2_files_match'],
];
/** Rules that only compat enforces: default warns of them. */
const WARNED = ['meta_version', 'symlink', 'unsafe_path'];

export const check: Target['check'] = (input) => {
  const [normal, strict, compat] = PROFILES.map((profile) => inspect(input, profile)) as [Seen, Seen, Seen];
  for (const [i, { torrent }] of [normal, strict, compat].entries())
    if (torrent) requireWhole(torrent, input, PROFILES[i] as Profile);
  requireSameLists(input, normal);
  // Strict accepts no torrent that default refuses; compat refuses few that default accepts.
  assert.ok(!strict.torrent || normal.torrent, `only strict takes it: ${normal.why}`);
  const more = normal.torrent && !compat.torrent ? compat.why.split(' ') : [];
  const warned = normal.torrent?.warnings.map(({ code }) => code as string) ?? [];
  assert.ok(
    more.every((code) => ONLY_COMPAT.includes(code) || (WARNED.includes(code) && warned.includes(code))),
    `only compat refuses it: ${compat.why}`,
  );
};

export const seeds: Target['seeds'] = fixtures;
export const words = TORRENT_WORDS;

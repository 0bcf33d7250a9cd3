import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type BencodeCode, BencodeError } from '../../src/bencode/bencode-error.ts';
import { encode } from '../../src/bencode/encode.ts';
import { LimitError, type LimitName } from '../../src/bencode/limits.ts';
import { ISSUE_CODES, type IssueCode } from '../../src/errors/codes.ts';
import { ValidationError } from '../../src/errors/errors.ts';
import type { Profile } from '../../src/model/profile.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import type { Expected } from '../fixtures/expected.ts';
import { FIXTURES } from '../fixtures/fixtures.ts';
import { hex, sha1, sha256 } from '../support/build.ts';
import { libtorrentMissing } from '../support/external.ts';
import { LibtorrentOracle } from '../support/libtorrent.ts';
import { infoOf, offsetOf } from '../support/scan.ts';

const PROFILES = ['default', 'strict', 'compat'] as const;

/** Issues that a torrent file cannot have. */
const OF_DRAFTS: readonly IssueCode[] = [
  ...(['alias', 'lost', 'no_duplicated_params', 'path_root', 'paths', 'sources'] as const),
  // Issues of creation, hashers and magnet links.
  ...([
    'client_name',
    'named_like_pad',
    'pad_folder',
    'pad_names',
    'short_pieces',
    'much_padding',
    'unicode_form',
    'reader_limit',
    'single_file_folder',
  ] as const),
  ...([
    'duplicate_tracker',
    'future_date',
    'not_in_torrent',
    'left_out',
    'link_target',
    'long_name',
    'long_path',
    'old_clients',
    'other_name',
    'pattern_unmatched',
  ] as const),
  ...([
    'private_magnet',
    'private_with_nodes',
    'private_without_tracker',
    'similar_names',
    'system_files',
    'torrent_files',
    'webseed_secret',
  ] as const),
  ...([
    'tracker_rule',
    'tracker_url',
    'update_url',
    'web_credentials',
    'web_validator',
    'webseed_url',
    'windows_name',
  ] as const),
  ...(['missing_episodes', 'mixed_releases', 'personal_tracker', 'public_tracker', 'unfinished_files'] as const),
  ...(['memory_limit', 'read_size', 'threads'] as const),
  ...(['magnet', 'magnet_escape', 'magnet_hash', 'magnet_length', 'magnet_peer', 'magnet_select'] as const),
];
/** Errors and limits that small inputs can cause: damage.test.ts has the others. */
const FATAL_CODES: readonly (BencodeCode | LimitName)[] = [
  ...(['bad_character', 'bad_integer', 'bad_length', 'duplicate_key', 'empty', 'key_not_string'] as const),
  ...(['depth', 'digits', 'leading_zero', 'missing_value', 'negative_zero', 'trailing_data'] as const),
  ...(['truncated', 'unsorted_key'] as const),
];

/** v2 infodicts with `length` or `files` but without `pieces`: libtorrent gives them a v1 infohash too. */
const LOADED_AS_HYBRID = ['v2-with-length', 'v2-with-files'];

/** compat follows the current release line, 2.0.14 and 2.1; the libtorrent of the test may be older. */
const REFUSED_SINCE = 'newer versions of libtorrent refuse it';
/** Fixtures that libtorrent 2.0.8 refuses and 2.0.14 loads. */
const LOADED_SINCE = ['v2-name-dots'];
/** Fixtures that libtorrent loads and compat refuses, with the reason. */
const REFUSED_BY_COMPAT: Readonly<Record<string, string>> = {
  'hybrid-files-empty': 'libtorrent skips the comparison with the tree. A v1 client finds no files.',
  'hybrid-neither-length-nor-files':
    'libtorrent drops the pieces and loads it as v2: here an incomplete v1 description is an error',
  'hybrid-path-dots-in-v1': 'libtorrent removes unsafe parts before it compares paths',
  'hybrid-pieces-integer': 'libtorrent loads it as v1 too, with pieces that nobody can check',
  'layers-extra': REFUSED_SINCE,
  'layers-for-one-piece': REFUSED_SINCE,
  'layers-wrong-hash': REFUSED_SINCE,
  'v1-paths-equal-34': REFUSED_SINCE,
  'v1-piece-length-2-29': REFUSED_SINCE,
  'v1-tree-integer': 'libtorrent reads a file tree only if the meta version is 2: here its presence decides',
};

/** The issues of a torrent, in the form of the expectations. */
function inspected(bytes: Uint8Array, profile: Profile): { torrent: Torrent | null; issues: Expected[] } {
  try {
    const { torrent, issues } = Torrent.inspect(bytes, { context: { profile } });
    for (const { severity, message } of issues) {
      assert.ok(severity === 'error' || severity === 'warning');
      assert.ok(message.length > 0 && message.length < 400, message);
    }
    return { torrent, issues };
  } catch (error) {
    if (error instanceof LimitError) return { torrent: null, issues: [{ fatal: error.limit, offset: error.offset }] };
    assert.ok(error instanceof BencodeError, String(error));
    return { torrent: null, issues: [{ fatal: error.bencodeCode, offset: error.offset }] };
  }
}

/** Sorted labels of issues, with offsets only where the expectation has them. */
function comparable(issues: readonly Expected[], expected: readonly Expected[]): string[] {
  const withOffset = new Set(expected.filter(({ offset }) => offset !== undefined).map(labelOf));
  return issues
    .map((issue) => (withOffset.has(labelOf(issue)) ? `${labelOf(issue)} at ${issue.offset}` : labelOf(issue)))
    .sort();
}

function labelOf(issue: Expected): string {
  return 'fatal' in issue ? issue.fatal : `${issue.severity} ${issue.code} ${JSON.stringify(issue.path)}`;
}

describe('fixtures', () => {
  const expected = FIXTURES.flatMap((fixture) => PROFILES.flatMap((profile) => fixture.expected[profile]));

  it('have names of their own', () => {
    assert.equal(new Set(FIXTURES.map(({ name }) => name)).size, FIXTURES.length);
  });

  it('cover every issue code that a torrent can have', () => {
    const codes = new Set(expected.flatMap((issue) => ('fatal' in issue ? [] : [issue.code])));
    const missing = Object.keys(ISSUE_CODES).filter((code) => !codes.has(code as IssueCode));
    assert.deepEqual(missing.sort(), [...OF_DRAFTS].sort());
  });

  it('cover every bencode error and limit except those of huge inputs', () => {
    const codes = new Set(expected.flatMap((issue) => ('fatal' in issue ? [issue.fatal] : [])));
    assert.deepEqual([...codes].sort(), [...FATAL_CODES].sort());
  });

  for (const { name, bytes, expected: byProfile } of FIXTURES) {
    describe(name, () => {
      for (const profile of PROFILES) {
        const expectedIssues = byProfile[profile];

        it(`has the expected issues: ${profile}`, () => {
          const { torrent, issues } = inspected(bytes, profile);
          assert.deepEqual(comparable(issues, expectedIssues), comparable(expectedIssues, expectedIssues));
          const isError = (issue: Expected) => 'fatal' in issue || issue.severity === 'error';
          assert.equal(torrent === null, issues.some(isError));
          const firstWarning = issues.findIndex((issue) => !isError(issue));
          assert.ok(firstWarning < 0 || !issues.slice(firstWarning).some(isError), 'errors come first');
        });

        it(`reports the offset of each issue: ${profile}`, () => {
          for (const issue of inspected(bytes, profile).issues) {
            if ('fatal' in issue || ['not_canonical', 'trailing_data', 'too_many_issues'].includes(issue.code))
              continue;
            assert.equal(issue.offset, offsetOf(bytes, issue.path), labelOf(issue));
          }
        });

        it(`is read with the issues of inspect: ${profile}`, () => {
          const { torrent, issues } = inspected(bytes, profile);
          const read = () => Torrent.fromBytes(bytes, { context: { profile } });
          if (torrent) {
            assert.deepEqual(read().warnings, torrent.warnings);
            return;
          }
          assert.throws(read, (error) => {
            if (error instanceof BencodeError || error instanceof LimitError) return 'fatal' in (issues[0] as Expected);
            assert.ok(error instanceof ValidationError);
            assert.deepEqual(error.issues, issues);
            return true;
          });
        });
      }
    });
  }
});

describe('valid fixtures', () => {
  let temporary = '';
  before(async () => {
    temporary = await mkdtemp(path.join(tmpdir(), 'metainfo-fixtures-'));
  });
  after(() => rm(temporary, { recursive: true }));

  for (const { name, bytes } of FIXTURES) {
    for (const profile of PROFILES) {
      const { torrent, issues } = inspected(bytes, profile);
      if (!torrent) continue;

      it(`round-trip through a file, with the infohash of their info: ${name}, ${profile}`, async () => {
        assert.ok(bytes.equals(torrent.bencode()));
        const target = path.join(temporary, `${name}-${profile}.torrent`);
        await torrent.write(target);
        assert.ok(bytes.equals(await readFile(target)));
        const again = await Torrent.read(target, { context: { profile } });
        assert.ok(bytes.equals(again.bencode()));

        const info = infoOf(bytes) as Uint8Array;
        assert.ok(Buffer.from(info).equals(torrent.infoBytes));
        const { torrentVersion: version } = torrent;
        assert.equal(torrent.infohashV1, version === 'v2' ? null : hex(sha1(info)));
        assert.equal(torrent.infohashV2, version === 'v1' ? null : hex(sha256(info)));
      });

      const canonical = !issues.some((issue) => 'code' in issue && /^(not_canonical|trailing_data)$/.test(issue.code));
      if (!canonical) continue;
      it(`round-trip through a dump: ${name}, ${profile}`, () => {
        assert.ok(bytes.equals(encode(torrent.modelDumpTorrent({ mode: 'binary' }))));
        const copy = Torrent.fromDecoded(torrent.modelDumpTorrent({ mode: 'binary' }), { context: { profile } });
        assert.ok(bytes.equals(copy.bencode()));
      });
    }
  }
});

describe('fixtures in libtorrent', { skip: libtorrentMissing() }, () => {
  let oracle: LibtorrentOracle;
  let temporary = '';
  before(async () => {
    oracle = new LibtorrentOracle();
    temporary = await mkdtemp(path.join(tmpdir(), 'metainfo-libtorrent-'));
  });
  after(async () => {
    await oracle.close();
    await rm(temporary, { recursive: true });
  });

  for (const { name, bytes } of FIXTURES) {
    it(`load if compat accepts them, with the same infohash: ${name}`, async () => {
      const target = path.join(temporary, `${name}.torrent`);
      await writeFile(target, bytes);
      const theirs = await oracle.load(target).catch(({ message }: Error) => message);
      const { torrent, issues } = inspected(bytes, 'compat');
      if (typeof theirs === 'string') {
        assert.equal(torrent !== null, LOADED_SINCE.includes(name), `accepted, though ${theirs}`);
        return;
      }
      if (name in REFUSED_BY_COMPAT) {
        assert.equal(torrent, null);
        return;
      }
      assert.ok(torrent, `loaded, though refused for ${issues.map(labelOf).join(', ')}`);
      const { infohashV1: v1, infohashV2: v2 } = torrent;
      if (LOADED_AS_HYBRID.includes(name)) assert.deepEqual([theirs.v2, v1], [v2, null]);
      else assert.deepEqual({ v1: theirs.v1, v2: theirs.v2 }, { v1, v2 });
    });
  }
});

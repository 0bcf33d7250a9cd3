import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type BencodeCode, BencodeError } from '../../src/bencode/bencode-error.ts';
import { encode } from '../../src/bencode/encode.ts';
import { LimitError, type LimitName } from '../../src/bencode/limits.ts';
import { ISSUE_CODES, type IssueCode } from '../../src/errors/codes.ts';
import { type Issue, ValidationError } from '../../src/errors/errors.ts';
import type { Profile } from '../../src/model/issues.ts';
import { Torrent } from '../../src/model/torrent.ts';
import { hex, sha1, sha256 } from '../support/build.ts';
import { libtorrentMissing } from '../support/external.ts';
import { LibtorrentOracle } from '../support/libtorrent.ts';
import { infoOf, offsetOf } from '../support/scan.ts';

type ExpectedIssue = Pick<Issue, 'code' | 'severity' | 'path' | 'offset'>;
type Expected = ExpectedIssue | { fatal: BencodeCode | LimitName; offset: number | null };

interface Fixture {
  name: string;
  bytes: Buffer;
  expected: Record<Profile, Expected[]>;
}

const PROFILES = ['default', 'strict', 'compat'] as const;

/** What only a draft can have. */
const OF_DRAFTS: readonly IssueCode[] = [
  ...(['alias', 'lost', 'no_duplicated_params', 'path_root', 'paths', 'sources'] as const),
  // And of torrents that are made, hashers and magnet links.
  ...(['named_like_pad', 'pad_names', 'reader_limit', 'single_file_folder'] as const),
  ...(['memory_limit', 'read_size', 'threads'] as const),
  ...(['magnet', 'magnet_escape', 'magnet_hash', 'magnet_length', 'magnet_peer', 'magnet_select'] as const),
];
/** With the limits that small inputs pass: of the others see damage.test.ts. */
const FAULTS: readonly (BencodeCode | LimitName)[] = [
  ...(['bad_character', 'bad_integer', 'bad_length', 'duplicate_key', 'empty', 'key_not_string'] as const),
  ...(['depth', 'digits', 'leading_zero', 'missing_value', 'negative_zero', 'trailing_data'] as const),
  ...(['truncated', 'unsorted_key'] as const),
];

/** v2 infodicts that also hold `length` or `files` without `pieces`: libtorrent gives them a v1 infohash too. */
const CALLED_HYBRID = ['v2-with-length', 'v2-with-files'];

/** compat follows the current release line, 2.0.14 and 2.1; the libtorrent of the test may be older. */
const REFUSED_SINCE = 'newer versions of libtorrent refuse it';
/** The other way round: what libtorrent 2.0.8 refuses, and 2.0.14 loads. */
const LOADED_SINCE = ['v2-name-dots'];
/** What libtorrent loads and we do not, with the reason. */
const NOT_AS_LIBTORRENT: Readonly<Record<string, string>> = {
  'hybrid-neither-length-nor-files': 'libtorrent drops the pieces and calls it v2: half a description is none here',
  'hybrid-path-dots-in-v1': 'libtorrent compares paths without what it took out of them',
  'hybrid-pieces-integer': 'libtorrent calls it v1 too, with pieces that nobody can check',
  'layers-extra': REFUSED_SINCE,
  'layers-for-one-piece': REFUSED_SINCE,
  'layers-wrong-hash': REFUSED_SINCE,
  'v1-paths-equal-34': REFUSED_SINCE,
  'v1-piece-length-2-29': REFUSED_SINCE,
  'v1-tree-integer': 'libtorrent looks at a file tree only when the meta version is 2: here its presence decides',
};

const folder = new URL('../fixtures/', import.meta.url);
const fixtures: Fixture[] = await Promise.all(
  readdirSync(folder).map(async (name) => ({
    name,
    bytes: ((await import(new URL(`${name}/torrent.ts`, folder).href)) as { default: Buffer }).default,
    expected: JSON.parse(readFileSync(new URL(`${name}/expected.json`, folder), 'utf8')) as Fixture['expected'],
  })),
);

/** What is found in a torrent, as the expectations are written. */
function found(bytes: Uint8Array, profile: Profile): { torrent: Torrent | null; issues: Expected[] } {
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

/** In one order, with offsets only where the expectation has them. */
function comparable(issues: readonly Expected[], wanted: readonly Expected[]): string[] {
  const withOffset = new Set(wanted.filter(({ offset }) => offset !== undefined).map(labelOf));
  return issues
    .map((issue) => (withOffset.has(labelOf(issue)) ? `${labelOf(issue)} at ${issue.offset}` : labelOf(issue)))
    .sort();
}

function labelOf(issue: Expected): string {
  return 'fatal' in issue ? issue.fatal : `${issue.severity} ${issue.code} ${JSON.stringify(issue.path)}`;
}

describe('fixtures', () => {
  const expected = fixtures.flatMap((fixture) => PROFILES.flatMap((profile) => fixture.expected[profile]));

  it('have every code that a torrent can have', () => {
    const codes = new Set(expected.flatMap((issue) => ('fatal' in issue ? [] : [issue.code])));
    const missing = Object.keys(ISSUE_CODES).filter((code) => !codes.has(code as IssueCode));
    assert.deepEqual(missing.sort(), [...OF_DRAFTS].sort());
  });

  it('have every fault of bencode but those of huge inputs', () => {
    const faults = new Set(expected.flatMap((issue) => ('fatal' in issue ? [issue.fatal] : [])));
    assert.deepEqual([...faults].sort(), [...FAULTS].sort());
  });

  for (const { name, bytes, expected: byProfile } of fixtures) {
    describe(name, () => {
      for (const profile of PROFILES) {
        const wanted = byProfile[profile];

        it(`has the issues that are expected: ${profile}`, () => {
          const { torrent, issues } = found(bytes, profile);
          assert.deepEqual(comparable(issues, wanted), comparable(wanted, wanted));
          const isError = (issue: Expected) => 'fatal' in issue || issue.severity === 'error';
          assert.equal(torrent === null, issues.some(isError));
          const firstWarning = issues.findIndex((issue) => !isError(issue));
          assert.ok(firstWarning < 0 || !issues.slice(firstWarning).some(isError), 'errors come first');
        });

        it(`says where: ${profile}`, () => {
          for (const issue of found(bytes, profile).issues) {
            if ('fatal' in issue || ['not_canonical', 'trailing_data', 'too_many_issues'].includes(issue.code))
              continue;
            assert.equal(issue.offset, offsetOf(bytes, issue.path), labelOf(issue));
          }
        });

        it(`is read as it is inspected: ${profile}`, () => {
          const { torrent, issues } = found(bytes, profile);
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

describe('fixtures that are read', () => {
  let temporary = '';
  before(async () => {
    temporary = await mkdtemp(path.join(tmpdir(), 'metainfo-fixtures-'));
  });
  after(() => rm(temporary, { recursive: true }));

  for (const { name, bytes } of fixtures) {
    for (const profile of PROFILES) {
      const { torrent, issues } = found(bytes, profile);
      if (!torrent) continue;

      it(`are written byte for byte, with the infohash of their bytes: ${name}, ${profile}`, async () => {
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
      it(`come back from a dump: ${name}, ${profile}`, () => {
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

  for (const { name, bytes } of fixtures) {
    it(`load where compat accepts, with the same infohash: ${name}`, async () => {
      const target = path.join(temporary, `${name}.torrent`);
      await writeFile(target, bytes);
      const theirs = await oracle.load(target).catch(({ message }: Error) => message);
      const { torrent, issues } = found(bytes, 'compat');
      if (typeof theirs === 'string') {
        assert.equal(torrent !== null, LOADED_SINCE.includes(name), `accepted, though ${theirs}`);
        return;
      }
      if (name in NOT_AS_LIBTORRENT) {
        assert.equal(torrent, null);
        return;
      }
      assert.ok(torrent, `loaded, though refused for ${issues.map(labelOf).join(', ')}`);
      const { infohashV1: v1, infohashV2: v2 } = torrent;
      if (CALLED_HYBRID.includes(name)) assert.deepEqual([theirs.v2, v1], [v2, null]);
      else assert.deepEqual({ v1: theirs.v1, v2: theirs.v2 }, { v1, v2 });
    });
  }
});

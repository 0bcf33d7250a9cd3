import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import {
  A,
  B,
  both,
  file,
  folder,
  hex,
  hybrid,
  latin1,
  leaf,
  long,
  PAD_A,
  PIECE,
  pad,
  sha1,
  sha256,
  single,
  TREE,
  torrent,
  v2,
  withLayers,
} from '../support/build.ts';
import { infoOf } from '../support/scan.ts';
import { temporaryFolder } from '../support/tree.ts';
import { MAIN, metainfo, metainfoUnread } from './run.ts';

interface Result {
  torrent: string;
  ok: boolean;
  version: string | null;
  infohash: { v1: string | null; v2: string | null };
  issues: {
    code: string;
    severity: string;
    path: (string | number)[];
    message: string;
    offset?: number;
    bencodeCode?: string;
  }[];
}

/** Characters that a terminal acts on: ESC, C1 controls, bidirectional and zero-width characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
const HOSTILE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
const EVIL = 'e\u001b[2J\u0007\u009b31m\u202egnp.exe\u200b\r\nv';

const UNALIGNED = folder([file(5, 'x'), file(5, 'y')]);
const FILES: Readonly<Record<string, Buffer>> = {
  'v1.torrent': torrent(single),
  'v2.torrent': withLayers(v2({ a: leaf(5) })),
  'hybrid.torrent': withLayers(hybrid([A, PAD_A, B], TREE)),
  'unaligned.torrent': torrent(UNALIGNED),
  'short-pad.torrent': torrent(folder([A, pad(5), B])),
  'bare.torrent': withLayers(hybrid([A, B], TREE)),
  'layerless.torrent': torrent(both),
  'odd.torrent': torrent({ ...single, private: 'x', pieces: Buffer.alloc(40) }, { announce: 5, commment: 'x' }),
  'long.torrent': withLayers(long),
  'list.torrent': latin1('le'),
  // Cut inside the key at byte 28.
  'cut.torrent': torrent(single).subarray(0, 40),
  'no-version.torrent': torrent({ name: 'a' }),
};

async function filesIn(t: { after(work: () => Promise<void>): void }): Promise<string> {
  const cwd = await temporaryFolder(t);
  for (const [name, bytes] of Object.entries(FILES)) await writeFile(path.join(cwd, name), bytes);
  return cwd;
}

/** Runs `metainfo validate --json`; returns its results and exit code. */
async function validate(cwd: string, ...args: string[]): Promise<{ code: number | null; results: Result[] }> {
  const { code, stdout, stderr } = await metainfo(['validate', '--json', ...args], { cwd });
  assert.equal(stderr, '');
  assert.ok(stdout.endsWith('\n'));
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Result);
  const results = lines.filter((line) => 'ok' in line);
  const valid = results.filter(({ ok }) => ok).length;
  const jobs = results.length;
  const summary = { event: 'summary', jobs, valid, invalid: jobs - valid };
  assert.deepEqual(lines.slice(jobs), jobs > 1 ? [summary] : []);
  return { code, results };
}

/** Each issue as its code, its severity unless it is an error, and its path. */
const issuesOf = ({ issues }: Result) =>
  issues.map(({ code, severity, path: keys }) =>
    [code, ...(severity === 'error' ? [] : [severity]), ...keys].join(' '),
  );

before(() => assert.ok(existsSync(MAIN), 'run `npm run build` first'));

describe('metainfo validate --json', () => {
  it('prints the version and every problem of each file, one line per file', async (t) => {
    const cwd = await filesIn(t);
    const names = Object.keys(FILES);
    const { code, results } = await validate(cwd, ...names);
    assert.equal(code, 1);
    assert.deepEqual(
      results.map((result) => result.torrent),
      names,
    );
    for (const result of results) {
      assert.deepEqual(Object.keys(result), ['torrent', 'ok', 'version', 'infohash', 'issues']);
      assert.deepEqual(Object.keys(result.infohash), ['v1', 'v2']);
      assert.equal(result.ok, !result.issues.some(({ severity }) => severity === 'error'));
      for (const issue of result.issues) {
        assert.ok(Object.keys(issue).length >= 4);
        assert.ok(issue.message !== '' && Array.isArray(issue.path));
      }
    }
    assert.deepEqual(
      Object.fromEntries(results.map((result) => [result.torrent, [result.version, ...issuesOf(result)]])),
      {
        'v1.torrent': ['v1'],
        'v2.torrent': ['v2'],
        'hybrid.torrent': ['hybrid'],
        'unaligned.torrent': ['v1'],
        'short-pad.torrent': ['v1'],
        'bare.torrent': ['hybrid', 'padfile_alignment info files 1'],
        'layerless.torrent': ['hybrid', 'piece_layers_if_v2 piece layers'],
        'odd.torrent': [
          'v1',
          'type info private',
          'expected_n_pieces info pieces',
          'type warning announce',
          'misspelled warning commment',
        ],
        'long.torrent': ['v2', `pieces_layers_correct piece layers ${hex(rootOfLong())}`],
        'list.torrent': [null, 'type'],
        'cut.torrent': [null, 'ERR_BENCODE'],
        'no-version.torrent': [null, 'infodict info'],
      },
    );
  });

  it('prints the infohash of the bytes, even of an invalid torrent', async (t) => {
    const cwd = await filesIn(t);
    const { results } = await validate(cwd, ...Object.keys(FILES));
    for (const { torrent: name, version, infohash } of results) {
      const info = version === null ? undefined : infoOf(FILES[name] as Buffer);
      assert.deepEqual(infohash, {
        v1: info && version !== 'v2' ? hex(sha1(info)) : null,
        v2: info && version !== 'v1' ? hex(sha256(info)) : null,
      });
    }
  });

  it('reports malformed bencode with its offset', async (t) => {
    const cwd = await filesIn(t);
    const { code, results } = await validate(cwd, 'cut.torrent');
    assert.equal(code, 1);
    const [issue] = (results[0] as Result).issues;
    const { code: issueCode, severity, path: keys, bencodeCode, offset } = issue as Result['issues'][number];
    assert.deepEqual(
      { issueCode, severity, keys, bencodeCode, offset },
      { issueCode: 'ERR_BENCODE', severity: 'error', keys: [], bencodeCode: 'truncated', offset: 28 },
    );
  });

  it('continues after a file that cannot be read', async (t) => {
    const cwd = await filesIn(t);
    const { code, results } = await validate(cwd, 'missing.torrent', '.', 'v1.torrent');
    assert.equal(code, 1);
    assert.deepEqual(
      results.map(({ torrent: name, ok, issues }) => [name, ok, ...issues.map((issue) => issue.code)]),
      [
        ['missing.torrent', false, 'ERR_NOT_FOUND'],
        ['.', false, 'ERR_NOT_A_FILE'],
        ['v1.torrent', true],
      ],
    );
  });

  it('prints the offset of an issue in bytes', async (t) => {
    const cwd = await filesIn(t);
    const { results } = await validate(cwd, 'odd.torrent');
    const issue = (results[0] as Result).issues.find(({ code }) => code === 'expected_n_pieces');
    const bytes = FILES['odd.torrent'] as Buffer;
    assert.equal(issue?.offset, bytes.indexOf('6:pieces') + '6:pieces'.length);
  });

  it('does not fail if standard output is closed', async (t) => {
    const cwd = await filesIn(t);
    const { code, stderr } = await metainfoUnread(['validate', 'v1.torrent', 'v2.torrent'], { cwd });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });
});

describe('metainfo validate', () => {
  it('exits with 0 if all torrents are valid, and with 1 otherwise', async (t) => {
    const cwd = await filesIn(t);
    const valid = ['v1.torrent', 'v2.torrent', 'hybrid.torrent'];
    for (const json of [[], ['--json']]) {
      assert.equal((await metainfo(['validate', ...json, ...valid], { cwd })).code, 0);
      assert.equal((await metainfo(['validate', ...json, ...valid, 'odd.torrent'], { cwd })).code, 1);
      assert.equal((await metainfo(['validate', ...json, 'odd.torrent', ...valid], { cwd })).code, 1);
    }
  });

  it('prints one line per file and one per issue', async (t) => {
    const cwd = await filesIn(t);
    const { code, stdout, stderr } = await metainfo(['validate', 'v1.torrent', 'odd.torrent', 'cut.torrent'], { cwd });
    assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    assert.match(lines[0] ?? '', /^v1\.torrent: valid v1 [0-9a-f]{40}$/);
    assert.equal(lines[1], 'odd.torrent: invalid, 2 errors');
    assert.match(
      lines[2] ?? '',
      /^ {2}error info\.private: expected .+ \(profile compat, --compat, accepts it\) \[type, byte \d+\]$/,
    );
    assert.match(
      lines[3] ?? '',
      /^ {2}error info\.pieces: expected 1 piece.*, got 2 \[expected_n_pieces, BEP 3, byte \d+\]$/,
    );
    assert.match(lines[4] ?? '', /^ {2}warning announce: expected text, got 5 \[type, byte \d+\]$/);
    assert.match(lines[5] ?? '', /^ {2}warning commment: .*did you mean comment.* \[misspelled, byte \d+\]$/);
    assert.equal(lines[6], 'cut.torrent: invalid, 1 error');
    assert.match(lines[7] ?? '', /^ {2}error .* \[ERR_BENCODE, byte 28\]$/);
    assert.equal(lines[8], '1 valid, 2 invalid');
    assert.equal(lines.length, 9);
  });

  for (const [args, valid] of [
    [[], ['unaligned.torrent', 'short-pad.torrent']],
    [['--strict'], ['unaligned.torrent']],
    [['--compat'], ['unaligned.torrent', 'short-pad.torrent', 'layerless.torrent', 'long.torrent']],
    [
      ['--padding', 'default'],
      ['unaligned.torrent', 'short-pad.torrent'],
    ],
    [
      ['--padding', 'ignore'],
      ['unaligned.torrent', 'short-pad.torrent', 'bare.torrent'],
    ],
    [['--padding', 'strict'], ['unaligned.torrent']],
    [
      ['--padding', 'forbid'],
      ['unaligned.torrent', 'bare.torrent'],
    ],
    [
      ['--strict', '--padding', 'ignore'],
      ['unaligned.torrent', 'short-pad.torrent', 'bare.torrent'],
    ],
  ] as const) {
    it(`checks the rules of ${args.join(' ') || 'the default profile'}`, async (t) => {
      const cwd = await filesIn(t);
      const names = ['unaligned.torrent', 'short-pad.torrent', 'bare.torrent', 'layerless.torrent', 'long.torrent'];
      const { code, results } = await validate(cwd, ...args, ...names);
      assert.equal(code, 1);
      assert.deepEqual(
        results.filter(({ ok }) => ok).map((result) => result.torrent),
        valid,
      );
    });
  }

  it('rejects pad files only with --padding forbid', async (t) => {
    const cwd = await filesIn(t);
    assert.equal((await validate(cwd, 'hybrid.torrent')).code, 0);
    const { code, results } = await validate(cwd, '--padding', 'forbid', 'hybrid.torrent');
    assert.equal(code, 1);
    assert.deepEqual(issuesOf(results[0] as Result), ['padfile_alignment info files 1']);
  });

  it('reports the problems that --compat accepts as warnings', async (t) => {
    const cwd = await filesIn(t);
    const { code, results } = await validate(cwd, '--compat', 'layerless.torrent');
    assert.equal(code, 0);
    assert.deepEqual(issuesOf(results[0] as Result), ['piece_layers_if_v2 warning piece layers']);
  });

  for (const args of [
    [],
    ['--json'],
    ['--strict', '--compat', 'v1.torrent'],
    ['--compat', '--strict', '--json', 'v1.torrent'],
    ['--padding', 'some', 'v1.torrent'],
    ['--padding'],
    ['--unknown', 'v1.torrent'],
  ]) {
    it(`exits with 2 for wrong usage: metainfo validate ${args.join(' ')}`, async (t) => {
      const cwd = await filesIn(t);
      const { code, stdout, stderr } = await metainfo(['validate', ...args], { cwd });
      assert.equal(code, 2);
      if (args.includes('--json')) {
        assert.equal(stderr, '');
        assert.equal(JSON.parse(stdout).error.code, 'ERR_INVALID_ARGUMENT');
      } else {
        assert.equal(stdout, '');
        assert.match(stderr, /^error: /);
      }
    });
  }

  it('escapes untrusted text', async (t) => {
    const cwd = await temporaryFolder(t);
    const evil = [
      torrent(folder([file(5, EVIL, '..')], { name: EVIL, [EVIL]: 1 }), { announce: latin1(`${EVIL}\xff`), [EVIL]: 5 }),
      withLayers(v2({ [EVIL]: { b: leaf(5, { 'pieces root': EVIL }) } })),
      latin1(`d${EVIL}`),
    ];
    for (const [i, bytes] of evil.entries()) await writeFile(path.join(cwd, `${i}${EVIL}`), bytes);
    const names = evil.map((_, i) => `${i}${EVIL}`);
    for (const args of [[], ['--json'], ['--compat'], ['--strict']]) {
      const { code, stdout, stderr } = await metainfo(['validate', ...args, ...names, `missing${EVIL}`], { cwd });
      assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
      assert.doesNotMatch(stdout, HOSTILE);
    }
    const { results } = await validate(cwd, ...names);
    assert.deepEqual(
      results.map((result) => result.torrent),
      names,
    );
  });

  it('validates many files', async (t) => {
    const cwd = await temporaryFolder(t);
    const names = Array.from({ length: 500 }, (_, i) => `${i}.torrent`);
    for (const [i, name] of names.entries()) {
      await writeFile(path.join(cwd, name), torrent({ ...single, length: PIECE - i, name }));
    }
    const { code, results } = await validate(cwd, ...names);
    assert.equal(code, 0);
    assert.equal(new Set(results.map(({ infohash }) => infohash.v1)).size, names.length);
  });
});

function rootOfLong(): Buffer {
  return sha256(sha256(latin1('1')), sha256(latin1('2')));
}

describe('metainfo validate of many torrents', () => {
  it('ends with a summary, but not for one torrent', async (t) => {
    const cwd = await filesIn(t);
    const lines = async (...args: string[]) =>
      (await metainfo(['validate', ...args], { cwd })).stdout.trimEnd().split('\n');
    assert.equal((await lines('v1.torrent', 'list.torrent', 'v2.torrent')).at(-1), '2 valid, 1 invalid');
    assert.equal((await lines('v1.torrent', 'v2.torrent')).at(-1), '2 valid');
    assert.equal((await lines('v1.torrent')).length, 1);
  });
});

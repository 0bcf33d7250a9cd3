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

interface Verdict {
  file: string;
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

/** What a terminal may act on: ESC, C1 controls, bidirectional and zero-width characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
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
  // Within the key that begins at byte 28.
  'cut.torrent': torrent(single).subarray(0, 40),
  'kindless.torrent': torrent({ name: 'a' }),
};

async function filesIn(t: { after(work: () => Promise<void>): void }): Promise<string> {
  const cwd = await temporaryFolder(t);
  for (const [name, bytes] of Object.entries(FILES)) await writeFile(path.join(cwd, name), bytes);
  return cwd;
}

/** The verdicts of `--json`, and the exit code. */
async function verdicts(cwd: string, ...args: string[]): Promise<{ code: number | null; found: Verdict[] }> {
  const { code, stdout, stderr } = await metainfo(['validate', '--json', ...args], { cwd });
  assert.equal(stderr, '');
  assert.ok(stdout.endsWith('\n'));
  return {
    code,
    found: stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Verdict),
  };
}

/** The code, then the severity where it is no error, then the path, of every issue. */
const told = ({ issues }: Verdict) =>
  issues.map(({ code, severity, path: at }) => [code, ...(severity === 'error' ? [] : [severity]), ...at].join(' '));

before(() => assert.ok(existsSync(MAIN), 'run `npm run build` before'));

describe('metainfo validate --json', () => {
  it('says of each file in a line what it is, and all that is wrong with it', async (t) => {
    const cwd = await filesIn(t);
    const names = Object.keys(FILES);
    const { code, found } = await verdicts(cwd, ...names);
    assert.equal(code, 1);
    assert.deepEqual(
      found.map((verdict) => verdict.file),
      names,
    );
    for (const verdict of found) {
      assert.deepEqual(Object.keys(verdict), ['file', 'ok', 'version', 'infohash', 'issues']);
      assert.deepEqual(Object.keys(verdict.infohash), ['v1', 'v2']);
      assert.equal(verdict.ok, !verdict.issues.some(({ severity }) => severity === 'error'));
      for (const issue of verdict.issues) {
        assert.ok(Object.keys(issue).length >= 4);
        assert.ok(issue.message !== '' && Array.isArray(issue.path));
      }
    }
    assert.deepEqual(Object.fromEntries(found.map((verdict) => [verdict.file, [verdict.version, ...told(verdict)]])), {
      'v1.torrent': ['v1'],
      'v2.torrent': ['v2'],
      'hybrid.torrent': ['hybrid'],
      'unaligned.torrent': ['v1'],
      'short-pad.torrent': ['v1'],
      'bare.torrent': ['hybrid', 'padfile_alignment info files 1'],
      'layerless.torrent': ['hybrid', 'piece_layers_if_v2 piece layers'],
      'odd.torrent': [
        'v1',
        'type announce',
        'type info private',
        'expected_n_pieces info pieces',
        'misspelled warning commment',
      ],
      'long.torrent': ['v2', `pieces_layers_correct piece layers ${hex(rootOfLong())}`],
      'list.torrent': [null, 'type'],
      'cut.torrent': [null, 'ERR_BENCODE'],
      'kindless.torrent': [null, 'infodict info'],
    });
  });

  it('gives the infohash of the bytes, of what is not valid too', async (t) => {
    const cwd = await filesIn(t);
    const { found } = await verdicts(cwd, ...Object.keys(FILES));
    for (const { file: name, version, infohash } of found) {
      const info = version === null ? undefined : infoOf(FILES[name] as Buffer);
      assert.deepEqual(infohash, {
        v1: info && version !== 'v2' ? hex(sha1(info)) : null,
        v2: info && version !== 'v1' ? hex(sha256(info)) : null,
      });
    }
  });

  it('says what is no bencode, with the place', async (t) => {
    const cwd = await filesIn(t);
    const { code, found } = await verdicts(cwd, 'cut.torrent');
    assert.equal(code, 1);
    const [issue] = (found[0] as Verdict).issues;
    const { code: issueCode, severity, path: at, bencodeCode, offset } = issue as Verdict['issues'][number];
    assert.deepEqual(
      { issueCode, severity, at, bencodeCode, offset },
      { issueCode: 'ERR_BENCODE', severity: 'error', at: [], bencodeCode: 'truncated', offset: 28 },
    );
  });

  it('goes on after a file that cannot be read', async (t) => {
    const cwd = await filesIn(t);
    const { code, found } = await verdicts(cwd, 'missing.torrent', '.', 'v1.torrent');
    assert.equal(code, 1);
    assert.deepEqual(
      found.map(({ file: name, ok, issues }) => [name, ok, ...issues.map((issue) => issue.code)]),
      [
        ['missing.torrent', false, 'ERR_NOT_FOUND'],
        ['.', false, 'ERR_NOT_A_FILE'],
        ['v1.torrent', true],
      ],
    );
  });

  it('tells the place of an issue in bytes', async (t) => {
    const cwd = await filesIn(t);
    const { found } = await verdicts(cwd, 'odd.torrent');
    const issue = (found[0] as Verdict).issues.find(({ code }) => code === 'expected_n_pieces');
    const bytes = FILES['odd.torrent'] as Buffer;
    assert.equal(issue?.offset, bytes.indexOf('6:pieces') + '6:pieces'.length);
  });

  it('is no failure when nobody reads what it prints', async (t) => {
    const cwd = await filesIn(t);
    const { code, stderr } = await metainfoUnread(['validate', 'v1.torrent', 'v2.torrent'], { cwd });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });
});

describe('metainfo validate', () => {
  it('exits with 0 when all are valid, with 1 when any is not', async (t) => {
    const cwd = await filesIn(t);
    const valid = ['v1.torrent', 'v2.torrent', 'hybrid.torrent'];
    for (const json of [[], ['--json']]) {
      assert.equal((await metainfo(['validate', ...json, ...valid], { cwd })).code, 0);
      assert.equal((await metainfo(['validate', ...json, ...valid, 'odd.torrent'], { cwd })).code, 1);
      assert.equal((await metainfo(['validate', ...json, 'odd.torrent', ...valid], { cwd })).code, 1);
    }
  });

  it('says it for people: one line a file, and one an issue', async (t) => {
    const cwd = await filesIn(t);
    const { code, stdout, stderr } = await metainfo(['validate', 'v1.torrent', 'odd.torrent', 'cut.torrent'], { cwd });
    assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    assert.match(lines[0] ?? '', /^v1\.torrent: valid v1 [0-9a-f]{40}$/);
    assert.equal(lines[1], 'odd.torrent: not valid, 3 errors');
    assert.match(lines[2] ?? '', /^ {2}error announce: expected .+, got 5 \(--compat accepts it\) \[type, byte \d+\]$/);
    assert.match(lines[3] ?? '', /^ {2}error info\.private: .+ \[type, byte \d+\]$/);
    assert.match(
      lines[4] ?? '',
      /^ {2}error info\.pieces: expected 1 piece.*, got 2 \[expected_n_pieces, BEP 3, byte \d+\]$/,
    );
    assert.match(lines[5] ?? '', /^ {2}warning commment: .*did you mean comment.* \[misspelled, byte \d+\]$/);
    assert.equal(lines[6], 'cut.torrent: not valid, 1 error');
    assert.match(lines[7] ?? '', /^ {2}error .* \[ERR_BENCODE, byte 28\]$/);
    assert.equal(lines.length, 8);
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
    it(`asks for what it is told to: ${args.join(' ') || 'nothing'}`, async (t) => {
      const cwd = await filesIn(t);
      const asked = ['unaligned.torrent', 'short-pad.torrent', 'bare.torrent', 'layerless.torrent', 'long.torrent'];
      const { code, found } = await verdicts(cwd, ...args, ...asked);
      assert.equal(code, 1);
      assert.deepEqual(
        found.filter(({ ok }) => ok).map((verdict) => verdict.file),
        valid,
      );
    });
  }

  it('forbids pads where it is told to, and only then', async (t) => {
    const cwd = await filesIn(t);
    assert.equal((await verdicts(cwd, 'hybrid.torrent')).code, 0);
    const { code, found } = await verdicts(cwd, '--padding', 'forbid', 'hybrid.torrent');
    assert.equal(code, 1);
    assert.deepEqual(told(found[0] as Verdict), ['padfile_alignment info files 1']);
  });

  it('shows what compat lets pass as warnings', async (t) => {
    const cwd = await filesIn(t);
    const { code, found } = await verdicts(cwd, '--compat', 'layerless.torrent');
    assert.equal(code, 0);
    assert.deepEqual(told(found[0] as Verdict), ['piece_layers_if_v2 warning piece layers']);
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
    it(`is wrong usage: metainfo validate ${args.join(' ')}`, async (t) => {
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

  it('never prints the raw names of strangers', async (t) => {
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
    const { found } = await verdicts(cwd, ...names);
    assert.deepEqual(
      found.map((verdict) => verdict.file),
      names,
    );
  });

  it('takes many files', async (t) => {
    const cwd = await temporaryFolder(t);
    const names = Array.from({ length: 500 }, (_, i) => `${i}.torrent`);
    for (const [i, name] of names.entries()) {
      await writeFile(path.join(cwd, name), torrent({ ...single, length: PIECE - i, name }));
    }
    const { code, found } = await verdicts(cwd, ...names);
    assert.equal(code, 0);
    assert.equal(new Set(found.map(({ infohash }) => infohash.v1)).size, names.length);
  });
});

function rootOfLong(): Buffer {
  return sha256(sha256(latin1('1')), sha256(latin1('2')));
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ValidationError } from '../../../src/errors/errors.ts';
import { Torrent } from '../../../src/model/torrent/torrent.ts';
import { type Plain, reference } from '../../bencode/reference.ts';
import { noise, v2Hashes } from '../../hash/reference.ts';
import { build, PIECE } from '../build.ts';

/** The issues of a torrent file; none for a valid one. */
function issuesOf(bytes: Uint8Array): ValidationError['issues'] {
  try {
    Torrent.fromBytes(bytes);
  } catch (error) {
    assert.ok(error instanceof ValidationError, String(error));
    assert.equal(error.code, 'ERR_VALIDATION');
    // The message of the error has all errors.
    for (const { severity, message } of error.issues)
      assert.ok(severity === 'warning' || error.message.includes(message));
    return error.issues;
  }
  return [];
}

const codesOf = (bytes: Uint8Array) => issuesOf(bytes).map((issue) => [issue.code, ...issue.path]);

const FILE = noise(2 * PIECE + 5);
const FOLDER = { a: noise(PIECE + 1, 2), 'b/c': noise(7, 3), 'b/d': noise(PIECE, 4) };
const ROOT = v2Hashes(FILE, PIECE).root;

type Version = 'v1' | 'v2' | 'hybrid';
type Changes = Record<string, Plain | undefined>;

const withInfo = (version: Version, info: Changes, content: Parameters<typeof build>[0]['content'] = FILE) =>
  build({ version, content, info }).bytes;
const withTop = (version: Version, top: Changes) => build({ version, content: FILE, top }).bytes;

type Rejected = [what: string, bytes: Uint8Array, issues: (string | number)[][]];

function rejects(cases: Rejected[]): void {
  for (const [what, bytes, issues] of cases) it(`reject ${what}`, () => assert.deepEqual(codesOf(bytes), issues));
}

describe('the rules accept', () => {
  for (const version of ['v1', 'v2', 'hybrid'] as const) {
    for (const content of [FILE, FOLDER]) {
      it(`${version} of a ${content instanceof Buffer ? 'file' : 'folder'}`, () => {
        assert.deepEqual(issuesOf(build({ version, content }).bytes), []);
      });
    }
  }

  it('a hybrid without the tail pad, as libtorrent up to 2.0.7 writes it', () => {
    const files = [
      { length: PIECE, path: ['a'] },
      { length: 7, path: ['b'] },
    ];
    const content = { a: noise(PIECE), b: noise(7) };
    assert.deepEqual(issuesOf(withInfo('hybrid', { files }, content)), []);
  });

  it('empty files of a hybrid at any position', () => {
    const files = [
      { length: PIECE, path: ['a'] },
      { length: 0, path: ['0'] },
    ];
    const content = { '0': Buffer.alloc(0), a: noise(PIECE) };
    assert.deepEqual(issuesOf(withInfo('hybrid', { files }, content)), []);
  });

  it('files of equal content, which share a layer', () => {
    const content = { a: FILE, b: FILE };
    assert.deepEqual(issuesOf(build({ version: 'v2', content }).bytes), []);
  });

  it('a file of exactly one piece without a layer', () => {
    const { bytes } = build({ version: 'v2', content: noise(PIECE), top: { 'piece layers': {} } });
    assert.deepEqual(issuesOf(bytes), []);
  });

  it('v2 files that do not fill their pieces', () => {
    assert.deepEqual(issuesOf(build({ version: 'v2', content: { a: noise(1), b: noise(2) } }).bytes), []);
  });
});

describe('the rules of a torrent', () => {
  rejects([
    ['a list in place of a dictionary', reference([]), [['type']]],
    ['a single empty file', build({ version: 'v1', content: Buffer.alloc(0) }).bytes, [['empty_torrent', 'info']]],
    ['no info', reference({ announce: 'a' }), [['required', 'info']]],
    ['an info that is text', reference({ info: 'a' }), [['type', 'info']]],
    ['an info without pieces or a file tree', withInfo('v1', { pieces: undefined }), [['infodict', 'info']]],
    ['an empty info', reference({ info: {} }), [['infodict', 'info']]],
  ]);
});

for (const version of ['v1', 'v2', 'hybrid'] as const) {
  describe(`the rules of every version in ${version}`, () => {
    rejects([
      ['no name', withInfo(version, { name: undefined }), [['required', 'info', 'name']]],
      ['a name that is an integer', withInfo(version, { name: 1 }), [['type', 'info', 'name']]],
      ['no piece length', withInfo(version, { 'piece length': undefined }), [['required', 'info', 'piece length']]],
      ['a piece length of 0', withInfo(version, { 'piece length': 0 }), [['piece_length', 'info', 'piece length']]],
      [
        'a piece length below 0',
        withInfo(version, { 'piece length': -PIECE }),
        [['piece_length', 'info', 'piece length']],
      ],
      [
        'a piece length of 3/2 blocks',
        withInfo(version, { 'piece length': 24_576 }),
        [['piece_length', 'info', 'piece length']],
      ],
      [
        'a piece length above 2^53',
        withInfo(version, { 'piece length': 2n ** 60n }),
        [['too_large', 'info', 'piece length']],
      ],
      ['a source that is a list', withInfo(version, { source: [] }), [['type', 'info', 'source']]],
    ]);

    it('warn of values beside info that every client ignores, and refuse them in the strict profile', () => {
      const cases: [top: Changes, code: string][] = [
        [{ announce: 7 }, 'type'],
        [{ announce: ['http://a/'] }, 'type'],
        [{ 'announce-list': 7 }, 'type'],
        [{ nodes: '' }, 'type'],
        [{ comment: ['a'] }, 'type'],
        [{ 'created by': 7 }, 'type'],
        [{ 'url-list': 7 }, 'type'],
        [{ httpseeds: 7 }, 'type'],
        [{ 'creation date': '2020-01-01' }, 'type'],
        [{ 'creation date': 2 ** 52 }, 'date_range'],
        [{ 'creation date': 1_449_000_000_000 }, 'date_range'],
      ];
      for (const [top, code] of cases) {
        const bytes = withTop(version, top);
        const { warnings } = Torrent.fromBytes(bytes);
        assert.deepEqual(
          warnings.map((issue) => [issue.code, ...issue.path]),
          [[code, ...Object.keys(top)]],
        );
        const strict = Torrent.inspect(bytes, { context: { profile: 'strict' } }).issues;
        assert.deepEqual(
          strict.map((issue) => [issue.code, issue.severity]),
          [[code, 'error']],
        );
      }
    });
  });
}

describe('the rules of v1', () => {
  const files = [{ length: FILE.length, path: ['a'] }];
  const half = Number.MAX_SAFE_INTEGER - 5;
  rejects([
    [
      'pieces that are not a whole number of hashes',
      withInfo('v1', { pieces: 'x'.repeat(59) }),
      [['hash_length', 'info', 'pieces']],
    ],
    ['pieces that are a list', withInfo('v1', { pieces: [] }), [['type', 'info', 'pieces']]],
    ['one piece too many', withInfo('v1', { pieces: Buffer.alloc(80) }), [['expected_n_pieces', 'info', 'pieces']]],
    ['one piece too few', withInfo('v1', { pieces: Buffer.alloc(40) }), [['expected_n_pieces', 'info', 'pieces']]],
    ['no piece', withInfo('v1', { pieces: '' }), [['expected_n_pieces', 'info', 'pieces']]],
    ['length beside files', withInfo('v1', { files }), [['length_xor_files', 'info']]],
    ['a length of 0 beside files', withInfo('v1', { files, length: 0 }), [['length_xor_files', 'info']]],
    ['a length below 0', withInfo('v1', { length: -1 }), [['negative', 'info', 'length']]],
    ['an empty list of files', withInfo('v1', { files: [], length: undefined }), [['required', 'info', 'files']]],
    [
      'a file with a length below 0',
      withInfo('v1', { files: [{ length: -1, path: ['a'] }], length: undefined }),
      [['negative', 'info', 'files', 0, 'length']],
    ],
    [
      'a file with an empty path',
      withInfo('v1', { files: [{ length: 1, path: [] }], length: undefined }),
      [['required', 'info', 'files', 0, 'path']],
    ],
    [
      'a file without a path',
      withInfo('v1', { files: [{ length: 1 }], length: undefined }),
      [['required', 'info', 'files', 0, 'path']],
    ],
    [
      'a sum above 2^53',
      withInfo('v1', {
        files: [
          { length: half, path: ['a'] },
          { length: half, path: ['b'] },
        ],
        length: undefined,
      }),
      [['too_large', 'info']],
    ],
  ]);

  it('report first that both length and files are missing', () => {
    const [first] = codesOf(withInfo('v1', { length: undefined }));
    assert.deepEqual(first, ['length_xor_files', 'info']);
  });

  it('count pad files as content of pieces', () => {
    const padded = [
      { length: 5, path: ['a'] },
      { attr: 'p', length: PIECE - 5, path: ['.pad', String(PIECE - 5)] },
      { length: 5, path: ['b'] },
    ];
    const info = (pieces: number) => ({ length: undefined, files: padded, pieces: Buffer.alloc(pieces * 20) });
    assert.deepEqual(codesOf(withInfo('v1', info(2))), []);
    assert.deepEqual(codesOf(withInfo('v1', info(1))), [['expected_n_pieces', 'info', 'pieces']]);
  });

  it('report the expected and the actual value, and the document', () => {
    const bytes = withInfo('v1', { pieces: Buffer.alloc(80) });
    assert.deepEqual(issuesOf(bytes)[0], {
      code: 'expected_n_pieces',
      severity: 'error',
      path: ['info', 'pieces'],
      message: `expected 3 pieces (${FILE.length} bytes in pieces of ${PIECE}), got 4`,
      spec: 'BEP 3',
      offset: bytes.indexOf('6:pieces') + '6:pieces'.length,
    });
  });
});

describe('the rules of v2', () => {
  const leaf = (item: Plain): Changes => ({ 'file tree': { a: { '': item } } });
  const key = ROOT.toString('latin1');
  const hex = ROOT.toString('hex');
  const layers = (entry: [string, Plain] | null) => withTop('v2', { 'piece layers': new Map(entry ? [entry] : []) });
  rejects([
    [
      'a piece length below a block',
      withInfo('v2', { 'piece length': 8192 }),
      [['piece_length', 'info', 'piece length']],
    ],
    ['an empty tree', withInfo('v2', { 'file tree': {} }), [['tree', 'info', 'file tree']]],
    [
      'an empty name at the root',
      withInfo('v2', { 'file tree': { '': { length: 0 } } }),
      [['tree', 'info', 'file tree', '']],
    ],
    ['an empty folder', withInfo('v2', { 'file tree': { a: {} } }), [['tree', 'info', 'file tree', 'a']]],
    [
      'a file with siblings',
      withInfo('v2', { 'file tree': { a: { '': { length: 0 }, b: { '': { length: 0 } } } } }),
      [['tree', 'info', 'file tree', 'a', '']],
    ],
    ['a length below 0', withInfo('v2', leaf({ length: -1 })), [['negative', 'info', 'file tree', 'a', '', 'length']]],
    [
      'a file without a length',
      withInfo('v2', leaf({ 'pieces root': ROOT })),
      [['required', 'info', 'file tree', 'a', '', 'length']],
    ],
    [
      'a pieces root of 20 bytes',
      withInfo('v2', leaf({ length: 1, 'pieces root': ROOT.subarray(12) })),
      [
        ['hash_length', 'info', 'file tree', 'a', '', 'pieces root'],
        // The layer belonged to the file that the tree had before.
        ['pieces_layers_correct', 'piece layers', hex],
      ],
    ],
    ['a tree that is a list', withInfo('v2', { 'file tree': [] }), [['type', 'info', 'file tree']]],
    ['a meta version that is text', withInfo('v2', { 'meta version': '2' }), [['type', 'info', 'meta version']]],
    ['no piece layers', withTop('v2', { 'piece layers': undefined }), [['piece_layers_if_v2', 'piece layers']]],
    ['no layer for a file longer than a piece', layers(null), [['pieces_layers_correct', 'piece layers', hex]]],
    ['one hash too few', layers([key, Buffer.alloc(64)]), [['pieces_layers_correct', 'piece layers', hex]]],
    ['one hash too many', layers([key, Buffer.alloc(128)]), [['pieces_layers_correct', 'piece layers', hex]]],
    [
      'a layer that is not a whole number of hashes',
      layers([key, Buffer.alloc(95)]),
      [['hash_length', 'piece layers', hex]],
    ],
    [
      'a layer under a short key',
      layers([key.slice(1), Buffer.alloc(96)]),
      [
        ['layers_key', 'piece layers', hex.slice(2)],
        ['pieces_layers_correct', 'piece layers', hex],
      ],
    ],
  ]);
});

describe('the rules of hybrid', () => {
  const file = (length: number, ...path: string[]) => ({ length, path });
  const pad = (length: number) => ({ attr: 'p', ...file(length, '.pad', String(length)) });
  const [a, c, d] = [file(PIECE + 1, 'a'), file(7, 'b', 'c'), file(PIECE, 'b', 'd')];
  const [padA, padC] = [pad(PIECE - 1), pad(PIECE - 7)];
  const withFiles = (files: Plain[]) => withInfo('hybrid', { files }, FOLDER);
  const mismatch = [['v1_v2_files_match', 'info', 'files']];

  it('accept the files that the cases below change', () => {
    assert.deepEqual(codesOf(withFiles([a, padA, c, padC, d])), []);
  });

  rejects([
    ['another order', withFiles([a, padA, d, c, padC]), mismatch],
    ['another name', withFiles([file(PIECE + 1, 'A'), padA, c, padC, d]), mismatch],
    ['another folder', withFiles([a, padA, file(7, 'c'), padC, d]), mismatch],
    [
      'a name with a slash in place of a folder',
      withFiles([a, padA, file(7, 'b/c'), padC, d]),
      [['unsafe_path', 'info', 'files', 2, 'path', 0], ...mismatch],
    ],
    ['another size', withFiles([a, padA, file(8, 'b', 'c'), pad(PIECE - 8), d]), mismatch],
    ['a file that is only in v2', withFiles([a, padA, d, pad(PIECE)]), mismatch],
    [
      'a file that is only in v1',
      withFiles([a, padA, c, pad(PIECE - 8), file(1, 'x'), d]),
      [['padfile_alignment', 'info', 'files', 4], ...mismatch],
    ],
    [
      'a single file in v1 and a folder in v2',
      withInfo('hybrid', { files: undefined, length: 2 * PIECE + 1, pieces: Buffer.alloc(60) }, FOLDER),
      [['v1_v2_files_match', 'info', 'length']],
    ],
    [
      'a single file with another name in v2',
      withInfo('hybrid', { name: 'other' }),
      [['name_mismatch', 'info', 'file tree']],
    ],
    ['one piece too few', withInfo('hybrid', { pieces: Buffer.alloc(40) }), [['expected_n_pieces', 'info', 'pieces']]],
    ['length beside files', withInfo('hybrid', { length: 0 }, FOLDER), [['length_xor_files', 'info']]],
    [
      'a piece length below a block',
      withInfo('hybrid', { 'piece length': 8192 }),
      [
        ['piece_length', 'info', 'piece length'],
        ['expected_n_pieces', 'info', 'pieces'],
      ],
    ],
    ['no piece layers', withTop('hybrid', { 'piece layers': undefined }), [['piece_layers_if_v2', 'piece layers']]],
  ]);

  it('name the first file that differs', () => {
    const [issue] = issuesOf(withFiles([a, padA, d, c, padC]));
    assert.match(issue?.message ?? '', /expected "b\/c" of 7 bytes as file 1 .*, got "b\/d" of 32768 bytes/);
  });
});

describe('a ValidationError', () => {
  it('lists every issue, beside info and in it', () => {
    const { bytes } = build({
      version: 'v1',
      content: FILE,
      info: { name: undefined, 'piece length': 3, private: 'yes', pieces: 'x' },
      top: { announce: 1, comment: [], 'piece layers': 7 },
    });
    assert.deepEqual(codesOf(bytes), [
      ['type', 'piece layers'],
      ['hash_length', 'info', 'pieces'],
      ['type', 'info', 'private'],
      ['required', 'info', 'name'],
      ['piece_length', 'info', 'piece length'],
      ['type', 'announce'],
      ['type', 'comment'],
    ]);
  });

  it('lists all rules that fail', () => {
    const files = [{ length: 1, path: ['x'] }];
    const { bytes } = build({
      version: 'hybrid',
      content: FILE,
      info: { files, length: 1, pieces: Buffer.alloc(40) },
      top: { 'piece layers': {} },
    });
    assert.deepEqual(
      codesOf(bytes).map(([code]) => code),
      ['length_xor_files', 'expected_n_pieces', 'v1_v2_files_match', 'pieces_layers_correct'],
    );
  });

  it('says that the list of files of a hybrid is empty', () => {
    const { bytes } = build({ version: 'hybrid', content: { a: FILE, b: FILE }, info: { files: [] } });
    for (const profile of ['default', 'strict', 'compat'] as const)
      assert.deepEqual(
        Torrent.inspect(bytes, { context: { profile } }).issues.map(({ message }) => message),
        ['expected at least one file, got an empty list'],
      );
  });

  it('shows names beyond ASCII in its paths as text', () => {
    const bytes = withInfo('v2', { 'file tree': { é: { '': {} } } });
    assert.deepEqual(codesOf(bytes), [['required', 'info', 'file tree', 'é', '', 'length']]);
  });
});

describe('a single file that libtorrent reads in another way', () => {
  // libtorrent 2.0.8 refuses the link (it has no content, so the number of pieces is wrong) and the name, which it empties.
  const CASES: [info: Changes, code: string, compat: boolean][] = [
    [{ attr: 'l' }, 'symlink', false],
    [{ attr: 'xp' }, 'padfile_alignment', true],
    [{ name: '\u202e' }, 'unsafe_path', false],
    [{ name: '\u200f\u2066' }, 'unsafe_path', false],
    [{ name: '\u061c' }, 'unsafe_path', false],
  ];
  for (const [info, code, isInCompat] of CASES)
    it(`is refused by strict with ${code}: ${JSON.stringify(info)}`, () => {
      const bytes = withInfo('v1', info);
      const valid = (profile: 'default' | 'strict' | 'compat') => {
        const { torrent, issues } = Torrent.inspect(bytes, { context: { profile } });
        assert.ok(issues.some((issue) => issue.code === code));
        return torrent !== null;
      };
      assert.deepEqual([valid('default'), valid('strict'), valid('compat')], [true, false, isInCompat]);
    });

  for (const [version, inCompat] of [
    ['v2', 'warning'],
    ['hybrid', 'error'],
  ] as const)
    it(`is an issue in every profile of a ${version} torrent, too`, () => {
      const name = '\u202e';
      const { bytes } = build({ version, content: { [name]: FILE }, info: { name } });
      const severities = (['default', 'strict', 'compat'] as const).map((profile) => {
        const { issues } = Torrent.inspect(bytes, { context: { profile } });
        return issues.map(({ code, severity }) => [code, severity]);
      });
      assert.deepEqual(
        severities,
        ['warning', 'error', inCompat].map((severity) => [['unsafe_path', severity]]),
      );
    });

  it('may have other flags, and marks beside other characters', () => {
    for (const info of [{ attr: 'x' }, { name: 'a\u202e' }])
      assert.notEqual(Torrent.inspect(withInfo('v1', info), { context: { profile: 'strict' } }).torrent, null);
  });
});

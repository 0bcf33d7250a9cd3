// Section 2.4 of the interface: the infodict models, their rules, and the discriminator.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { is, type Struct, union } from 'superstruct';
import {
  InfoDict,
  InfoDictHybrid,
  InfoDictHybridCreate,
  InfoDictV1,
  InfoDictV1Base,
  InfoDictV1Create,
  InfoDictV2,
  InfoDictV2Base,
  InfoDictV2Create,
  infodictDiscriminator,
  Torrent,
  withRules,
} from '../../src/index.ts';
import { bencode, leaf as bencodedLeaf, both, H20 as HASH, single, v2 } from '../support/build.ts';
import {
  assertFails,
  assertValid,
  HYBRID,
  HYBRID_FOLDER,
  hashes,
  leaf,
  PIECE,
  pad,
  V1,
  V1_FOLDER,
  V2,
} from './models.ts';

const ALL = [
  ['InfoDictV1', V1, InfoDictV1],
  ['InfoDictV1Base', V1, InfoDictV1Base],
  ['InfoDictV1Create', V1, InfoDictV1Create],
  ['InfoDictV2', V2, InfoDictV2],
  ['InfoDictV2Base', V2, InfoDictV2Base],
  ['InfoDictV2Create', V2, InfoDictV2Create],
  ['InfoDictHybrid', HYBRID, InfoDictHybrid],
  ['InfoDictHybridCreate', HYBRID, InfoDictHybridCreate],
] as const;

describe('2.4 Infodict models', () => {
  for (const [name, valid, struct] of ALL) {
    it(`${name}: requires strings for name and source`, () => {
      assertValid(valid, struct);
      assertValid({ ...valid, source: null }, struct);
      assertValid({ ...valid, source: 'x' }, struct);
      assertFails({ ...valid, name: 1 }, struct, 'name');
      assertFails({ ...valid, source: 1 }, struct, 'source');
    });

    it(`${name}: requires a piece length that is a power of two`, () => {
      for (const pieceLength of [0, -PIECE, PIECE + 1, 3 * PIECE, 0.5, '16384'])
        assertFails({ ...valid, pieceLength }, struct, 'pieceLength');
    });
  }

  for (const [name, valid, struct] of ALL.filter(([name]) => !/Base|Create/.test(name))) {
    it(`${name}: requires a name`, () => {
      for (const missing of [null, undefined]) assertFails({ ...valid, name: missing }, struct, 'name');
    });
  }
});

describe('2.4 InfoDictV1', () => {
  it('requires pieces', () => assertFails({ ...V1, pieces: null }, InfoDictV1, 'pieces'));

  it('reads pieces from one byte string of 20 bytes each', () => {
    const read = Torrent.fromBytes(bencode({ info: { ...single, length: PIECE + 1, pieces: Buffer.alloc(40, 7) } }));
    assert.ok(read.torrentVersion === 'v1');
    assert.deepEqual([...read.info.pieces], [Buffer.alloc(20, 7), Buffer.alloc(20, 7)]);
    assert.throws(() => Torrent.fromBytes(bencode({ info: { ...single, pieces: Buffer.alloc(21) } })));
    assert.throws(() => Torrent.fromDecoded({ info: { ...single, pieces: [Buffer.alloc(19), Buffer.alloc(21)] } }));
    const listed = Torrent.fromDecoded({ info: { ...single, pieces: [HASH] } });
    assert.equal(listed.infohashV1, Torrent.fromBytes(bencode({ info: single })).infohashV1);
  });

  it('requires at least one item in files, if present', () => {
    assertFails({ ...V1_FOLDER, files: [] }, InfoDictV1, 'files');
  });

  it('requires a length of at least 0', () => assertFails({ ...V1, length: -1 }, InfoDictV1, 'length'));

  it('length_xor_files: requires exactly one of length and files', () => {
    assertFails({ ...V1_FOLDER, length: 7 }, InfoDictV1, 'length_xor_files');
    assertFails({ ...V1, length: undefined }, InfoDictV1, 'length_xor_files');
    assertFails({ ...V1_FOLDER, length: 0 }, InfoDictV1, 'length_xor_files');
  });

  it('disallowed_fields: rejects fields of v2', () => {
    assertFails({ ...V1, fileTree: V2.fileTree }, InfoDictV1, 'disallowed_fields');
    assertFails({ ...V1, metaVersion: 2 }, InfoDictV1, 'disallowed_fields');
  });

  it('allows other fields', () => assertValid({ ...V1, extra: new Map([['x', 1]]) }, InfoDictV1));

  it('expected_n_pieces: requires as many pieces as the sizes imply', () => {
    assertFails({ ...V1, pieces: hashes(2) }, InfoDictV1, 'expected_n_pieces');
    assertFails({ ...V1, length: PIECE + 1 }, InfoDictV1, 'expected_n_pieces');
    assertValid({ ...V1, length: PIECE }, InfoDictV1);
  });

  it('padfile_alignment: applies only with padding strict', () => {
    const misaligned = { ...V1_FOLDER, files: [{ length: 3, path: ['a'] }, pad(1), { length: 4, path: ['b'] }] };
    assertValid(misaligned, InfoDictV1);
    const strict = withRules(InfoDictV1 as Struct<unknown, unknown>, 'v1', { padding: 'strict' });
    assertFails(misaligned, strict, 'padfile_alignment');
    const aligned = { ...HYBRID_FOLDER, fileTree: undefined, metaVersion: undefined };
    assertValid(aligned, strict);
  });
});

describe('2.4 InfoDictV1Base and InfoDictV1Create', () => {
  it('allow every field but piece length to be null or absent', () => {
    assertValid({ pieceLength: PIECE }, InfoDictV1Base);
    assertValid({ pieceLength: null, name: null, pieces: null, length: null, files: null }, InfoDictV1Create);
  });

  it('require the key piece length', () => assertFails({}, InfoDictV1Base, 'pieceLength'));

  it('apply the v1 rules to the fields that are present', () => {
    assertFails({ ...V1, pieces: hashes(2) }, InfoDictV1Base, 'expected_n_pieces');
    assertFails({ pieceLength: PIECE, fileTree: V2.fileTree }, InfoDictV1Base, 'disallowed_fields');
  });
});

describe('2.4 InfoDictV2', () => {
  it('has meta version 2 by default', () => {
    const read = Torrent.fromBytes(
      bencode({ info: { ...v2({ a: bencodedLeaf(5) }), 'meta version': undefined }, 'piece layers': {} }),
    );
    assert.ok(read.torrentVersion === 'v2');
    assert.equal(read.info.metaVersion, 2);
  });

  it('requires a file tree', () => assertFails({ ...V2, fileTree: null }, InfoDictV2, 'fileTree'));

  it('requires a piece length divisible by 16 KiB', () => {
    assertFails({ ...V2, pieceLength: 8192 }, InfoDictV2, 'pieceLength');
    assertValid({ ...V2, pieceLength: 2 * PIECE }, InfoDictV2);
  });

  it('disallowed_fields: rejects fields of v1', () => {
    assertFails({ ...V2, pieces: hashes(1) }, InfoDictV2, 'disallowed_fields');
    assertFails({ ...V2, length: 5 }, InfoDictV2, 'disallowed_fields');
    assertFails({ ...V2, files: V1_FOLDER.files }, InfoDictV2, 'disallowed_fields');
  });
});

describe('2.4 InfoDictV2Base and InfoDictV2Create', () => {
  it('allow null for name and file tree, and for the required key piece length', () => {
    assertValid({ pieceLength: null, name: null, fileTree: null }, InfoDictV2Base);
    assertFails({ name: 'a' }, InfoDictV2Create, 'pieceLength');
  });
});

describe('2.4 InfoDictHybrid', () => {
  it('requires pieces, a file tree and a piece length divisible by 16 KiB', () => {
    for (const field of ['pieces', 'fileTree', 'pieceLength'] as const)
      assertFails({ ...HYBRID, [field]: null }, InfoDictHybrid, field);
    assertFails({ ...HYBRID, pieceLength: 8192 }, InfoDictHybrid, 'pieceLength');
  });

  it('expected_n_pieces: counts pad files', () => {
    assertValid(HYBRID_FOLDER, InfoDictHybrid);
    assertFails({ ...HYBRID_FOLDER, pieces: hashes(1) }, InfoDictHybrid, 'expected_n_pieces');
  });

  it('requires correct padding of all files', () => {
    const [a, , b] = HYBRID_FOLDER.files;
    const lists = [
      [a, b],
      [a, pad(PIECE - 6), b],
      [a, pad(PIECE - 5), b, pad(1)],
      [a, pad(PIECE - 5), pad(0), b],
    ];
    for (const files of lists)
      assert.ok(!is({ ...HYBRID_FOLDER, files, pieces: hashes(files.length < 3 ? 1 : 2) }, InfoDictHybrid));
  });

  it('v1_v2_files_match: requires the same names, sizes and order', () => {
    const [a, gap, b] = HYBRID_FOLDER.files;
    for (const files of [[a, gap, { ...b, path: ['c'] }], [a, gap, { ...b, length: 7 }], [b, pad(PIECE - 6), a], [a]]) {
      assertFails(
        { ...HYBRID_FOLDER, files, pieces: hashes(files.length === 1 ? 1 : 2) },
        InfoDictHybrid,
        'v1_v2_files_match',
      );
    }
  });
});

describe('2.4 InfoDictHybridCreate', () => {
  it('allows every field to be absent', () => {
    assertValid({}, InfoDictHybridCreate);
    assertValid({ pieceLength: null, name: null, fileTree: null, pieces: null, files: null }, InfoDictHybridCreate);
  });

  it('allows a piece length below 16 KiB', () => assertValid({ pieceLength: 1024 }, InfoDictHybridCreate));
});

describe('2.4 Infodict discrimination', () => {
  it('returns v1, v2, hybrid or null', () => {
    assert.equal(infodictDiscriminator(V1), 'v1');
    assert.equal(infodictDiscriminator(V2), 'v2');
    assert.equal(infodictDiscriminator(HYBRID), 'hybrid');
    for (const none of [{}, null, undefined, 1, 'pieces']) assert.equal(infodictDiscriminator(none), null);
  });

  it('accepts a decoded dictionary with byte keys', () => {
    assert.equal(infodictDiscriminator(new Map([[Buffer.from('pieces'), HASH]])), 'v1');
    assert.equal(infodictDiscriminator(new Map([[Buffer.from('file tree'), new Map()]])), 'v2');
  });

  it('ignores fields that are undefined', () => assert.equal(infodictDiscriminator({ pieces: undefined }), null));

  it('reports only the errors of the selected model', () => {
    const { issues } = Torrent.inspect(bencode({ info: { ...both, 'piece length': 8192 }, 'piece layers': {} }));
    assert.ok(issues.length > 0 && issues.every(({ path }) => path[1] === 'piece length'), JSON.stringify(issues));
  });

  it('distinguishes the versions in a union of the models, as InfoDict does', () => {
    const any = union([InfoDictV1, InfoDictV2, InfoDictHybrid] as never);
    for (const value of [V1, V1_FOLDER, V2, HYBRID, HYBRID_FOLDER]) {
      assertValid(value, any);
      assertValid(value, InfoDict);
    }
    assert.ok(!is(HYBRID, InfoDictV1) && !is(HYBRID, InfoDictV2) && !is(V1, InfoDictHybrid));
    assertFails({ ...V1, length: PIECE + 1 }, InfoDict, 'expected_n_pieces');
  });

  it('accepts a tree with and without a folder', () => {
    assertValid({ ...V2, name: 'd', fileTree: new Map([['d', new Map([['a', leaf(5)]])]]) }, InfoDict);
  });
});

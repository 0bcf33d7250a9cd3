import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assign, create, is, omit, type Struct, string, type, validate } from 'superstruct';
import {
  HashList,
  Torrent,
  TorrentCreate,
  TorrentCreateFields,
  TorrentFields,
  type ValidationError,
} from '../../../src/index.ts';
import { noise } from '../../hash/reference.ts';
import { build, PIECE } from '../build.ts';

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const content = { a: noise(2 * PIECE + 1), 'd/b': noise(7) };
const torrentOf = (version: (typeof VERSIONS)[number]) => Torrent.fromBytes(build({ version, content }).bytes);
const failures = (value: unknown, struct: unknown) =>
  (validate(value, struct as Struct)[0]?.failures() ?? []).map(({ refinement, path }) => [refinement, path.join('.')]);

describe('TorrentFields', () => {
  for (const version of VERSIONS) {
    it(`accepts a ${version} torrent and a copy of it`, () => {
      const torrent = torrentOf(version);
      assert.deepEqual(failures(torrent, TorrentFields), []);
      assert.deepEqual(failures({ ...torrent }, TorrentFields), []);
    });
  }

  it('rejects layers that are missing, incomplete or have other hashes', () => {
    const { info, pieceLayers } = torrentOf('hybrid');
    const [[root, layer] = []] = pieceLayers ?? [];
    const at = `pieceLayers.${root}`;
    assert.deepEqual(failures({ info }, TorrentFields), [['piece_layers_if_v2', 'pieceLayers']]);
    const nested = type({ torrent: TorrentFields });
    assert.deepEqual(failures({ torrent: { info } }, nested), [['piece_layers_if_v2', 'torrent.pieceLayers']]);
    assert.deepEqual(failures({ info, pieceLayers: new Map() }, TorrentFields), [['pieces_layers_correct', at]]);
    const short = new Map([[root, (layer as HashList).slice(1)]]);
    assert.deepEqual(failures({ info, pieceLayers: short }, TorrentFields), [['pieces_layers_correct', at]]);
    const other = new Map([[root, new HashList(Buffer.alloc(96), 32)]]);
    assert.deepEqual(failures({ info, pieceLayers: other }, TorrentFields), [['pieces_layers_correct', at]]);
  });

  it('reports the errors of the selected infodict model', () => {
    const { info } = torrentOf('v1');
    const wrong = { ...info, pieces: new HashList(Buffer.alloc(20), 20) };
    assert.deepEqual(failures({ info: wrong }, TorrentFields), [['expected_n_pieces', 'info.pieces']]);
    assert.deepEqual(failures({ info: {} }, TorrentFields), [[undefined, 'info']]);
  });

  it('accepts on-disk keys and layers as bytes in create', () => {
    for (const version of ['v2', 'hybrid'] as const) {
      const { info, pieceLayers } = torrentOf(version);
      const { pieceLength, ...rest } = info;
      const layers = [...(pieceLayers ?? [])].map(([root, { bytes }]) => [Buffer.from(root, 'hex'), bytes] as const);
      const input = {
        'created by': 'x',
        info: { ...rest, 'piece length': pieceLength },
        'piece layers': new Map(layers),
      };
      const made = create(input, TorrentFields);
      assert.deepEqual([made.announce, made.createdBy, made.info.pieceLength], [null, 'x', PIECE]);
      assert.deepEqual(made.pieceLayers, pieceLayers);
    }
  });

  it('keeps the rules of info when it is composed, but not those of the layers', () => {
    const { info } = torrentOf('v2');
    assert.ok(is({ info, team: 'x' }, assign(omit(TorrentFields, ['comment']), type({ team: string() }))));
    assert.ok(!is({ info: { ...info, length: 1 } }, omit(TorrentFields, ['comment'])));
  });
});

describe('TorrentCreateFields', () => {
  const sha1 = new HashList(Buffer.alloc(20), 20);
  const cases: [name: string, fields: object, expected: [string | undefined, string][]][] = [
    ['nothing', {}, []],
    ['a path root, paths and trackers', { pathRoot: '/a', paths: ['b'], trackers: [['http://t/']] }, []],
    ['a path outside the path root', { pathRoot: '/a', paths: ['b', '../c'] }, [['paths', 'paths.1']]],
    [
      'a convenience field and its field',
      { trackers: ['http://t/'], announce: 'http://t/' },
      [['no_duplicated_params', 'trackers']],
    ],
    ['a tracker that is not a URL', { trackers: ['t'] }, [['url', 'trackers']]],
    ['an empty path root', { pathRoot: '' }, [[undefined, 'pathRoot']]],
    [
      'a wrong number of pieces',
      { pieceLength: 2 ** 14, info: { length: 2 ** 15, pieces: sha1 } },
      [['expected_n_pieces', 'info.pieces']],
    ],
  ];
  for (const [name, fields, expected] of cases) {
    it(`${expected.length === 0 ? 'accepts' : 'rejects'} ${name}, like the constructor`, () => {
      assert.deepEqual(failures(fields, TorrentCreateFields), expected);
      const made = () => new TorrentCreate(fields);
      // Browsers have no current folder that could name the torrent.
      if (expected.length === 0) assert.ok(new TorrentCreate({ name: 'a', ...fields }));
      else
        assert.throws(made, ({ issues }: ValidationError) => {
          assert.deepEqual(
            issues.map(({ path }) => path.join('.')),
            expected.map(([, at]) => at),
          );
          return true;
        });
    });
  }

  it('accepts on-disk keys in create, and composes with other structs', () => {
    assert.deepEqual(create(new Map([['created by', 'x']]), TorrentCreateFields), { createdBy: 'x' });
    const Ours = assign(TorrentCreateFields, type({ comment: string() }));
    assert.deepEqual(failures({ pathRoot: '/a' }, Ours), [[undefined, 'comment']]);
  });
});

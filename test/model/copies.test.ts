import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { create as coerce } from 'superstruct';
import { decode, encode, Torrent, TorrentCreate, TorrentFields } from '../../src/index.ts';
import { mutants } from '../support/mutants.ts';
import { runs } from '../support/runs.ts';

/** The parts and copies of a torrent that callers make a torrent of again. */
const WAYS: Readonly<Record<string, (torrent: Torrent) => unknown>> = {
  'modelDumpTorrent()': (torrent) => torrent.modelDumpTorrent(),
  'modelDumpTorrent({ mode: binary })': (torrent) => torrent.modelDumpTorrent({ mode: 'binary' }),
  'the parts': ({ info, pieceLayers }) => ({ info, pieceLayers }),
  'a spread info': ({ info, pieceLayers }) => ({ info: { ...info }, pieceLayers }),
  'structuredClone of the parts': ({ info, pieceLayers }) => structuredClone({ info, pieceLayers }),
  'the parts of structuredClone of the torrent': (torrent) => {
    const { info, pieceLayers } = structuredClone(torrent);
    return { info, pieceLayers };
  },
  'create(decoded, TorrentFields)': (torrent) => coerce(decode(torrent.bencode()).value, TorrentFields),
  'create(dumped, TorrentFields)': (torrent) => coerce(torrent.modelDumpTorrent(), TorrentFields),
};

const infohashes = ({ infohashV1, infohashV2 }: Torrent) => [infohashV1, infohashV2];

function assertSame(torrent: Torrent): void {
  for (const [way, given] of Object.entries(WAYS)) {
    const again = Torrent.fromDecoded(given(torrent) as never);
    assert.deepEqual(infohashes(again), infohashes(torrent), way);
  }
}

interface Keys {
  info?: object;
  file?: object;
  top?: object;
}
const folder = ({ info, file, top }: Keys) =>
  encode({
    ...top,
    info: {
      name: 'n',
      'piece length': 16384,
      pieces: new Uint8Array(20).fill(1),
      files: [{ length: 5, path: ['a'], ...file }],
      ...info,
    },
  } as never);

const ODD: Readonly<Record<string, Uint8Array>> = {
  'attr with a byte that is not ASCII': folder({ file: { attr: Uint8Array.of(0x78, 0xe9) } }),
  'private: 2': folder({ info: { private: 2 } }),
  'private: 0': folder({ info: { private: 0 } }),
  'an unknown key extra': folder({ info: { extra: 5 }, top: { extra: 6 }, file: { extra: new Map([['a', 1]]) } }),
  'unknown keys like properties': folder({ info: { pieceLength: 7, nameUtf8: 'x' }, file: { pathUtf8: 1 } }),
  'bytes in unknown keys': folder({ info: { entropy: Uint8Array.of(200, 1) } }),
  'a pad file without a path': folder({
    info: {
      files: [
        { length: 5, path: ['a'] },
        { length: 3, attr: 'p' },
      ],
    },
  }),
  'empty lists': folder({ info: { similar: [], collections: [] } }),
};

describe('copies of what a torrent gives out', () => {
  for (const [name, bytes] of Object.entries(ODD))
    it(`have its infohash: ${name}`, () => assertSame(Torrent.fromBytes(bytes)));

  for (const version of ['v2', 'hybrid'] as const)
    it(`have its infohash: ${version} without a meta version, with odd attr in the tree`, async () => {
      const data = Buffer.alloc(40_000, 1);
      const sources = [
        { path: 'd/a', data },
        { path: 'd/é', data: Buffer.from('x') },
      ];
      const made = await new TorrentCreate({ sources, info: { name: 'n' }, pieceLength: 16384 }).generate({ version });
      assertSame(made as Torrent);
      type Tree = Map<string, Tree & Map<string, unknown>>;
      const decoded = decode(made.bencode()).value as Map<string, Map<string, unknown>>;
      const info = decoded.get('info') as Map<string, unknown>;
      info.delete('meta version');
      const tree = info.get('file tree') as Tree;
      tree
        .get('d')
        ?.get('a')
        ?.get('')
        ?.set('attr', Uint8Array.of(0x78, 0xe9) as never);
      assertSame(Torrent.fromBytes(encode(decoded as never)));
    });

  it('warn where a link may have had no length', () => {
    const link = { attr: 'l', path: ['c'], 'symlink path': ['a'] };
    const torrent = Torrent.fromBytes(folder({ info: { files: [{ length: 5, path: ['a'] }, link] } }));
    const copy = Torrent.fromDecoded({ info: { ...torrent.info } });
    assert.notEqual(copy.infohashV1, torrent.infohashV1);
    assert.deepEqual(
      copy.warnings.map(({ code, path }) => [code, path.join('.')]),
      [['symlink', 'info.files.1.length']],
    );
  });

  it('are refused where a value cannot be kept', () => {
    const { info } = Torrent.fromBytes(folder({ info: { private: 2 } }));
    const { pieces, ...rest } = structuredClone(info) as unknown as { pieces: object };
    assert.ok(pieces);
    assert.throws(() => Torrent.fromDecoded({ info: { ...rest, pieces: { bytes: 5 } } } as never), /info\.pieces/);
    assert.throws(() => Torrent.fromDecoded({ info: { ...info, private: false } } as never), /private .*extra/);
  });

  const COUNT = runs(10_000);
  it(`have its infohash, or are refused: ${COUNT} mutants`, () => {
    let [readable, same] = [0, 0];
    for (const bytes of mutants(COUNT, 7)) {
      let torrent: Torrent;
      try {
        torrent = Torrent.fromBytes(bytes);
        // No copy tells in what order the keys were, or which was given twice.
        const canonical = encode(decode(torrent.infoBytes).value);
        if (!Buffer.from(canonical).equals(torrent.infoBytes)) continue;
      } catch {
        continue;
      }
      readable += 1;
      for (const [way, given] of Object.entries(WAYS)) {
        let again: Torrent;
        try {
          again = Torrent.fromDecoded(given(torrent) as never);
        } catch {
          continue;
        }
        same += 1;
        const isWarned = again.warnings.some(({ code, path }) => code === 'symlink' && path.at(-1) === 'length');
        if (!isWarned)
          assert.deepEqual(infohashes(again), infohashes(torrent), `${way}: ${Buffer.from(bytes).toString('latin1')}`);
      }
    }
    assert.ok(readable > COUNT / 5, `${readable} readable`);
    assert.ok(same > readable * 7, `${same} copies`);
  });
});

// Sections 7 to 9 of the interface: errors, limits and versions.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ISSUE_CODES,
  MetainfoError,
  Torrent,
  TorrentCreate,
  TorrentVersion,
  V2Hasher,
  ValidationError,
} from '../../src/index.ts';
import { both, single, torrent, withLayers } from '../support/build.ts';

describe('7 Errors', () => {
  it('report every issue of a model with a stable code, a path and an offset', () => {
    const bytes = torrent({ ...single, 'piece length': 16_385, name: 5 });
    assert.throws(
      () => Torrent.fromBytes(bytes),
      (error: unknown) => {
        assert.ok(error instanceof ValidationError && error instanceof MetainfoError);
        assert.equal(error.code, 'ERR_VALIDATION');
        assert.deepEqual(error.issues.map(({ path }) => path.join('.')).toSorted(), ['info.name', 'info.piece length']);
        for (const { code, offset } of error.issues) {
          assert.ok(Object.hasOwn(ISSUE_CODES, code));
          assert.ok(offset !== undefined && offset > 0 && offset < bytes.length);
        }
        return true;
      },
    );
  });

  it('omit issues of models that were not selected', () => {
    const { issues } = Torrent.inspect(torrent({ ...single, length: -1 }));
    assert.deepEqual(
      issues.map(({ path }) => path),
      [['info', 'length']],
    );
  });

  it('reject an empty root and an absolute path of a hasher', () => {
    for (const changes of [{ pathRoot: '' }, { paths: ['/x'] }])
      assert.throws(
        () => new V2Hasher({ paths: ['x'], pathRoot: '/x', pieceLength: 16_384, ...changes }),
        ValidationError,
      );
  });

  it('reject a value that is set by a shorthand and in the infodict', () => {
    assert.throws(() => new TorrentCreate({ pieceLength: 16_384, info: { pieceLength: 16_384 } }), ValidationError);
  });
});

describe('9 Versions', () => {
  it('are v1, v2 and hybrid', () => {
    assert.deepEqual(Object.values(TorrentVersion).toSorted(), ['hybrid', 'v1', 'v2']);
    assert.equal(Torrent.fromBytes(withLayers(both)).torrentVersion, 'hybrid');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeWithin } from '../../src/cli/queue/queue.ts';

describe('placeWithin', () => {
  it('names the closest root', () => {
    const roots = { all: '/srv', media: '/srv/media' };
    assert.equal(placeWithin(roots, '/srv/media/film/a.mkv'), 'media/film/a.mkv');
    assert.equal(placeWithin(roots, '/srv/media'), 'media');
    assert.equal(placeWithin(roots, '/srv/mediathek'), 'all/mediathek');
    assert.throws(() => placeWithin(roots, '/etc/passwd'), { code: 'ERR_PATH_OUTSIDE', path: '/etc/passwd' });
  });
});

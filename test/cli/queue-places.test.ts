import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameOfConnection, placeWithin } from '../../src/cli/queue/places.ts';

const SECRET = 'pass-word';

describe('nameOfConnection', () => {
  it('leaves credentials out', () => {
    assert.equal(nameOfConnection(`redis://user:${SECRET}@10.0.0.5:7/2?password=${SECRET}`), 'redis://10.0.0.5:7/2');
    assert.equal(nameOfConnection({ host: 'x', password: SECRET }), 'the queue');
    assert.equal(nameOfConnection(SECRET), 'the queue');
  });
});

describe('placeWithin', () => {
  it('names the closest root', () => {
    const roots = { all: '/srv', media: '/srv/media' };
    assert.equal(placeWithin(roots, '/srv/media/film/a.mkv'), 'media/film/a.mkv');
    assert.equal(placeWithin(roots, '/srv/media'), 'media');
    assert.equal(placeWithin(roots, '/srv/mediathek'), 'all/mediathek');
    assert.throws(() => placeWithin(roots, '/etc/passwd'), { code: 'ERR_PATH_OUTSIDE', path: '/etc/passwd' });
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameOfConnection } from '../../src/command/server-name.ts';

const SECRET = 'pass-word';

describe('nameOfConnection', () => {
  it('leaves credentials out', () => {
    assert.equal(nameOfConnection(`redis://user:${SECRET}@10.0.0.5:7/2?password=${SECRET}`), 'redis://10.0.0.5:7/2');
    assert.equal(nameOfConnection({ host: 'x', password: SECRET }), 'the queue');
    assert.equal(nameOfConnection(SECRET), 'the queue');
  });
});

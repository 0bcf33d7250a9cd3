import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { OutputHashes } from '../../src/cli/many/distinct-outputs.ts';
import { runs } from '../support/runs.ts';

describe('OutputHashes', () => {
  it('tells exactly the paths that were added more than once', () => {
    const path = fc.stringMatching(/^\/[ab]{1,4}$/);
    fc.assert(
      fc.property(fc.array(path), (paths) => {
        const hashes = new OutputHashes();
        for (const one of paths) hashes.add(one);
        const repeated = new Set(paths.filter((one, i) => paths.indexOf(one) !== i));
        const check = hashes.repeated();
        assert.equal(check === null, repeated.size === 0);
        for (const one of paths) assert.equal(check?.(one) ?? false, repeated.has(one), one);
      }),
      { numRuns: runs(300) },
    );
  });

  it('finds one repeated path among many', () => {
    const hashes = new OutputHashes();
    for (let i = 0; i < 100_000; i += 1) hashes.add(`/out/${i}.torrent`);
    assert.equal(hashes.repeated(), null);
    hashes.add('/out/5.torrent');
    assert.equal(hashes.repeated()?.('/out/5.torrent'), true);
    assert.equal(hashes.repeated()?.('/out/6.torrent'), false);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { overallText } from '../../src/cli/many/progress-text.ts';
import { runs } from '../support/runs.ts';

const STATE = {
  ended: 12,
  failed: 0,
  count: 40,
  bytes: 3 * 2 ** 30,
  totalBytes: 12 * 2 ** 30,
  likelyBytes: null,
  seconds: 10,
  name: 'lib/album: track.flac',
};

/** Columns on a terminal of a text whose only wide characters are Japanese. */
const columnsOf = (text: string) => [...text].reduce((sum, char) => sum + (/[\u3040-\u9fff]/.test(char) ? 2 : 1), 0);

describe('overallText', () => {
  it('leaves out what does not fit, the least important first', () => {
    assert.equal(overallText(STATE, 40), '12 of 40 done  3 GiB  30 s left');
    assert.equal(overallText(STATE, 30), '12 of 40 done  30 s left');
    assert.equal(overallText(STATE, 15), '12 of 40 done');
    assert.equal(
      overallText(STATE, 80),
      '██░░░░░░  12 of 40 done  3 GiB of 12 GiB  307 MiB/s  30 s left  …um: track.flac',
    );
    assert.match(
      overallText({ ...STATE, failed: 2 }, 160),
      /^█{6}░{18} {2}12 of 40 done {2}2 failed {2}3 GiB of 12 GiB/,
    );
  });

  it('estimates the time left from the jobs whose size is known', () => {
    const text = overallText({ ...STATE, totalBytes: null, likelyBytes: 6 * 2 ** 30 }, 60);
    assert.match(text, /12 of 40 done {2}3 GiB {2}307 MiB\/s {2}10 s left$/);
  });

  it('shows jobs, bytes and rate of a stream, which has no end', () => {
    const text = overallText({ ...STATE, count: null, totalBytes: null, name: '' }, 160);
    assert.equal(text, '12 done  3 GiB  307 MiB/s');
  });

  it('never reaches the last column, and never shows a control character', () => {
    const state = fc.record({
      ended: fc.nat(1e7),
      failed: fc.nat(1e7),
      count: fc.option(fc.nat(1e7)),
      bytes: fc.nat({ max: 2 ** 50 }),
      totalBytes: fc.option(fc.nat({ max: 2 ** 50 })),
      likelyBytes: fc.option(fc.nat({ max: 2 ** 50 })),
      seconds: fc.double({ min: 1, max: 1e9, noNaN: true }),
      // biome-ignore lint/suspicious/noControlCharactersInRegex: names can have them
      name: fc.stringMatching(/^[a-z日本\n\u001b/]{0,60}$/),
    });
    fc.assert(
      fc.property(state, fc.integer({ min: 1, max: 200 }), (one, columns) => {
        const text = overallText(one, columns);
        assert.ok(columnsOf(text) < Math.max(2, columns), text);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
        assert.doesNotMatch(text, /[\u0000-\u001f]/);
      }),
      { numRuns: runs(500) },
    );
  });
});

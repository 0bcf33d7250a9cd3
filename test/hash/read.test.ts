import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isSameTime, withinSecond } from '../../src/hash/read.ts';

describe('the times of files', () => {
  it('are those of Node in milliseconds, and the nanoseconds within the second', () => {
    assert.deepEqual(withinSecond(1_700_000_000_123_456_789n), { ms: 1_700_000_000_123.456_8, ns: 123_456_789 });
    assert.deepEqual(withinSecond(-500_000_000n), { ms: -500, ns: 500_000_000 });
  });

  it('are compared without their fraction only where the runtime leaves it out', () => {
    const planned = 1_700_000_000_123.456_8;
    assert.deepEqual(
      [planned, 1_700_000_000_123, 1_700_000_000_124].map((time) => [
        isSameTime(time, planned),
        isSameTime(time, planned, true),
      ]),
      [
        [true, true],
        [false, true],
        [false, false],
      ],
    );
  });
});

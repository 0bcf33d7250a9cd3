import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { isPermanent } from '../../src/errors/category.ts';
import { ERROR_CODES, type MetainfoErrorCode } from '../../src/errors/codes.ts';
import { MetainfoError, ValidationError } from '../../src/errors/errors.ts';
import { fromSystemError } from '../../src/errors/system-error.ts';
import { PartError } from '../../src/parts/sealed-part.ts';

/** Failures of the disk, the network, the queue, and of resources that others hold. */
const PASSING: readonly MetainfoErrorCode[] = [
  'ERR_ABORTED',
  'ERR_CACHE',
  'ERR_HTTP',
  'ERR_NO_DESCRIPTORS',
  'ERR_NO_MEMORY',
  'ERR_NO_SPACE',
  'ERR_PART_MISSING',
  'ERR_QUEUE',
  'ERR_READ',
  'ERR_WRITE',
];

describe('isPermanent', () => {
  for (const code of Object.keys(ERROR_CODES) as MetainfoErrorCode[])
    it(`is ${!PASSING.includes(code)} for ${code}`, () => {
      assert.equal(isPermanent(new MetainfoError(code, 'a message')), !PASSING.includes(code));
    });

  it('is true for failures of the disk that come back every time', async () => {
    const path = '/x'.repeat(5000);
    const error = await readFile(path).catch((reason: unknown) => fromSystemError(reason, path, 'read'));
    assert.deepEqual([(error as MetainfoError).code, isPermanent(error)], ['ERR_UNREADABLE', true]);
    for (const [code, lasts] of [
      ['ENAMETOOLONG', true],
      ['EROFS', true],
      ['EIO', false],
      ['ESTALE', false],
      ['ETIMEDOUT', false],
    ] as const)
      assert.equal(isPermanent(fromSystemError(Object.assign(new Error(), { code }), 'x', 'write')), lasts, code);
  });

  it('is true for invalid torrents and damaged parts, and false for missing parts and unknown errors', () => {
    assert.equal(isPermanent(new ValidationError([])), true);
    // Without a cause, a source gave something other than bytes.
    assert.equal(isPermanent(new MetainfoError('ERR_SOURCE', 'x', { cause: new Error('reset') })), false);
    assert.equal(isPermanent(new PartError('ERR_PART', 'damaged', [1])), true);
    assert.equal(isPermanent(new PartError('ERR_PART_MISSING', 'missing', [1])), false);
    for (const error of [
      new Error('connect ETIMEDOUT'),
      Object.assign(new Error(), { code: 'EIO' }),
      'text',
      null,
      undefined,
    ])
      assert.equal(isPermanent(error), false);
  });
});

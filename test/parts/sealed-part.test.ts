import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PartError, SEAL_BYTES, seal, unsealed } from '../../src/parts/sealed-part.ts';
import { runs } from '../support/runs.ts';

const id = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'));
const part = fc.record({ id, index: fc.nat(), payload: fc.uint8Array({ maxLength: 300 }) });

const isRefused = (sealed: Uint8Array, place: Parameters<typeof unsealed>[1]) =>
  assert.throws(
    () => unsealed(sealed, place),
    (error) => error instanceof PartError && error.code === 'ERR_PART' && error.indexes[0] === place.index,
  );

describe('a sealed part', () => {
  it('gives back its payload, and ends with the SHA-256 of all before', () => {
    fc.assert(
      fc.property(part, ({ id: plan, index, payload }) => {
        const sealed = seal({ id: plan, index }, payload);
        assert.equal(sealed.length, payload.length + SEAL_BYTES);
        assert.deepEqual(
          Buffer.from(unsealed(sealed, { id: plan, index, length: payload.length })),
          Buffer.from(payload),
        );
        const hash = createHash('sha256').update(sealed.subarray(0, -32)).digest();
        assert.ok(hash.equals(sealed.subarray(-32)));
        assert.equal(Buffer.from(sealed.subarray(8, 40)).toString('hex'), plan);
      }),
      { numRuns: runs(200) },
    );
  });

  it('is refused if any byte is changed, or if it is cut or extended', () => {
    const change = fc.record({ at: fc.nat(), by: fc.integer({ min: 1, max: 255 }), cut: fc.nat(), more: fc.nat(40) });
    fc.assert(
      fc.property(part, change, ({ id: plan, index, payload }, { at, by, cut, more }) => {
        const sealed = seal({ id: plan, index }, payload);
        const place = { id: plan, index, length: payload.length };
        const flipped = Buffer.from(sealed);
        flipped[at % sealed.length] = ((sealed[at % sealed.length] as number) + by) % 256;
        isRefused(flipped, place);
        isRefused(sealed.subarray(0, cut % sealed.length), place);
        isRefused(sealed.subarray(1 + (cut % sealed.length)), place);
        isRefused(Buffer.concat([sealed, Buffer.alloc(more + 1)]), place);
      }),
      { numRuns: runs(500) },
    );
  });

  it('is refused for another plan, another index or another length, although its checksum is right', () => {
    fc.assert(
      fc.property(part, id, ({ id: plan, index, payload }, other) => {
        const sealed = seal({ id: plan, index }, payload);
        const place = { id: plan, index, length: payload.length };
        if (other !== plan) isRefused(sealed, { ...place, id: other });
        isRefused(sealed, { ...place, index: index + 1 });
        isRefused(sealed, { ...place, length: payload.length + 1 });
      }),
      { numRuns: runs(200) },
    );
  });
});

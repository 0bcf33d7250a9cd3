import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { is } from 'superstruct';
import { HashList } from '../../src/model/hash-list.ts';
import { PieceLayers } from '../../src/model/piece-layers.ts';

describe('PieceLayers', () => {
  const root = 'ab'.repeat(32);
  const layer = new HashList([Buffer.alloc(32)], 32);

  it('accepts roots in lower-case hexadecimal with hashes of 32 bytes', () => {
    assert.ok(is(new Map(), PieceLayers));
    assert.ok(is(new Map([[root, layer]]), PieceLayers));
  });

  it('rejects other keys and values', () => {
    const refused: unknown[] = [
      null,
      { [root]: layer },
      new Map([[root.slice(2), layer]]),
      new Map([[root.toUpperCase(), layer]]),
      new Map([[Buffer.alloc(32).toString('latin1'), layer]]),
      new Map([[root, new HashList([], 20)]]),
      new Map([[root, Buffer.alloc(32)]]),
    ];
    for (const value of refused) assert.ok(!is(value, PieceLayers), String(value));
  });
});

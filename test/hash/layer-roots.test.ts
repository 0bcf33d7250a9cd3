import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import { layerRoots } from '../../src/hash/merkle.ts';
import { cpuSeconds, slowness } from '../support/timing.ts';
import { noise, sha256 } from './reference.ts';

const HEIGHTS = [0, 1, 2, 7];
const MOST = 70;

/** Layers of 1 to 70 hashes, all different, one after the other. */
const packed = noise((MOST * (MOST + 1) * 32) / 2, 9);
const layers = Array.from({ length: MOST }, (_, i) => packed.subarray(i * (i + 1) * 16, (i + 1) * (i + 2) * 16));

/** The root of the tree over `width` hashes from `from` on, as BEP 52 draws it: what is past the end is zero blocks. */
function rootOf(layer: Buffer, from: number, width: number, height: number): Buffer {
  if (width > 1) {
    const half = width / 2;
    return sha256(Buffer.concat([rootOf(layer, from, half, height), rootOf(layer, from + half, half, height)]));
  }
  return from * 32 < layer.length ? layer.subarray(from * 32, (from + 1) * 32) : zeroTree(height);
}

function zeroTree(height: number): Buffer {
  if (height === 0) return Buffer.alloc(32);
  const below = zeroTree(height - 1);
  return sha256(Buffer.concat([below, below]));
}

function expectedRoots(height: number): Buffer {
  const roots = layers.map((layer) => {
    let width = 1;
    while (width * 32 < layer.length) width *= 2;
    return rootOf(layer, 0, width, height);
  });
  return Buffer.concat(roots);
}

/** The result of a process that finds no addon. */
function withoutAddon(height: number): Buffer {
  const script = `
    const { loadAddon } = await import('./src/hash/addon.ts');
    let code; try { loadAddon(); } catch (error) { code = error.code; }
    if (code !== 'ERR_NATIVE_UNAVAILABLE') throw new Error('the addon was found');
    const { layerRoots } = await import('./src/hash/merkle.ts');
    const packed = process.getBuiltinModule('node:fs').readFileSync(0);
    const layers = Array.from({ length: ${MOST} }, (_, i) => packed.subarray(i * (i + 1) * 16, (i + 1) * (i + 2) * 16));
    console.log(Buffer.from(layerRoots(layers, ${2 ** height})).toString('hex'));`;
  const printed = execFileSync(
    process.execPath,
    ['--import', './scripts/ts.mjs', '--input-type=module', '-e', script],
    {
      input: packed,
      encoding: 'utf8',
      // Where node-gyp-build looks instead: there is no addon there.
      env: { ...process.env, METAINFO_PREBUILD: tmpdir() },
    },
  );
  return Buffer.from(printed.trim(), 'hex');
}

describe('layerRoots', () => {
  for (const height of HEIGHTS) {
    const pieces = `pieces of ${2 ** height} blocks`;

    it(`natively, by ${pieces}, gives the roots of the whole trees`, () => {
      assert.deepEqual(Buffer.from(layerRoots(layers, 2 ** height)), expectedRoots(height));
    });

    it(`without the addon, by ${pieces}, gives the same`, () => {
      assert.deepEqual(withoutAddon(height), expectedRoots(height));
    });
  }

  it('accepts layers of several buffers, in any order', () => {
    const apart = layers.map((layer) => new Uint8Array(layer)).reverse();
    const expected = expectedRoots(1);
    const roots = Buffer.from(layerRoots(apart, 2));
    for (let i = 0; i < MOST; i += 1) {
      const at = MOST - 1 - i;
      assert.deepEqual(roots.subarray(i * 32, (i + 1) * 32), expected.subarray(at * 32, (at + 1) * 32));
    }
  });

  it('accepts the same layer twice', () => {
    const [, two] = layers as [Buffer, Buffer];
    const expected = expectedRoots(0).subarray(32, 64);
    assert.deepEqual(Buffer.from(layerRoots([two, two], 1)), Buffer.concat([expected, expected]));
  });

  it('accepts layers in shared memory', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(packed.length));
    shared.set(packed);
    const views = layers.map((layer) =>
      shared.subarray(layer.byteOffset - packed.byteOffset).subarray(0, layer.length),
    );
    assert.deepEqual(Buffer.from(layerRoots(views, 1)), expectedRoots(0));
  });

  it('gives no roots for no layers', () => assert.equal(layerRoots([], 4).length, 0));

  it('hashes many layers in linear time, without blocking the event loop for long', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => layers[i % MOST] as Buffer);
    const measured = (given: readonly Buffer[]) => {
      const before = cpuSeconds();
      const roots = layerRoots(given, 16);
      return { roots, seconds: cpuSeconds() - before };
    };
    const tenth = Math.max(...[1, 2, 3].map(() => measured(many.slice(0, 2000)).seconds));
    const { roots, seconds } = measured(many);
    // Linear time gives 10, quadratic time 100.
    assert.ok(seconds < 40 * tenth, `${seconds} s, a tenth of the layers ${tenth} s`);
    assert.ok(seconds < 5 * slowness, `${seconds} s`);
    assert.deepEqual(roots.subarray(0, 32), roots.subarray(MOST * 32, (MOST + 1) * 32));
  });
});

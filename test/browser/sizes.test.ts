import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

// A script in plain JavaScript, which has no types.
const { browserSizes } = (await import('../../scripts/browser-sizes.mjs' as string)) as {
  browserSizes: () => Promise<Record<string, { minified: number; gzipped: number }>>;
};

/** Bytes of what a page loads, minified and gzipped. */
const MOST = { 'reads and validates': 40_000, everything: 80_000 };

describe('the size of metainfo/browser', () => {
  it('is within its budget', async () => {
    const sizes = await browserSizes();
    assert.deepEqual(Object.keys(sizes), Object.keys(MOST));
    for (const [name, most] of Object.entries(MOST)) {
      const { gzipped = Number.NaN } = sizes[name] ?? {};
      assert.ok(gzipped <= most, `a page that ${name}: ${gzipped} bytes, at most ${most}`);
      // A page with an error in it would be small.
      assert.ok(gzipped > most / 2, `a page that ${name}: ${gzipped} bytes`);
    }
  });
});

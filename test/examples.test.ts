import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const EXAMPLES = fileURLToPath(new URL('../examples', import.meta.url));

/** The expected output of each example. Examples import the built package by its name. */
const OUTPUT: Record<string, RegExp> = {
  'folder.mjs':
    /^notes\/readme\.txt: \d+ bytes$[\s\S]*^infohash v2 663e53b47c945ca3a66f41889fcc99f85f99ebb6136a071c586681c6bc2c022c$/m,
  'many.mjs': /^1000 torrents in /,
  'object-store.mjs': /^2 objects, 9050000 bytes in 6 requests$/m,
  'partial-download.mjs': /^film\.mkv: pieces 0, 1, 3, 7 of 11 are valid$/m,
  's3-parts.mjs':
    /^3 parts, infohash v2 [0-9a-f]{64}\ngenerate makes the same: true\nafter the film was replaced: ERR_FILE_CHANGED$/m,
  'upload.mjs': /^the file on disk has the same infohash$/m,
};

describe('examples', () => {
  it('have an expected output each', () => {
    assert.deepEqual(
      readdirSync(EXAMPLES).filter((name) => name.endsWith('.mjs')),
      Object.keys(OUTPUT),
    );
  });

  for (const [name, expected] of Object.entries(OUTPUT)) {
    it(`${name} runs and prints its output`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(EXAMPLES, name)], { encoding: 'utf8' });
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
      assert.match(stdout, expected);
    });
  }
});

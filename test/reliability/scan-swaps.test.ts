// Entries that vanish or change their type between the listing and the scan's next call on them.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { addonOrNull } from '../../src/hash/addon.ts';
import { buildShim, Faults, faultsEnv, shimMissing } from '../support/faults.ts';
import { runScript } from './run-child.ts';
import type { SwapOutcome } from './scan-swaps-child.ts';

const KEPT = { 'kept/file': 'kept/file: 1' };

const EXPECTED: Record<string, SwapOutcome> = {
  'sub/file vanishes': { code: 'ERR_NOT_FOUND', path: 'sub/file' },
  'sub/file becomes a FIFO': { code: 'ERR_NOT_A_FILE', path: 'sub/file' },
  'sub/file becomes a file': { ...KEPT, 'sub/file': 'sub/file: 6' },
  'sub/file becomes a folder': { ...KEPT, 'sub/file/inner': 'sub/file/inner: 1' },
  'sub/file becomes a link out of the root': { code: 'ERR_LINK_OUTSIDE', path: 'sub/file' },
  'sub/file becomes a link within the root': { ...KEPT, 'sub/file/file': 'kept/file: 1' },
  'sub vanishes': { code: 'ERR_NOT_FOUND', path: 'sub' },
  'sub becomes a FIFO': { code: 'ERR_NOT_FOUND', path: 'sub' },
  'sub becomes a file': { code: 'ERR_NOT_FOUND', path: 'sub' },
  'sub becomes a folder': { ...KEPT, 'sub/inner': 'sub/inner: 1' },
};

/** Node's readdir follows links, so that only the native scan can tell. No engine reads content through them. */
const NO_LINK = { code: 'ERR_FILE_CHANGED', path: 'sub' };
const OF_FOLDERS: Record<string, Record<string, SwapOutcome>> = {
  native: { 'sub becomes a link out of the root': NO_LINK, 'sub becomes a link within the root': NO_LINK },
  node: {
    'sub becomes a link out of the root': { ...KEPT, 'sub/secret': 'sub/secret: 1' },
    'sub becomes a link within the root': { ...KEPT, 'sub/file': 'sub/file: 1' },
  },
};

describe('an entry that changes during a scan', { skip: shimMissing() }, () => {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'metainfo-swaps-')));
  after(() => rmSync(folder, { recursive: true }));

  for (const engine of addonOrNull() ? ['native', 'node'] : ['node']) {
    it(`is reported, or found as it is now: ${engine} engine`, async () => {
      const work = path.join(folder, engine);
      mkdirSync(work);
      const control = path.join(folder, `${engine} control`);
      Faults.create(control).close();
      const env = { ...faultsEnv({ shim: buildShim(folder), control, folder: work }), METAINFO_ENGINE: engine };
      const { code, told } = await runScript<Record<string, SwapOutcome>>('scan-swaps-child.ts', [], env);
      assert.deepEqual([code, told], [0, [{ ...EXPECTED, ...OF_FOLDERS[engine] }]]);
    });
  }
});

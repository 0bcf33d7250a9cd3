// Scans of very many files: 300,000 in one folder, and more than a million entries of which a scan is cancelled.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { scan } from '../../src/disk/scan.ts';
import { addonOrNull } from '../../src/hash/addon.ts';
import { runs } from '../support/runs.ts';
import { assertWithin, slowness } from '../support/timing.ts';

/** 300,000 with `npm test -- --all`. */
const FILES = runs(300_000);
/** Links to the large folder: their files count as entries of their own. */
const LINKS = 4;
/** The seconds in which a cancelled scan must end. Node's functions wait for all calls of a step, in a pool of four threads. */
const CANCEL_SECONDS: Record<string, number> = { native: 0.05 * slowness, node: 1 * slowness };

describe('a scan of very many files', () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'metainfo-large-')));
  before(() => {
    mkdirSync(path.join(root, 'one/large'), { recursive: true });
    for (let i = 0; i < FILES; i += 1) writeFileSync(path.join(root, `one/large/${i}`), '');
    mkdirSync(path.join(root, 'many'));
    for (let i = 0; i < LINKS; i += 1) symlinkSync('../one', path.join(root, `many/link${i}`));
  });
  after(() => rmSync(root, { recursive: true }));

  for (const engine of addonOrNull() ? ['native', 'node'] : ['node']) {
    describe(`${engine} engine`, () => {
      const chosen = process.env['METAINFO_ENGINE'];
      before(() => {
        process.env['METAINFO_ENGINE'] = engine;
      });
      after(() => {
        process.env['METAINFO_ENGINE'] = chosen ?? '';
      });

      it('finds all files of one folder', async () => {
        const { columns } = await scan(path.join(root, 'one'), null);
        assert.equal(columns.lengths.length, FILES);
        assert.equal(columns.paths.ends.length, FILES);
        const digits = Array.from({ length: FILES }, (_, i) => String(i).length).reduce((sum, count) => sum + count, 0);
        assert.equal(columns.paths.bytes.length, digits + FILES * 'large/'.length);
      });

      it('finds all files through links', { skip: engine === 'node' && 'it takes minutes' }, async () => {
        const { columns } = await scan(root, null);
        assert.equal(columns.lengths.length, FILES * (1 + LINKS));
        assert.equal(columns.diskPaths?.ends.length, FILES * (1 + LINKS));
      });

      for (const [what, options] of Object.entries({ 'of all files': {}, 'with a filter': { exclude: () => false } })) {
        it(`ends soon after it was cancelled, ${what}`, async (t) => {
          const folder = engine === 'native' ? root : path.join(root, 'one');
          const started = performance.now();
          await scan(folder, null, options);
          const whole = performance.now() - started;
          for (const share of engine === 'native' ? [0.05, 0.3, 0.6, 0.9] : [0.3]) {
            await assertWithin(t, CANCEL_SECONDS[engine] as number, async () => {
              const controller = new AbortController();
              const running = scan(folder, null, { ...options, signal: controller.signal });
              running.catch(() => {});
              await sleep(whole * share);
              const aborted = performance.now();
              controller.abort();
              await running.then(
                () => assert.ok(share > 0.5, 'it had ended already'),
                (error: { code?: string }) => assert.equal(error.code, 'ERR_ABORTED'),
              );
              return (performance.now() - aborted) / 1000;
            });
          }
        });
      }
    });
  }
});

// Scans of many files: 300,000 in one folder, and more than a million entries of which a scan is cancelled.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { scan } from '../../src/disk/scan.ts';
import { Limiter } from '../../src/hash/limiter.ts';
import { pathAt } from '../../src/layout/file-table.ts';
import { chooseEngine, ENGINES } from '../support/choose-engine.ts';
import { runs } from '../support/runs.ts';
import { assertWithin, cpuSeconds, slowness } from '../support/timing.ts';

/** 300,000 with `npm test -- --all`. */
const FILES = runs(300_000);
/** The files of a folder by engine: Node's functions take a minute for all of them. */
const COUNTS = { native: FILES, node: Math.ceil(FILES / 10) };
/** Links to the large folder: their files count as entries of their own. */
const LINKS = 4;
/** The seconds in which a cancelled scan must end. Node's functions wait for all calls of a step, in a pool of four threads. */
const CANCEL_SECONDS: Record<string, number> = { native: 0.05 * slowness, node: 1 * slowness };

describe('a scan of many files', () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'metainfo-large-')));
  before(() => {
    for (const [engine, count] of Object.entries(COUNTS)) {
      mkdirSync(path.join(root, engine, 'large'), { recursive: true });
      for (let i = 0; i < count; i += 1) writeFileSync(path.join(root, engine, `large/${i}`), '');
    }
    mkdirSync(path.join(root, 'many'));
    for (let i = 0; i < LINKS; i += 1) symlinkSync('../native', path.join(root, `many/link${i}`));
  });
  after(() => rmSync(root, { recursive: true }));

  for (const engine of ENGINES) {
    describe(`${engine} engine`, () => {
      let restore = () => {};
      before(() => {
        restore = chooseEngine(engine);
      });
      after(() => restore());

      it('finds all files of one folder', async () => {
        const { columns } = await scan(path.join(root, engine), null);
        const count = COUNTS[engine];
        assert.equal(columns.lengths.length, count);
        const found = new Set(Array.from({ length: count }, (_, i) => pathAt(columns.paths, i).join('/')));
        for (let i = 0; i < count; i += 1) assert.ok(found.has(`large/${i}`), `large/${i}`);
      });

      it('finds all files through links', { skip: engine === 'node' && 'it takes minutes' }, async () => {
        const { columns } = await scan(root, null);
        const all = FILES * (1 + LINKS) + COUNTS.node;
        assert.equal(columns.lengths.length, all);
        assert.equal(columns.diskPaths?.ends.length, all);
      });

      it('lets other jobs go first', { skip: engine === 'node' && 'it takes minutes' }, async (t) => {
        const started = performance.now();
        await scan(root, null);
        const milliseconds = performance.now() - started;
        // A native scan offers its slot every few milliseconds, and gives it up at the 17th offer.
        if (milliseconds < 400) return t.skip(`the scan takes only ${milliseconds} ms`);
        const limiter = new Limiter(1);
        const order: string[] = [];
        await Promise.all([
          limiter.run(undefined, async (slot) => {
            await scan(root, null, { slot });
            order.push('scan');
          }),
          limiter.run(undefined, async () => order.push('other')),
        ]);
        assert.deepEqual(order, ['other', 'scan']);
      });

      for (const [what, options] of Object.entries({ 'of all files': {}, 'with a filter': { exclude: () => false } })) {
        it(`ends soon after it was cancelled, ${what}`, async (t) => {
          const folder = engine === 'native' ? root : path.join(root, engine);
          const started = performance.now();
          await scan(folder, null, options);
          const whole = performance.now() - started;
          for (const share of engine === 'native' ? [0.05, 0.3, 0.6, 0.9] : [0.3]) {
            await assertWithin(t, CANCEL_SECONDS[engine] as number, async () => {
              // A scan may end before it is cancelled: then it is cancelled earlier.
              for (let wait = whole * share; ; wait /= 2) {
                const controller = new AbortController();
                const running = scan(folder, null, { ...options, signal: controller.signal });
                const code = running.then(
                  () => null,
                  (error: { code?: string }) => error.code,
                );
                await sleep(wait);
                const before = cpuSeconds();
                controller.abort();
                const ended = await code;
                if (ended === null) continue;
                assert.equal(ended, 'ERR_ABORTED');
                return cpuSeconds() - before;
              }
            });
          }
        });
      }
    });
  }
});

// Many jobs at once. `npm run bench -- load` measures their effect on the event loop.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, it, type TestContext } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import { MAX_GROUP } from '../../src/disk/write-group.ts';
import { HUGE, sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';
import type { LoadReport, LoadTask } from './load-child.ts';
import { procMissing, runChild, runScript } from './run-child.ts';

const MIB = 2 ** 20;

async function load(t: TestContext, engine: 'native' | 'node', task: Omit<LoadTask, 'folder'>): Promise<LoadReport> {
  const input: LoadTask = { folder: await temporaryFolder(t), ...task };
  const args = [JSON.stringify(input)];
  const { code, told } = await runScript<LoadReport>('load-child.ts', args, { METAINFO_ENGINE: engine });
  const [report] = told;
  assert.deepEqual(
    { code, wrong: report?.wrong, settled: report?.settled },
    { code: 0, wrong: [], settled: task.jobs },
  );
  return report as LoadReport;
}

const TASKS: [engine: 'native' | 'node', jobs: number, largeBytes: number, mixed: boolean][] = [
  ['native', 4000, 128 * MIB, false],
  ['native', 1500, 128 * MIB, true],
  ['node', 500, 16 * MIB, false],
  ['node', 500, 16 * MIB, true],
];

describe('many jobs at once, and 8 large ones', { skip: procMissing }, () => {
  for (const [engine, jobs, largeBytes, mixed] of TASKS) {
    const title = `${jobs.toLocaleString('en')} ${mixed ? 'of all kinds' : 'creations'}, ${engine}`;
    it(`${title}: all give the right result within bounded memory, threads and descriptors`, async (t) => {
      const report = await load(t, engine, { jobs, large: 8, largeBytes, mixed });
      const { threads, threadsBefore, descriptors, descriptorsBefore, rss, rssBefore, waitingBytes } = report;
      const cores = availableParallelism();
      // Threads that handed over their place may not have ended yet.
      assert.ok(threads <= threadsBefore + 4 * cores, `${threads} threads, ${threadsBefore} before`);
      // Sixteen per hashing thread, and those for folders and torrent files.
      const most = descriptorsBefore + 16 * cores + 64;
      assert.ok(descriptors <= most, `${descriptors} descriptors, ${descriptorsBefore} before`);
      const grown = rss - rssBefore;
      assert.ok(grown < 256 * MIB, `${grown} bytes more`);
      assert.ok(waitingBytes < 16 * 1024, `${waitingBytes} bytes a job that waits`);
      if (mixed) assert.ok(report.aborted >= jobs / 18, `${report.aborted} aborted`);
      t.diagnostic(
        `${threads - threadsBefore} threads, ${descriptors - descriptorsBefore} descriptors, ${(grown / MIB).toFixed(0)} MiB more; ${waitingBytes.toFixed(0)} bytes a job that waits`,
      );
    });
  }
});

describe('many jobs', () => {
  const atOnce = Math.max(8, availableParallelism());

  it('start in the order of the calls, and only a few run at once', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { 'a/b': 1000, c: 20_000 });
    const [begun, ended]: [Set<number>, number[]] = [new Set(), []];
    let most = 0;
    const jobs = Array.from({ length: 300 }, async (_, i) => {
      // The scan calls the filter.
      const exclude = () => {
        begun.add(i);
        most = Math.max(most, begun.size - ended.length);
        return false;
      };
      const torrent = await new TorrentCreate({ pathRoot: folder, exclude }).generate();
      ended.push(i);
      return torrent.infohashV2;
    });
    assert.equal(new Set(await Promise.all(jobs)).size, 1);
    // A job that left its slot may not have reported its end yet.
    assert.ok(most <= 2 * atOnce, `${most} at once`);
    for (const [place, i] of ended.entries()) assert.ok(Math.abs(place - i) <= 4 * atOnce, `${i} was number ${place}`);
  });

  it('do not keep small jobs waiting for large ones', { timeout: 60_000 }, async (t) => {
    const folder = await temporaryFolder(t);
    const huge = await sparseFile(folder, 'huge', HUGE);
    const stop = new AbortController();
    const all = Array.from({ length: 2 * atOnce }, () =>
      new TorrentCreate({ pathRoot: huge }).generate({ signal: stop.signal }).catch(({ code }) => code),
    );
    const small = await new TorrentCreate({ pathRoot: await sparseFile(folder, 'small', MIB) }).generate();
    assert.equal(small.totalSize, MIB);
    stop.abort();
    assert.deepEqual(new Set(await Promise.all(all)), new Set(['ERR_ABORTED']));
  });

  it('in the queue end at once when the signal that they share fires', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: 1000 });
    const stop = new AbortController();
    const warnings: string[] = [];
    const warned = ({ message }: Error) => warnings.push(message);
    process.on('warning', warned);
    t.after(() => process.off('warning', warned));
    const jobs = Array.from({ length: 1000 }, () =>
      new TorrentCreate({ pathRoot: folder }).generate({ signal: stop.signal }).catch(({ code }) => code),
    );
    stop.abort();
    assert.deepEqual(new Set(await Promise.all(jobs)), new Set(['ERR_ABORTED']));
    assert.equal((await new TorrentCreate({ pathRoot: folder }).generate()).totalSize, 1000);
    assert.deepEqual(warnings, []);
  });
});

describe('many torrent files at once', { skip: procMissing }, () => {
  it('hold the descriptors of one group of writes, and few others', async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'file', MIB);
    const { code, told } = await runChild('manyFiles', file, 2000);
    assert.equal(code, 0);
    const [{ before = 0, most = 0, same = 0 } = {}] = told;
    assert.equal(same, 2000);
    assert.ok(most <= before + MAX_GROUP + 32, `${most} descriptors, ${before} before`);
  });
});

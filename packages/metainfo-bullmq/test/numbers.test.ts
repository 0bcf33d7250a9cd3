import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pageText } from '../../../test/support/pages.ts';
import { MAX_CHILDREN, RECOVERY, RETRIES } from '../src/settings.ts';

const GUIDE = 'docs/guides/queues.md';
const SCALING = 'docs/scaling.md';

/** The number of a constant or a default value in a source file, such as `10_000`. */
function valueIn(file: string, name: string): number {
  const [, text = ''] = new RegExp(`\\b${name}(?:: \\w+ =| =|:) ([\\d_]+)`).exec(pageText(file)) ?? [];
  return Number(text.replaceAll('_', ''));
}

const source = (file: string, name: string) => valueIn(`packages/metainfo-bullmq/src/${file}.ts`, name);
const seconds = (file: string, name: string) => source(file, name) / 1000;
const WORDS: Readonly<Record<string, number>> = { four: 4, five: 5, ten: 10 };

/** Statements of pages, with the number in a group, and the number of the code. */
const SAID: [page: string, said: RegExp, value: number][] = [
  [GUIDE, /small torrents: (\d+) a job by default/, source('torrent-queue', 'perJob')],
  ['packages/metainfo-bullmq/src/queued.ts', /@default (\d+) \*\/ perJob/, source('torrent-queue', 'perJob')],
  ['packages/metainfo-bullmq/src/queued.ts', /items of one job, up to (\d+)/, source('batches', 'MAX_PER_JOB')],
  [GUIDE, /by default, at most (\d+)/, source('batches', 'MAX_PER_JOB')],
  [GUIDE, /from up to (\d+) jobs at once/, source('batches', 'JOBS_AT_ONCE')],
  [GUIDE, /is tried again, up to (\d+) times/, RETRIES.attempts],
  [GUIDE, /takes its part within (\d+) s/, (RECOVERY.lockDuration + RECOVERY.stalledInterval) / 1000],
  [GUIDE, /nobody has worked for a root for (ten) seconds/, seconds('job-waits', 'NO_WORKER_MS')],
  [GUIDE, /`onNoWorker` is called after (\d+) s/, seconds('job-waits', 'NO_WORKER_MS')],
  [GUIDE, /does not answer for (ten) seconds at the start/, seconds('server', 'CONNECT_MS')],
  [GUIDE, /they wait (ten) minutes for it/, seconds('job-waits', 'OUTAGE_MS') / 60],
  [GUIDE, /gives running ones (\d+) seconds to end/, seconds('command/run-worker', 'GRACE_MS')],
  [GUIDE, /asked for at most every (five) seconds/, seconds('command/metrics', 'COUNTS_MS')],
  [GUIDE, /wrong by more than (\d+) s/, seconds('server-clock', 'MOST_MS')],
  [GUIDE, /whatever the number of its roots: (four) in a pool/, source('postgres', 'max')],
  [GUIDE, /began more than (\d+) hours ago/, source('engine-run', 'KEPT_MS')],
  [SCALING, /torrent has at most ([\d,]+) of them/, MAX_CHILDREN],
  [SCALING, /([\d,]+) children at once/, MAX_CHILDREN],
  [SCALING, /a lock of (\d+) s/, RECOVERY.lockDuration / 1000],
  [SCALING, /a check every (\d+) s/, RECOVERY.stalledInterval / 1000],
  [SCALING, /one every (\d+) s of a longer part/, seconds('settings', 'PROGRESS_MS')],
];

describe('pages about queues', () => {
  for (const [page, said, value] of SAID)
    it(`${page} has the number of the code: ${said.source}`, () => {
      // A page breaks lines anywhere.
      const text = pageText(page).replace(/\s+(?:\* )?/g, ' ');
      const [, number = ''] = said.exec(text) ?? [];
      assert.equal(WORDS[number] ?? Number(number.replaceAll(',', '') || 'NaN'), value);
    });
});

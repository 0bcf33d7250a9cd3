// Hash threads give way to all other threads of the process.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TorrentCreate } from '../../src/create/draft.ts';
import { sparseFile, temporaryFolder } from '../support/tree.ts';
import { procMissing } from './run-child.ts';

const [SCHED_OTHER, SCHED_BATCH] = ['0', '3'];

/** The scheduling policy of each thread of this process: field 41 of its stat. The name, field 2, may have spaces. */
function policies(): (string | undefined)[] {
  return readdirSync('/proc/self/task').flatMap((thread) => {
    try {
      const [, fields = ''] = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(/\) (?!.*\))/s);
      return [fields.split(' ')[38]];
    } catch {
      // The thread has ended.
      return [];
    }
  });
}

const isOther = !procMissing && policies().every((policy) => policy === SCHED_OTHER);
const skip = procMissing || (!isOther && 'this process was started with another policy');

it('only threads that hash have a lower priority', { skip }, async (t) => {
  const file = await sparseFile(await temporaryFolder(t), 'file', 64 * 2 ** 30);
  const before = policies().length;
  const abort = new AbortController();
  const job = new TorrentCreate({ pathRoot: file }).generate({ threads: 2, signal: abort.signal });
  job.catch(() => null);
  let lowered: (string | undefined)[] = [];
  while (lowered.length < 2) {
    await delay(5);
    lowered = policies().filter((policy) => policy !== SCHED_OTHER);
  }
  assert.deepEqual(lowered, [SCHED_BATCH, SCHED_BATCH]);
  assert.ok(policies().length >= before + 2);
  abort.abort();
  await assert.rejects(job, { code: 'ERR_ABORTED' });
});

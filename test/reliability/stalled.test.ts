// A file system that does not answer delays neither cancellation, nor other jobs, nor the end of a thread or process.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { addonOrNull } from '../../src/hash/addon.ts';
import { buildShim, Faults, faultsEnv, shimMissing } from '../support/faults.ts';
import { runScript } from './run-child.ts';

/** Calls stall for two minutes. */
const MOST_SECONDS = 60;

interface Told {
  codes: string[];
  seconds: number;
  others: string;
  otherSeconds: number;
  after: string;
}

const missing = shimMissing();

describe('a system call that never completes', { skip: missing }, () => {
  let [shim, root] = ['', ''];
  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'metainfo-silent-'));
    shim = buildShim(root);
  });
  after(() => rm(root, { recursive: true }));

  async function run(scenario: string, engine: 'native' | 'node', call = 'read') {
    const folder = path.join(root, `${scenario} ${engine} ${call}`);
    await mkdir(path.join(folder, 'inner'), { recursive: true });
    for (const name of ['stalled', 'other']) await writeFile(path.join(folder, name), Buffer.alloc(600_000, name));
    const control = `${folder} control`;
    Faults.create(control).close();
    const env = faultsEnv({ shim, control, folder: await realpath(folder) });
    return runScript<Told>('stalled-child.ts', [scenario, call], { ...env, METAINFO_ENGINE: engine });
  }

  for (const engine of addonOrNull() ? (['native', 'node'] as const) : (['node'] as const)) {
    it(`a read of the ${engine} engine: does not delay cancellation or other jobs`, async () => {
      const { code, signal, told } = await run('abort', engine);
      assert.deepEqual({ code, signal }, { code: 0, signal: null });
      const [{ codes, seconds, others, otherSeconds, after }] = told as [Told];
      assert.deepEqual(
        { codes, others, after },
        { codes: Array(3).fill('ERR_ABORTED'), others: 'made', after: 'made' },
      );
      assert.equal(Math.max(seconds, otherSeconds) < MOST_SECONDS ? '' : `${seconds}, ${otherSeconds} s`, '');
    });
  }

  it('does not delay the cancellation of Torrent.read', async () => {
    const { told } = await run('read', 'node');
    const [{ codes, seconds }] = told as [Told];
    assert.deepEqual(codes, ['ERR_ABORTED']);
    assert.equal(seconds < MOST_SECONDS ? '' : `${seconds} s`, '');
  });

  const onlyNode = !addonOrNull() && 'Node itself waits for its calls';
  const calls = { read: 'a read', close: 'a close', list: 'a listing', stat: 'the stat call of a scan' };
  for (const [call, name] of Object.entries(calls)) {
    it(`does not delay process.exit: ${name}`, { skip: onlyNode }, async () => {
      const { code, signal, secondsFromAt } = await run('exit', 'native', call);
      assert.deepEqual({ code, signal }, { code: 0, signal: null });
      assert.equal(secondsFromAt < MOST_SECONDS ? '' : `${secondsFromAt} s`, '');
    });

    it(`does not delay worker.terminate: ${name}`, { skip: onlyNode }, async () => {
      const { code, signal, told } = await run('terminate', 'native', call);
      const [{ seconds, after }] = told as [Told];
      assert.deepEqual({ code, signal, after }, { code: 0, signal: null, after: 'made' });
      assert.equal(seconds < MOST_SECONDS ? '' : `${seconds} s`, '');
    });
  }
});

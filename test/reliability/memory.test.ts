import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { freemem } from 'node:os';
import { describe, it } from 'node:test';
import { readFully } from '../../src/hash/read.ts';
import { sparseFile, temporaryFolder } from '../support/tree.ts';
import { procMissing, runChild } from './run-child.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

async function peakOf(...run: Parameters<typeof runChild>): Promise<number> {
  const { code, told } = await runChild(...run);
  assert.equal(code, 0);
  return told[0]?.['peak'] as number;
}

describe('peak memory', { skip: procMissing }, () => {
  it('stays within 100 MiB of an idle process for a file of 8 GiB', async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'big', 8 * GIB);
    const idle = await peakOf('idle', file);
    for (const version of ['v1', 'v2', 'hybrid']) {
      const above = (await peakOf('memory', file, version)) - idle;
      assert.ok(above < 100 * MIB, `${version}: ${above} bytes above ${idle}`);
      t.diagnostic(`${version}: ${(above / MIB).toFixed(1)} MiB above ${(idle / MIB).toFixed(1)} MiB`);
    }
  });

  it('stays within the limit for a stream of 4 GiB of any speed', async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'small', MIB);
    const idle = await peakOf('idle', file);
    for (const version of ['v1', 'v2', 'hybrid']) {
      for (const limit of [16 * MIB, 128 * MIB]) {
        const above = (await peakOf('streamMemory', version, limit)) - idle;
        // JavaScript garbage adds to the limit.
        assert.ok(above < limit + 40 * MIB, `${version}: ${above} bytes above ${idle}`);
        t.diagnostic(`${version}: ${(above / MIB).toFixed(1)} MiB above ${(idle / MIB).toFixed(1)} of ${limit / MIB}`);
      }
    }
  });
});

describe('readFully', () => {
  it('reads 2 GiB, which is too much for a single read of Node', { skip: freemem() < 3 * GIB }, async (t) => {
    const handle = await open(await sparseFile(await temporaryFolder(t), 'huge', 2 * GIB + 1), 'r+');
    await handle.write('x', 0);
    const into = Buffer.allocUnsafeSlow(2 * GIB + 1);
    for (const at of [0, 1, GIB, 2 * GIB]) into[at] = 1;
    const bytes = await readFully(handle, into, 0);
    await handle.close();
    assert.equal(bytes, into.length);
    assert.deepEqual([into[0], into[1], into[GIB], into[2 * GIB]], [120, 0, 0, 0]);
  });
});

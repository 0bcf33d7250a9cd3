import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TorrentCreate, verify } from '../../src/index.ts';
import { temporaryFolder } from '../support/tree.ts';

describe('an async onProgress', () => {
  it('fails the job with its rejection, and leaves no rejection unhandled', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeFile(path.join(pathRoot, 'a'), 'content');
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', listen);
    t.after(() => process.off('unhandledRejection', listen));
    const reason = new Error('no');
    const onProgress = async () => {
      await delay(5);
      throw reason;
    };
    const draft = new TorrentCreate({ pathRoot });
    await assert.rejects(draft.generate({ onProgress }), (error) => error === reason);
    const torrent = await draft.generate();
    await assert.rejects(verify(torrent, pathRoot, { onProgress }), (error) => error === reason);
    await delay(20);
    assert.deepEqual(unhandled, []);
  });

  it('delays the end of the job until it settles', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeFile(path.join(pathRoot, 'a'), 'content');
    let done = false;
    const onProgress = async () => {
      await delay(20);
      done = true;
    };
    await new TorrentCreate({ pathRoot }).generate({ onProgress });
    assert.ok(done);
  });
});

describe('an async filter', () => {
  for (const name of ['include', 'exclude'] as const) {
    it(`is rejected with its name: ${name}`, async (t) => {
      const pathRoot = await temporaryFolder(t);
      await writeFile(path.join(pathRoot, 'a'), 'content');
      const filter = (async () => {
        throw new Error('unhandled');
      }) as never;
      const error = {
        code: 'ERR_INVALID_ARGUMENT',
        message: new RegExp(`^${name} must return true or false, not a promise`),
      };
      await assert.rejects(new TorrentCreate({ pathRoot, [name]: filter }).generate(), error);
    });
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { folderStore } from 'metainfo';
import { temporaryFolder } from '../../../test/support/tree.ts';
import { seal, unseal } from '../src/seals.ts';

describe('a seal', () => {
  it('opens for the same subject only, and refuses every cut and every changed bit', async (t) => {
    const store = folderStore(await temporaryFolder(t));
    const sealed = await seal(store, 'a', '');
    assert.equal((await unseal(store, 'a', sealed)).length, 0);
    const refusal = { code: 'ERR_PLAN' };
    await assert.rejects(unseal(store, 'b', sealed), refusal);
    const [id = '', text = ''] = sealed.split('.');
    const bytes = Buffer.from(text, 'base64');
    for (let i = 0; i < bytes.length; i += 1) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(i) ^ 1, i);
      for (const wrong of [bytes.subarray(0, i), flipped])
        await assert.rejects(unseal(store, 'a', `${id}.${wrong.toString('base64')}`), refusal, `byte ${i}`);
    }
  });
});

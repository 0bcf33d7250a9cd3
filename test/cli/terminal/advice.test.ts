import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adviceFor, hashesKept, shellWords, withAdvice } from '../../../src/cli/terminal/advice.ts';
import { MetainfoError } from '../../../src/errors/errors.ts';

describe('the advice after hashing has ended with an error', () => {
  const adviceAfter = async (
    cache: 'auto' | false,
    code: 'ERR_READ' | 'ERR_FILE_CHANGED' | 'ERR_ABORTED' | 'ERR_NO_FILES',
  ) => {
    const failed = new MetainfoError(code, 'It failed.', { path: 'a' });
    const error = await withAdvice(cache, Promise.reject(failed)).catch((reason: unknown) => reason);
    assert.equal(error, failed);
    return adviceFor(failed);
  };

  it('is to run the command again if hashed files are cached', async () => {
    for (const code of ['ERR_READ', 'ERR_FILE_CHANGED', 'ERR_ABORTED'] as const)
      assert.equal(await adviceAfter('auto', code), ' Hashed files are cached: run the same command again.');
    assert.equal(await adviceAfter('auto', 'ERR_NO_FILES'), '');
  });

  it('is --resume for many torrents, which are refused if they exist', () => {
    for (const many of [{ each: true }, { batch: 'jobs.jsonl' }]) {
      assert.match(hashesKept(many), /again with --resume\.$/);
      for (const options of [{ resume: true }, { force: true }])
        assert.match(hashesKept({ ...many, ...options }), /again\.$/);
    }
  });

  it('is --cache if a read failed without one', async () => {
    assert.equal(await adviceAfter(false, 'ERR_READ'), ' With --cache, hashed files are kept for the next run.');
    for (const code of ['ERR_FILE_CHANGED', 'ERR_ABORTED'] as const) assert.equal(await adviceAfter(false, code), '');
  });
});

describe('shellWords', () => {
  it('quotes only words with special characters', () => {
    assert.equal(shellWords('café/a_b.torrent', 'a b', "it's", '$x', ''), "café/a_b.torrent 'a b' 'it'\\''s' '$x' ''");
  });
});

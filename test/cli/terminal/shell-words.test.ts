import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { shellWords } from '../../../src/cli/terminal/shell-words.ts';

describe('shellWords', () => {
  it('quotes only words with special characters', () => {
    assert.equal(shellWords('café/a_b.torrent', 'a b', "it's", '$x', ''), "café/a_b.torrent 'a b' 'it'\\''s' '$x' ''");
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import cliTruncate from 'cli-truncate';
import fc from 'fast-check';
import { shorten } from '../../../src/cli/terminal/shorten.ts';
import { runs } from '../../support/runs.ts';

describe('shorten', () => {
  const unit = fc.constantFrom('a', ' ', '長', '🎉', 'é', 'e\u0301', 'ש', '\u0301');

  it('returns a text that fits, and keeps start and end of another in the given columns', () => {
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 400 }), fc.integer({ min: 5, max: 100 }), (tail, columns) => {
        // cli-truncate misplaces the end of a text that starts with a combining character.
        const text = `x${tail}`;
        const short = shorten(text, columns);
        assert.equal(cliTruncate(short, columns), short, 'it is too wide');
        if (cliTruncate(text, columns) === text) assert.equal(short, text);
        else assert.ok(short.includes('…'), short);
        const [start = '', end = ''] = short.split('…');
        assert.ok(text.startsWith(start) && text.endsWith(end));
      }),
      { numRuns: runs(300) },
    );
  });

  it('shortens plain text as cli-truncate does', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), fc.integer({ min: 1, max: 60 }), (text, columns) => {
        assert.equal(shorten(text, columns), cliTruncate(text, columns, { position: 'middle' }));
      }),
      { numRuns: runs(300) },
    );
  });

  it('shortens millions of characters without counting them all', { timeout: 10_000 }, () => {
    for (const part of ['n', 'b ', '長', '👧', 'e\u0301']) {
      const short = shorten(part.repeat(2_000_000), 40);
      assert.ok(short.startsWith(part) && short.endsWith(part) && short.includes('…'), short);
      assert.ok(short.isWellFormed());
      assert.equal(cliTruncate(short, 40), short);
    }
    // None of them has a width.
    assert.ok(shorten(`a${'\u0301'.repeat(1000)}`, 40).includes('…'));
  });
});

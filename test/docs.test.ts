import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { withFigures } from '../bench/support/page.ts';
import { RESULTS, readResults } from '../bench/support/results.ts';
import { errorsPage } from '../scripts/docs-errors.ts';
import { choosePieceLength } from '../src/layout/piece-length.ts';

const page = (name: string) => readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8');

describe('the documents', () => {
  it('docs/errors.md has the codes of the source (else: npm run docs:errors)', () => {
    assert.equal(page('errors'), errorsPage());
  });

  it('docs/performance.md has the figures of bench/results.json (else: npm run bench -- plots)', () => {
    assert.equal(page('performance'), withFigures(page('performance'), readResults(RESULTS)));
  });

  it('docs/beps.md names tests that there are', () => {
    const named = page('beps').match(/test\/[\w/.-]+\.ts/g) ?? [];
    assert.ok(named.length > 10);
    for (const name of named) assert.ok(existsSync(new URL(`../${name}`, import.meta.url)), name);
  });

  it('docs/piece-length.md has the table of choosePieceLength', () => {
    const UNITS: Record<string, number> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };
    const rows = [...page('piece-length').matchAll(/\|\s*([\d.,]+) (\wiB)\s*\|\s*(\d+) (\wiB)\s*\|/g)];
    assert.equal(rows.length, 10);
    for (const [, content = '', unit = '', length, lengthUnit = ''] of rows) {
      const pieceLength = Number(length) * (UNITS[lengthUnit] as number);
      // The table rounds to three digits.
      const bytes = Number(content.replace(',', '')) * (UNITS[unit] as number);
      assert.ok(Math.abs(bytes / (pieceLength * 2000) - 1) < 0.005, `${content} ${unit}`);
      assert.equal(choosePieceLength(pieceLength * 2000), pieceLength);
      assert.equal(choosePieceLength(pieceLength * 2000 + 1), pieceLength * 2);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type JsonRecord, jsonRecords } from '../../src/cli/many/json-records.ts';
import { runs } from '../support/runs.ts';

const LIMITS = { line: 40, array: 200 };

async function recordsOf(text: string | Buffer, chunkSize: number): Promise<JsonRecord[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
  }
  const records: JsonRecord[] = [];
  for await (const record of jsonRecords(chunks(), LIMITS)) records.push(record);
  return records;
}

describe('jsonRecords', () => {
  it('gives the lines that a split of the whole text gives, however it arrives', async () => {
    const line = fc.stringMatching(/^[ \t]*[{}a-z":é0-9]{0,50}[ \t]*\r?$/);
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 30 }), async (lines, chunkSize) => {
        const expected = lines.flatMap((text, i) => {
          // A line that is too long has no text, but counts.
          const isLong = Buffer.byteLength(text) > LIMITS.line;
          return text.trim() === '' && !isLong
            ? []
            : [{ line: i + 1, text: isLong ? null : text.trim(), isArray: false }];
        });
        assert.deepEqual(await recordsOf(lines.join('\n'), chunkSize), expected);
      }),
      { numRuns: runs(300) },
    );
  });

  it('gives an array as one text, after blank lines and a byte order mark', async () => {
    for (const chunkSize of [1, 3, 1000]) {
      assert.deepEqual(await recordsOf('\ufeff\n\n [1,\n2]\n', chunkSize), [
        { line: 1, text: '[1,\n2]', isArray: true },
      ]);
      assert.deepEqual(await recordsOf(`[${' '.repeat(199)}]`, chunkSize), [{ line: 1, text: null, isArray: true }]);
    }
  });

  it('gives a line before the next one arrives', async () => {
    async function* chunks() {
      yield Buffer.from('{"a":1}\n{"b"');
      await new Promise(() => {});
    }
    const { value } = await jsonRecords(chunks(), LIMITS).next();
    assert.deepEqual(value, { line: 1, text: '{"a":1}', isArray: false });
  });

  it('goes on after a line that is too long, and keeps none of it', async () => {
    assert.deepEqual(await recordsOf(`${'x'.repeat(1000)}\n{}\n`, 7), [
      { line: 1, text: null, isArray: false },
      { line: 2, text: '{}', isArray: false },
    ]);
  });
});

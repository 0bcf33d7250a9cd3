import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { parseDate } from '../../../src/cli/options/date.ts';
import { runs } from '../../support/runs.ts';

describe('parseDate', () => {
  const before = process.env['TZ'];
  afterEach(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });

  it('takes seconds after @, and dates of ISO 8601', () => {
    const dates: Record<string, string> = {
      '@0': '1970-01-01T00:00:00.000Z',
      '@1767225600': '2026-01-01T00:00:00.000Z',
      '@-5': '1969-12-31T23:59:55.000Z',
      '1767225600': '2026-01-01T00:00:00.000Z',
      '2024-02-29': '2024-02-29T00:00:00.000Z',
      '9999-12-31': '9999-12-31T00:00:00.000Z',
      '2026-01-31T12:00Z': '2026-01-31T12:00:00.000Z',
      '2026-01-31T12:00:59Z': '2026-01-31T12:00:59.000Z',
      '2026-01-31T12:00:00.5+02:00': '2026-01-31T10:00:00.500Z',
      '2026-01-31T23:30:00-01:00': '2026-02-01T00:30:00.000Z',
    };
    for (const zone of ['UTC', 'Asia/Tokyo', 'America/New_York']) {
      process.env['TZ'] = zone;
      for (const [text, expected] of Object.entries(dates))
        assert.equal(parseDate(text).toISOString(), expected, `${text} in ${zone}`);
    }
  });

  it('takes a time without an offset as local', () => {
    process.env['TZ'] = 'Asia/Tokyo';
    assert.equal(parseDate('2026-01-31T12:00').toISOString(), '2026-01-31T03:00:00.000Z');
    process.env['TZ'] = 'America/New_York';
    assert.equal(parseDate('2026-07-31T12:00:00').toISOString(), '2026-07-31T16:00:00.000Z');
  });

  it('takes now', () => {
    const earliest = Date.now();
    const date = parseDate('now').getTime();
    assert.ok(date >= earliest && date <= Date.now());
  });

  it('takes the days of the calendar, and no others', () => {
    const year = fc.integer({ min: 0, max: 9999 });
    const property = fc.property(year, fc.nat(13), fc.nat(32), (y, m, d) => {
      // An independent rule, that of the Gregorian calendar.
      const isLeap = y % 4 === 0 && (y % 100 !== 0 || y % 400 === 0);
      const days = [0, 31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0][m] as number;
      const text = `${String(y).padStart(4, '0')}-${String(m).padStart(2, '0')}-${String(d).padStart(2, '0')}`;
      if (d >= 1 && d <= days) assert.equal(parseDate(text).toISOString(), `${text}T00:00:00.000Z`);
      else assert.throws(() => parseDate(text), { message: `There is no ${text} in the calendar.` });
    });
    fc.assert(property, { numRuns: runs(2000) });
  });

  it('refuses every other text, and says how to write it', () => {
    const wrong: Record<string, RegExp> = {
      '20260131': /^Expected now, an ISO 8601 date .* Did you mean 2026-01-31 or @20260131\?$/,
      '176722560': / such as @1767225600\. Did you mean @176722560\?$/,
      '202601311200': / Did you mean @202601311200\?$/,
      '-5': / Did you mean @-5\?$/,
      '2026-1-5': / Did you mean 2026-01-05\?$/,
      '2026/01/31': / Did you mean 2026-01-31\?$/,
      '2026.1.31': / Did you mean 2026-01-31\?$/,
      '2026-02-30': /^There is no 2026-02-30 in the calendar\.$/,
      '2026-02-30T12:00:00Z': /^There is no 2026-02-30 in the calendar\.$/,
      '0001-13-13': /^There is no 0001-13-13 in the calendar\.$/,
      '@99999999999999999999': /^Expected a date up to the year 9999/,
      '@1449000000000': /^Expected a date up to the year 9999: the number after @ counts seconds, not milliseconds\.$/,
    };
    const others = ['', '@', '@1.5', '@ 5', '2026', '2026-01', '2026-W05-1', '2026-031', '31 Jan 2026', 'tomorrow'];
    const alike = [
      '2026-01-31T24:00Z',
      '2026-01-31T12:60Z',
      '2026-01-31T23:59:60Z',
      '2026-01-31T12:00+25:00',
      '2026-01-31 12:00',
      '2026-01-31T12',
      '2026-01-31T12:00 Z',
      ' 2026-01-31',
      '2026-01-31\n',
      '+012026-01-31',
    ];
    for (const text of [...others, ...alike]) wrong[text] = /^Expected now, an ISO 8601 date /;
    for (const [text, message] of Object.entries(wrong))
      assert.throws(() => parseDate(text), { message }, JSON.stringify(text));
  });
});

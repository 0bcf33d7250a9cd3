/** Parses the dates of options. */
import { InvalidArgumentError } from 'commander';
import { MAX_YEAR } from '../../model/primitives.ts';

const TIME = /(?:[01]\d|2[0-3]):[0-5]\d/.source;
const ISO_DATE = new RegExp(`^(\\d{4}-\\d\\d-\\d\\d)(?:T${TIME}(?::[0-5]\\d(?:\\.\\d+)?)?(?:Z|[+-]${TIME})?)?$`);

/**
 * Parses `now`, `@` and seconds since 1970, or a date of ISO 8601: UTC without a time, local with a time but no offset. Ten digits are what
 * `date +%s` prints, and no date of ISO 8601.
 */
export function parseDate(text: string): Date {
  const seconds = /^@(-?\d+)$/.exec(text)?.[1] ?? /^\d{10}$/.exec(text)?.[0];
  const date = seconds === undefined ? namedDate(text) : new Date(Number(seconds) * 1000);
  if (date.getUTCFullYear() <= MAX_YEAR) return date;
  const reason = `Expected a date up to the year ${MAX_YEAR}: the number after @ counts seconds, not milliseconds.`;
  throw new InvalidArgumentError(reason);
}

function namedDate(text: string): Date {
  if (text === 'now') return new Date();
  const [, day] = ISO_DATE.exec(text) ?? [];
  const forms =
    'now, an ISO 8601 date such as 2026-01-31 or 2026-01-31T12:00:00Z, or seconds since 1970 such as @1767225600';
  if (day === undefined) throw new InvalidArgumentError(`Expected ${forms}.${hintFor(text)}`);
  // JavaScript takes 30 February for 2 March, and may take month 13 for a day.
  const start = new Date(`${day}T00:00Z`);
  if (!Number.isNaN(start.getTime()) && start.toISOString().startsWith(day)) return new Date(text);
  throw new InvalidArgumentError(`There is no ${day} in the calendar.`);
}

function hintFor(text: string): string {
  const parts = (/^(\d{4})[-/.](\d\d?)[-/.](\d\d?)$/.exec(text) ?? /^(\d{4})(\d\d)(\d\d)$/.exec(text))?.slice(1);
  const hints = parts ? [parts.map((part) => part.padStart(2, '0')).join('-')] : [];
  if (/^-?\d+$/.test(text)) hints.push(`@${text}`);
  return hints.length > 0 ? ` Did you mean ${hints.join(' or ')}?` : '';
}

// Tables of raw numbers with units, printed the same way on the terminal and in docs/.
import { formatBytes } from '../../src/text/format.ts';

/** How the numbers of a column are shown; a share is from 0 to 1. */
const FORMATS = {
  s: (value: number) => value.toPrecision(3),
  ms: (value: number) => value.toFixed(1),
  µs: (value: number) => value.toFixed(2),
  'GB/s': (value: number) => value.toFixed(2),
  '/s': (value: number) => value.toFixed(0),
  ratio: (value: number) => value.toFixed(2),
  number: (value: number) => value.toFixed(2),
  share: (value: number) => `${(value * 100).toFixed(1)} %`,
  bytes: (value: number) => formatBytes(Math.round(value)),
  count: (value: number) => String(value),
};
export type Unit = keyof typeof FORMATS;
/** Units of times and rates, which are above 0. They stand in the head of a column; the others are in the text of every number. */
const IN_HEAD: readonly Unit[] = ['s', 'ms', 'µs', 'GB/s', '/s'];

export interface Table {
  title: string;
  /** The head of the first column, which is text. */
  first: string;
  /** The columns after it. */
  columns: { name: string; unit: Unit }[];
  /** null: not measured, or not possible. */
  rows: [name: string, ...values: (number | null)[]][];
  /** Conclusions from the numbers, in a sentence each. */
  notes: string[];
}

/** A column as it is computed from the name of a row. */
export type Column = [name: string, unit: Unit, value: (row: string) => number | null];

/** Makes a column for each key, such as a version; its name is the key, between `prefix` and `suffix`. */
export const columnsFor = <K extends string>(
  keys: readonly K[],
  unit: Unit,
  value: (row: string, key: K) => number | null,
  { prefix = '', suffix = '' } = {},
): Column[] => keys.map((key) => [`${prefix}${key}${suffix}`, unit, (row) => value(row, key)]);

/** Makes a table with these rows; `first` is the head of their names. */
export const tableOf = (
  title: string,
  first: string,
  rows: readonly string[],
  columns: readonly Column[],
  notes: string[] = [],
): Table => ({
  title,
  first,
  columns: columns.map(([name, unit]) => ({ name, unit })),
  rows: rows.map((row) => [row, ...columns.map(([, , value]) => value(row))]),
  notes,
});

/** The columns of a table of timers. `value` gives one of the measures of `watchTimer` in test/support/timer.ts. */
export const timerColumns = (value: (row: string, measure: string) => number | null): Column[] => [
  ['median', 'ms', (row) => value(row, 'timerMedian')],
  ['99 %', 'ms', (row) => value(row, 'timer99')],
  ['99 % without waiting for a processor', 'ms', (row) => value(row, 'timer99Own')],
  ['most', 'ms', (row) => value(row, 'timerMost')],
];

/** A table in Markdown: every column as wide as its widest cell, the first to the left and the others to the right. */
export function markdown({ title, first, columns, rows, notes }: Table): string {
  const head = [first, ...columns.map(({ name, unit }) => (IN_HEAD.includes(unit) ? `${name}, ${unit}` : name))];
  const format = (value: string | number | null, at: number) =>
    typeof value === 'number' ? FORMATS[columns[at - 1]?.unit ?? 'count'](value) : (value ?? '');
  const cells = [head, ...rows.map((row) => row.map(format))];
  const widths = head.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  const padded = (cell: string, at: number) =>
    at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0);
  const [top, ...lines] = cells.map((line) => `| ${line.map(padded).join(' | ')} |`);
  const rule = `| --- |${' ---: |'.repeat(columns.length)}`;
  return [`**${title}**\n`, top, rule, ...lines, ...notes.map((note) => `\n${note}`)].join('\n');
}

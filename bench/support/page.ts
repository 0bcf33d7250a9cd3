// The parts of docs/performance.md and docs/reliability.md that are made from bench/results.json: the text between
// `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`, and the charts.
import { printable } from '../../src/text/printable.ts';
import { VERSIONS } from './measure.ts';
import { type BenchName, type Entry, type Results, versionsText } from './results.ts';
import { cell, markdown, type Table } from './tables.ts';

/** The pages of docs/ that show figures, and of which benches. */
export const PAGES = {
  performance: ['create', 'peers', 'small', 'million', 'cold', 'start', 'decode', 'sources', 'verify'],
  reliability: ['load', 'soak'],
  scaling: ['distributed'],
} as const satisfies Record<string, readonly BenchName[]>;

/** A chart of bars: a group for each row, with a bar for each series. */
interface Chart {
  title: string;
  rows: string[];
  /** Each with a value for every row. */
  series: { name: string; values: number[] }[];
  /** A value that a dashed line marks. */
  mark?: number;
}

const rowsOf = ({ rows }: Table) => rows.map(([name]) => name);
const valuesOf = (table: Table, rows: readonly string[], column: string) =>
  rows.map((row) => cell(table, row, column) ?? 0);

/** The benches whose sections begin with a chart, which is docs/plots/NAME.svg. */
const CHARTS: { readonly [B in BenchName]?: (tables: readonly Table[]) => Chart } = {
  peers: (tables) => {
    const rows = [...new Set(tables.flatMap(rowsOf))].filter((tool) => !tool.startsWith('metainfo'));
    const column = 'v1, its time / ours';
    const series = tables.map((table) => ({ name: table.title, values: valuesOf(table, rows, column) }));
    return { title: 'Time of each tool divided by ours, v1 (above 1: metainfo is faster)', rows, series, mark: 1 };
  },
  distributed: (tables) => {
    const table = tables.find(({ first }) => first === 'part size') as Table;
    const series = [{ name: 'parts / one process', values: valuesOf(table, rowsOf(table), 'parts / one process') }];
    return { title: 'Rate of two processes that hash parts, by part size', rows: rowsOf(table), series, mark: 1 };
  },
  million: (tables) => {
    const table = tables.find(({ first }) => first === 'files') as Table;
    const rows = rowsOf(table);
    const series = VERSIONS.map((version) => ({ name: version, values: valuesOf(table, rows, version) }));
    return { title: 'Microseconds for each file, by the number of files', rows, series };
  },
};

function section(bench: BenchName, entry: Entry): string {
  const { command, date, machine, settings, skipped, tables } = entry;
  const chart = CHARTS[bench]?.(tables);
  const parts = [
    ...(chart ? [`![${chart.title}](plots/${bench}.svg)`] : []),
    `\`${command}\`, ${date}. ${settings}`,
    `On ${machine}. With ${versionsText(entry)}.`,
    ...(skipped.length > 0 ? [`Left out: ${skipped.join('; ')}.`] : []),
    ...tables.map(markdown),
  ];
  // Other tools' own words get into the page.
  return parts.map((part) => part.split('\n').map(printable).join('\n').trim()).join('\n\n');
}

/** A page with the sections of its benches as the results have them; the other text stays, and so do sections without results. */
export function withFigures(page: string, results: Results, benches: readonly BenchName[]): string {
  return benches.reduce((text, bench) => {
    const [open, close] = [`<!-- bench:${bench} -->`, `<!-- /bench:${bench} -->`];
    const [before, rest] = text.split(open);
    const after = rest?.split(close)[1];
    if (after === undefined) throw new Error(`the page has no ${open} ... ${close}`);
    const entry = results[bench];
    return entry ? `${before}${open}\n\n${section(bench, entry)}\n\n${close}${after}` : text;
  }, page);
}

const COLOURS = ['#3d8bd4', '#d9822b', '#3f9b5f', '#9a6dd0'];
const [WIDTH, LEFT, BAR] = [800, 170, 16];

/** The charts of the results by the names of their files: SVGs in mid-tones without a background, to be read on white and on black. */
export function chartsOf(results: Results): Record<string, string> {
  const drawn = Object.entries(CHARTS).flatMap(([bench, chartOf]) => {
    const entry = results[bench as BenchName];
    return entry ? [[`${bench}.svg`, draw(chartOf(entry.tables))]] : [];
  });
  return Object.fromEntries(drawn);
}

function draw({ title, rows, series, mark }: Chart): string {
  const most = Math.max(mark ?? 0, ...series.flatMap(({ values }) => values));
  const scale = (WIDTH - LEFT - 60) / most;
  const text = (x: number, y: number, content: string, more = '') =>
    `<text x="${Math.round(x)}" y="${y}"${more}>${content}</text>`;
  const rect = (x: number, y: number, width: number, at: number) =>
    `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="12" fill="${COLOURS[at]}"/>`;
  const top = 60 + series.length * 18;
  const group = series.length * BAR + 14;
  const bars = rows.flatMap((row, i) => {
    const y = top + i * group;
    return [
      text(LEFT - 10, y + (series.length * BAR) / 2 + 4, row, ' text-anchor="end"'),
      ...series.flatMap(({ values }, at) => {
        const value = values[i] ?? 0;
        const width = value * scale;
        return [rect(LEFT, y + at * BAR, width, at), text(LEFT + width + 6, y + at * BAR + 11, value.toFixed(2))];
      }),
    ];
  });
  const height = top + rows.length * group + 10;
  const line = (value: number) =>
    `<path d="M${LEFT + scale * value} ${top - 6}V${height}" stroke="#768390" stroke-dasharray="4"/>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="13" fill="#768390">`,
    text(8, 24, title, ' font-size="15" font-weight="600"'),
    ...series.flatMap(({ name }, at) => [rect(8, 42 + at * 18, 12, at), text(28, 53 + at * 18, name)]),
    ...bars,
    ...(mark === undefined ? [] : [line(mark)]),
    '</svg>\n',
  ].join('\n');
}

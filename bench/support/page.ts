// The parts of docs/performance.md and docs/reliability.md that are made from bench/results.json: the text between
// `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`, and the chart of the peers.
import { printable } from '../../src/layout/text.ts';
import { type BenchName, type Entry, type Results, versionsText } from './results.ts';
import { cell, markdown } from './tables.ts';

/** The pages of docs/ that show figures, and of which benches. */
export const PAGES = {
  performance: ['create', 'peers', 'cold', 'start', 'decode', 'sources', 'verify'],
  reliability: ['load', 'soak'],
} as const satisfies Record<string, readonly BenchName[]>;

const PEERS_TITLE = 'Time of each tool divided by ours, v1 (above 1: metainfo is faster)';

/** The entry of a bench; throws where the bench was never run. */
function entryOf(results: Results, bench: BenchName): Entry {
  const entry = results[bench];
  if (!entry) throw new Error(`there are no figures of ${bench}: npm run bench -- ${bench}`);
  return entry;
}

function section(bench: BenchName, entry: Entry): string {
  const { command, date, machine, settings, skipped, tables } = entry;
  const parts = [
    ...(bench === 'peers' ? [`![${PEERS_TITLE}](plots/peers.svg)`] : []),
    `\`${command}\`, ${date}. ${settings}`,
    `On ${machine}. With ${versionsText(entry)}.`,
    ...(skipped.length > 0 ? [`Left out: ${skipped.join('; ')}.`] : []),
    ...tables.map(markdown),
  ];
  // Other tools' own words get into the page.
  return parts.map((part) => part.split('\n').map(printable).join('\n').trim()).join('\n\n');
}

/** A page with the sections of its benches as the results have them; the text around them stays. */
export function withFigures(page: string, results: Results, benches: readonly BenchName[]): string {
  return benches.reduce((text, bench) => {
    const [open, close] = [`<!-- bench:${bench} -->`, `<!-- /bench:${bench} -->`];
    const [before, rest] = text.split(open);
    const after = rest?.split(close)[1];
    if (after === undefined) throw new Error(`the page has no ${open} ... ${close}`);
    return `${before}${open}\n\n${section(bench, entryOf(results, bench))}\n\n${close}${after}`;
  }, page);
}

const COLOURS = ['#3d8bd4', '#d9822b', '#3f9b5f', '#9a6dd0'];
const [WIDTH, LEFT, BAR] = [800, 170, 16];

/** The chart of the peers: an SVG in mid-tones without a background, to be read on white and on black. */
export function peersChart(results: Results): string {
  const { tables } = entryOf(results, 'peers');
  const tools = [...new Set(tables.flatMap(({ rows }) => rows.map(([tool]) => tool)))].filter(
    (tool) => !tool.startsWith('metainfo'),
  );
  const ratioOf = (table: (typeof tables)[number], tool: string) => cell(table, tool, 'v1, its time / ours') ?? 0;
  const most = Math.max(1, ...tables.flatMap((table) => tools.map((tool) => ratioOf(table, tool))));
  const scale = (WIDTH - LEFT - 60) / most;
  const text = (x: number, y: number, content: string, more = '') =>
    `<text x="${Math.round(x)}" y="${y}"${more}>${content}</text>`;
  const rect = (x: number, y: number, width: number, at: number) =>
    `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="12" fill="${COLOURS[at]}"/>`;
  const top = 60 + tables.length * 18;
  const group = tables.length * BAR + 14;
  const bars = tools.flatMap((tool, i) => {
    const y = top + i * group;
    return [
      text(LEFT - 10, y + (tables.length * BAR) / 2 + 4, tool, ' text-anchor="end"'),
      ...tables.flatMap((table, at) => {
        const width = ratioOf(table, tool) * scale;
        return [
          rect(LEFT, y + at * BAR, width, at),
          text(LEFT + width + 6, y + at * BAR + 11, ratioOf(table, tool).toFixed(2)),
        ];
      }),
    ];
  });
  const height = top + tools.length * group + 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="13" fill="#768390">`,
    text(8, 24, PEERS_TITLE, ' font-size="15" font-weight="600"'),
    ...tables.flatMap(({ title }, at) => [rect(8, 42 + at * 18, 12, at), text(28, 53 + at * 18, title)]),
    ...bars,
    `<path d="M${LEFT + scale} ${top - 6}V${height}" stroke="#768390" stroke-dasharray="4"/>`,
    '</svg>\n',
  ].join('\n');
}

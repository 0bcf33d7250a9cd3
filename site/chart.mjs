// docs/diagrams/performance.svg: the chart of docs/performance.md, from bench/results.json. The front page has its rows.
// `node site/chart.mjs` writes it after a run of the bench `peers`.
import { readFileSync, writeFileSync } from 'node:fs';

const RESULTS = new URL('../bench/results.json', import.meta.url);
const CHART = new URL('../docs/diagrams/performance.svg', import.meta.url);
const [WIDTH, LEFT, RIGHT, ROW] = [360, 152, 62, 26];

/** A cell of a table of a bench. */
export function cell({ tables }, table, row, column) {
  const { columns, rows } = tables.find(({ title }) => title.startsWith(table));
  const [, ...cells] = rows.find(([name]) => name === row || name.startsWith(row));
  return cells[columns.findIndex(({ name }) => name === column)];
}

/** The rows of the chart: each program with the time that it takes for one of ours, the fastest first. */
export function peersOf({ peers }) {
  const names = ['metainfo', 'mktorrent', 'libtorrent, C++', 'transmission-create', 'create-torrent'];
  const rows = names.map((name) => ({ name, ratio: cell(peers, 'one large file', name, 'v1, its time / ours') }));
  return rows.sort((a, b) => a.ratio - b.ratio);
}

/** The rows as text, for those who do not see the chart. */
const peersText = (results) =>
  peersOf(results)
    .map(({ name, ratio }) => `${name} ${ratio.toFixed(1)}×`)
    .join(', ');

/** The chart as an SVG image. */
export function chart(results) {
  const rows = peersOf(results);
  const most = Math.max(...rows.map(({ ratio }) => ratio));
  const height = 16 + rows.length * ROW;
  const bars = rows.map(({ name, ratio }, index) => {
    const y = 10 + index * ROW;
    const width = ((ratio / most) * (WIDTH - LEFT - RIGHT)).toFixed(1);
    const ours = name === 'metainfo' ? ' class="ours"' : '';
    return `<text x="${LEFT - 10}" y="${y + 15}" text-anchor="end"${ours}>${name}</text>
<rect x="${LEFT}" y="${y + 2}" width="${width}" height="17" rx="3"${ours || ' class="bar"'}/>
<text x="${WIDTH - 12}" y="${y + 15}" text-anchor="end" class="number">${ratio.toFixed(1)}×</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="t">
<title id="t">Time to create a 4 GiB v1 torrent: ${peersText(results)}</title>
<style>
  .paper{fill:#fff} text{fill:#1f2328;font:14px system-ui,sans-serif} .bar{fill:#8c959f} rect.ours{fill:#0969da} .number,text.ours{font-weight:600}
  @media (prefers-color-scheme:dark){.paper{fill:#161b22} text{fill:#f0f6fc} .bar{fill:#6e7681} rect.ours{fill:#58a6ff}}
</style>
<rect width="${WIDTH}" height="${height}" rx="8" class="paper"/>
${bars.join('\n')}
</svg>
`;
}

if (import.meta.main ?? process.argv[1]?.endsWith('chart.mjs'))
  writeFileSync(CHART, chart(JSON.parse(readFileSync(RESULTS, 'utf8'))));

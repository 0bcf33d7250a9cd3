// Draws the figures of all benches, and writes them into the pages about performance and reliability: docs/plots/*.svg,
// docs/performance.md and docs/reliability.md, from bench/results.json. Fails when a bench has none.
//
//   npm run bench -- plots [--from bench/results.json] [--into docs]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { draw, drawLines } from './support/charts.ts';
import { chartsOf, entryOf, PAGES, withFigures } from './support/page.ts';
import { BENCHES, RESULTS, readResults } from './support/results.ts';

const DOCS = fileURLToPath(new URL('../docs', import.meta.url));

const { values } = parseArgs({
  options: { from: { type: 'string', default: RESULTS }, into: { type: 'string', default: DOCS } },
});
const { from, into } = values;
const results = readResults(from);
const pages = Object.entries(PAGES).map(([name, benches]) => {
  const file = `${name}.md`;
  // The text is always that of the repository.
  return { file, text: withFigures(readFileSync(path.join(DOCS, file), 'utf8'), results, benches) };
});
const charts = BENCHES.flatMap((bench) => chartsOf(bench, entryOf(results, bench)));

mkdirSync(path.join(into, 'plots'), { recursive: true });
for (const { file, text } of pages) writeFileSync(path.join(into, file), text);
for (const chart of charts) {
  const drawn = 'panels' in chart ? drawLines(chart) : draw(chart);
  writeFileSync(path.join(into, 'plots', `${chart.name}.svg`), drawn);
}
const made = pages.map(({ file }) => path.join(into, file)).join(', ');
console.log(`${made} and ${charts.length} plots: ${charts.map(({ name }) => name).join(', ')}`);

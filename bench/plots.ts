// Draws the figures of all benches, and writes them into the page about performance: docs/plots/*.svg and
// docs/performance.md, from bench/results.json. Fails when a bench has none.
//
//   npm run bench -- plots [--from bench/results.json] [--into docs]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { draw } from './support/charts.ts';
import { chartsOf, entryOf, withFigures } from './support/page.ts';
import { BENCHES, RESULTS, readResults } from './support/results.ts';

const DOCS = fileURLToPath(new URL('../docs', import.meta.url));

const { values } = parseArgs({
  options: { from: { type: 'string', default: RESULTS }, into: { type: 'string', default: DOCS } },
});
const { from, into } = values;
const results = readResults(from);
// The text is always that of the repository.
const page = withFigures(readFileSync(path.join(DOCS, 'performance.md'), 'utf8'), results);
const charts = BENCHES.flatMap((bench) => chartsOf(bench, entryOf(results, bench)));

mkdirSync(path.join(into, 'plots'), { recursive: true });
writeFileSync(path.join(into, 'performance.md'), page);
for (const chart of charts) writeFileSync(path.join(into, 'plots', `${chart.name}.svg`), draw(chart));
console.log(
  `${path.join(into, 'performance.md')} and ${charts.length} plots: ${charts.map(({ name }) => name).join(', ')}`,
);

// Writes the figures of bench/results.json into docs/performance.md and docs/reliability.md, and draws docs/plots/peers.svg.
// Fails if a bench has no figures.
//
//   npm run bench -- pages [--from bench/results.json] [--into docs]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PAGES, peersChart, withFigures } from './support/page.ts';
import { RESULTS, readResults } from './support/results.ts';

const DOCS = fileURLToPath(new URL('../docs', import.meta.url));

const { values } = parseArgs({
  options: { from: { type: 'string', default: RESULTS }, into: { type: 'string', default: DOCS } },
});
const results = readResults(values.from);
mkdirSync(path.join(values.into, 'plots'), { recursive: true });
for (const [name, benches] of Object.entries(PAGES)) {
  const file = `${name}.md`;
  const page = withFigures(readFileSync(path.join(DOCS, file), 'utf8'), results, benches);
  writeFileSync(path.join(values.into, file), page);
}
writeFileSync(path.join(values.into, 'plots', 'peers.svg'), peersChart(results));

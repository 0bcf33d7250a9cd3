// Writes the figures of bench/results.json into docs/performance.md and docs/reliability.md, and draws the charts in
// docs/plots. The section of a bench without figures stays as it is; with --complete, a missing bench is an error.
//
//   npm run bench -- pages [--from bench/results.json] [--into docs] [--complete]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chartsOf, PAGES, withFigures } from './support/page.ts';
import { RESULTS, readResults } from './support/results.ts';

const DOCS = fileURLToPath(new URL('../docs', import.meta.url));

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: RESULTS },
    into: { type: 'string', default: DOCS },
    complete: { type: 'boolean', default: false },
  },
});
const results = readResults(values.from);
const missing = Object.values(PAGES).flatMap((benches) => benches.filter((bench) => !results[bench]));
if (values.complete && missing.length > 0) throw new Error(`${values.from} has no figures of ${missing.join(', ')}`);
mkdirSync(path.join(values.into, 'plots'), { recursive: true });
for (const [name, benches] of Object.entries(PAGES)) {
  const file = `${name}.md`;
  const page = withFigures(readFileSync(path.join(DOCS, file), 'utf8'), results, benches);
  writeFileSync(path.join(values.into, file), page);
}
for (const [file, chart] of Object.entries(chartsOf(results)))
  writeFileSync(path.join(values.into, 'plots', file), chart);

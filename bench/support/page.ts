// The parts of docs/ that are made from bench/results.json: the text between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { printable } from '../../src/text/printable.ts';
import type { Entry, Results } from './results.ts';
import { markdown } from './tables.ts';

/** The pages of docs/ that show figures, and of which benches. */
export const PAGES = {
  performance: ['create', 'peers', 'small', 'million', 'cold', 'start', 'decode', 'sources', 'verify'],
  reliability: ['load', 'soak'],
  scaling: ['distributed'],
} as const;

export const BENCHES = Object.values(PAGES).flat();
export type BenchName = (typeof BENCHES)[number];

/** The versions of the programs that were measured. */
export const versionsText = ({ versions }: Entry): string =>
  Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join('; ');

function section(entry: Entry): string {
  const { command, date, machine, settings, skipped, tables } = entry;
  const parts = [
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
    return entry ? `${before}${open}\n\n${section(entry)}\n\n${close}${after}` : text;
  }, page);
}

/** Makes the pages of all results, and writes them unless the results are only a trial. */
export function writePages(results: Results, isTrial: boolean): void {
  for (const [name, benches] of Object.entries(PAGES)) {
    const file = fileURLToPath(new URL(`../../docs/${name}.md`, import.meta.url));
    const page = withFigures(readFileSync(file, 'utf8'), results, benches);
    if (!isTrial) writeFileSync(file, page);
  }
}

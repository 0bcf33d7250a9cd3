// Runs a fuzz target on the named inputs only, to reproduce a failure: `once.ts TARGET FILE ...`.
import { readFileSync } from 'node:fs';
import type { Target } from './target.ts';

const [name, ...files] = process.argv.slice(2);
const { check } = (await import(`../${name}.ts`)) as Target;
for (const file of files) {
  await check(readFileSync(file));
  process.stdout.write(`${file}: no failure\n`);
}

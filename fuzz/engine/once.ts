// Runs a target on inputs of which it is to be seen what is wrong: `once.ts TARGET FILE ...`.
import { readFileSync } from 'node:fs';
import type { Target } from './target.ts';

const [name, ...files] = process.argv.slice(2);
const { check } = (await import(`../${name}.ts`)) as Target;
for (const file of files) {
  await check(readFileSync(file));
  process.stdout.write(`${file}: nothing wrong\n`);
}

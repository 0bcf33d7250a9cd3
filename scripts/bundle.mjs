// Takes what only readers need out of the library's modules, and the types that no user reaches.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { compact } from './compact.mjs';
import { root } from './setup.mjs';

const dist = path.join(root, 'dist');
compact(dist);

/** The types that an entry leads to. Others describe what only the command uses. */
const reached = new Set();
const reach = (file) => {
  if (reached.has(file)) return;
  reached.add(file);
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()["'](\.[^"']+)\.ts["']/g))
    reach(path.resolve(path.dirname(file), `${name}.d.ts`));
};
for (const entry of ['index', 'browser/index']) reach(path.join(dist, `${entry}.d.ts`));
for (const name of readdirSync(dist, { recursive: true }))
  if (name.endsWith('.d.ts') && !reached.has(path.join(dist, name))) rmSync(path.join(dist, name));

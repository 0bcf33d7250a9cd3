// `npm run generate`: writes every file that is made of the source. With --ignored, only those that git ignores: the package and the site
// need them, so a build makes them. The tests report a committed one that is out of date.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { commandPages } from './docs-commands.ts';
import { schemaFile } from './docs-config.ts';
import { errorsPage } from './docs-errors.ts';
import { licensesPage } from './docs-licenses.ts';
import { manPages } from './docs-man.ts';

const place = (file: string): string => path.join(import.meta.dirname, '..', file);

function write(file: string, text: string): void {
  mkdirSync(path.dirname(place(file)), { recursive: true });
  writeFileSync(place(file), text);
}

// A command that is gone leaves no page.
rmSync(place('docs/commands'), { recursive: true, force: true });
for (const [file, text] of commandPages()) write(`docs/commands/${file}`, text);
write('docs/config.schema.json', schemaFile());
rmSync(place('man'), { recursive: true, force: true });
for (const [file, text] of manPages()) write(`man/${file}`, text);

if (!process.argv.includes('--ignored')) {
  write('docs/errors.md', errorsPage());
  write('docs/licenses.md', licensesPage());
}

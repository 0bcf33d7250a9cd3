// `npm run docs:config`: writes docs/config.schema.json from the options of create. test/docs.test.ts checks the file.
import { writeFileSync } from 'node:fs';
import { configSchema } from '../src/cli/config/schema.ts';

/** Returns the text of docs/config.schema.json. */
export const schemaFile = (): string => `${JSON.stringify(configSchema(), null, 2)}\n`;

if (process.argv[1]?.endsWith('docs-config.ts')) {
  writeFileSync(new URL('../docs/config.schema.json', import.meta.url), schemaFile());
}

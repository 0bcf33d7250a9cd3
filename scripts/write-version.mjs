// Writes the version of package.json into the source: bundles have no package.json. `npm run release` runs it.
import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const file = 'src/text/version.ts';
const text = readFileSync(file, 'utf8');
writeFileSync(file, text.replace(/VERSION = '.*'/, `VERSION = '${version}'`));

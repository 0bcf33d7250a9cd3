// Writes the versions of the packages into their sources: bundles have no package.json. `npm run release` runs it.
import { readFileSync, writeFileSync } from 'node:fs';

for (const [manifest, file] of [
  ['package.json', 'src/text/version.ts'],
  ['packages/metainfo-bullmq/package.json', 'packages/metainfo-bullmq/src/version.ts'],
]) {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/VERSION = '.*'/, `VERSION = '${version}'`));
}

// The licenses of the packages whose code is in our bundles.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './setup.mjs';

/** @param inputs Those of the metafile of esbuild. */
export function licensesOf({ inputs }) {
  const packages = Object.keys(inputs).flatMap((input) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []);
  const licenses = [...new Set(packages)].map((folder) => {
    const read = (name) => readFileSync(path.join(root, folder, name), 'utf8').trim();
    const file = readdirSync(path.join(root, folder)).find((name) => /^licen[cs]e/i.test(name));
    // Some packages only name their license.
    const license = file ? read(file) : JSON.parse(read('package.json')).license;
    return `${folder.replace(/.*node_modules\//, '')}\n\n${license}\n`;
  });
  return licenses.join('\n\n');
}

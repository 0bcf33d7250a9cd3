// `node scripts/release-notes.mjs v1.2.3`: prints the section of CHANGELOG.md for that version, which must be package.json's.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fail, root } from './setup.mjs';

/** Returns the text below the heading `## VERSION`; throws if there is none. */
export function notesOf(changelog, version) {
  const section = changelog.split(/^## /m).find((text) => text.split('\n', 1)[0].trim() === version);
  const notes = section?.slice(section.indexOf('\n')).trim();
  if (!notes) throw new Error(`CHANGELOG.md has nothing beneath "## ${version}".`);
  return notes;
}

if (process.argv[1] === import.meta.filename) {
  const read = (name) => readFileSync(path.join(root, name), 'utf8');
  const { version } = JSON.parse(read('package.json'));
  const tag = process.argv[2];
  if (tag !== `v${version}`) fail(`the tag is ${tag}, but package.json has version ${version}.`);
  try {
    process.stdout.write(`${notesOf(read('CHANGELOG.md'), version)}\n`);
  } catch (error) {
    fail(error.message);
  }
}

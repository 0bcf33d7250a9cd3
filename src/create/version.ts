/** The version of this package, the `created by` text that carries it, and the files that come with it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The path of a file of this package, from its root. */
export const packageFile = (name: string): string => path.join(import.meta.dirname, '../..', name);

/** The version of this package. */
export const { version: VERSION } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
  version: string;
};

/** The default `created by` of a draft. */
export const CREATED_BY = `metainfo (${VERSION})`;

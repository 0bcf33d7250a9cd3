/** The version of this package, and the `created by` text that carries it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The version of this package. */
export const { version: VERSION } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8'),
) as { version: string };

/** The default `created by` of a draft. */
export const CREATED_BY = `metainfo (${VERSION})`;

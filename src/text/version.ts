/** The version of this package, and the `created by` text that carries it. */

/** The version in package.json, which bundles lack: `npm run release` writes it here, and a test compares them. */
export const VERSION = '0.1.0';

/** The default `created by` of a draft. */
export const CREATED_BY = `metainfo (${VERSION})`;

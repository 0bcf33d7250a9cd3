/** The version of this package, which scripts/write-version.mjs writes. */
export const VERSION = '0.1.0';

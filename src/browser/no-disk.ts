/** Stands for modules in the bundle for browsers (scripts/bundle.mjs): there is neither disk nor addon nor terminal. */
import { MetainfoError } from '../errors/errors.ts';

function noDisk(): never {
  throw new MetainfoError('ERR_INVALID_ARGUMENT', 'A browser opens no paths: give content as Files, Blobs or bytes.');
}

export const addonOrNull: typeof import('../hash/addon.ts')['addonOrNull'] = () => null;

export const componentsWithin: typeof import('../disk/path-within.ts')['componentsWithin'] = () => null;
export const requireNoInput: typeof import('../disk/output-not-input.ts')['requireNoInput'] = async () => {};
export const readWithin: typeof import('../disk/read-file.ts')['readWithin'] = async () => noDisk();
export const scan: typeof import('../disk/scan.ts')['scan'] = async () => noDisk();
export const scannedFiles: typeof import('../disk/scan.ts')['scannedFiles'] = noDisk;
export const statFiles: typeof import('../disk/stat-files.ts')['statFiles'] = async () => noDisk();
export const STAT_NUMBERS = 1;
export const writeWhole: typeof import('../disk/write-file.ts')['writeWhole'] = async () => noDisk();
export const MAX_GROUP = 1;

export const systemPath: typeof import('../hash/system-path.ts')['systemPath'] = (path) => path;
type Opening = typeof import('../hash/open-without-links.ts');
export const openRequested: Opening['openRequested'] = async () => noDisk();
export const pathOf: Opening['pathOf'] = noDisk;
export const readRange: Opening['readRange'] = async () => noDisk();
export const requireAsRequested: Opening['requireAsRequested'] = async () => noDisk();
export const requireNoLinks: Opening['requireNoLinks'] = async () => noDisk();
export const closeRead: typeof import('../hash/read.ts')['closeRead'] = async () => {};

/** Blobs have no errors of the system. */
export const fromSystemError: typeof import('../errors/system-error.ts')['fromSystemError'] = (cause, path) =>
  cause instanceof MetainfoError
    ? cause
    : new MetainfoError('ERR_READ', `${path}: cannot read it (${(cause as Error).message}).`, { path, cause });

/** No digests are known, and there is no cache. */
export { hashAll as hashUnknown } from '../create/hash-files.ts';
export const isWorthCaching: typeof import('../create/hash-unknown.ts')['isWorthCaching'] = () => true;
/** Only a scan stores links. */
export const linkFindings: typeof import('../create/findings/link-findings.ts')['linkFindings'] = () => [];

/** Without a {@link ShortEngine} there is nothing to shorten. */
export const generateShort: typeof import('../create/generate-short.ts')['generateShort'] = () => null;
export const openCacheIfAny: typeof import('../create/cache/cache.ts')['openCacheIfAny'] = async () => noDisk();
export const generateExt: typeof import('../create/libtorrent.ts')['generateExt'] = async () => noDisk();
export const GENERATE_EXT = {};
export const progressBar: () => null = () => null;

/** Stands for modules in the bundle for browsers (scripts/bundle-browser.mjs): there is neither disk nor addon nor terminal. */
import { MetainfoError } from '../errors/errors.ts';

export function noDisk(message: string): never {
  throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
}

export const addonOrNull: typeof import('../hash/addon.ts')['addonOrNull'] = () => null;
export const tableResult: typeof import('../hash/addon.ts')['tableResult'] = (job) => job;

export const componentsWithin: typeof import('../disk/path-within.ts')['componentsWithin'] = () => null;
export const requireNoInput: typeof import('../disk/output-not-input.ts')['requireNoInput'] = async () => {};
export const readWithin: typeof import('../disk/read-file.ts')['readWithin'] = async () =>
  noDisk('A browser opens no paths: give a File, or bytes to Torrent.fromBytes.');
export const scan: typeof import('../disk/scan.ts')['scan'] = async () =>
  noDisk('A browser opens no paths: give sources, which filesFrom makes.');
/** All but the first problem are left out: a plan lists them all. */
export const throwProblems: typeof import('../disk/scan-problems.ts')['throwProblems'] = ([first]) => {
  if (first) throw first.error;
};
export const DISK_ADVICE: typeof import('../disk/scan-problems.ts')['DISK_ADVICE'] = {};
export const writeWhole: typeof import('../disk/write-file.ts')['writeWhole'] = async () =>
  noDisk('A browser writes no files: offer bencode() as a download.');
export const MAX_GROUP = 1;
type OfSaves = typeof import('../disk/save-target.ts');
export const saveProblem: OfSaves['saveProblem'] = ({ saveTo }) =>
  saveTo == null ? null : ['saveTo', 'expected none'];
export const frozenSave: OfSaves['frozenSave'] = () => ({});
export const saveTarget: OfSaves['saveTarget'] = () => ({});
export const savePaths: OfSaves['savePaths'] = () => [];
export const loadSaves: OfSaves['loadSaves'] = () => null;
type OfOpenFiles = typeof import('../disk/open-file.ts');
export const isOpenFile = (_value: object): _value is never => false;
export const sizeOfOpenFile: OfOpenFiles['sizeOfOpenFile'] = () => null;
export const openFileProblem: OfOpenFiles['openFileProblem'] = () => null;
export const contentOfOpenFile: OfOpenFiles['contentOfOpenFile'] = () => null;

export const copyRequested: typeof import('../hash/open-without-links.ts')['copyRequested'] = async () =>
  noDisk('A browser opens no paths: give sources, which filesFrom makes.');

export const systemPath: typeof import('../hash/system-path.ts')['systemPath'] = (path) => path;

/** Blobs have no errors of the system. */
export const fromSystemError: typeof import('../errors/system-error.ts')['fromSystemError'] = (cause, path) =>
  cause instanceof MetainfoError
    ? cause
    : new MetainfoError('ERR_READ', `${path}: cannot read it (${(cause as Error).message}).`, { path, cause });

type OfKnown = typeof import('../create/known/known.ts');
export const findKnown: OfKnown['findKnown'] = async () => null;
export const openKnown: OfKnown['openKnown'] = async () => noDisk('A browser has no cache of hashes: leave cache out.');
export const REUSE = {};
export const reusePlan: OfKnown['reusePlan'] = async () => null;
/** These findings would make the bundle larger. */
type OfScan = typeof import('../create/findings/scan-findings.ts');
export const nodeFindings: OfScan['nodeFindings'] = async () => [];
export const [secretFindings, personalFindings, webseedSecrets] = Array(3).fill(() => []);
export const withDiskAttrs: typeof import('../create/disk-attrs.ts')['withDiskAttrs'] = async (_draft, _found, given) =>
  given;
/** A Blob takes longer to read than to hash. */
export const hashRate: typeof import('../create/findings/hash-rate.ts')['hashRate'] = async () => null;

/** Without a {@link ShortEngine} there is nothing to shorten. */
type OfShort = typeof import('../create/generate-short.ts');
export const generateShortSource: OfShort['generateShortSource'] = () => null;
export const generateShortTree: OfShort['generateShortTree'] = async () => null;

/** Opens the part store that an option names. */
import { invalidArgument } from '../../errors/guard.ts';
import { s3Store, webStore } from '../../parts/object-stores.ts';
import { folderStore, type PartStore } from '../../parts/store.ts';

/**
 * The part store of `--parts` or `--store`: a folder, `s3://BUCKET/PREFIX` or a URL of https or http.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`; its message has no credentials
 */
export function storeOf(text: string): PartStore {
  if (/^(s3|https?):(?!\/\/)/i.test(text))
    throw invalidArgument(
      'a part store that is a URL has // after its scheme: s3://BUCKET/PREFIX or https://HOST/PATH/',
    );
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return folderStore(text);
  if (scheme === 's3') return s3Store(text);
  if (scheme === 'http' || scheme === 'https') return webStore(text);
  throw invalidArgument(
    `a part store cannot have the scheme ${scheme}: give a folder, s3://BUCKET/PREFIX or https://HOST/PATH/`,
  );
}

/** A part store for people: without credentials. */
export function nameOfStore(text: string): string {
  return text.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/]*@/i, '$1');
}

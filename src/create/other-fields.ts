/** The fields of a draft that do not describe its files: trackers, dates, comments and hints. */
import type { Encodable } from '../bencode/value.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { INFO } from '../model/codec.ts';
import { encodeFields } from '../model/field.ts';
import { IN_INFO, type Key, type Keys, type Kind, TOP } from '../model/keys.ts';
import { MAX_YEAR } from '../model/primitives.ts';
import { toInfohash } from '../model/value-fields.ts';
import { variable } from '../platform/node.ts';
import { storedUrl } from '../text/urls.ts';
import type { Draft, TorrentCreateFields } from './draft-fields.ts';

/** Trackers under their on-disk keys. */
export interface TrackerFields {
  /** The first tracker. */
  announce?: string;
  /** All trackers in tiers (BEP 12); absent for a single tracker. */
  'announce-list'?: string[][];
}

/** The trackers of a draft: `announce`, and `announce-list` for more than one (BEP 12). */
export function trackerFields({ trackers, announce, announceList }: TorrentCreateFields): TrackerFields {
  const stored = (list: readonly (string | string[])[]) => list.map((tier) => [tier].flat().map(storedUrl));
  if (!trackers)
    return {
      ...(announce && { announce: storedUrl(announce) }),
      ...(announceList && { 'announce-list': stored(announceList) }),
    };
  const tiers = stored(trackers).filter((tier) => tier.length > 0);
  const first = tiers[0]?.[0];
  if (first === undefined) return {};
  return tiers.flat().length === 1 ? { announce: first } : { announce: first, 'announce-list': tiers };
}

/** The fields of `info` that do not describe the files. */
const OTHER_INFO = { ...IN_INFO, nameUtf8: INFO.nameUtf8 };

/** The values of some rows as a torrent stores them, URLs in ASCII; null for an absent one. */
function storedValues(rows: Keys, given: object): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name in rows)
    values[name] = storedValue(rows[name] as Keys[string], (given as Record<string, unknown>)[name]);
  return values;
}

/** A value of a key as a torrent stores it: URLs in ASCII, infohashes as bytes. */
export function storedValue({ kind }: Key<Kind>, value: unknown): unknown {
  if (value == null) return null;
  if (kind === 'url') return storedUrl(value as string);
  if (kind === 'urls') return [value as string | readonly string[]].flat().map(storedUrl);
  return kind === 'infohashes' ? (value as readonly (Uint8Array | string)[]).map(toInfohash) : value;
}

/** The torrent of a draft as bencode, without the keys of its files. Throws `ERR_INVALID_ARGUMENT` for a bad SOURCE_DATE_EPOCH. */
export function otherFields({ fields, info: given, createdBy }: Draft): Map<string, Encodable> {
  const info = encodeFields({ ...given, ...storedValues(IN_INFO, given) }, OTHER_INFO);
  const values = storedValues(TOP, { ...fields, createdBy, creationDate: fields.creationDate ?? sourceDate() });
  // Beside `info`, an empty list means the same as none.
  for (const name in values) if ((values[name] as readonly unknown[] | null)?.length === 0) values[name] = null;
  // libtorrent and others write a single webseed as text.
  const { urlList } = values as { urlList?: readonly string[] | null };
  if (urlList?.length === 1) values['urlList'] = urlList[0];
  const torrent = encodeFields({ extra: fields.extra, ...values }, TOP);
  for (const [key, value] of Object.entries(trackerFields(fields))) torrent.set(key, value as Encodable);
  return torrent.set('info', info);
}

/** The date of reproducible builds (https://reproducible-builds.org/specs/source-date-epoch/); null if it is not set. */
function sourceDate(): Date | null {
  // In two steps: the rest is then left out of the bundle for browsers.
  if (!variable('SOURCE_DATE_EPOCH')) return null;
  const epoch = variable('SOURCE_DATE_EPOCH') as string;
  const date = new Date(Number(epoch) * 1000);
  if (/^\d+$/.test(epoch) && date.getUTCFullYear() <= MAX_YEAR) return date;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `SOURCE_DATE_EPOCH must be seconds since 1970, not ${shown(epoch)}.`);
}

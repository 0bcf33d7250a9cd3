/** The fields of a draft that do not describe its files: trackers, dates, comments and hints. */
import type { Encodable } from '../bencode/value.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { INFO, TORRENT } from '../model/codec.ts';
import { encodeFields } from '../model/field.ts';
import { MAX_YEAR } from '../model/primitives.ts';
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
const { pieceLength: _1, pieces: _2, length: _3, files: _4, metaVersion: _5, fileTree: _6, ...OTHER_INFO } = INFO;

/**
 * The torrent of a draft, as bencode, without the keys that describe its files.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a bad SOURCE_DATE_EPOCH
 */
export function otherFields({ fields, info: given, createdBy }: Draft): Map<string, Encodable> {
  const { updateUrl } = given;
  const info = encodeFields({ ...given, updateUrl: updateUrl && storedUrl(updateUrl) }, OTHER_INFO);
  // The shorthands belong in `info`: nobody can change them there without a new infohash.
  for (const key of ['similar', 'collections'] as const) {
    const list = fields[key];
    if (list?.length) info.set(key, list);
  }
  const { urlList, httpseeds, nodes, comment = null } = fields;
  const torrent = encodeFields(
    {
      extra: fields.extra,
      comment,
      createdBy,
      creationDate: fields.creationDate ?? sourceDate(),
      urlList: urlList?.length ? [urlList].flat().map(storedUrl) : null,
      httpseeds: httpseeds?.length ? [httpseeds].flat().map(storedUrl) : null,
      nodes: nodes?.length ? nodes : null,
    },
    TORRENT,
  );
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

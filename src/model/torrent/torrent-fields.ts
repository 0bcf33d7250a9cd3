/** The model of a torrent's fields: the model of its info dictionary, and the rules of its piece layers. */
import { type Infer, optional, refine, type Struct, type } from 'superstruct';
import { TORRENT } from '../codec.ts';
import { infodictDiscriminator } from '../discriminator.ts';
import { failuresOfRule, InfoDict, propertyPath, subjectOf } from '../info-dict.ts';
import { nullsOf } from '../info-fields.ts';
import { fromInput, isDictionary, withInput } from '../input.ts';
import { IN_INFO, READ, structsOf, TOP } from '../keys.ts';
import { PieceLayers } from '../piece-layers.ts';
import { Extra, maybe, Text, Tiers } from '../primitives.ts';
import { pieceLayersIfV2, piecesLayersCorrect, piecesRoots } from '../rules/layers.ts';
import { notEmpty } from '../rules/rules.ts';
import type { Subject } from '../rules/subject.ts';

const fields = type({
  /** The single tracker of old clients (BEP 3). */
  announce: maybe(Text),
  /** Tiers of trackers (BEP 12). */
  announceList: maybe(Tiers),
  ...structsOf(TOP, READ),
  /** The info dictionary; the infohash is the hash of its raw bytes. */
  info: InfoDict,
  /** Piece hashes of files longer than a piece (BEP 52). */
  pieceLayers: maybe(PieceLayers),
  ...structsOf(
    {
      /** Infohashes of torrents that may hold the same files, 20 or 32 bytes each (BEP 38). */
      similar: IN_INFO.similar,
      /** Names of collections whose torrents may hold the same files (BEP 38). */
      collections: IN_INFO.collections,
    },
    READ,
  ),
  /** Unknown keys: keys with one character per byte, values as the decoder gives them. */
  extra: optional(Extra),
});

/** The fields of a torrent of any version. A {@link Torrent} has them too. */
export interface TorrentFields extends Infer<typeof fields> {}

/** The rules of a whole torrent: `info` may describe no content and have no hashes, but a torrent must have both. */
const RULES = {
  empty_torrent: notEmpty,
  pieces_root: piecesRoots,
  piece_layers_if_v2: pieceLayersIfV2,
  pieces_layers_correct: piecesLayersCorrect,
};

/**
 * Checks the fields of a torrent: `info` with the model of its version, then the rules `empty_torrent`, `pieces_root`,
 * `piece_layers_if_v2` and `pieces_layers_correct`. superstruct's `create` accepts decoded dictionaries, on-disk keys and property
 * names; its `assign`, `omit` and so on keep the fields with the rules of `info`, but not these rules.
 */
export const TorrentFields: Struct<TorrentFields, typeof fields.schema> = Object.entries(RULES).reduce(
  (struct, [name, rule]) =>
    refine(struct, name, (torrent, { path: above }) => {
      const subject = subjectOfTorrent(torrent);
      return !subject || failuresOfRule(rule, subject, (path) => [...above, ...torrentPath(path)]);
    }),
  withInput(fields as Struct<TorrentFields, typeof fields.schema>, (value, context) =>
    isDictionary(value) ? { ...NULLS, ...fromInput(value, TORRENT, { ...context, own: ['info'] }) } : value,
  ),
);

const NULLS = nullsOf(fields);

function subjectOfTorrent({ info, pieceLayers }: TorrentFields): Subject | null {
  const version = infodictDiscriminator(info);
  return version && { ...subjectOf(info as Subject['info'], version), layers: pieceLayers ?? null };
}

function torrentPath([key, ...below]: readonly (string | number)[]): (string | number)[] {
  return key === 'info' ? ['info', ...propertyPath(below)] : ['pieceLayers', ...below];
}

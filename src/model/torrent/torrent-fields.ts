/** The model of a torrent's fields: the model of its info dictionary, and the rules of its piece layers. */
import { array, coerce, type Infer, optional, refine, type Struct, tuple, type, unknown } from 'superstruct';
import { TORRENT } from '../codec.ts';
import { infodictDiscriminator } from '../discriminator.ts';
import { InfoDict, subjectOf } from '../info-dict.ts';
import { nullsOf } from '../info-fields.ts';
import { fromInput, isDictionary } from '../input.ts';
import { Issues } from '../issues.ts';
import { PieceLayers } from '../piece-layers.ts';
import { Extra, Infohash, maybe, Text, TextList, Tiers, Timestamp, Whole } from '../primitives.ts';
import { pieceLayersIfV2, piecesLayersCorrect } from '../rules/layers.ts';
import type { Subject } from '../rules/subject.ts';

const fields = type({
  /** The single tracker of old clients (BEP 3). */
  announce: maybe(Text),
  /** Tiers of trackers (BEP 12). */
  announceList: maybe(Tiers),
  /** Free text. */
  comment: maybe(Text),
  /** The program that created the torrent. */
  createdBy: maybe(Text),
  /** When the torrent was created, to the second. */
  creationDate: maybe(Timestamp),
  /** The info dictionary; the infohash is the hash of its raw bytes. */
  info: InfoDict,
  /** Piece hashes of files longer than a piece (BEP 52). */
  pieceLayers: maybe(PieceLayers),
  /** Webseeds (BEP 19). */
  urlList: maybe(TextList),
  /** HTTP seeds (BEP 17). */
  httpseeds: maybe(TextList),
  /** DHT nodes to start from (BEP 5). */
  nodes: maybe(array(tuple([Text, Whole]))),
  /** Infohashes of torrents that may hold the same files, 20 or 32 bytes each (BEP 38). */
  similar: maybe(array(Infohash)),
  /** Collections whose torrents may hold the same files (BEP 38). */
  collections: maybe(TextList),
  /** Unknown keys: keys with one character per byte, values as the decoder gives them. */
  extra: optional(Extra),
});

/** The fields of a torrent of any version. A {@link Torrent} has them too. */
export interface TorrentFields extends Infer<typeof fields> {}

/**
 * Checks the fields of a torrent: `info` with the model of its version, then the rules `piece_layers_if_v2` and
 * `pieces_layers_correct`. superstruct's `create` accepts on-disk keys and property names; its `assign`, `omit` and so on keep
 * the fields with the rules of `info`, but not the rules of the layers.
 */
export const TorrentFields: Struct<TorrentFields, typeof fields.schema> = refine(
  refine(
    coerce(fields, unknown(), (value) => (isDictionary(value) ? fieldsOf(value) : value) as TorrentFields),
    'piece_layers_if_v2',
    (torrent) => failuresOfRule(torrent, pieceLayersIfV2),
  ),
  'pieces_layers_correct',
  (torrent) => failuresOfRule(torrent, piecesLayersCorrect),
);

const NULLS = nullsOf(fields);

function fieldsOf(input: object): object {
  return { ...NULLS, ...fromInput(input, TORRENT, { own: ['info'], path: [], issues: new Issues() }) };
}

/** The failures of a rule, which are all about the piece layers. */
function failuresOfRule({ info, pieceLayers }: TorrentFields, rule: (subject: Subject) => void) {
  const version = infodictDiscriminator(info);
  if (!version) return true;
  const issues = new Issues();
  rule({ ...subjectOf(info as Subject['info'], version), layers: pieceLayers ?? null, issues });
  return issues.finish().map(({ path: [, ...rest], message }) => ({ path: ['pieceLayers', ...rest], message }));
}

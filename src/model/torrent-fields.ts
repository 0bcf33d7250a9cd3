// The fields of a torrent as a struct: what `info` selects, and the rules of its piece layers.
import { array, coerce, type Infer, optional, refine, type Struct, tuple, type, unknown } from 'superstruct';
import { TORRENT } from './codec.ts';
import { infodictDiscriminator } from './discriminator.ts';
import { InfoDict, subjectOf } from './info-dict.ts';
import { nullsOf } from './info-fields.ts';
import { fromInput, isDictionary } from './input.ts';
import { Issues } from './issues.ts';
import { PieceLayers } from './piece-layers.ts';
import { Extra, Infohash, maybe, Text, TextList, Tiers, Timestamp, Whole } from './primitives.ts';
import { piece_layers_if_v2, pieces_layers_correct } from './rules-layers.ts';
import type { Subject } from './rules-subject.ts';

const fields = type({
  /** The one tracker of old clients (BEP 3). */
  announce: maybe(Text),
  /** Trackers in tiers (BEP 12). */
  announceList: maybe(Tiers),
  /** Text for people. */
  comment: maybe(Text),
  /** The program that made it. */
  createdBy: maybe(Text),
  /** When it was made, to the second. */
  creationDate: maybe(Timestamp),
  /** What the infohash is of. */
  info: InfoDict,
  /** Piece hashes of the files that are longer than a piece (BEP 52). */
  pieceLayers: maybe(PieceLayers),
  /** Webseeds (BEP 19). */
  urlList: maybe(TextList),
  /** Scripts that give pieces over HTTP (BEP 17). */
  httpseeds: maybe(TextList),
  /** Nodes of the DHT to begin with (BEP 5). */
  nodes: maybe(array(tuple([Text, Whole]))),
  /** Infohashes of torrents that may hold the same files (BEP 38). */
  similar: maybe(array(Infohash)),
  /** Collections that it belongs to (BEP 38). */
  collections: maybe(TextList),
  /** Unknown keys, as they were read. */
  extra: optional(Extra),
});

/** The fields of a torrent of any version. A {@link Torrent} has them, too. */
export interface TorrentFields extends Infer<typeof fields> {}

/**
 * Checks them: `info` by the model of its version, then `piece_layers_if_v2` and `pieces_layers_correct`. superstruct's `create`
 * takes input under on-disk keys too. `assign`, `omit` and the like keep the fields, the rules of `info` among them.
 */
export const TorrentFields: Struct<TorrentFields, typeof fields.schema> = refine(
  refine(
    coerce(fields, unknown(), (value) => (isDictionary(value) ? fieldsOf(value) : value) as TorrentFields),
    'piece_layers_if_v2',
    (torrent) => problems(torrent, piece_layers_if_v2),
  ),
  'pieces_layers_correct',
  (torrent) => problems(torrent, pieces_layers_correct),
);

const NULLS = nullsOf(fields);

function fieldsOf(input: object): object {
  return { ...NULLS, ...fromInput(input, TORRENT, { own: ['info'], path: [], issues: new Issues() }) };
}

/** All that a rule finds is about the layers. */
function problems({ info, pieceLayers }: TorrentFields, rule: (subject: Subject) => void) {
  const version = infodictDiscriminator(info);
  if (!version) return true;
  const issues = new Issues();
  rule({ ...subjectOf(info as Subject['info'], version), layers: pieceLayers ?? null, issues });
  return issues.finish().map(({ path: [, ...rest], message }) => ({ path: ['pieceLayers', ...rest], message }));
}

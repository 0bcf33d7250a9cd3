/**
 * The mutants on which the struct of a torrent's fields and `Torrent.inspect` disagree, with the reasons.
 * test/model/structs-differential.test.ts fails on a disagreement that is not listed here, and on an entry that no mutant shows any more.
 */
const IGNORED =
  'A value that clients ignore: the reader leaves it out with a warning, too. A struct refuses it for the same reason.';

const ENTRY =
  'An invalid entry of a list beside `info`: the reader leaves it out with a warning. A struct has no warnings, and must not drop what a caller gives.';

/** From the disagreement, as structs-differential.test.ts names it, to the reason. */
export const STRUCT_DISAGREEMENTS: Readonly<Record<string, string>> = {
  'refused: announce': IGNORED,
  'refused: announceList': ENTRY,
  'refused: createdBy': IGNORED,
  'refused: creationDate': IGNORED,
  'refused: nodes': ENTRY,
  'refused: urlList': ENTRY,
};

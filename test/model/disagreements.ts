// Where compat, default and strict judge a mutant otherwise than libtorrent does, and why: test/model/differential.test.ts
// fails on a disagreement that is not here, and on an entry that no mutant shows any more.

/** `profile: disagreement`, as test/support/mutants.ts names it, with the reason. */
export const DISAGREEMENTS: Readonly<Record<string, string>> = {
  'compat: accepted, libtorrent: a piece layer is invalid':
    'Of two layers under one key libtorrent checks both. Only the first one counts, and it is right.',
  'compat: infohashes: v2':
    'A v2 infodict with `length` or `files` but no `pieces`: libtorrent gives it a v1 infohash too, for pieces that nobody can check.',
  'compat: refused: lengthXorFiles':
    'A hybrid without `length` and `files`: libtorrent ignores its pieces and calls it v2. Half a description is an error here.',
  'compat: refused: negative-zero':
    'Canonical bencode is required within a v2 `info`: other clients would compute another infohash.',
  'compat: refused: piecesLayersCorrect':
    'Layers that do not give the root: libtorrent 2.0.8 loads them without a check, the current release line refuses them.',
  'compat: refused: too_large':
    'Sizes beyond 64 bits, or the lowest integer of 64 bits: libtorrent wraps them around or takes them for 0. A wrong size is no size.',
  'compat: refused: type':
    'A key of the wrong type beside its alternative (`files` beside `length`, `file tree` beside `pieces`): libtorrent ignores the key. No creator writes that, and what it means is a guess.',
  'compat: size: v1':
    "BitComet's name makes any file a pad for libtorrent. Here it does so only where no file has `attr` and the length fits: others are files on disk.",
  'compat: size: v2': 'A symbolic link with a length: libtorrent counts no bytes for it.',
  'default: accepted, libtorrent: a piece layer is invalid':
    'The same: a key that comes twice outside of `info` is a warning.',
  'default: accepted, libtorrent: the torrent contains v2 keys but does not specify meta version 2':
    'The models take a missing `meta version` for 2: accepted with a warning.',
};

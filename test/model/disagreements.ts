// Where compat, default and strict judge a mutant otherwise than libtorrent does, and why: test/model/differential.test.ts
// fails on a disagreement that is not here, and on an entry that no mutant shows any more.

const IGNORED =
  'A wrong value that libtorrent ignores because it uses another key (`files` beside `length`, `file tree` beside `pieces`): what it means is a guess, and no creator writes it.';

const NAMED_SINCE =
  'A v2 torrent whose one file has a name of which nothing is left without directions of text: libtorrent 2.0.8 has no name for it, 2.0.14 loads it.';

/** `profile: disagreement`, as test/support/mutants.ts names it, with the reason. */
export const DISAGREEMENTS: Readonly<Record<string, string>> = {
  'compat: accepted, libtorrent: a piece layer is invalid':
    'Of two layers under one key libtorrent checks both. Only the first one counts, and it is right.',
  'compat: infohashes: v2':
    'A v2 infodict with `length` or `files` but no `pieces`: libtorrent gives it a v1 infohash too, for pieces that nobody can check.',
  'compat: refused: length_xor_files':
    'A hybrid without `length` and `files`: libtorrent ignores its pieces and calls it v2. Half a description is an error here.',
  'compat: refused: negative-zero':
    'Canonical bencode is required within a v2 `info`: other clients would compute another infohash.',
  'compat: refused: pieces_layers_correct':
    'Layers that do not give the root: libtorrent 2.0.8 loads them without a check, the current release line refuses them.',
  'compat: refused: too_large':
    'Sizes beyond 64 bits, or the lowest integer of 64 bits: libtorrent takes them for 0 or for another size.',
  'compat: refused: type': IGNORED,
  'compat: size: v1':
    'A pad by the name of BitComet, or by the `attr` of a single file: here BitComet names a pad only where no file has `attr` and the length fits, and a torrent is never one pad.',
  'default: accepted, libtorrent: a piece layer is invalid':
    'The second layer of a key again: a key that comes twice outside of `info` is a warning.',
  'default: accepted, libtorrent: the torrent contains v2 keys but does not specify meta version 2':
    'The models take a missing `meta version` for 2: accepted with a warning.',
};

/** The same of what only `METAINFO_MUTANTS=30000` shows. */
export const RARE_DISAGREEMENTS: Readonly<Record<string, string>> = {
  'compat: files: v1': 'An empty file or link by the name of a pad of BitComet: here a file, as above.',
  'compat: refused: negative':
    'A negative length of a symbolic link: libtorrent does not look at it. No size is below 0.',
  'compat: refused: v1_v2_files_match':
    'Names of a hybrid that differ by what libtorrent removes from both before it compares them: a client of v1 would write other files.',
  'compat: refused: meta_version':
    'A version beyond 2 of a torrent that libtorrent takes for v1: it may mean anything (BEP 52).',
  'compat: accepted, libtorrent: missing name in torrent file': NAMED_SINCE,
};

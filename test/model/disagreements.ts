/**
 * The mutants on which a profile and libtorrent disagree, with the reasons. test/model/differential.test.ts fails on a
 * disagreement that is not listed here, and on an entry that no mutant shows any more.
 */

const IGNORED =
  'An invalid value that libtorrent ignores because it uses another key (`files` beside `length`, `file tree` beside `pieces`). Its meaning is a guess, and no creator writes it.';

const NAMED_SINCE =
  'A v2 torrent whose single file is named `..` or `.`, or has a name of text direction marks alone, which libtorrent removes. libtorrent 2.0.8 then has no name for it, 2.0.14 loads it.';

/** From `profile: disagreement`, as test/support/mutants.ts names it, to the reason. */
export const DISAGREEMENTS: Readonly<Record<string, string>> = {
  'compat: accepted, libtorrent: a piece layer is invalid':
    'Two layers under one key: libtorrent checks both. Here only the first one counts, which is correct.',
  'compat: infohashes: v2':
    'A v2 infodict with `length` or `files` but no `pieces`: libtorrent gives it a v1 infohash too, for pieces that nobody can check.',
  'compat: refused: length_xor_files':
    'A hybrid without `length` and `files`: libtorrent ignores its pieces and loads it as v2. Here an incomplete v1 description is an error.',
  'compat: refused: negative_zero':
    'A v2 `info` must be canonical bencode, because other clients would compute another infohash.',
  'compat: refused: pieces_layers_correct':
    'Layers that do not hash to their root: libtorrent 2.0.8 does not check them, the current release line refuses them.',
  'compat: refused: too_large':
    'Sizes beyond 64 bits, or the lowest integer of 64 bits: libtorrent reads them as 0 or as another size.',
  'compat: refused: type': IGNORED,
  'compat: size: v1':
    'A pad file by its BitComet name, or by the `attr` of a single file. Here a BitComet name counts only if no file has `attr` and the length fits, and a single file is never a pad file.',
  'default: accepted, libtorrent: a piece layer is invalid':
    'Two layers under one key again: a duplicate key outside `info` is only a warning.',
  'default: accepted, libtorrent: the torrent contains v2 keys but does not specify meta version 2':
    'The models read a missing `meta version` as 2, with a warning.',
};

const NOT_CANONICAL =
  'A v1 torrent with a key `file tree` that is no tree, and with an `info` that is not canonical. The key makes it a hybrid here, whose `info` must be canonical; libtorrent reads it as v1.';

/** Disagreements that only other seeds and fuzzing show. No seed must show them. */
export const OTHER_DISAGREEMENTS: Readonly<Record<string, string>> = {
  'compat: accepted, libtorrent: the v1 and v2 file metadata does not match':
    'A hybrid of a single file with `attr: p` beside `length`: BEP 3 gives a single file no flags.',
  'compat: refused: duplicate_key': NOT_CANONICAL,
  'compat: refused: hash_length':
    'A `pieces root` of a wrong size on an empty file, which libtorrent does not read. Every other hash of a wrong size is an error too.',
  'compat: refused: layers_key':
    'A v1 torrent with junk in `piece layers`, which libtorrent does not read without a v2 part.',
  'compat: refused: leading_zero': NOT_CANONICAL,
  'compat: refused: name_mismatch':
    'A hybrid of a single file whose name differs between v1 and v2 after libtorrent has removed characters from it.',
  'compat: refused: piece_length':
    'A piece length just above 512 MiB: libtorrent 2.0.8 loads a few of them, and no creator writes one.',
  'compat: refused: required':
    'A pad file whose `path.utf-8` is empty: libtorrent does not need the path of a pad file.',
  'compat: refused: unsafe_path':
    'A name such as `.` where libtorrent uses another key or the infohash. Other clients find no files there.',
  'compat: refused: unsorted_key': NOT_CANONICAL,
  'default: accepted, libtorrent: incorrect number of piece hashes in torrent file':
    'A single file whose `attr` has `l`: other clients ignore the key, so it is a warning.',
  'default: accepted, libtorrent: missing name in torrent file': `${NAMED_SINCE} The default profile warns.`,
};

/** Disagreements that only `METAINFO_MUTANTS=30000` shows. */
export const RARE_DISAGREEMENTS: Readonly<Record<string, string>> = {
  'compat: files: v1':
    'An empty file or symbolic link with the name of a BitComet pad file: here it is a file, as above.',
  'compat: refused: negative':
    'A negative length of a symbolic link: libtorrent ignores it. Here no size may be negative.',
  'compat: refused: v1_v2_files_match':
    'Names of a hybrid that differ only in characters that libtorrent removes before it compares them. A v1 client would write other files.',
  'compat: refused: meta_version':
    'A meta version above 2 in a torrent that libtorrent loads as v1. Every key may have another meaning (BEP 52).',
  'compat: accepted, libtorrent: missing name in torrent file': NAMED_SINCE,
};

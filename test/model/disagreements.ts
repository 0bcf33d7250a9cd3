/**
 * The mutants on which a profile and libtorrent disagree, by their causes, with the reasons. test/model/differential.test.ts fails on a
 * disagreement that is not listed here, and on an entry that no mutant shows any more.
 */

const NO_LIST =
  '`files` is no list: libtorrent ignores it because it uses another key (`length` or `file tree`). Its meaning is a guess, and no creator writes it.';

const NO_LENGTH =
  'The length of a symbolic link is no size: libtorrent ignores it. Here every length must be one, and no creator writes another.';

const TWO_LAYERS =
  'Two layers under one key: libtorrent checks both. Here only the first one counts, and a duplicate key outside `info` is a warning.';

const NEGATIVE_ZERO =
  'The `info` of a v2 part must be canonical bencode, because other clients would compute another infohash.';

const WRONG_LAYER =
  'Layers that do not hash to their root: libtorrent 2.0.8 does not check them, the current release line refuses them.';

const NO_FILE = 'A layer that no file needs: libtorrent 2.0.8 ignores it, the current release line refuses it.';

const TOO_LARGE =
  'Sizes beyond 64 bits, or the lowest integer of 64 bits: libtorrent reads them as 0 or as another size.';

/** From `profile: disagreement (cause)`, as test/support/mutants.ts names it, to the reason. */
export const DISAGREEMENTS: Readonly<Record<string, string>> = {
  'compat: accepted, libtorrent: a piece layer is invalid (two layers under one key)': TWO_LAYERS,
  'compat: infohashes: v2 (no pieces)':
    'A v2 infodict with `length` or `files` but no `pieces`: libtorrent gives it a v1 infohash too, for pieces that nobody can check.',
  'compat: refused: length_xor_files at info (v2)':
    'A hybrid without `length` and `files`: libtorrent ignores its pieces and loads it as v2. Here an incomplete v1 description is an error.',
  'compat: refused: negative_zero (hybrid)': NEGATIVE_ZERO,
  'compat: refused: negative_zero (v2)': NEGATIVE_ZERO,
  'compat: refused: pieces_layers_correct at piece layers.*, of a file (hybrid)': WRONG_LAYER,
  'compat: refused: pieces_layers_correct at piece layers.*, of a file (v2)': WRONG_LAYER,
  'compat: refused: pieces_layers_correct at piece layers.*, of no file (hybrid)': NO_FILE,
  'compat: refused: pieces_layers_correct at piece layers.*, of no file (v2)': NO_FILE,
  'compat: refused: too_large at info.file tree.*.length (v2)': TOO_LARGE,
  'compat: refused: too_large at info.files.#.length (v1)': TOO_LARGE,
  'compat: refused: type at info.file tree.*.length of a link (v2)': NO_LENGTH,
  'compat: refused: type at info.files (v1)': NO_LIST,
  'compat: size: v1 (attr of a single file)':
    'A single file with `attr: p`: BEP 3 gives a single file no flags, so it is never a pad file here.',
  'compat: size: v1 (name of BitComet)':
    'The name of a BitComet pad file elsewhere in a path, with `attr`, or with a length that does not fit: here it is a file, as a real one may have the name.',
  'default: accepted, libtorrent: a piece layer is invalid (two layers under one key)': TWO_LAYERS,
  'default: accepted, libtorrent: the torrent contains v2 keys but does not specify meta version 2 (no meta version)':
    'The models read a missing `meta version` as 2, with a warning.',
};

const NOT_CANONICAL =
  'A v1 torrent with a key `file tree` that is no tree, and with an `info` that is not canonical. The key makes it a hybrid here, whose `info` must be canonical; libtorrent reads it as v1.';

const NAMED_SINCE =
  'A v2 torrent whose single file is named `..` or `.`, or has a name of text direction marks alone, which libtorrent removes. libtorrent 2.0.8 then has no name for it, 2.0.14 loads it.';

const FLAGGED = 'A hybrid of a single file with `attr: p` beside `length`: BEP 3 gives a single file no flags.';

const NO_TARGET = 'A component of the target of a link that is no text: libtorrent replaces such a target.';

/** Disagreements that only other seeds and fuzzing show. No seed must show them. */
export const OTHER_DISAGREEMENTS: Readonly<Record<string, string>> = {
  'compat: accepted, libtorrent: the v1 and v2 file metadata does not match (hybrid)': FLAGGED,
  'compat: refused: duplicate_key (v1)': NOT_CANONICAL,
  'compat: refused: hash_length at piece layers.*, of no file (v1)':
    'A v1 torrent with junk in `piece layers`, which libtorrent does not read without a v2 part.',
  'compat: refused: leading_zero (v1)': NOT_CANONICAL,
  'compat: refused: name_mismatch at info.file tree (hybrid)':
    'A hybrid of a single file whose name differs between v1 and v2 after libtorrent has removed characters from it.',
  'compat: refused: negative at info.length (v1)': 'A negative `length` beside `files`, which libtorrent uses.',
  'compat: refused: required at info.files (hybrid)':
    'An empty list `files`: libtorrent compares only lists with files to the tree. A v1 client finds no files.',
  'compat: refused: too_large at info.file tree.*.length (hybrid)': TOO_LARGE,
  'compat: refused: too_large at info.files.#.length (hybrid)': TOO_LARGE,
  'compat: refused: too_large at info.files.#.length of a link (v1)': TOO_LARGE,
  'compat: refused: too_large at info.length (v1)': TOO_LARGE,
  'compat: refused: type at info.file tree.*.symlink path.# (v2)': NO_TARGET,
  'compat: refused: type at info.files (hybrid)': NO_LIST,
  'compat: refused: type at info.files.#.symlink path.# (v1)': NO_TARGET,
  'compat: refused: type at info.length (hybrid)':
    'A `length` that is no integer beside `files`, which libtorrent uses.',
  'compat: refused: type at info.pieces (v2)': '`pieces` that are no text: libtorrent ignores them in v2.',
  'compat: refused: type at piece layers.*, of a file (v1)':
    'A v1 torrent with junk in `piece layers`, which libtorrent does not read without a v2 part.',
  'compat: refused: unsorted_key (v1)': NOT_CANONICAL,
  'default: accepted, libtorrent: incorrect number of piece hashes in torrent file (v1)':
    'A single file whose `attr` has `l`: other clients ignore the key, so it is a warning.',
  'default: accepted, libtorrent: missing name in torrent file (of a v2 file)': `${NAMED_SINCE} The default profile warns.`,
  'default: accepted, libtorrent: the v1 and v2 file metadata does not match (hybrid)': FLAGGED,
};

/** Disagreements that only `METAINFO_MUTANTS=30000` shows. */
export const RARE_DISAGREEMENTS: Readonly<Record<string, string>> = {
  'compat: accepted, libtorrent: missing name in torrent file (of a v2 file)': NAMED_SINCE,
  'compat: files: v1 (name of BitComet)':
    'An empty file or symbolic link with the name of a BitComet pad file: here it is a file, as above.',
  'compat: refused: meta_version at info.meta version (v1)':
    'A meta version above 2 in a torrent that libtorrent loads as v1. Every key may have another meaning (BEP 52).',
  'compat: refused: negative at info.files.#.length of a link (v1)':
    'A negative length of a symbolic link: libtorrent ignores it. Here no size may be negative.',
  'compat: refused: negative_zero (v1)': NOT_CANONICAL,
  'compat: refused: too_large at info.file tree.*.length of a link (v2)': NO_LENGTH,
  'compat: refused: type at info.file tree (v1)':
    'A `file tree` beside `pieces` that is no tree: libtorrent ignores it without `meta version`. No creator writes it.',
  'compat: refused: type at info.files (v2)': NO_LIST,
  'compat: refused: type at info.files.#.length of a link (v1)': NO_LENGTH,
  'compat: refused: type at info.length (v1)': 'A `length` that is no integer beside `files`, which libtorrent uses.',
  'compat: refused: type at info.pieces (hybrid)':
    '`pieces` that are no text: libtorrent ignores them beside a file tree, and gives the torrent a v1 infohash for pieces that nobody can check.',
  'compat: refused: v1_v2_files_match at info.files (hybrid)':
    'Names of a hybrid that differ only in characters that libtorrent removes before it compares them. A v1 client would write other files.',
};

/** The stable codes of thrown errors and validation issues, with a summary of each: the source of docs/errors.md. */

/**
 * Stable codes of {@link MetainfoError}, with what each means. A message may change, a code does not.
 *
 * @enum
 */
export const ERROR_CODES = {
  ERR_ABORTED: "The caller's signal stopped the work; its reason is the `cause`.",
  ERR_BENCODE: 'Bytes that are not canonical bencode: a `BencodeError`, with `bencodeCode` and `offset`.',
  ERR_BROKEN_LINK: 'A symbolic link whose target does not exist.',
  ERR_CACHE:
    'A cache of hashes cannot be counted or cleared. As the code of a warning: it cannot be used, or was damaged, and files are hashed again.',
  ERR_DUPLICATE_PATH: 'The same file named twice.',
  ERR_FILE_CHANGED: 'A file grew, shrank, vanished or was modified while it was hashed.',
  ERR_HASH_MISMATCH: 'Hashes or sizes in a draft or torrent are not those of the files.',
  ERR_INFOHASH: 'A change that would give another infohash, where the same was asked for.',
  ERR_INTERNAL: 'A defect of this library: please report it.',
  ERR_INVALID_ARGUMENT: 'An argument or option of the wrong type or value.',
  ERR_KERNEL: 'METAINFO_KERNEL names no kernel that this CPU can run.',
  ERR_LIMIT:
    'Input beyond one of the `limits`, which the caller can raise: a `LimitError`, with `limit`, `most` and `offset`.',
  ERR_LINK_LOOP: 'Symbolic links that lead back to themselves.',
  ERR_LINK_OUTSIDE: 'A symbolic link that leaves the root.',
  ERR_MAKER: "libtorrent failed to make the torrent; the message is libtorrent's own.",
  ERR_MAKER_UNAVAILABLE: 'The libtorrent maker is not built, or its addon cannot be loaded.',
  ERR_NAME: 'A file or torrent name that a torrent cannot hold.',
  ERR_NATIVE_UNAVAILABLE:
    'The native addon was asked for and could not be loaded. As the code of a warning: node:crypto hashes instead.',
  ERR_NOT_A_FILE: 'A FIFO, socket or device, or a folder where a file is expected.',
  ERR_NOT_FOUND: 'A path that does not exist.',
  ERR_NO_DATA: 'Nothing but empty files.',
  ERR_NO_DESCRIPTORS: 'Too many files are open: run fewer jobs or threads at once, or raise the limit.',
  ERR_NO_FILES: 'An empty folder, or every file left out.',
  ERR_NO_MEMORY: 'The system has no memory, or no thread, to give: lower `memoryLimit` or `threads`.',
  ERR_NO_SPACE: 'The disk is full, or a quota is used up.',
  ERR_OUTPUT_EXISTS: 'The output is there already.',
  ERR_OUTPUT_IS_INPUT: 'The output is one of the files that are hashed: it would replace them.',
  ERR_OUT_OF_RANGE: 'An index beyond the pieces or files that there are.',
  ERR_PATH_OUTSIDE: 'A path that is not beneath the path root.',
  ERR_PIECE_LENGTH: 'A piece length that is no power of two, beyond 2 GiB, or below 16 KiB for v2 and hybrid.',
  ERR_READ: 'The system failed to read.',
  ERR_SIZE_UNKNOWN: 'A size that must be known beforehand: give the source a `size`.',
  ERR_SOURCE: 'A source that threw (its error is the `cause`), gave no bytes, or has been read already.',
  ERR_SOURCE_SIZE: 'A source that is longer or shorter than its size.',
  ERR_TOO_LARGE: 'Content of more than 2^53 bytes, or whose hashes do not fit into memory.',
  ERR_UNREADABLE: 'No permission to read.',
  ERR_VALIDATION: 'A torrent or draft that breaks rules of the models: a `ValidationError`, with `issues`.',
  ERR_WRITE: 'The system failed to write, or there is no permission to.',
} as const;
/**
 * A code of {@link ERROR_CODES}.
 *
 * @useDeclaredType
 */
export type MetainfoErrorCode = keyof typeof ERROR_CODES;

const ISSUES = {
  alias: { summary: 'A field is given under its on-disk key and its attribute name.' },
  date_range: { summary: 'A creation date beyond what can be told as a date.' },
  disallowed_fields: {
    summary: 'A v1 infodict with fields of v2, or a v2 infodict with fields of v1.',
    spec: 'BEP 52',
  },
  duplicate_path: { summary: 'Two files of one path, or a file where another has a folder.' },
  empty_torrent: { summary: 'No content: all files are empty.' },
  expected_n_pieces: { summary: 'Not as many v1 pieces as the sizes imply, pads counted.', spec: 'BEP 3' },
  hash_length: { summary: 'Hashes that are not 20 (SHA-1) or 32 (SHA-256) bytes each.' },
  infodict: { summary: 'Neither `pieces` nor `file tree`: no kind of torrent.' },
  layers_key: { summary: 'A key of `piece layers` that is not 32 bytes.', spec: 'BEP 52' },
  length_xor_files: { summary: '`length` and `files` both present, or neither.', spec: 'BEP 3' },
  lost: { summary: 'Information that another decoder has already lost: decode with this library.' },
  meta_version: { summary: 'A `meta version` other than 2, or none.', spec: 'BEP 52' },
  magnet: { summary: 'Text that is no magnet link, or too long for one.', spec: 'BEP 9' },
  magnet_escape: { summary: 'A parameter of a magnet link that is not UTF-8 in %XX.', spec: 'BEP 9' },
  magnet_hash: {
    summary: 'A magnet link without an infohash, with a wrong one, or with those of two torrents.',
    spec: 'BEP 9',
  },
  magnet_length: { summary: 'A size in a magnet link (`xl`) that is no number of bytes.', spec: 'BEP 9' },
  magnet_peer: { summary: 'A peer in a magnet link (`x.pe`) that is not HOST:PORT.', spec: 'BEP 9' },
  magnet_select: { summary: 'Indexes of files in a magnet link (`so`) that are none.', spec: 'BEP 53' },
  memory_limit: { summary: 'A memory limit of a hasher that holds no read.' },
  misspelled: { summary: 'An unknown key that is one letter off a known one.' },
  name_mismatch: { summary: 'A hybrid single file whose name differs between v1 and v2.', spec: 'BEP 52' },
  named_like_pad: { summary: 'A file named as BitComet names pad files: libtorrent takes it for padding.' },
  negative: { summary: 'A size below 0.' },
  no_duplicated_params: { summary: 'A shorthand of a draft and the field that it sets are both given.' },
  node: { summary: 'A DHT node that is no host and port, or with a port that is not 1 to 65,535.', spec: 'BEP 5' },
  not_canonical: {
    summary: 'Bencode that is not canonical, in a v1 torrent: keys out of order or twice, leading zeros.',
    spec: 'BEP 3',
  },
  not_utf8: { summary: 'Text that is not UTF-8.', spec: 'BEP 3' },
  pad_path: { summary: 'A pad file that is not named `.pad/<length>`.', spec: 'BEP 47' },
  pad_names: {
    summary: 'Pad files that share a path, which some clients refuse: `padNames` avoids it.',
    spec: 'BEP 47',
  },
  pad_in_tree: { summary: 'A pad file in a v2 file tree.', spec: 'BEP 52' },
  padfile_alignment: {
    summary: "A file that does not start at a piece's start, or pads that are forbidden.",
    spec: 'BEP 47',
  },
  path_root: { summary: 'A path root that is not absolute.' },
  paths: { summary: 'An empty list of paths; of a hasher also one that is absolute, not safe, or named twice.' },
  piece_layers_if_v2: { summary: 'A v2 or hybrid torrent without `piece layers`.', spec: 'BEP 52' },
  piece_length: {
    summary: 'A piece length that is no power of two, or below 16 KiB for v2 and hybrid.',
    spec: 'BEP 52',
  },
  pieces_root: {
    summary: 'A file with content and no (or an all-zero) pieces root, or an empty file with one.',
    spec: 'BEP 52',
  },
  pieces_layers_correct: {
    summary: 'A layer that is missing, not needed, of the wrong length, or that does not hash to its root.',
    spec: 'BEP 52',
  },
  private: { summary: 'A `private` other than 1 or 0: clients differ about it.', spec: 'BEP 27' },
  read_size: { summary: 'A read size of a hasher that is no power of two of at least 16 KiB (v1: below 1).' },
  reader_limit: { summary: 'A torrent to be created with more of something than a reader takes by default.' },
  required: { summary: 'A key that must be there is missing.' },
  similar: { summary: 'Not an infohash of 20 or 32 bytes, nor its hexadecimal.', spec: 'BEP 38' },
  single_file_folder: { summary: 'A v2 folder with a single file: libtorrent leaves out the folder.', spec: 'BEP 52' },
  sources: {
    summary: 'A source without a path within the torrent, with a wrong size, or with data that cannot be read.',
  },
  symlink: { summary: 'A symbolic link without a target, or with content of its own.', spec: 'BEP 47' },
  threads: { summary: 'A number of threads of a hasher that is not 1 to 1,024.' },
  too_large: { summary: 'An integer, or a sum of sizes, beyond 2^53.' },
  too_many_issues: { summary: 'More issues than are listed.' },
  trailing_data: { summary: 'Bytes after the end of the torrent.', spec: 'BEP 3' },
  tree: { summary: 'A malformed v2 file tree: a file beside other entries, an empty folder or name.', spec: 'BEP 52' },
  type: { summary: 'A value of the wrong type.' },
  unsafe_path: { summary: 'A name that could lead out of the folder a torrent is put into.' },
  url: { summary: 'A tracker, webseed or feed that is no URL.' },
  v1_v2_files_match: {
    summary: 'The v1 and the v2 description of a hybrid differ in files, sizes, order or offsets.',
    spec: 'BEP 52',
  },
} as const satisfies Record<string, IssueCodeInfo>;

/** What the code of an {@link Issue} means. */
export interface IssueCodeInfo {
  /** One sentence. */
  summary: string;
  /** The document that has the rule, such as `BEP 52`. */
  spec?: string;
}

/**
 * A code of {@link ISSUE_CODES}.
 *
 * @useDeclaredType
 */
export type IssueCode = keyof typeof ISSUES;

/** Stable codes of {@link Issue}: the rule that failed. Validators of the models go by their names. */
export const ISSUE_CODES: Readonly<Record<IssueCode, IssueCodeInfo>> = ISSUES;

/** The stable codes of thrown errors and of validation issues. docs/errors.md is generated from these tables. */

/**
 * The codes of {@link MetainfoError}, each with a summary. Codes are stable; messages may change.
 *
 * @enum
 */
export const ERROR_CODES = {
  ERR_ABORTED: "The job was cancelled through the caller's signal; the signal's reason is the `cause`.",
  ERR_BENCODE: 'The bytes are not canonical bencode: a `BencodeError`, with `bencodeCode` and `offset`.',
  ERR_BROKEN_LINK: 'The target of a symbolic link does not exist.',
  ERR_CACHE:
    'The size of the cache cannot be read, or the cache cannot be cleared. As the code of a warning: the cache cannot be used, so content is hashed again.',
  ERR_CONFIG: 'The configuration file of the command is not valid TOML, has an invalid key or value, or is too large.',
  ERR_DUPLICATE_PATH: 'A path is listed twice in `paths`, or two sources of a verification have it.',
  ERR_FILE_CHANGED:
    'A file or web object grew, shrank, disappeared or was modified while it was hashed or edited: start again once no program writes to it.',
  ERR_FINDINGS: 'A creation or edit has findings that the caller counts as errors, and nothing was hashed or written.',
  ERR_HASH_MISMATCH: 'The hashes or sizes in a draft or torrent differ from those of the files.',
  ERR_HTTP:
    'A web server cannot be reached, refuses a request, does not support range requests, or gives an answer that cannot be used.',
  ERR_INFOHASH: 'An edit would change the infohash, but `keepInfohash` forbids that.',
  ERR_INTERNAL: 'A bug in this library: please report it.',
  ERR_INVALID_ARGUMENT: 'An argument or option has the wrong type or value.',
  ERR_KERNEL: 'METAINFO_KERNEL names a kernel that does not exist or that this CPU cannot run.',
  ERR_LIMIT:
    'The input exceeds one of the `limits`, which the caller can raise: a `LimitError`, with `limit`, `most` and `offset`.',
  ERR_LINK: 'A symbolic link, although `symlinks` is `error`.',
  ERR_LINK_LOOP: 'A symbolic link leads back to itself or to a folder that contains it.',
  ERR_LINK_OUTSIDE: 'A symbolic link leads out of the path root.',
  ERR_MAKER: "libtorrent failed to make the torrent; the message is libtorrent's own.",
  ERR_MAKER_UNAVAILABLE: 'The optional libtorrent addon is not built, or cannot be loaded.',
  ERR_NAME: 'A torrent cannot store this file name or torrent name.',
  ERR_NATIVE_UNAVAILABLE:
    'The native addon was requested but does not load. As the code of a warning: the library falls back to node:crypto.',
  ERR_NOT_A_FILE: 'The path is a FIFO, socket or device, or a folder where a file is expected.',
  ERR_NOT_FOUND: 'The path does not exist.',
  ERR_NO_DATA: 'All files are empty.',
  ERR_NO_DESCRIPTORS:
    'Too many files are open: run fewer jobs or threads at once, or raise the limit of the system (`ulimit -n`).',
  ERR_NO_FILES: 'The folder is empty, or every file in it is excluded.',
  ERR_NO_MEMORY: 'The system has no memory or no thread left: lower `memoryLimit` or `threads`.',
  ERR_NO_SPACE: 'The disk is full, or a quota is used up.',
  ERR_OUTPUT_EXISTS: 'The output file exists already.',
  ERR_OUTPUT_IS_INPUT: 'The output file is one of the files to be hashed and would overwrite it.',
  ERR_OUT_OF_RANGE: 'An index is beyond the last piece or file.',
  ERR_PART:
    'A part of a plan is damaged, belongs to another part or plan, or contradicts its plan: a `PartError`, with `indexes`.',
  ERR_PART_MISSING: 'Parts of a plan have not been hashed yet: a `PartError`, with `indexes`.',
  ERR_PATH_OUTSIDE: 'A path is not below the path root, or not in the folder that `beneath` names.',
  ERR_PIECE_LENGTH:
    'The piece length is above 2 GiB, below 16 KiB for v2 and hybrid, or not a power of two; or it contradicts `maxPieceLength`, `targetPieces` or `maxTorrentSize`.',
  ERR_PLAN: 'A plan for parts is malformed, has another format, or was changed after it was made.',
  ERR_QUEUE: 'A job of a queue failed with an error that has no code of this library, or the queue cannot be reached.',
  ERR_READ: 'The system or the browser failed to read.',
  ERR_SIZE_UNKNOWN: 'The size of a source must be known beforehand: give it a `size`.',
  ERR_SOURCE: 'A source failed (its error is the `cause`), gave something other than bytes, or had already been read.',
  ERR_SOURCE_SIZE: 'A source is longer or shorter than its `size`.',
  ERR_SOURCE_TRUNCATED:
    'The content of a stream is incomplete: it ended with `truncated` set, as an upload through busboy does at its size limit.',
  ERR_TOO_LARGE: 'The content exceeds 2^53 bytes, or its hashes do not fit into memory.',
  ERR_UNPROVEN:
    'A file that was found is not proven in a piece that it shares with others, so it is neither linked nor renamed: copy it.',
  ERR_UNREADABLE: 'There is no permission to read.',
  ERR_VALIDATION: 'A torrent, draft, edit or magnet link breaks validation rules: a `ValidationError`, with `issues`.',
  ERR_WRITE: 'The system failed to write, or there is no permission to write.',
} as const;
/**
 * A code of {@link ERROR_CODES}.
 *
 * @useDeclaredType
 */
export type MetainfoErrorCode = keyof typeof ERROR_CODES;

/** The code of each rule of a torrent, and the document that has the rule; null for a rule of this library. */
export const ISSUE_SPECS = {
  alias: null,
  date_range: null,
  deep_path: null,
  disallowed_fields: 'BEP 52',
  duplicate_path: null,
  duplicate_tracker: null,
  empty_torrent: null,
  expected_n_pieces: 'BEP 3',
  future_date: null,
  hash_length: null,
  infodict: null,
  layers_key: 'BEP 52',
  left_out: null,
  length_xor_files: 'BEP 3',
  lost: null,
  link_target: 'BEP 47',
  long_name: null,
  long_path: null,
  meta_version: 'BEP 52',
  client_name: null,
  magnet: 'BEP 9',
  magnet_escape: 'BEP 9',
  magnet_hash: 'BEP 9',
  magnet_length: 'BEP 9',
  magnet_peer: 'BEP 9',
  magnet_select: 'BEP 53',
  memory_limit: null,
  misplaced: null,
  misspelled: null,
  missing_episodes: null,
  much_padding: null,
  mixed_releases: null,
  name_mismatch: 'BEP 52',
  named_like_pad: null,
  negative: null,
  no_duplicated_params: null,
  node: 'BEP 5',
  not_canonical: 'BEP 3',
  not_in_torrent: null,
  not_utf8: 'BEP 3',
  pad_folder: 'BEP 47',
  pad_path: 'BEP 47',
  pad_names: 'BEP 47',
  pad_in_tree: 'BEP 52',
  old_clients: null,
  padfile_alignment: 'BEP 47',
  path_root: null,
  paths: null,
  short_pieces: null,
  other_name: null,
  pattern_unmatched: null,
  personal_tracker: null,
  piece_layers_if_v2: 'BEP 52',
  piece_length: 'BEP 52',
  pieces_root: 'BEP 52',
  pieces_layers_correct: 'BEP 52',
  private: 'BEP 27',
  private_magnet: 'BEP 9',
  private_with_nodes: 'BEP 27',
  private_without_tracker: 'BEP 27',
  public_tracker: null,
  read_size: null,
  reader_limit: null,
  required: null,
  similar: 'BEP 38',
  similar_names: null,
  single_file_folder: 'BEP 52',
  sources: null,
  symlink: 'BEP 47',
  system_files: null,
  threads: null,
  too_large: null,
  too_many_issues: null,
  torrent_files: null,
  tracker_url: null,
  tracker_rule: null,
  trailing_data: 'BEP 3',
  tree: 'BEP 52',
  type: null,
  unfinished_files: null,
  unicode_form: null,
  unsafe_path: null,
  update_url: 'BEP 39',
  url: null,
  v1_v2_files_match: 'BEP 52',
  webseed_secret: null,
  webseed_url: null,
  windows_name: null,
  web_credentials: 'BEP 19',
  web_validator: 'RFC 9110',
} as const satisfies Record<string, string | null>;

/** The codes apart from their summaries, because a bundle that reads torrents needs no summaries. */
const SUMMARIES: Readonly<Record<keyof typeof ISSUE_SPECS, string>> = {
  alias: 'A field is given twice: under its on-disk key and under its property name.',
  date_range: 'The creation date is beyond the range of a `Date`, or beyond the year 9999: usually milliseconds.',
  deep_path: 'A path of a v1 file list has more than 1,000 components, which no file system stores.',
  disallowed_fields: 'A v1 info dictionary has fields of v2, or a v2 info dictionary has fields of v1.',
  duplicate_path: 'Two files have the same path, or one path names both a file and a folder.',
  duplicate_tracker: 'A tracker is listed twice.',
  empty_torrent: 'All files are empty.',
  expected_n_pieces: 'The number of v1 pieces does not match the total size, including pad files.',
  future_date:
    'The creation date of a torrent, or `since`, is in the future, so it does not tell an update which files changed.',
  hash_length: 'A hash is not 20 bytes (SHA-1) or 32 bytes (SHA-256) long.',
  infodict: 'The info dictionary has neither `pieces` nor `file tree`, so its version is unknown.',
  layers_key: 'A key of `piece layers` is not 32 bytes long.',
  left_out: 'Entries were left out: unreadable ones, links or hidden ones, as the policies of the draft say.',
  length_xor_files: '`length` and `files` are both present, or both missing.',
  lost: 'The decoder that produced the value has lost information: decode the bytes with this library.',
  link_target: 'A stored symbolic link leads to a file or folder that the torrent does not have.',
  long_name: 'A name is longer than the 255 bytes that most file systems store.',
  long_path: 'A path is longer than the 260 characters that Windows programs support by default.',
  meta_version: '`meta version` is missing or not 2.',
  client_name:
    'libtorrent changes a name when it loads the torrent, so it does not find the file: qBittorrent and Deluge use it.',
  magnet: 'The text is not a magnet link, or it is longer than 1 MiB.',
  magnet_escape: 'A parameter of a magnet link is not percent-encoded UTF-8.',
  magnet_hash: 'A magnet link has no infohash, an invalid one, or the infohashes of two torrents.',
  magnet_length: 'The size in a magnet link (`xl`) is not a number of bytes.',
  magnet_peer: 'A peer in a magnet link (`x.pe`) is not HOST:PORT.',
  magnet_select: 'The file indexes in a magnet link (`so`) are invalid.',
  memory_limit: 'The memory limit of a hasher is too small for one read.',
  misplaced:
    'A field of `info` stands beside it, where it has no effect in a torrent, or a field of a draft stands in `info`.',
  misspelled: 'An unknown key is one letter off a known one.',
  missing_episodes:
    'The episodes of a season have a gap: a number between two others is missing, or episode 1 before 2.',
  much_padding: 'More than a fifth of a hybrid is padding.',
  mixed_releases: 'The episodes of a season differ in resolution, source or release group.',
  name_mismatch: 'The name of the only file of a hybrid differs between v1 and v2.',
  named_like_pad: 'A file is named like a pad file of BitComet: libtorrent treats it as padding.',
  negative: 'A size is negative.',
  no_duplicated_params: 'A draft has both a shorthand and the field that the shorthand sets.',
  node: 'A DHT node is not a host with a port from 1 to 65,535.',
  not_canonical: 'The bencode of a v1 torrent is not canonical: unsorted or duplicate keys, or leading zeros.',
  not_in_torrent: 'An edit removes a tracker, webseed or key that the torrent does not have.',
  not_utf8: 'A text is not UTF-8.',
  pad_folder: 'Content lies in the folder of pad files: another client may have left pad files there.',
  pad_path: 'A pad file is not named `.pad/<length>`, or `.pad/<length>.<number>`.',
  pad_names: 'Several pad files share a path, which some clients refuse: `padNames` avoids it.',
  pad_in_tree: 'A v2 file tree contains a pad file.',
  old_clients: 'Some clients that are still in use cannot read a torrent of this version.',
  padfile_alignment: 'A file does not start at a piece boundary, or there are pad files where none are allowed.',
  path_root: 'The path root is empty, not a path, or given as `undefined`.',
  paths: 'The list of paths is empty. For a hasher also: a path is absolute, unsafe or given twice.',
  short_pieces: 'The pieces of a v1 torrent are shorter than a block (16 KiB).',
  other_name: 'A single file has another name than its torrent.',
  pattern_unmatched: 'A pattern of `--exclude` or `--include` matches no file.',
  personal_tracker:
    'A torrent that is not private has a tracker URL with a personal key, which everybody who gets it can use.',
  piece_layers_if_v2: 'A v2 or hybrid torrent has no `piece layers`.',
  piece_length: 'The piece length is below 16 KiB for v2 and hybrid, or not a power of two.',
  pieces_root: 'A file with content has no pieces root, or only zeros as its root; or an empty file has a pieces root.',
  pieces_layers_correct:
    'A piece layer is missing, unneeded, of the wrong length, or does not hash to its pieces root.',
  private: '`private` is neither 0 nor 1: clients disagree about the meaning of other values.',
  private_magnet:
    'The magnet link of a private torrent: it may have a passkey, and clients ask the DHT before they know that the torrent is private.',
  private_with_nodes: 'A private torrent has DHT nodes, which clients do not use for it.',
  private_without_tracker: 'A private torrent has no tracker, so clients find no peers.',
  public_tracker:
    'A private torrent has a tracker URL without a personal key, beside one with such a key or of a scheme that private sites hardly use (UDP, WebSocket).',
  read_size: 'The read size of a hasher is below 1 byte (v1), or not a power of two of at least 16 KiB (v2, hybrid).',
  reader_limit: 'The torrent to be created exceeds a default limit of metainfo, libtorrent or qBittorrent.',
  required: 'A required key is missing.',
  similar: 'An entry of `similar` is not an infohash of 20 or 32 bytes, as bytes or in hexadecimal.',
  similar_names:
    'Two names in a folder differ only in letter case or Unicode normalization: some systems store only one.',
  single_file_folder: 'A v2 torrent is a folder with a single file: libtorrent omits the folder.',
  sources: 'A source has no path in the torrent, an invalid size, or data of a type that cannot be read.',
  symlink: 'A symbolic link has no target, or has content of its own.',
  system_files:
    'Files that operating or NAS systems create: `.DS_Store` is left out, others such as `@eaDir` are in the torrent.',
  threads: 'The number of threads of a hasher is not from 1 to 1,024.',
  too_large: 'An integer or a sum of sizes exceeds 2^53 or, in the compat profile, a bound of libtorrent.',
  too_many_issues: 'There are more issues than are listed.',
  torrent_files:
    'A file is named like a torrent, which may have the passkey of a tracker: at the top of the content, it is left out unless it is named or included.',
  tracker_url: 'A tracker cannot work: no or an unknown scheme, no host or port, or several URLs in one.',
  tracker_rule: 'A torrent breaks a rule that the configuration file of the command has for the host of a tracker.',
  trailing_data: 'There are bytes after the end of the torrent.',
  tree: 'The v2 file tree is malformed: a file with other entries beside it, an empty folder or an empty name.',
  type: 'A value has the wrong type.',
  unfinished_files: 'A file is named like an unfinished download, such as `film.mkv.part`.',
  unicode_form: 'A name is decomposed (Unicode NFD), as macOS writes it: other systems have another name.',
  unsafe_path: 'A name could lead out of the download folder.',
  update_url: 'An update URL cannot work: no or an unknown scheme, or no host.',
  url: 'A tracker, webseed or feed is not a URL.',
  v1_v2_files_match: 'The v1 and v2 parts of a hybrid differ in files, sizes, order or offsets.',
  webseed_secret: 'A torrent that is not private has a webseed with a password, signature or token in its URL.',
  webseed_url:
    'A webseed or HTTP seed cannot work: no or an unknown scheme, no host, several URLs in one, given twice, or not all files there.',
  windows_name: 'Windows cannot store a name: a device name, or a forbidden character or ending.',
  web_credentials:
    'The URL of a web object has credentials: its webseed lacks a password, and a URL with a signature or token is no webseed.',
  web_validator: 'A web server sends no strong `ETag` for a file, so a replaced file may go unnoticed.',
};

/** The description of an issue code. */
export interface IssueCodeInfo {
  /** One sentence that says what is wrong. */
  summary: string;
  /** The document that has the rule, such as `BEP 52`. */
  spec?: string;
}

/**
 * A code of {@link ISSUE_CODES}.
 *
 * @useDeclaredType
 */
export type IssueCode = keyof typeof ISSUE_SPECS;

/**
 * The codes of {@link Issue}: each names the rule that is broken. Codes are stable.
 *
 * @example
 * ```ts
 * import { ISSUE_CODES } from 'metainfo';
 *
 * console.log(ISSUE_CODES.length_xor_files.spec); // BEP 3
 * ```
 */
export const ISSUE_CODES = Object.fromEntries(
  Object.entries(ISSUE_SPECS).map(([code, spec]) => [
    code,
    { summary: SUMMARIES[code as IssueCode], ...(spec && { spec }) },
  ]),
) as Readonly<Record<IssueCode, IssueCodeInfo>>;

/**
 * `metainfo/browser`: create, read, verify and edit torrents in a page, without a server.
 *
 * @module API of metainfo/browser
 */
export { BENCODE_CODES, type BencodeCode, BencodeError } from '../bencode/bencode-error.ts';
export { type Decoded, type DecodeOptions, decode, type Span } from '../bencode/decode.ts';
export { encode } from '../bencode/encode.ts';
export { DEFAULT_LIMITS, LimitError, type LimitName, type Limits } from '../bencode/limits.ts';
export { type BencodeMap, type BencodeValue, type Encodable, RawBencode } from '../bencode/value.ts';
export { TorrentCreate } from '../create/draft.ts';
export type { TorrentCreateInput } from '../create/draft-input.ts';
export type { Finding, FindingCode } from '../create/findings/findings.ts';
export type { PlanReport } from '../create/findings/plan-report.ts';
export type { GenerateOptions } from '../create/options.ts';
export type { TextReplacement, TorrentChanges } from '../edit/changes.ts';
export { type Difference, differences } from '../edit/differences.ts';
export { type EditOptions, edit } from '../edit/edit.ts';
export { AbortError } from '../errors/cancel.ts';
export { ISSUE_SPECS, type IssueCode, type MetainfoErrorCode } from '../errors/codes.ts';
export { type Issue, MetainfoError, ValidationError } from '../errors/errors.ts';
export { MerkleTree, MerkleTreeShape } from '../hashers/merkle-tree.ts';
export type { Progress } from '../jobs/watch.ts';
export { choosePieceLength } from '../layout/piece-length.ts';
export { formatMagnet, type Magnet, type ParseMagnetOptions, type PeerAddress, parseMagnet } from '../magnet/magnet.ts';
export { TorrentVersion } from '../model/discriminator.ts';
export { HashList, type HashSize } from '../model/hash-list.ts';
export { PieceLayers } from '../model/piece-layers.ts';
export type { Profile, ValidationContext } from '../model/profile.ts';
export {
  type Inspection,
  type ReadOptions,
  Torrent,
  type TorrentFile,
  type TorrentJson,
  type TorrentOf,
} from '../model/torrent/torrent.ts';
export type { Source } from '../sources/sources.ts';
export type { CheckOptions } from '../verify/check-pieces.ts';
export type { FileStatus, VerifiedFile, VerifyReport } from '../verify/report.ts';
export { type FoundFolder, filesFrom, type GivenFile, type GivenFiles, type NamedBlob } from './folders.ts';
export { verify } from './verify.ts';
export { webEngine } from './web-engine.ts';

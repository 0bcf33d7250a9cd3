/**
 * Create, read, verify and edit BitTorrent metainfo files of all versions: v1 (BEP 3), v2 and hybrid (BEP 52).
 *
 * @module API
 * @group Reference
 */
export { BENCODE_CODES, type BencodeCode, BencodeError } from './bencode/bencode-error.ts';
export { type Decoded, type DecodeOptions, decode, type Span } from './bencode/decode.ts';
export { encode } from './bencode/encode.ts';
export { DEFAULT_LIMITS, LimitError, type LimitName, type Limits } from './bencode/limits.ts';
export type { OtherFormat } from './bencode/other-format.ts';
export { type BencodeMap, type BencodeValue, type Encodable, RawBencode } from './bencode/value.ts';
export type { PieceLengthLimits } from './create/choose-length.ts';
export { type CreateOptions, create } from './create/create.ts';
export { type GenerateResult, type GetPathsOptions, TorrentCreate } from './create/draft.ts';
export { TorrentCreateFields } from './create/draft-fields.ts';
export type {
  FileItemInput,
  FileTreeInput,
  FileTreeItemInput,
  InfoDictInput,
  TorrentCreateInput,
} from './create/draft-input.ts';
export type { FileTimes } from './create/file-times.ts';
export type { Finding, FindingCode } from './create/findings/findings.ts';
export type { PlanReport } from './create/findings/plan-report.ts';
export type { WarningOptions } from './create/findings/warnings.ts';
export { type CacheStats, cacheStats, clearCache } from './create/known/cache.ts';
export type { ReuseOptions, ReusePlan, ReuseReport } from './create/known/known.ts';
export type { GenerateExtOptions } from './create/libtorrent.ts';
export type { CacheChoice, GenerateOptions } from './create/options.ts';
export type { TrackerFields } from './create/other-fields.ts';
export type { BeneathOptions } from './disk/held-folder.ts';
export type { OpenFile } from './disk/open-file.ts';
export type { ScanFilter, ScannedFile, ScanPolicies, SymlinkPolicy } from './disk/scan.ts';
export type { WriteOptions } from './disk/write-file.ts';
export type { TextReplacement, TorrentChanges } from './edit/changes.ts';
export { type Difference, differences } from './edit/differences.ts';
export { type EditOptions, edit } from './edit/edit.ts';
export { type RenamedFile, type UpdateOptions, type UpdateResult, update } from './edit/update.ts';
export { type UpgradeOptions, type UpgradeResult, upgrade } from './edit/upgrade.ts';
export { AbortError } from './errors/cancel.ts';
export { type ErrorCategory, errorCategory, isPermanent } from './errors/category.ts';
export {
  ERROR_CODES,
  ISSUE_CODES,
  type IssueCode,
  type IssueCodeInfo,
  type MetainfoErrorCode,
} from './errors/codes.ts';
export { type Issue, MetainfoError, type MetainfoErrorOptions, ValidationError } from './errors/errors.ts';
export type { Engine, Retrying } from './hash/engine.ts';
export {
  type ProcessLimits,
  processLimits,
  type ResourceOptions,
} from './hash/hash-request.ts';
export { nativeEngine } from './hash/native.ts';
export { nodeEngine } from './hash/node.ts';
export { HasherConfig, V2HasherConfig } from './hashers/config.ts';
export { HasherBase, type ProcessOptions } from './hashers/hasher-base.ts';
export { HybridHasher } from './hashers/hybrid-hasher.ts';
export { MerkleTree, MerkleTreeShape } from './hashers/merkle-tree.ts';
export { HashPool, type HashPoolOptions } from './hashers/pool.ts';
export { Chunk, HASH_SIZES, Hash, type IterBlocksOptions, iterBlocks } from './hashers/records.ts';
export { V1Hasher } from './hashers/v1-hasher.ts';
export { V2Hasher } from './hashers/v2-hasher.ts';
export { type ProcessStats, processStats } from './jobs/process-stats.ts';
export type { JobEvent, JobFacts, JobOperation } from './jobs/track.ts';
export type { Progress, WatchOptions } from './jobs/watch.ts';
export { type Pathed, type PathParts, sortV1, sortV2 } from './layout/order.ts';
export { addPadfiles, isPadFile, type PaddedFile, type PaddingOptions, type PadNames } from './layout/padding.ts';
export {
  BLOCK_SIZE,
  choosePieceLength,
  MAX_AUTO_PIECE_LENGTH,
  MAX_PIECE_LENGTH,
  MIN_AUTO_PIECE_LENGTH,
} from './layout/piece-length.ts';
export { formatMagnet, type Magnet, type ParseMagnetOptions, type PeerAddress, parseMagnet } from './magnet/magnet.ts';
export { infodictDiscriminator, TorrentVersion } from './model/discriminator.ts';
export type { DumpedDictionary, DumpedMap, DumpedValue } from './model/dump.ts';
export { FileItem, FileList } from './model/file-item.ts';
export { FileTree, type FileTreeItem, type FlatFile } from './model/file-tree.ts';
export { HashList, type HashSize } from './model/hash-list.ts';
export {
  InfoDict,
  InfoDictHybrid,
  InfoDictHybridCreate,
  InfoDictV1,
  InfoDictV1Base,
  InfoDictV1Create,
  InfoDictV2,
  InfoDictV2Base,
  InfoDictV2Create,
  withRules,
} from './model/info-dict.ts';
export { PieceLayers } from './model/piece-layers.ts';
export { DhtNode } from './model/primitives.ts';
export type { Profile, ValidationContext } from './model/profile.ts';
export type { FileRange, V1PieceRange, V2PieceRange } from './model/ranges.ts';
export {
  type FromDecodedOptions,
  type InfoDictOf,
  type Inspection,
  type ReadOptions,
  summarizeInfo,
  Torrent,
  TorrentBase,
  type TorrentFile,
  type TorrentJson,
  type TorrentOf,
} from './model/torrent/torrent.ts';
export { TorrentFields } from './model/torrent/torrent-fields.ts';
export { type HashPartOptions, hashPart, type StoredPart, storePart } from './parts/hash-part.ts';
export { type GetPart, type JoinPartsOptions, joinParts } from './parts/join-parts.ts';
export { s3Store, type WebStoreOptions, webStore } from './parts/object-stores.ts';
export { type PartsEngineOptions, partsEngine, type RunPartContext } from './parts/parts-engine.ts';
export type { PartsPlan, TorrentPlan } from './parts/plan.ts';
export type { ObjectFile, OpenObject } from './parts/planned-files.ts';
export { parsePlan } from './parts/read-plan.ts';
export { PartError } from './parts/sealed-part.ts';
export { folderStore, type PartStore, partKey, type StoredName, type StoredObject } from './parts/store.ts';
export { type PlanPartsOptions, planParts } from './parts/torrent-plan.ts';
export { type PprintOptions, pprint, type Verbosity } from './print/print-torrent.ts';
export { type S3Credentials, type S3FileOptions, type S3Options, s3File } from './sources/s3-file.ts';
export type { RangeReader, SourceData } from './sources/source-data.ts';
export type { NamedData, Source, SourceInput } from './sources/sources.ts';
export { type WebFile, type WebFileOptions, webFile } from './sources/web-source.ts';
export {
  type FindMovedOptions,
  type FoundContent,
  findMoved,
  type MovedFile,
  type UnprovenFile,
} from './verify/moved/find-moved.ts';
export {
  type FailedPlacing,
  type PlacedContent,
  type PlaceMovedOptions,
  placeMoved,
} from './verify/moved/place-moved.ts';
export type { FileStatus, VerifiedFile, VerifyReport } from './verify/report.ts';
export type { ResumeClient } from './verify/resume/place.ts';
export { type ResumeFile, type ResumeOptions, resumeData } from './verify/resume/resume-data.ts';
export { type VerifyOptions, verify } from './verify/verify.ts';
export type { VerifySources } from './verify/verify-sources.ts';

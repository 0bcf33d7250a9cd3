// The exports of metainfo by task: the order of the API reference. The build fails for an export without a task.
const names = (text) => text.trim().split(/\s+/);

export const TASKS = {
  Create: names(`
    create CreateOptions TorrentCreate TorrentCreateFields TorrentCreateInput GenerateOptions GenerateResult GenerateExtOptions GetPathsOptions InfoDictInput
    FileItemInput FileTreeInput FileTreeItemInput ScanPolicies ScanFilter ScannedFile SymlinkPolicy PieceLengthLimits choosePieceLength BLOCK_SIZE
    MIN_AUTO_PIECE_LENGTH MAX_AUTO_PIECE_LENGTH MAX_PIECE_LENGTH
    TrackerFields DhtNode PlanReport Finding FindingCode WarningOptions WriteOptions CacheChoice cacheStats CacheStats clearCache
    ReuseOptions ReusePlan ReuseReport
    FileTimes Source SourceInput SourceData RangeReader OpenFile webFile WebFile WebFileOptions s3File S3FileOptions S3Options S3Credentials
  `),
  Read: names(`
    Torrent TorrentBase TorrentOf TorrentVersion TorrentFile ReadOptions Inspection TorrentJson FromDecodedOptions TorrentFields
    InfoDict InfoDictOf InfoDictHybrid InfoDictHybridCreate InfoDictV1 InfoDictV1Base InfoDictV1Create InfoDictV2 InfoDictV2Base
    InfoDictV2Create infodictDiscriminator summarizeInfo FileItem FileList FileTree FileTreeItem FlatFile HashList HashSize PieceLayers FileRange
    V1PieceRange V2PieceRange DumpedDictionary DumpedMap DumpedValue pprint PprintOptions Verbosity Profile ValidationContext withRules
    decode Decoded DecodeOptions Span encode Encodable BencodeMap BencodeValue RawBencode DEFAULT_LIMITS Limits LimitName
  `),
  Verify: names(`
    verify VerifyOptions VerifySources NamedData VerifyReport VerifiedFile FileStatus findMoved FindMovedOptions FoundContent MovedFile UnprovenFile placeMoved
    PlaceMovedOptions PlacedContent FailedPlacing resumeData ResumeClient ResumeFile ResumeOptions
  `),
  Edit: names(`
    edit EditOptions TorrentChanges TextReplacement update UpdateOptions UpdateResult RenamedFile upgrade UpgradeResult UpgradeOptions differences Difference
  `),
  Magnet: names(`
    parseMagnet ParseMagnetOptions formatMagnet Magnet PeerAddress
  `),
  Hash: names(`
    V1Hasher V2Hasher HybridHasher HasherBase HasherConfig V2HasherConfig ProcessOptions MerkleTree MerkleTreeShape HashPool HashPoolOptions Chunk Hash HASH_SIZES iterBlocks IterBlocksOptions addPadfiles
    isPadFile PaddedFile PaddingOptions PadNames sortV1 sortV2 Pathed PathParts nativeEngine nodeEngine Engine
  `),
  Scale: names(`
    planParts PlanPartsOptions hashPart HashPartOptions joinParts JoinPartsOptions GetPart parsePlan PartsPlan TorrentPlan
    storePart StoredPart folderStore s3Store webStore WebStoreOptions PartStore StoredObject partsEngine PartsEngineOptions RunPartContext
    partKey StoredName ObjectFile OpenObject processLimits ProcessLimits ResourceOptions WatchOptions BeneathOptions
    processStats ProcessStats JobEvent JobFacts JobOperation
    Progress Retrying
  `),
  Errors: names(`
    MetainfoError MetainfoErrorOptions MetainfoErrorCode ERROR_CODES ValidationError Issue IssueCode IssueCodeInfo ISSUE_CODES
    BencodeError BencodeCode OtherFormat BENCODE_CODES LimitError PartError AbortError isPermanent errorCategory ErrorCategory
  `),
};

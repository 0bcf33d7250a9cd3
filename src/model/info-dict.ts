import { array, assign, type Infer, nullable, optional, type Struct, type } from 'superstruct';
import { FileList } from './file-item.ts';
import { FileTree } from './file-tree.ts';
import {
  ByteLength,
  Extra,
  Flag,
  hashList,
  Infohash,
  maybe,
  Text,
  TextList,
  V1PieceLength,
  V2PieceLength,
  Whole,
} from './primitives.ts';

// The structs that others extend; what is exported has their types under names, which read better than what is inferred.

/** What all infodicts share. */
const root = type({
  /** Of the file or folder. */
  name: maybe(Text),
  /** The name that wins for display (`name.utf-8`), where an old creator wrote `name` in another encoding. */
  nameUtf8: maybe(Text),
  /** Where it is shared: another one gives another infohash of the same files. */
  source: maybe(Text),
  /** Whether only its trackers may tell of peers (BEP 27). */
  private: maybe(Flag),
  /** Infohashes of torrents that may hold the same files (BEP 38): 20 bytes, or 32. */
  similar: maybe(array(Infohash)),
  /** Collections that it belongs to, whose torrents may hold the same files (BEP 38). */
  collections: maybe(TextList),
  /** Where a newer torrent can be asked for (BEP 39). */
  updateUrl: maybe(Text),
  /** Unknown keys, as they were read. */
  extra: optional(Extra),
});

const v1Base = assign(
  root,
  type({
    /** Bytes. */
    pieceLength: nullable(V1PieceLength),
    /** SHA-1 of each piece, 20 bytes each. */
    pieces: maybe(hashList(20)),
    /** Bytes of a single file. */
    length: maybe(ByteLength),
    /** The files of a folder, pads among them. */
    files: maybe(FileList),
  }),
);

const v1 = assign(
  v1Base,
  type({
    /** Of the file or folder. */
    name: Text,
    /** Bytes: a power of two. */
    pieceLength: V1PieceLength,
    /** SHA-1 of each piece, 20 bytes each. */
    pieces: hashList(20),
  }),
);

const v2Base = assign(
  root,
  type({
    /** Bytes. */
    pieceLength: nullable(V2PieceLength),
    /** 2; where it is absent, 2 is meant. */
    metaVersion: maybe(Whole),
    /** The files, with the roots of their Merkle trees. */
    fileTree: maybe(FileTree),
  }),
);

const v2 = assign(
  v2Base,
  type({
    /** Of the file or folder. */
    name: Text,
    /** Bytes: a power of two, from 16 KiB. */
    pieceLength: V2PieceLength,
    /** The files, with the roots of their Merkle trees. */
    fileTree: FileTree,
  }),
);

const hybridCreate = assign(
  root,
  type({
    /** Bytes. */
    pieceLength: maybe(V1PieceLength),
    /** SHA-1 of each piece, 20 bytes each. */
    pieces: maybe(hashList(20)),
    /** Bytes of a single file. */
    length: maybe(ByteLength),
    /** The files of a folder, pads among them. */
    files: maybe(FileList),
    /** 2; where it is absent, 2 is meant. */
    metaVersion: maybe(Whole),
    /** The files once more, with the roots of their Merkle trees. */
    fileTree: maybe(FileTree),
  }),
);

const hybrid = assign(
  hybridCreate,
  type({
    /** Of the file or folder. */
    name: Text,
    /** Bytes: a power of two, from 16 KiB. */
    pieceLength: V2PieceLength,
    /** SHA-1 of each piece, 20 bytes each. */
    pieces: hashList(20),
    /** The files once more, with the roots of their Merkle trees. */
    fileTree: FileTree,
  }),
);

/** A v1 infodict that may lack its name, files and hashes (BEP 3). */
export interface InfoDictV1Base extends Infer<typeof v1Base> {}
/** The struct that checks one. */
export const InfoDictV1Base: Struct<InfoDictV1Base, typeof v1Base.schema> = v1Base;

/** A v1 infodict under construction: its pieces may not be hashed yet. */
export type InfoDictV1Create = InfoDictV1Base;
/** The struct that checks one. */
export const InfoDictV1Create = InfoDictV1Base;

/** A whole v1 infodict (BEP 3): `length` for a single file, else `files`. */
export interface InfoDictV1 extends Infer<typeof v1> {}
/** The struct that checks one. */
export const InfoDictV1: Struct<InfoDictV1, typeof v1.schema> = v1;

/** A v2 infodict that may lack its name and tree (BEP 52). */
export interface InfoDictV2Base extends Infer<typeof v2Base> {}
/** The struct that checks one. */
export const InfoDictV2Base: Struct<InfoDictV2Base, typeof v2Base.schema> = v2Base;

/** A v2 infodict under construction. */
export type InfoDictV2Create = InfoDictV2Base;
/** The struct that checks one. */
export const InfoDictV2Create = InfoDictV2Base;

/** A whole v2 infodict (BEP 52). */
export interface InfoDictV2 extends Infer<typeof v2> {}
/** The struct that checks one. */
export const InfoDictV2: Struct<InfoDictV2, typeof v2.schema> = v2;

/** A hybrid infodict under construction: every field is optional. */
export interface InfoDictHybridCreate extends Infer<typeof hybridCreate> {}
/** The struct that checks one. */
export const InfoDictHybridCreate: Struct<InfoDictHybridCreate, typeof hybridCreate.schema> = hybridCreate;

/** A whole hybrid infodict (BEP 52): the v1 and the v2 description of the same files. */
export interface InfoDictHybrid extends Infer<typeof hybrid> {}
/** The struct that checks one. */
export const InfoDictHybrid: Struct<InfoDictHybrid, typeof hybrid.schema> = hybrid;

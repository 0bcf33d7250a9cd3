// The fields of the infodicts, without their rules: structs that the models refine, and that the rules look at.
import { array, assign, is, nullable, optional, type Struct, type } from 'superstruct';
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

export const V1_BASE_FIELDS = assign(
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

export const V1_FIELDS = assign(
  V1_BASE_FIELDS,
  type({
    /** Of the file or folder. */
    name: Text,
    /** Bytes: a power of two. */
    pieceLength: V1PieceLength,
    /** SHA-1 of each piece, 20 bytes each. */
    pieces: hashList(20),
  }),
);

export const V2_BASE_FIELDS = assign(
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

export const V2_FIELDS = assign(
  V2_BASE_FIELDS,
  type({
    /** Of the file or folder. */
    name: Text,
    /** Bytes: a power of two, from 16 KiB. */
    pieceLength: V2PieceLength,
    /** The files, with the roots of their Merkle trees. */
    fileTree: FileTree,
  }),
);

export const HYBRID_CREATE_FIELDS = assign(
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

export const HYBRID_FIELDS = assign(
  HYBRID_CREATE_FIELDS,
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

/** Null for each field of a struct that accepts null: the value of a field that is absent. */
export function nullsOf(struct: { schema: unknown }): Record<string, null> {
  const fields = Object.entries((struct.schema ?? {}) as Record<string, Struct>);
  return Object.fromEntries(fields.filter(([, field]) => is(null, field)).map(([name]) => [name, null]));
}

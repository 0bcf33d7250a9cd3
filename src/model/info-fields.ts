/** The fields of the info dictionaries as structs, without the rules that the models add. */
import { assign, is, nullable, optional, type Struct, type } from 'superstruct';
import { Size } from '../errors/guard.ts';
import { FileList } from './file-item.ts';
import { IN_INFO, READ, structsOf } from './keys.ts';
import { Extra, hashList, maybe, sparse, Text, V1PieceLength, V2PieceLength, Whole } from './primitives.ts';
import { TreeStruct } from './tree-struct.ts';

const { name: _, ...otherKeys } = structsOf(IN_INFO, READ);

/** Fields of every info dictionary. */
const common = type({
  /** The name of the file or folder. */
  name: maybe(Text),
  /** The name to show (`name.utf-8`), where an old creator wrote `name` in another encoding. */
  nameUtf8: maybe(Text),
  ...otherKeys,
  /** Unknown keys: keys with one character per byte, values as the decoder gives them. */
  extra: optional(Extra),
});

/** A v1 info dictionary under construction. */
export const V1_BASE_FIELDS = assign(
  common,
  type({
    /** Bytes. */
    pieceLength: nullable(V1PieceLength),
    /** SHA-1 of each piece, 20 bytes each. */
    pieces: maybe(hashList(20)),
    /** The length of a single file in bytes. */
    length: maybe(Size),
    /** The files of a folder, pad files included. */
    files: maybe(FileList),
  }),
);

/** A complete v1 info dictionary. */
export const V1_FIELDS = assign(
  V1_BASE_FIELDS,
  type({
    /** The name of the file or folder. */
    name: Text,
    /** Bytes, a power of two. */
    pieceLength: V1PieceLength,
    /** SHA-1 of each piece, 20 bytes each. */
    pieces: hashList(20),
  }),
);

/** A v2 info dictionary under construction. */
export const V2_BASE_FIELDS = assign(
  common,
  type({
    /** Bytes. */
    pieceLength: nullable(V2PieceLength),
    /** 2 (BEP 52). An absent meta version reads as 2. */
    metaVersion: maybe(Whole),
    /** The files with their pieces roots. */
    fileTree: maybe(TreeStruct),
  }),
);

/** A complete v2 info dictionary. */
export const V2_FIELDS = assign(
  V2_BASE_FIELDS,
  type({
    /** The name of the file or folder. */
    name: Text,
    /** Bytes, a power of two of at least 16 KiB. */
    pieceLength: V2PieceLength,
    /** The files with their pieces roots. */
    fileTree: TreeStruct,
  }),
);

/** A hybrid info dictionary under construction. */
export const HYBRID_CREATE_FIELDS = sparse(
  assign(
    V1_BASE_FIELDS,
    V2_BASE_FIELDS,
    type({
      /** Bytes. */
      pieceLength: maybe(V1PieceLength),
    }),
  ),
);

/** A complete hybrid info dictionary: the v1 and the v2 fields of the same files. */
export const HYBRID_FIELDS = assign(V1_FIELDS, V2_FIELDS);

/** Null for each field of a struct that may be absent and accepts null: the value of a field that is absent. */
export function nullsOf(struct: { schema: unknown }): Record<string, null> {
  const fields = Object.entries((struct.schema ?? {}) as Record<string, Struct>);
  return Object.fromEntries(
    fields.filter(([, field]) => is(null, field) && is(undefined, field)).map(([name]) => [name, null]),
  );
}

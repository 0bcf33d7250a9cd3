import { array, assign, type Infer, nullable, optional, type } from 'superstruct';
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

/**
 * What all infodicts share: `private` (BEP 27), `similar` torrents and `collections` (BEP 38), the `updateUrl` of a feed
 * (BEP 39). Unknown keys stand in `extra`.
 */
const InfoDictRoot = type({
  name: maybe(Text),
  nameUtf8: maybe(Text),
  source: maybe(Text),
  private: maybe(Flag),
  similar: maybe(array(Infohash)),
  collections: maybe(TextList),
  updateUrl: maybe(Text),
  extra: optional(Extra),
});

/** A v1 infodict that may lack its name, files and hashes (BEP 3). */
export const InfoDictV1Base = assign(
  InfoDictRoot,
  type({
    pieceLength: nullable(V1PieceLength),
    pieces: maybe(hashList(20)),
    length: maybe(ByteLength),
    files: maybe(FileList),
  }),
);
export type InfoDictV1Base = Infer<typeof InfoDictV1Base>;

/** A v1 infodict under construction: its pieces may not be hashed yet. */
export const InfoDictV1Create = InfoDictV1Base;
export type InfoDictV1Create = InfoDictV1Base;

/** A whole v1 infodict (BEP 3): `length` for a single file, else `files`. */
export const InfoDictV1 = assign(
  InfoDictV1Base,
  type({ name: Text, pieceLength: V1PieceLength, pieces: hashList(20) }),
);
export type InfoDictV1 = Infer<typeof InfoDictV1>;

/** A v2 infodict that may lack its name and tree (BEP 52). */
export const InfoDictV2Base = assign(
  InfoDictRoot,
  type({ pieceLength: nullable(V2PieceLength), metaVersion: maybe(Whole), fileTree: maybe(FileTree) }),
);
export type InfoDictV2Base = Infer<typeof InfoDictV2Base>;

/** A v2 infodict under construction. */
export const InfoDictV2Create = InfoDictV2Base;
export type InfoDictV2Create = InfoDictV2Base;

/** A whole v2 infodict (BEP 52). */
export const InfoDictV2 = assign(InfoDictV2Base, type({ name: Text, pieceLength: V2PieceLength, fileTree: FileTree }));
export type InfoDictV2 = Infer<typeof InfoDictV2>;

/** A hybrid infodict under construction: every field is optional. */
export const InfoDictHybridCreate = assign(
  InfoDictRoot,
  type({
    pieceLength: maybe(V1PieceLength),
    pieces: maybe(hashList(20)),
    length: maybe(ByteLength),
    files: maybe(FileList),
    metaVersion: maybe(Whole),
    fileTree: maybe(FileTree),
  }),
);
export type InfoDictHybridCreate = Infer<typeof InfoDictHybridCreate>;

/** A whole hybrid infodict (BEP 52): the v1 and the v2 description of the same files. */
export const InfoDictHybrid = assign(
  InfoDictHybridCreate,
  type({ name: Text, pieceLength: V2PieceLength, pieces: hashList(20), fileTree: FileTree }),
);
export type InfoDictHybrid = Infer<typeof InfoDictHybrid>;

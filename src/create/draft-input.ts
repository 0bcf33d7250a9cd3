/** The types of what a draft accepts: fields under their property names or on-disk keys, in several forms. */
import type { BencodeMap, BencodeValue } from '../bencode/value.ts';
import type { FileItem } from '../model/file-item.ts';
import type { FileTree, FileTreeItem } from '../model/file-tree.ts';
import type { HashList } from '../model/hash-list.ts';
import type { InfoDictHybridCreate } from '../model/info-dict.ts';
import type { SourceInput } from '../sources/sources.ts';
import type { TorrentCreateFields } from './draft-fields.ts';

/** Unknown keys: a Map of on-disk keys (one character per byte), or an object of text keys. */
type ExtraInput = BencodeMap | Readonly<Record<string, BencodeValue>> | null | undefined;

/** Hashes: packed, or a list of single ones. */
type HashesInput = HashList | Uint8Array | readonly Uint8Array[] | null | undefined;

/** Piece layers by pieces root, which is 32 bytes or their hexadecimal text. */
type LayersInput =
  | ReadonlyMap<string | Uint8Array, NonNullable<HashesInput>>
  | Readonly<Record<string, NonNullable<HashesInput>>>
  | null
  | undefined;

/** An entry of a v1 file list, under property names or on-disk keys. */
export interface FileItemInput extends Omit<FileItem, 'extra' | 'path'> {
  /** Components of the path from the torrent's root. */
  path: readonly string[];
  /** The on-disk key of `pathUtf8`. */
  'path.utf-8'?: readonly string[] | null;
  /** The on-disk key of `symlinkPath`. */
  'symlink path'?: readonly string[] | null;
  /** Unknown keys. */
  extra?: ExtraInput;
}

/** A file of a v2 file tree, under property names or on-disk keys. */
export interface FileTreeItemInput extends Omit<FileTreeItem, 'extra'> {
  /** The on-disk key of `piecesRoot`: 32 bytes. */
  'pieces root'?: Uint8Array | null;
  /** The on-disk key of `symlinkPath`. */
  'symlink path'?: readonly string[] | null;
  /** Unknown keys. */
  extra?: ExtraInput;
}

/** A v2 file tree, as nested objects or Maps. */
export type FileTreeInput =
  | FileTree
  | ReadonlyMap<string | Uint8Array, FileTreeInput | FileTreeItemInput>
  | { readonly [name: string]: FileTreeInput | FileTreeItemInput };

/** The info dictionary of a draft, under property names or on-disk keys. */
export interface InfoDictInput
  extends Omit<InfoDictHybridCreate, 'extra' | 'files' | 'fileTree' | 'pieces' | 'similar'> {
  /** The on-disk key of `nameUtf8`. */
  'name.utf-8'?: string | null | undefined;
  /** The on-disk key of `updateUrl`. */
  'update-url'?: string | null | undefined;
  /** The on-disk key of `pieceLength`, in bytes. */
  'piece length'?: number | null | undefined;
  /** The SHA-1 of each piece: packed, or a list of 20 bytes each. */
  pieces?: HashesInput;
  /** The v1 file list. */
  files?: readonly FileItemInput[] | null | undefined;
  /** The on-disk key of `metaVersion`. */
  'meta version'?: number | null | undefined;
  /** The v2 file tree. */
  fileTree?: FileTreeInput | null | undefined;
  /** The on-disk key of `fileTree`. */
  'file tree'?: FileTreeInput | null | undefined;
  /** Infohashes of torrents that may share files with this one (BEP 38), as bytes or in hexadecimal. */
  similar?: readonly (Uint8Array | string)[] | null | undefined;
  /** Unknown keys. */
  extra?: ExtraInput;
}

/** The fields that {@link TorrentCreate} accepts, under property names or on-disk keys. Unknown keys go into `extra`. */
export interface TorrentCreateInput
  extends Omit<
    TorrentCreateFields,
    'creationDate' | 'extra' | 'info' | 'pathRoot' | 'paths' | 'pieceLayers' | 'sources'
  > {
  /**
   * The folder that holds `paths`, or a single file: a path or a `file:` URL. The current folder must not stand in for a missing
   * variable, so `undefined` and an empty path are errors.
   *
   * @default process.cwd()
   */
  pathRoot?: string | URL;
  /**
   * The files and folders to include, beneath `pathRoot`: absolute, relative to it, or `file:` URLs.
   *
   * @default everything beneath `pathRoot`
   */
  paths?: readonly (string | URL)[] | null | undefined;
  /**
   * Files whose content does not come from a path. With sources, files on disk are included only if `paths` names them, and
   * `include` and `exclude` apply to those. In v1, the sources follow the files on disk in the given order. If all of them are in one
   * folder and the torrent has no `name`, that folder becomes the torrent and gives it its name.
   */
  sources?: readonly SourceInput[] | null | undefined;
  /** The on-disk key of `announceList`. */
  'announce-list'?: string[][] | null | undefined;
  /** The on-disk key of `createdBy`. */
  'created by'?: string | null | undefined;
  /** A date, or seconds since 1970. */
  creationDate?: Date | number | null | undefined;
  /** The on-disk key of `creationDate`. */
  'creation date'?: Date | number | null | undefined;
  /** The known part of the info dictionary. */
  info?: InfoDictInput | ReadonlyMap<string | Uint8Array, unknown> | undefined;
  /** Piece layers by pieces root: 32 bytes, or their hexadecimal text. */
  pieceLayers?: LayersInput;
  /** The on-disk key of `pieceLayers`. */
  'piece layers'?: LayersInput;
  /** The on-disk key of `urlList`. */
  'url-list'?: string | string[] | null | undefined;
  /** Unknown keys beside `info`. */
  extra?: ExtraInput;
}

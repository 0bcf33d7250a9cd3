/** The input of the validation rules, and helpers that they share. */
import { toKey } from '../../bencode/value.ts';
import type { TorrentVersion } from '../discriminator.ts';
import type { FileItem } from '../file-item.ts';
import type { InfoDictHybridCreate } from '../info-dict.ts';
import type { Issues } from '../issues.ts';
import type { FlatFile } from '../lazy/flat-tree.ts';
import type { PieceLayers } from '../piece-layers.ts';
import type { ValidationContext } from '../profile.ts';

/** The input of a rule. A field that did not decode is absent, and each rule checks what is left. */
export interface Subject {
  version: TorrentVersion;
  info: Omit<InfoDictHybridCreate, 'fileTree'>;
  /** Whether the info dictionary has an on-disk key, decoded or not. */
  has(key: string): boolean;
  /** Null when the key is absent, undefined when it did not decode. */
  layers: PieceLayers | null | undefined;
  /** Whether an entry of `info.files` is a pad file. */
  isPad(file: FileItem): boolean;
  /** The flat file tree; null when there is none, or none that decoded. */
  flat: FlatFile[] | null;
  context: ValidationContext;
  issues: Issues;
}

/** The total length of files, in bytes. */
export function totalLength(files: readonly { length: number }[]): number {
  return files.reduce((total, file) => total + file.length, 0);
}

/** The path of a leaf of the file tree for an issue, by on-disk keys. */
export function pathOfLeaf(file: FlatFile): string[] {
  return ['info', 'file tree', ...file.path.map(onDiskKey), ''];
}

/** A cache of one long name: many issues may lie in one folder, whose name may be a megabyte. */
let lastLongName = { name: '', key: '' };

function onDiskKey(name: string): string {
  if (name.length < 1024) return toKey(name);
  if (lastLongName.name !== name) lastLongName = { name, key: toKey(name) };
  return lastLongName.key;
}

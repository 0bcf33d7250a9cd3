import { type Struct, validate } from 'superstruct';
import { type FileItem, isPadFile } from './file-item.ts';
import { type FlatFile, flattenTree } from './file-tree.ts';
import type { InfoDictHybrid, InfoDictV1, InfoDictV2 } from './info-dict.ts';
import type { PieceLayers } from './piece-layers.ts';
import type { Issues } from './wire.ts';

/** Reports every failure of a struct, at on-disk keys. */
export function checkStruct(value: unknown, struct: Struct<never, never>, keys: object, issues: Issues): void {
  const [error] = validate(value, struct as unknown as Struct<unknown, unknown>);
  for (const failure of error?.failures() ?? []) {
    const [attribute, ...rest] = failure.path as string[];
    const key = (keys as Record<string, { key: string }>)[attribute ?? '']?.key ?? attribute ?? '';
    const path = ['info', key, ...rest];
    // Already reported while it was decoded.
    if (issues.list.some((issue) => path.every((part, i) => issue.path[i] === part))) continue;
    if (failure.value === undefined) issues.add('required', path, `${key} is missing`);
    else issues.add(failure.type, path, lowerFirst(failure.message));
  }
}

/** `length` or `files`, by presence (BEP 3). */
export function lengthXorFiles(info: Pick<InfoDictV1, 'length' | 'files'>, issues: Issues): void {
  const both = info.length != null && info.files != null;
  if (both) issues.add('lengthXorFiles', ['info'], 'length and files exclude each other', 'BEP 3');
  if (info.length == null && info.files == null) {
    issues.add('lengthXorFiles', ['info'], 'expected length (a single file) or files, got neither', 'BEP 3');
  }
}

/** As many pieces as the sizes imply, pads counted (BEP 3). */
export function expectedNPieces(info: InfoDictV1 | InfoDictHybrid, issues: Issues): void {
  const total = v1Files(info).reduce((sum, file) => sum + file.length, 0);
  if (!Number.isSafeInteger(total)) {
    issues.add('too_large', ['info', 'files'], 'the files are larger than 2^53 bytes in all');
    return;
  }
  const expected = Math.ceil(total / info.pieceLength);
  if (info.pieces.length === expected) return;
  const message = `expected ${expected} pieces of ${info.pieceLength} bytes for ${total} bytes, got ${info.pieces.length}`;
  issues.add('expectedNPieces', ['info', 'pieces'], message, 'BEP 3');
}

/** The v1 and the v2 description name the same files of the same sizes in the same order, pads and empty files aside. */
export function v1V2FilesMatch(info: InfoDictHybrid, issues: Issues): void {
  const v1 = v1Files(info).filter((file) => !isPadFile(file) && file.length > 0);
  const v2 = flattenTree(info.fileTree).filter((file) => file.length > 0);
  if (v1.length !== v2.length) {
    issues.add('v1V2FilesMatch', ['info'], `v1 names ${v1.length} files with content, v2 ${v2.length}`, 'BEP 52');
    return;
  }
  const index = v1.findIndex((file, i) => !sameFile(file, v2[i] as FlatFile));
  if (index < 0) return;
  const [a, b] = [v1[index] as FileItem, v2[index] as FlatFile];
  const message = `file ${index} is ${a.path.join('/')} (${a.length} bytes) in v1, ${b.path.join('/')} (${b.length} bytes) in v2`;
  issues.add('v1V2FilesMatch', ['info'], message, 'BEP 52');
}

function sameFile(a: FileItem, b: FlatFile): boolean {
  return a.length === b.length && a.path.length === b.path.length && a.path.every((part, i) => part === b.path[i]);
}

/** A v2 or hybrid torrent must have piece layers (BEP 52). */
export function pieceLayersIfV2(layers: PieceLayers | null, issues: Issues): void {
  if (!layers) issues.add('pieceLayersIfV2', ['piece layers'], 'piece layers is missing', 'BEP 52');
}

/** Every file longer than a piece has a layer, with a hash for each of its pieces (BEP 52). */
export function piecesLayersCorrect(info: InfoDictV2 | InfoDictHybrid, layers: PieceLayers, issues: Issues): void {
  for (const file of flattenTree(info.fileTree)) {
    if (file.length <= info.pieceLength || !file.piecesRoot) continue;
    const root = Buffer.from(file.piecesRoot).toString('hex');
    const expected = Math.ceil(file.length / info.pieceLength);
    const got = layers.get(root)?.length ?? 0;
    if (got === expected) continue;
    const message = `expected ${expected} hashes for ${file.path.join('/')}, got ${got === 0 ? 'no layer' : got}`;
    issues.add('piecesLayersCorrect', ['piece layers', root], message, 'BEP 52');
  }
}

/** The v1 list of a v1 or hybrid infodict, a single file as a list of one. */
export function v1Files(info: Pick<InfoDictV1, 'name' | 'length' | 'files'>): FileItem[] {
  return info.files ?? [{ path: [info.name], length: info.length ?? 0 }];
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}

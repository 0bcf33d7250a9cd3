/** Decodes the value of `info` into an info dictionary that reads like its model. */
import type { BencodeMap, BencodeValue } from '../../bencode/value.ts';
import { shown } from '../../errors/errors.ts';
import { nearest } from '../../errors/guard.ts';
import { INFO, INFO_UTF8 } from '../codec.ts';
import type { TorrentVersion } from '../discriminator.ts';
import { decodeFields } from '../field.ts';
import { withUtf8Name } from '../file-fields.ts';
import type { InfoDictHybridCreate } from '../info-dict.ts';
import { HYBRID_FIELDS, nullsOf, V1_FIELDS, V2_FIELDS } from '../info-fields.ts';
import type { Issues } from '../issues.ts';
import { type FlatFile, unflattenTree } from '../lazy/flat-tree.ts';
import { defineLazy } from '../lazy/lazy.ts';
import { readOnly } from '../read-only.ts';

/** An info dictionary whose file tree is still flat. */
export type DecodedInfo = Omit<InfoDictHybridCreate, 'fileTree'> & { fileTree?: FlatFile[] };

const NULLS = {
  v1: nullsOf(V1_FIELDS),
  v2: nullsOf(V2_FIELDS),
  hybrid: nullsOf(HYBRID_FIELDS),
};

/** Decodes the value of `info`. Returns undefined when it is not a dictionary or its version is unknown. */
export function decodeInfo(
  value: BencodeValue | undefined,
  version: TorrentVersion | null,
  issues: Issues,
): DecodedInfo | undefined {
  if (!(value instanceof Map)) {
    const code = value === undefined ? 'required' : 'type';
    return issues.add(code, [], `expected an info dictionary, got ${shown(value)}`);
  }
  if (version) return decodeVersion(value, issues);
  const near = [...value.keys()].find((key) => nearest(key, ['pieces', 'file tree']));
  const hint =
    near === undefined ? '' : `; did you mean ${nearest(near, ['pieces', 'file tree'])} instead of ${shown(near)}?`;
  return issues.add('infodict', [], `expected pieces (v1), file tree (v2) or both (hybrid), got neither${hint}`);
}

/** In compat, `name.utf-8` replaces `name` where there is one, as in libtorrent. */
function decodeVersion(map: BencodeMap, issues: Issues): DecodedInfo {
  const value = withUtf8Name(map, 'name', issues);
  const usesUtf8 = issues.compat && value.get('name.utf-8') instanceof Uint8Array;
  const info = decodeFields(value, usesUtf8 ? INFO_UTF8 : INFO, issues) as DecodedInfo;
  if (usesUtf8 && info.nameUtf8 != null && info.name === undefined) {
    if (!value.has('name')) issues.add('required', ['name'], 'expected name, got nothing', 'warning');
    info.name = info.nameUtf8;
  }
  return info;
}

/**
 * The info dictionary that a torrent exposes: null where a field is absent. An absent meta version is not enumerable, so that a
 * copy of the object has the same keys on disk. The nested file tree takes several times the memory of the flat one, so it
 * is made on first access.
 *
 * @param flat The files of the tree; null without a tree.
 * @param files The v1 file list, where it is decoded when it is first accessed.
 */
export function exposedInfo(
  info: DecodedInfo,
  version: TorrentVersion,
  flat: (() => readonly FlatFile[]) | null,
  files?: () => unknown,
): object {
  // Not a spread, which takes five times as long.
  const exposed = Object.assign({}, NULLS[version], info);
  exposed.extra ??= new Map();
  if (version !== 'v1' && info.metaVersion == null)
    Object.defineProperty(exposed, 'metaVersion', { value: 2, enumerable: false });
  if (flat) defineLazy(exposed, 'fileTree', () => readOnly(unflattenTree(flat())));
  if (files) defineLazy(exposed, 'files', () => readOnly(files()));
  return readOnly(exposed);
}

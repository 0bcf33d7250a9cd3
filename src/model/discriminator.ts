/** Tells the version of an info dictionary by its keys. */
import { readSafely } from '../errors/guard.ts';
import { isMap, isUint8Array, latin1Text } from '../platform/node.ts';

/**
 * The versions of torrents: v1 (BEP 3), v2 (BEP 52), and hybrid, which describes the same files both ways.
 *
 * @enum
 */
export const TorrentVersion = { v1: 'v1', v2: 'v2', hybrid: 'hybrid' } as const;
/** The version of a torrent. */
export type TorrentVersion = keyof typeof TorrentVersion;

/**
 * The version of an info dictionary, which selects its model: `pieces` makes it v1, `file tree` v2, both hybrid. Null for neither
 * and for any value that is not an object. Fields that are null or undefined are absent.
 *
 * @param value An object with on-disk keys or property names, or a Map whose keys are text or bytes.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when reading a field throws
 * @example
 * ```ts
 * import { infodictDiscriminator } from 'metainfo';
 *
 * console.log(infodictDiscriminator({ name: 'a', pieces: new Uint8Array(20) }), infodictDiscriminator({ name: 'a' }));
 * ```
 *
 * ```text
 * v1 null
 * ```
 */
export function infodictDiscriminator(value: unknown): TorrentVersion | null {
  if (value === null || typeof value !== 'object') return null;
  const has = (name: string) => (isMap(value) ? inMap(value, name) : inObject(value, name)) != null;
  const [v1, v2] = readSafely('value', () => [has('pieces'), has('file tree') || has('fileTree')]);
  if (v1 && v2) return 'hybrid';
  if (v1) return 'v1';
  return v2 ? 'v2' : null;
}

function inObject(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function inMap(map: Map<unknown, unknown>, name: string): unknown {
  if (map.has(name)) return map.get(name);
  for (const [key, value] of map)
    if (isUint8Array(key) && key.length === name.length && latin1Text(key) === name) return value;
  return undefined;
}

import { isMap, isUint8Array } from 'node:util/types';
import { readSafely } from '../errors/guard.ts';

/**
 * The kinds of torrents: what their infodict describes (BEP 3, BEP 52).
 *
 * @enum
 */
export const TorrentVersion = { v1: 'v1', v2: 'v2', hybrid: 'hybrid' } as const;
/** The kind of a torrent. */
export type TorrentVersion = keyof typeof TorrentVersion;

/**
 * Which model an infodict is to be held against: by the presence of `pieces` (v1) and `file tree` (v2), under their
 * on-disk or their attribute names: objects, and Maps whose keys are text or bytes. What is null or undefined is absent. Null
 * when neither is there.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` where reading a field throws
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
    if (isUint8Array(key) && key.length === name.length && Buffer.from(key).toString('latin1') === name) return value;
  return undefined;
}

/** The infohashes of a torrent, and the raw info dictionaries that keep the infohash of a rebuilt torrent. */
import { decode } from '../../bencode/decode.ts';
import { encode } from '../../bencode/encode.ts';
import { NO_LIMITS } from '../../bencode/limits.ts';
import { type Encodable, RawBencode } from '../../bencode/value.ts';
import { compareBytes, hashHex } from '../../platform/node.ts';
import type { TorrentVersion } from '../discriminator.ts';

/** The hash of the raw `info` in hexadecimal: SHA-1 in v1 (BEP 3), SHA-256 in v2 (BEP 52). Null for a version that the torrent does not have. */
export function infohashOf(
  infoBytes: Uint8Array,
  version: TorrentVersion | null,
  wanted: Exclude<TorrentVersion, 'hybrid'>,
): string | null {
  if (version !== 'hybrid' && version !== wanted) return null;
  const algorithm = wanted === 'v1' ? 'sha1' : 'sha256';
  return hashHex(algorithm, infoBytes);
}

const known = new WeakMap<object, Uint8Array>();

/** Remembers the bytes of an info dictionary that a caller gets: a frozen model, or a dump. */
export function rememberInfo(info: object, bytes: Uint8Array): void {
  known.set(info, bytes);
}

/** The bytes of an info dictionary that a torrent gave out and that nobody has changed since; null for any other value. */
export function rawInfo(info: unknown): RawBencode | null {
  const bytes = known.get(info as object);
  return bytes && (Object.isFrozen(info) || encodesAs(info as Encodable, bytes)) ? new RawBencode(bytes) : null;
}

/** Whether a dump has the values that it had. Its order may not be that of the bytes. */
function encodesAs(dump: Encodable, bytes: Uint8Array): boolean {
  try {
    const { value } = decode(bytes, { tolerant: true, limits: NO_LIMITS });
    return compareBytes(encode(dump), encode(value)) === 0;
  } catch {
    return false;
  }
}

/** Remembers the raw bytes of the info dictionaries that torrents give out, so that a rebuilt torrent keeps its infohash. */
import { decode } from '../../bencode/decode.ts';
import { encode } from '../../bencode/encode.ts';
import { NO_LIMITS } from '../../bencode/limits.ts';
import { type Encodable, RawBencode } from '../../bencode/value.ts';

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
    return Buffer.compare(encode(dump), encode(value)) === 0;
  } catch {
    return false;
  }
}

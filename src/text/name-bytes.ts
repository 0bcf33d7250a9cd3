/**
 * Names of files as text that keeps every byte. A byte that is not part of UTF-8 becomes a lone surrogate, U+DC80 to U+DCFF, as in
 * Python (PEP 383): on Linux, names are bytes, and an old torrent may have names in Latin-1 or GBK.
 */
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/** The text of a name or path. */
export function nameText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (isUtf8(buffer)) return buffer.toString();
  let text = '';
  for (let at = 0; at < buffer.length; ) {
    const first = buffer[at] as number;
    const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const char = buffer.subarray(at, at + length);
    const isChar = isUtf8(char);
    text += isChar ? char.toString() : String.fromCharCode(0xdc00 + first);
    at += isChar ? length : 1;
  }
  return text;
}

/** The bytes of a name or path: the inverse of {@link nameText}. */
export function nameBytes(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts = text.split(/([\udc80-\udcff])/u);
  return Buffer.concat(
    parts.map((part, i) => (i % 2 === 0 ? Buffer.from(part) : Buffer.of(part.charCodeAt(0) & 0xff))),
  );
}

/** A path as `node:fs` takes it: as bytes where it is not UTF-8. */
export function systemPath(path: string): string | Buffer {
  return path.isWellFormed() ? path : nameBytes(path);
}

/** The decoder of an encoding, such as `gbk`, for names that are shown; null for an unknown one. */
export function decoderOf(encoding: string): TextDecoder | null {
  try {
    return new TextDecoder(encoding);
  } catch {
    return null;
  }
}

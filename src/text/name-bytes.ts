/**
 * Names of files as text that keeps every byte. A byte that is not part of UTF-8 becomes a lone surrogate, U+DC80 to U+DCFF, as in
 * Python (PEP 383): on Linux, names are bytes, and an old torrent may have names in Latin-1 or GBK.
 */
import { concatBytes, isUtf8, utf8Bytes, utf8Text } from '../platform/node.ts';

/** The text of a name or path. */
export function nameText(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return utf8Text(bytes);
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] as number;
    const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const char = bytes.subarray(at, at + length);
    const isChar = isUtf8(char);
    text += isChar ? utf8Text(char) : String.fromCharCode(0xdc00 + first);
    at += isChar ? length : 1;
  }
  return text;
}

/** The bytes of a name or path: the inverse of {@link nameText}. */
export function nameBytes(text: string): Uint8Array {
  if (text.isWellFormed()) return utf8Bytes(text);
  const parts = text.split(/([\udc80-\udcff])/u);
  return concatBytes(
    parts.map((part, i) => (i % 2 === 0 ? utf8Bytes(part) : Uint8Array.of(part.charCodeAt(0) & 0xff))),
  );
}

/** A decoder of an encoding. */
export type TextDecoding = InstanceType<typeof TextDecoder>;

/** The decoder of an encoding, such as `gbk`, for names that are shown; null for an unknown one. */
export function decoderOf(encoding: string): TextDecoding | null {
  try {
    return new TextDecoder(encoding);
  } catch {
    return null;
  }
}

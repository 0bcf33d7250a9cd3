/** The functions that Node and browsers have in different ways, as browsers have them: node.ts has the same names, and describes them. */
import { type Hasher, sha1, sha256 } from './sha.ts';

export type { Hasher } from './sha.ts';

export const MAX_BYTES = 2 ** 31;
export const MAX_TEXT = 2 ** 29 - 24;
export const engineReadsBlobs: boolean = true;

export function inNode(): undefined {}
export const isWindows = false;

/** A check of a built-in type. It holds in every realm, and no object can pretend to be of the type. */
function isBuiltIn<T>(name: string, read: ((this: T) => unknown) | undefined): (value: unknown) => value is T {
  const text = `[object ${name}]`;
  return (value): value is T => {
    if (typeof value !== 'object' || value === null || Object.prototype.toString.call(value) !== text) return false;
    try {
      read?.call(value as T);
      return true;
    } catch {
      return false;
    }
  };
}

const getter = <T>(prototype: T, name: string | symbol) =>
  Object.getOwnPropertyDescriptor(prototype, name)?.get as ((this: T) => unknown) | undefined;

export const isMap = isBuiltIn<Map<unknown, unknown>>('Map', getter(Map.prototype, 'size'));
export const isDate = isBuiltIn<Date>('Date', Date.prototype.getTime);
export const isArrayBuffer = isBuiltIn<ArrayBuffer>('ArrayBuffer', getter(ArrayBuffer.prototype, 'byteLength'));

/** The name of a typed array; undefined for anything else. */
const typedName = getter(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag) as (
  this: unknown,
) => string | undefined;
export const isUint8Array = (value: unknown): value is Uint8Array => typedName.call(value) === 'Uint8Array';
export const isFloat64Array = (value: unknown): value is Float64Array => typedName.call(value) === 'Float64Array';

/** Pages that are not isolated have no shared memory. */
export const isSharedArrayBuffer = (value: unknown): value is SharedArrayBuffer =>
  typeof SharedArrayBuffer === 'function' && value instanceof SharedArrayBuffer;

/** Only Node can tell. The body is empty, so that esbuild leaves out what follows from it. */
export function isProxy(_value: unknown): undefined {}

export function isAscii(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte < 0x80);
}

/** Unlike a TextDecoder, it throws no error for each text that is not UTF-8. Table 3-7 of Unicode has the ranges. */
export function isUtf8(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at++] as number;
    if (first < 0x80) continue;
    if (first < 0xc2 || first > 0xf4) return false;
    // The bounds of the second byte rule out longer forms than needed, surrogates and code points beyond U+10FFFF.
    const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    const second = bytes[at++] ?? 0;
    if (second < least || second > most) return false;
    for (let more = first < 0xe0 ? 0 : first < 0xf0 ? 1 : 2; more > 0; more -= 1)
      if (((bytes[at++] ?? 0) & 0xc0) !== 0x80) return false;
  }
  return true;
}

/** Few enough arguments for a call. */
const CHARACTERS_AT_ONCE = 2 ** 13;

export function latin1Text(bytes: Uint8Array, from = 0, to = bytes.length): string {
  let text = '';
  for (let at = from; at < to; at += CHARACTERS_AT_ONCE)
    text += String.fromCharCode(...bytes.subarray(at, Math.min(at + CHARACTERS_AT_ONCE, to)));
  return text;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

export function utf8Text(bytes: Uint8Array, from = 0, to = bytes.length): string {
  return decoder.decode(bytes.subarray(from, to));
}

export function hexText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte] as string;
  return text;
}
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function latin1Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // Half a surrogate pair becomes U+FFFD, which takes three bytes; a pair takes four.
    const isPair = (unit & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
    length += unit < 0x800 ? 1 : 2;
    if (isPair) i += 1;
  }
  return length;
}

export function hexBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  // Like Node, up to the first pair that is none.
  for (const pair of text.match(/^(?:[\da-f]{2})*/i)?.[0].match(/../g) ?? []) bytes.push(Number.parseInt(pair, 16));
  return Uint8Array.from(bytes);
}

export function concatBytes(
  parts: readonly Uint8Array[],
  size = parts.reduce((sum, { length }) => sum + length, 0),
): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    if (at >= size) break;
    all.set(part.subarray(0, size - at), at);
    at += part.length;
  }
  return all;
}

export function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const length = Math.min(one.length, other.length);
  for (let i = 0; i < length; i += 1) if (one[i] !== other[i]) return (one[i] as number) - (other[i] as number);
  return one.length - other.length;
}

export function includesBytes(bytes: Uint8Array, part: string): boolean {
  return latin1Text(bytes).includes(latin1Text(utf8Bytes(part)));
}

export function newBytes(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(size);
}

export const shortBytes = newBytes;

export function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

export function createHasher(algorithm: 'sha1' | 'sha256'): Hasher {
  return algorithm === 'sha1' ? sha1() : sha256();
}

export function hashHex(algorithm: 'sha1' | 'sha256', bytes: Uint8Array): string {
  return hexText(createHasher(algorithm).update(bytes).digest());
}

/** A browser's page may not know. */
export function heapLimit(): number {
  return Infinity;
}

export function availableParallelism(): number {
  return (globalThis as { navigator?: { hardwareConcurrency?: number } }).navigator?.hardwareConcurrency ?? 1;
}

/** Errors of the system are Node's. */
export function errnoName(_errno: number): undefined {
  return undefined;
}

export function allowListeners(_signal: AbortSignal): void {}

/** Timers would come later and later. */
export function soon(call: () => void): void {
  const { port1, port2 } = new MessageChannel();
  const onMessage = () => {
    port1.close();
    call();
  };
  Object.assign(port1, { onmessage: onMessage });
  port2.postMessage(null);
}

export function nextRound(): Promise<void> {
  return new Promise(soon);
}

export function uptime(): number {
  return performance.now() / 1000;
}

/** There is no disk, so paths are those of torrents. */
export const sep = '/';

export function isAbsolute(path: string): boolean {
  return path.startsWith('/');
}

export function basename(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? '';
}

export function joinPath(...parts: string[]): string {
  return parts.join('/');
}

export function resolvePath(folder: string, path: string): string {
  return isAbsolute(path) ? path : joinPath(folder, path);
}

/** A page opens no paths. */
export function pathOfUrl(_value: unknown): null {
  return null;
}

export function currentFolder(): string {
  return '/';
}

/** There are none. The body is empty, as that of {@link isProxy}. */
export function variable(_name: string): undefined {}

export function emitWarning(message: string, _code: string): void {
  console.warn(message);
}

/** A page can tell only whether somebody reads a stream now. */
export function isDisturbed(_stream: object): boolean {
  return false;
}

/** The functions that Node and browsers have in different ways, as Node has them. web.ts has the same names, for browsers. */
import { constants } from 'node:buffer';
import * as crypto from 'node:crypto';
import { setMaxListeners } from 'node:events';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { processView } from './process.ts';

export { isAscii, isUtf8 } from 'node:buffer';
export { basename, isAbsolute, join as joinPath, resolve as resolvePath, sep } from 'node:path';
export { setImmediate as nextRound } from 'node:timers/promises';
export {
  isArrayBuffer,
  isDate,
  isFloat64Array,
  isMap,
  isProxy,
  isSharedArrayBuffer,
  isUint8Array,
} from 'node:util/types';

/** The most bytes of an ArrayBuffer. */
export const MAX_BYTES = constants.MAX_LENGTH;
/** The most UTF-16 code units of a string. */
export const MAX_TEXT = constants.MAX_STRING_LENGTH;
/** Whether engines read Blobs, as they read files on disk. */
export const engineReadsBlobs: boolean = false;

/** Whether there may be a disk and an addon. A page has neither: its bundle leaves out what a call of this guards. */
export function inNode(): boolean | undefined {
  return true;
}
export const isWindows = process.platform === 'win32';

const { latin1Slice, utf8Slice, hexSlice } = Buffer.prototype as unknown as Record<
  'latin1Slice' | 'utf8Slice' | 'hexSlice',
  (this: Uint8Array, start: number, end: number) => string
>;

/** Text with one character for each byte. */
export function latin1Text(bytes: Uint8Array, from = 0, to = bytes.length): string {
  return latin1Slice.call(bytes, from, to);
}

/** The text of UTF-8, with U+FFFD in place of what is not UTF-8. */
export function utf8Text(bytes: Uint8Array, from = 0, to = bytes.length): string {
  return utf8Slice.call(bytes, from, to);
}

export function hexText(bytes: Uint8Array): string {
  return hexSlice.call(bytes, 0, bytes.length);
}

/** One byte for each character: the low eight bits of its code. */
export function latin1Bytes(text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(text, 'latin1');
}

/** UTF-8, with U+FFFD in place of half a surrogate pair. */
export function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(text);
}

/** The length of {@link utf8Bytes}. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** The bytes of hexadecimal digits, two each. */
export function hexBytes(text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(text, 'hex');
}

/** The bytes of all parts, cut or filled up with zeros to `size`. */
export function concatBytes(parts: readonly Uint8Array[], size?: number): Uint8Array<ArrayBuffer> {
  return Buffer.concat(parts, size);
}

/** Below 0, 0 or above 0, as `sort` takes it. */
export function compareBytes(one: Uint8Array, other: Uint8Array): number {
  return Buffer.compare(one, other);
}

export function includesBytes({ buffer, byteOffset, length }: Uint8Array, part: string): boolean {
  return Buffer.from(buffer, byteOffset, length).includes(part);
}

/** Memory of its own with any content. */
export function newBytes(size: number): Uint8Array<ArrayBuffer> {
  return Buffer.allocUnsafeSlow(size);
}

/** Memory with any content, which may be a part of a larger ArrayBuffer. */
export function shortBytes(size: number): Uint8Array<ArrayBuffer> {
  return Buffer.allocUnsafe(size);
}

/** A copy with an ArrayBuffer of its own. It has the same class, because callers may use the methods of a Buffer. */
export function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = Buffer.isBuffer(bytes) ? Buffer.allocUnsafeSlow(bytes.length) : new Uint8Array(bytes.length);
  copy.set(bytes);
  return copy;
}

/** A hash that takes its data in parts. */
export interface Hasher {
  update(bytes: Uint8Array): Hasher;
  digest(): Uint8Array;
}

export function createHasher(algorithm: 'sha1' | 'sha256'): Hasher {
  return crypto.createHash(algorithm);
}

/** The hash of bytes in hexadecimal. */
export function hashHex(algorithm: 'sha1' | 'sha256', bytes: Uint8Array): string {
  // Not every runtime has the faster function.
  return crypto.hash?.(algorithm, bytes, 'hex') ?? crypto.createHash(algorithm).update(bytes).digest('hex');
}

/** The threads that run at once. */
export function availableParallelism(): number {
  return os.availableParallelism();
}

/** Bytes that values of JavaScript may take, without the 48 MiB that V8 adds for new ones. */
export function heapLimit(): number {
  const { heap_size_limit: limit } = process.getBuiltinModule('node:v8').getHeapStatistics();
  return limit > 0 ? limit - 48 * 2 ** 20 : Infinity;
}

/** The name of a number of an error of the system, such as ENOENT for 2. */
export function errnoName(errno: number): string | undefined {
  return Object.entries(os.constants.errno).find(([, value]) => value === errno)?.[0];
}

/** Lets any number of listeners wait for a signal, without a warning. */
export function allowListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal);
}

/** Seconds since some moment. */
export function uptime(): number {
  return process.uptime();
}

/** The path of a `file:` URL, also of one of another realm; null for anything else. */
export function pathOfUrl(value: unknown): string | null {
  // Node takes a text as a URL too.
  if (typeof value !== 'object' || value === null) return null;
  try {
    return fileURLToPath(value as URL);
  } catch {
    return null;
  }
}

export function currentFolder(): string {
  return process.cwd();
}

/** A variable of the environment. Deno may forbid to read it: it then counts as unset. */
export function variable(name: string): string | undefined {
  try {
    return processView().env[name];
  } catch {
    return undefined;
  }
}

export function emitWarning(message: string, code: string): void {
  process.emitWarning(message, { type: 'MetainfoWarning', code });
}

/** Whether a stream of Node or of the web was read from. Loads node:stream only if there is a stream. */
export function isDisturbed(stream: object): boolean {
  return process.getBuiltinModule('node:stream').Readable.isDisturbed(stream as never);
}

/** Calls a function after the events that wait. */
export const soon: (call: () => void) => void = setImmediate;

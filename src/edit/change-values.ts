/** Checks the values that a caller of `edit` passes, and converts them to bencode values. */
import { validate } from 'superstruct';
import { MetainfoError, type MetainfoErrorOptions, shown } from '../errors/errors.ts';
import { DhtNode } from '../model/primitives.ts';
import { toInfohash } from '../model/value-fields.ts';

/** The error for an invalid change. */
export function invalidChange(problem: string, details?: MetainfoErrorOptions): MetainfoError {
  return new MetainfoError('ERR_INVALID_ARGUMENT', `${problem}.`, details);
}

export function checkList<T>(field: string, list: readonly T[]): readonly T[] {
  if (Array.isArray(list)) return list;
  throw invalidChange(`${field} must be a list, not ${shown(list)}`);
}

export function checkTexts(field: string, list: readonly string[]): readonly string[] {
  return checkList(field, list).map((text) => checkText(field, text));
}

export function checkText(field: string, value: string): string {
  if (typeof value === 'string' && value.isWellFormed()) return value;
  throw invalidChange(`${field} must be a well-formed string, not ${shown(value)}`);
}

/** Null counts as false. */
export function checkBoolean(field: string, value: boolean | null): boolean {
  if (value === null || typeof value === 'boolean') return value === true;
  throw invalidChange(`${field} must be true or false, not ${shown(value)}`);
}

export function checkUrl(field: string, url: string): string {
  if (typeof url === 'string' && URL.canParse(url)) return url;
  throw invalidChange(`${field}: expected a URL, got ${shown(url)}`);
}

export function checkUrls(field: string, urls: readonly string[]): void {
  for (const url of urls) checkUrl(field, url);
}

export function checkNode(node: DhtNode): DhtNode {
  const [error] = validate(node, DhtNode);
  if (!error) return node;
  throw invalidChange(`nodes: ${error.message}`);
}

/** The bytes of an infohash. */
export function checkInfohash(hash: Uint8Array | string): Uint8Array {
  const bytes = toInfohash(hash);
  if (bytes) return bytes;
  throw invalidChange(`similar must contain infohashes (20 or 32 bytes, or hexadecimal), not ${shown(hash)}`);
}

/** Whole seconds since 1970. */
export function secondsOf(date: Date): number {
  const seconds = date instanceof Date ? Math.floor(date.getTime() / 1000) : Number.NaN;
  if (Number.isSafeInteger(seconds)) return seconds;
  throw invalidChange(`creationDate must be a valid Date, not ${shown(date)}`);
}

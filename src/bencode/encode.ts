import { MetainfoError } from '../errors.ts';
import { type Encodable, keyBytes, RawBencode } from './value.ts';

/** Below this, gathering is cheaper than a buffer of its own. */
const SHORT = 1024;

const END = Symbol('end');

class Key {
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }
}

/**
 * Encodes canonical bencode: keys in byte order, integers without leading zeros. Text becomes UTF-8; keys are latin1
 * strings, one char a byte (see `toKey`). Does not recurse.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a number that is no safe integer, or a value bencode cannot say.
 */
export function encode(value: Encodable): Uint8Array {
  const parts: Uint8Array[] = [];
  let text = '';
  // Short pieces gather in one latin1 string; long byte strings stay what they are until the end.
  const flush = () => {
    if (text !== '') parts.push(keyBytes(text));
    text = '';
  };
  const writeBytes = (bytes: Uint8Array) => {
    text += `${bytes.length}:`;
    if (bytes.length <= SHORT) {
      text += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
      return;
    }
    flush();
    parts.push(bytes);
  };

  // What is still to write, last first. END closes a list or dictionary; a Key is written as a string.
  const stack: (Encodable | Key | typeof END)[] = [value];
  while (stack.length > 0) {
    const next = stack.pop() as Encodable | Key | typeof END;
    if (next === END) text += 'e';
    else if (next instanceof Key) text += `${next.key.length}:${next.key}`;
    else if (typeof next === 'string') writeBytes(Buffer.from(next, 'utf8'));
    else if (next instanceof Uint8Array) writeBytes(next);
    else if (typeof next === 'number' || typeof next === 'bigint') text += `i${integer(next)}e`;
    else if (next instanceof RawBencode) {
      flush();
      parts.push(next.bytes);
    } else if (next instanceof Map) {
      text += 'd';
      stack.push(END);
      const keys = [...next.keys()].sort(byBytes);
      for (const key of keys.reverse()) stack.push(next.get(key) as Encodable, new Key(checkedKey(key)));
    } else if (Array.isArray(next)) {
      text += 'l';
      stack.push(END);
      for (let i = next.length - 1; i >= 0; i -= 1) stack.push(next[i] as Encodable);
    } else {
      throw new MetainfoError('ERR_INVALID_ARGUMENT', `bencode has no ${next === null ? 'null' : typeof next}.`);
    }
  }
  flush();
  return Buffer.concat(parts);
}

/** On latin1 strings, the order of UTF-16 units is the order of bytes. */
function byBytes(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function integer(value: number | bigint): string {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new MetainfoError(
      'ERR_INVALID_ARGUMENT',
      `${value} is not an integer that a number holds exactly: use a bigint.`,
    );
  }
  // Number -0 prints as 0.
  return value.toString();
}

function checkedKey(key: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is what latin1 is
  if (typeof key !== 'string' || !/^[\u0000-\u00ff]*$/.test(key)) {
    throw new MetainfoError(
      'ERR_INVALID_ARGUMENT',
      `The key ${JSON.stringify(key)} is not latin1: make it with toKey().`,
    );
  }
  return key;
}

/** Parses plans and other JSON from elsewhere, within bounds. */
import { MetainfoError } from '../errors/errors.ts';

/** The values that a text may have. A value of three bytes takes up to 64 bytes of memory; a plan of a million files has 4 million. */
const MOST_VALUES = 2 ** 25;

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = Buffer.from('"\\,[{');

/**
 * Parses JSON.
 *
 * @param what The text, for the message.
 * @param advice What to do if it is not JSON.
 * @throws {MetainfoError} `ERR_PLAN` for other text, and for too many values
 */
export function parseJson(bytes: Uint8Array, what: string, advice = ''): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (hasMoreValues(text, MOST_VALUES)) throw new MetainfoError('ERR_PLAN', `${what} has too many values.`);
  try {
    return JSON.parse(text.toString());
  } catch (cause) {
    throw new MetainfoError('ERR_PLAN', `${what} is not JSON${advice}.`, { cause });
  }
}

/** Whether JSON text has more values than `most`. */
function hasMoreValues(text: Buffer, most: number): boolean {
  // A value takes a byte, and what separates it from the next one another.
  if (text.length <= 2 * most) return false;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1;
    else if (byte === QUOTE) at = endOfString(text, at);
    if (values > most) return true;
  }
  return false;
}

/** Where the string that begins at a quote ends: at its last quote, or behind the text. */
function endOfString(text: Buffer, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === QUOTE) return at;
    if (text[at] === BACKSLASH) at += 1;
  }
  return text.length;
}

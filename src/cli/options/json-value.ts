/** Parses JSON into a bencode value: integers of any size stay exact, and what bencode does not have is refused with advice. */
import { DEFAULT_LIMITS } from '../../bencode/limits.ts';
import { type BencodeValue, toKey } from '../../bencode/value.ts';
import { shown } from '../../errors/errors.ts';

/** A string, or a number. JSON has digits outside of strings only in numbers. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
/** A string, and the colon after a key. */
const STRING = /"(?:[^"\\]|\\.)*"(\s*:)?/g;
/** The bounds of the integers that other programs read. */
const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n];

/** The value of a JSON text. @param refuse Throws the reason for a value that bencode does not have. */
export function valueOfJson(json: string, refuse: (reason: string) => never): BencodeValue {
  const parse = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return refuse('Expected JSON after :=, such as 5, "text", [1, 2] or {"a": 1}. For a plain text, use = alone.');
    }
  };
  // Numbers would be rounded, so they become strings that begin with another letter.
  const marked = (token: string) => (token.startsWith('"') ? `"t${token.slice(1)}` : `"n${token}"`);
  parse(json);
  let keys = 0;
  const toValue = (value: unknown, depth: number): BencodeValue => {
    if (depth > DEFAULT_LIMITS.depth) return refuse(`Expected at most ${DEFAULT_LIMITS.depth} levels of lists.`);
    if (typeof value === 'string') return value.startsWith('n') ? integerOf(value.slice(1), refuse) : bytesOf(value);
    if (Array.isArray(value)) return value.map((item) => toValue(item, depth + 1));
    if (value === null) return refuse('Bencode has no null: leave the key out.');
    if (typeof value === 'boolean') return refuse(`Bencode has no ${value}: write ${Number(value)}.`);
    const entries = Object.entries(value as object);
    keys += entries.length;
    return new Map(entries.map(([key, item]) => [toKey(textOf(key)), toValue(item, depth + 1)]));
  };
  const textOf = (text: string) =>
    text.isWellFormed() ? text.slice(1) : refuse(`Expected well-formed text, got ${shown(text.slice(1))}.`);
  const bytesOf = (text: string) => Buffer.from(textOf(text));
  const result = toValue(parse(json.replace(TOKEN, marked)), 1);
  // JSON.parse drops all but the last of equal keys.
  const written = [...json.matchAll(STRING)].filter(([, colon]) => colon !== undefined).length;
  return written === keys ? result : refuse('A dictionary has a key twice: write each key once.');
}

function integerOf(digits: string, refuse: (reason: string) => never): number | bigint {
  if (!/^-?\d+$/.test(digits))
    refuse(`Bencode has only whole numbers: write ${digits} as one, or as the text "${digits}".`);
  const integer = BigInt(digits);
  if (integer < LEAST || integer > MOST)
    refuse(`Expected an integer from -2^63 to 2^63 - 1, got ${digits.slice(0, 40)}: write it as a text in quotes.`);
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}

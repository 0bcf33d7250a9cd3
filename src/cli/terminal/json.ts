/** JSON that is safe to print. */
import { MetainfoError } from '../../errors/errors.ts';
import { escaped } from '../../text/printable.ts';

/**
 * Formats a value as JSON in which the characters that `printable` escapes are escaped too. It parses to the same value.
 *
 * @throws {MetainfoError} `ERR_LIMIT` when the JSON would be longer than a string can be
 */
export function printableJson(value: unknown): string {
  const escape16 = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  try {
    return escaped(JSON.stringify(value), (char) => char.split('').map(escape16).join(''));
  } catch (error) {
    // V8 throws it for a string of more than half a GiB.
    if (!(error instanceof RangeError)) throw error;
    throw new MetainfoError('ERR_LIMIT', 'The JSON is longer than a string can be (512 MiB).', { cause: error });
  }
}

/** The random text that gives the same content another infohash. */
import { hexText } from '../platform/node.ts';

/** The key of the info dictionary that holds the text. */
export const ENTROPY_KEY = 'entropy';
const ENTROPY_BYTES = 16;

/** Random hexadecimal digits. */
export function entropyText(): string {
  return hexText(crypto.getRandomValues(new Uint8Array(ENTROPY_BYTES)));
}

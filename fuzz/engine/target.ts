/** The interface of a fuzz target in TypeScript, and inputs that several targets share. */
import { FIXTURES } from '../../test/fixtures/fixtures.ts';
import { PIECE } from '../../test/support/build.ts';

/** A fuzz target: the exports of a file in fuzz/. */
export interface Target {
  /** Throws if the sources handle the input wrongly. A documented refusal is fine. */
  check(input: Buffer): void | Promise<void>;
  /** Inputs to start with, beside those of fuzz/inputs. */
  seeds(): Promise<Buffer[]>;
  /** Strings that valid inputs are likely to contain. */
  words: readonly string[];
}

/** Larger fixtures cover nothing more. */
const MOST_BYTES = 2048;

/** The small torrents of test/fixtures, valid and invalid. */
export async function fixtures(): Promise<Buffer[]> {
  return FIXTURES.map(({ bytes }) => bytes).filter(({ length }) => length <= MOST_BYTES);
}

/** Keys and values of torrents. */
export const TORRENT_WORDS = [
  ...['announce', 'announce-list', 'attr', 'collections', 'comment', 'comment.utf-8', 'created by', 'creation date'],
  ...['file tree', 'files', 'httpseeds', 'info', 'length', 'meta version', 'name', 'name.utf-8', 'nodes', 'path'],
  ...['path.utf-8', 'piece layers', 'piece length', 'pieces', 'pieces root', 'private', 'publisher', 'similar'],
  ...['source', 'symlink path', 'update-url', 'url-list', '', 'p', 'l', 'xh', '.pad', '..', '.', 'a', 'b', 'a/b'],
  ...['C:', '\\', '\0', 'http://a.example/', 'udp://b.example:1/x', '\xc3\xa9', '\xff', '\xed\xa0\x80', '\x1b[31m'],
  ...['\xe2\x80\xae', '__proto__', `${PIECE - 5}`, '_____padding_file_0_', 'constructor'],
  ...['\x01'.repeat(20), '\x02'.repeat(32), '\0'.repeat(32)],
];

/** Tells what to do with something that is given as a torrent file and is none: a link, a web page, a film. */
import { BencodeError } from '../../bencode/bencode-error.ts';
import type { OtherFormat } from '../../bencode/other-format.ts';
import type { MetainfoError } from '../../errors/errors.ts';
import { shellWords } from './shell-words.ts';

/** Advice by the format, for a file that is named in quotes if it must be. */
const ADVICE: Readonly<Record<OtherFormat, (file: string, message: string) => string>> = {
  'web page': () => 'The site sent a page instead of the torrent, perhaps a login: download it again in a browser.',
  JSON: () => 'The site sent a message instead of the torrent: look into the file.',
  'magnet link': (file) => `Decode it: metainfo magnet "$(cat ${file})"`,
  URL: () => 'Download the torrent: curl -L URL | metainfo show -',
  compressed: (file, message) => {
    const [, name = '7z'] = /this is an? (gzip|bzip2|xz|zstd|ZIP)/.exec(message) ?? [];
    const unpack = { gzip: 'gunzip -c <', ZIP: 'unzip -p', '7z': '7z x -so' }[name] ?? `${name} -dc`;
    return `Unpack it first: ${unpack} ${file} | metainfo show -`;
  },
  'UTF-16': () => 'The redirect has changed the bytes: write the file with -o or another program.',
  content: (file) => `Make a torrent of it: metainfo create ${file}`,
};

/**
 * Gives advice about an error of reading a torrent that is something else; empty for any other error.
 *
 * @param path The file, if the error has no path.
 */
export function adviceFor(error: MetainfoError, path = error.path ?? '-'): string {
  const { code, message } = error;
  const file = path === '-' ? 'FILE' : shellWords(path);
  // An error that ends with something else has advice already.
  if (!message.endsWith('.')) return '';
  if (error instanceof BencodeError && error.format) return ` ${ADVICE[error.format](file, message)}`;
  if (code !== 'ERR_NOT_FOUND') return '';
  if (/^magnet:/i.test(path)) return ` To decode a magnet link: metainfo magnet ${file}`;
  return /^https?:\/\//i.test(path) ? ` To read a torrent from the web: curl -L ${file} | metainfo show -` : '';
}

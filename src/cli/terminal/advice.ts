/** Advice about errors, with command lines to copy: how to go on, and what to do with a file that is not a torrent. */
import { BencodeError } from '../../bencode/bencode-error.ts';
import type { OtherFormat } from '../../bencode/other-format.ts';
import type { CacheChoice } from '../../create/options.ts';
import type { MetainfoError } from '../../errors/errors.ts';
import { withoutSecrets } from '../../text/urls.ts';
import type { CreateOptions } from '../create/options.ts';

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

/** How to go on with a cache after a command was cancelled, or content could not be read. Torrents that are there need `--resume`. */
export function hashesKept({ each, batch, resume, force }: Partial<CreateOptions> = {}): string {
  const isRefused = (each || batch !== undefined) && !resume && !force;
  return `Hashed files are cached: run the same command again${isRefused ? ' with --resume' : ''}.`;
}

/** Adds to an error that ends hashing how to go on. Without a cache, somebody who cancels wants no advice. */
export async function withAdvice<T>(
  cache: CacheChoice | undefined,
  job: Promise<T>,
  options: Partial<CreateOptions> = {},
): Promise<T> {
  return job.catch((error: MetainfoError) => {
    const isOfContent = ['ERR_ABORTED', 'ERR_READ', 'ERR_FILE_CHANGED'].includes(error.code);
    if (cache && isOfContent) Object.assign(error, { advice: hashesKept(options) });
    else if (error.code === 'ERR_READ')
      Object.assign(error, { advice: 'With --cache, hashed files are kept for the next run.' });
    throw error;
  });
}

/** Advice about an error of reading something else as a torrent; empty for others. @param given The file, if the error has no path. */
export function adviceFor(error: MetainfoError, given = error.path ?? '-'): string {
  if ('advice' in error) return ` ${error.advice}`;
  const { code, message } = error;
  const path = withoutSecrets(given, /$/);
  const file = path === '-' ? 'FILE' : shellWords(path);
  // An error that ends with something else has advice already.
  if (!message.endsWith('.')) return '';
  if (error instanceof BencodeError && error.format) return ` ${ADVICE[error.format](file, message)}`;
  if (code !== 'ERR_NOT_FOUND') return '';
  if (/^magnet:/i.test(path)) return ` To decode a magnet link: metainfo magnet ${file}`;
  return /^https?:\/\//i.test(path) ? ` To read a torrent from the web: curl -L ${file} | metainfo show -` : '';
}

/** Joins words into a command line, and quotes those that a shell would split or expand. */
export function shellWords(...words: string[]): string {
  return words
    .map((word) => (/^[\p{L}\p{N}./\\:_-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

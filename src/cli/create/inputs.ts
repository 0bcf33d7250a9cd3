/** The content of a creation that is not on the disk: standard input (`-`) or the URL of a web object. */
import { type Finding, warning } from '../../create/findings/findings.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { requireTorrentName } from '../../layout/safe-path.ts';
import type { Source } from '../../sources/sources.ts';
import type { WebFile } from '../../sources/web-source.ts';
import { parseWebUrl } from '../../sources/web-url.ts';
import { hasSecret, withoutSecrets } from '../../text/urls.ts';
import { flagText } from '../terminal/messages.ts';
import { isStdin, openStdin } from '../terminal/standard-input.ts';
import type { CreateOptions } from './options.ts';

/** The single file that a creation reads from elsewhere. */
export interface ForeignInput {
  /** The name of the torrent and of its file. */
  name: string;
  /** The given URL; null for standard input. */
  url: string | null;
}

/** The properties of the web object of a creation. */
export type WebObject = Pick<WebFile, 'url' | 'etag' | 'lastModified'>;

/** A foreign input that was opened. */
export interface OpenedInput {
  source: Source;
  /** The web object, its URL without secrets; null for standard input. */
  web: WebObject | null;
  /** The webseed that it gives; null for standard input, and for a URL that has a secret. */
  webseed: string | null;
  findings: Finding[];
}

/** Whether an argument is a URL. A path of this form can be written `./https://host`. */
export const isUrl = (argument: string) => /^(?:https?:|[a-z][a-z\d+.-]+:\/\/)/i.test(argument);

/** The argument that is no path of a file; undefined for files and folders only. */
export function foreignArgument(paths: readonly string[]): string | undefined {
  return paths.find((entry) => isStdin(entry) || isUrl(entry));
}

/**
 * Tells what the arguments of a creation name besides files on disk; null for files and folders only.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, or `ERR_NAME` for a name that a torrent cannot have
 */
export function foreignInput(paths: readonly string[], options: CreateOptions): ForeignInput | null {
  const [first = ''] = paths;
  const foreign = foreignArgument(paths);
  if (foreign === undefined) return null;
  const what = isStdin(foreign) ? 'Standard input (-)' : 'A URL';
  if (paths.length > 1)
    throw invalidArgument(
      `${what} must be the only input, because it gives a torrent of one file: create one torrent for each`,
    );
  for (const option of ['exclude', 'excludeFrom', 'include', 'reuse'] as const)
    if (options[option]) throw invalidArgument(`${flagText(option)} works only with files on disk: omit it`);
  if (isStdin(first)) {
    if (options.targetPieces !== undefined || options.maxTorrentSize !== undefined)
      throw invalidArgument(
        '--target-pieces and --max-torrent-size need a size, which standard input (-) lacks: use --piece-length',
      );
    if (options.name === undefined)
      throw invalidArgument('A torrent of standard input (-) needs a name: add --name NAME');
    requireTorrentName(options.name);
    return { name: options.name, url: null };
  }
  const { href, name } = parseWebUrl(first);
  const chosen = options.name ?? name;
  if (chosen === null)
    throw new MetainfoError('ERR_NAME', `The path of ${href} does not end with a usable file name: add --name NAME.`);
  requireTorrentName(chosen);
  return { name: chosen, url: first };
}

/**
 * Opens a foreign input: asks the web server about its object, or takes standard input.
 *
 * @throws {MetainfoError} `ERR_HTTP`; `ERR_INVALID_ARGUMENT` for a terminal
 */
export async function openInput({ name, url }: ForeignInput, signal: AbortSignal | undefined): Promise<OpenedInput> {
  if (url === null) {
    const data = openStdin('tar c album | metainfo create - --name album.tar');
    return { source: { path: name, data }, web: null, webseed: null, findings: [] };
  }
  const { webFile } = await import('../../sources/web-source.ts');
  const data = await webFile(url, { signal });
  const { etag, lastModified } = data;
  const webseed = hasSecret(data.url) ? null : data.url;
  const web = { url: withoutSecrets(data.url, /$/), etag, lastModified };
  return { source: { path: name, data }, web, webseed, findings: findingsOf(url, { ...data, url: web.url }, webseed) };
}

function findingsOf(given: string, { url, validator }: WebFile, webseed: string | null): Finding[] {
  const findings: Finding[] = [];
  const add = (code: Finding['code'], problem: string, advice: string) =>
    findings.push(warning(code, url, `${url}: ${problem}.`, { advice }));
  if (webseed === null) {
    const problem = 'it is no webseed of the torrent, because its query has a signature, token or password';
    add('web_credentials', problem, 'Add a webseed that needs no signature, or accept that the torrent has none.');
  }
  if (validator !== 'etag') {
    const problem =
      validator === null
        ? 'the server sends neither a strong ETag nor Last-Modified, so a replaced file is noticed only by its size'
        : 'the server sends no strong ETag, so a file that is replaced within a second may go unnoticed';
    add('web_validator', problem, 'Do not change the file while it is read.');
  }
  if (parseWebUrl(given).authorization !== null) {
    const advice = 'Let clients read the file without credentials, or add another webseed.';
    add('web_credentials', 'the webseed lacks the credentials of the given URL', advice);
  }
  return findings;
}

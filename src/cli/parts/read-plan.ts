/** Opens what the commands of parts name: a plan that `metainfo plan --part-size` wrote, its files, and a part store. */

import { MetainfoError, shown, withPath } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import type { HashPartOptions } from '../../parts/hash-part.ts';
import { s3Store, webStore } from '../../parts/object-stores.ts';
import type { TorrentPlan } from '../../parts/plan.ts';
import type { ObjectFile, OpenObject } from '../../parts/planned-files.ts';
import { parsePlan } from '../../parts/read-plan.ts';
import { folderStore, type PartStore } from '../../parts/store.ts';
import { parseS3Url, s3File } from '../../sources/s3-file.ts';
import { type WebFile, webFile } from '../../sources/web-source.ts';
import { parseUrl, urlBelow } from '../../text/urls.ts';
import type { PartsOptions } from '../options/option-values.ts';
import { nameOfInput, readInput } from '../terminal/standard-input.ts';

/** Bytes: a longer text does not fit into a string. */
const MAX_BYTES = 2 ** 29 - 1;

const HINT = { what: 'a plan', example: 'cat plan.json | metainfo hash-part - --index 0 --parts parts' };

/** Reads and checks a plan from a file or, for `-`, from standard input. */
export async function readPlan(file: string): Promise<TorrentPlan> {
  const bytes = await readInput(file, MAX_BYTES, HINT);
  return (await parsePlan(bytes).catch((error: unknown) => {
    throw withPath(error, nameOfInput(file));
  })) as TorrentPlan;
}

/** How the files of a plan are opened. */
type Opening = Pick<HashPartOptions, 'open' | 'openAll'>;

/**
 * Opens the web objects of a plan by their URLs, or all of its files below the URL that the user gives.
 *
 * @param options.allowHost Hosts, each with or without a port; the bucket of an `s3:` URL is one.
 * @throws {MetainfoError} `ERR_PLAN` if the plan names other hosts
 */
export function openingOf(plan: TorrentPlan, { allowHost, contentUrl }: Partial<PartsOptions>): Opening {
  if (contentUrl === undefined) return { open: openerOf(plan, allowHost) };
  const base = contentUrl.replace(/\/+$/, '');
  const isS3 = /^s3:\/\//i.test(base);
  if (isS3) parseS3Url(base);
  // A folder has no query. That of a single file may be a signature.
  const isFile = plan.files.path.length === 1 && plan.files.diskPath[0] === '';
  if (!isS3 && (!/^https?:/i.test(base) || urlBelow(isFile ? base.replace(/\?[^#]*/, '') : base, []) === null))
    throw invalidArgument(
      `--content-url needs a URL that paths can be appended to, without ? and #: s3://BUCKET/PREFIX or https://HOST/PATH, not ${shown(base)}`,
    );
  const open = async ({ index, path: name }: ObjectFile): Promise<WebFile> => {
    // As with --root: the place of the planned file, or of the planned folder.
    const below = plan.files.diskPath[index] ?? name;
    const segments = below === '' ? [] : below.split('/');
    if (segments.some((segment) => segment === '.' || segment === '..'))
      throw new MetainfoError('ERR_PLAN', `${below} leads out of the content.`);
    return isS3
      ? s3File([base, ...segments].join('/'))
      : webFile(segments.length === 0 ? base : (urlBelow(base, segments) as string));
  };
  return { open, openAll: true };
}

function openerOf({ files }: TorrentPlan, allowed: readonly string[] = []): OpenObject {
  const isAllowed = (url: URL) => allowed.some((host) => isOn(url, host));
  const notAllowed = (what: string) =>
    new MetainfoError('ERR_PLAN', `${what}: if you trust it, allow each with --allow-host HOST.`);
  const others = new Set<string>();
  for (const { url } of Object.values(files.objects)) {
    const parsed = url === null ? null : parseUrl(url);
    if (parsed && !isAllowed(parsed)) others.add(parsed.host);
  }
  if (others.size > 0) {
    const names = [...others].slice(0, MAX_LISTED).join(', ');
    throw notAllowed(`the plan reads files from ${others.size > MAX_LISTED ? `${names} and others` : names}`);
  }
  return async ({ path, url }) => {
    const onRedirect = (to: URL) => {
      if (!isAllowed(to)) throw notAllowed(`${url} redirects to ${to.host}`);
    };
    if (url !== null) return url.startsWith('s3:') ? s3File(url) : webFile(url, { onRedirect });
    const message = `${path} was planned from a source without a URL: hash its parts with the library, and its option open`;
    throw invalidArgument(message, { path });
  };
}

/** Whether a URL is on a host, which may come without its port. Buckets have exact names: `Jobs` is another one than `jobs`. */
function isOn({ protocol, host, hostname }: URL, allowed: string): boolean {
  if (protocol === 's3:') return host === allowed;
  const other = parseUrl(`${protocol}//${allowed}`);
  return /:\d+$/.test(allowed) ? other?.host === host : other?.hostname === hostname;
}

/** The hosts that a message lists. */
const MAX_LISTED = 10;

/** The store of `--parts` or `--store`: {@link STORE}. The message of `ERR_INVALID_ARGUMENT` has no credentials. */
export function storeOf(text: string): PartStore {
  if (/^(s3|https?):(?!\/\/)/i.test(text))
    throw invalidArgument(
      'a part store that is a URL has // after its scheme: s3://BUCKET/PREFIX or https://HOST/PATH/',
    );
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return folderStore(text);
  if (scheme === 's3') return s3Store(text);
  if (scheme === 'http' || scheme === 'https') return webStore(text);
  throw invalidArgument(
    `a part store cannot have the scheme ${scheme}: give a folder, s3://BUCKET/PREFIX or https://HOST/PATH/`,
  );
}

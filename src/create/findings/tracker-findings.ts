/** Finds trackers, webseeds, DHT nodes and an update URL of a draft that cannot work. */
import { shown } from '../../errors/errors.ts';
import { isUrl, shownUrl, storedUrl, urlKey } from '../../text/urls.ts';
import type { Draft } from '../draft-fields.ts';
import { type Finding, warning } from './findings.ts';

/** A list of URLs in a draft. */
interface UrlList {
  code: 'tracker_url' | 'webseed_url' | 'update_url';
  noun: string;
  schemes: readonly string[];
  urls: readonly string[];
}

/** The URLs of a draft that cannot work, and what contradicts `private`. A text that is no URL makes the creation fail. */
export function trackerFindings({ fields, info }: Pick<Draft, 'fields' | 'info'>): Finding[] {
  const trackers = trackersOf(fields);
  const lists: UrlList[] = [
    { code: 'tracker_url', noun: 'tracker', schemes: ['http', 'https', 'udp', 'ws', 'wss'], urls: trackers },
    { code: 'webseed_url', noun: 'webseed', schemes: ['http', 'https', 'ftp'], urls: urlsOf(fields.urlList) },
    { code: 'webseed_url', noun: 'HTTP seed', schemes: ['http', 'https'], urls: urlsOf(fields.httpseeds) },
    { code: 'update_url', noun: 'update URL', schemes: ['http', 'https'], urls: urlsOf(info.updateUrl) },
  ];
  const ofUrls = lists.flatMap((list) => [...list.urls.flatMap((url) => urlFindings(url, list)), ...duplicates(list)]);
  return [...ofUrls, ...(info.private ? privateFindings(trackers, fields.nodes?.length) : [])];
}

/** The trackers of a draft. The first one of the tiers stands in `announce` too. */
export function trackersOf({ trackers, announceList, announce }: Draft['fields']): string[] {
  return [trackers ?? announceList ?? announce ?? []].flat(2);
}

function urlsOf(value: string | readonly string[] | null | undefined): string[] {
  return [value ?? []].flat();
}

/** A problem of a URL, as the end of a sentence about it, and the advice. */
type Problem = readonly [problem: string, advice: string];

function urlFindings(url: string, { code, noun, schemes }: UrlList): Finding[] {
  const text = storedUrl(url);
  const problem = urlProblem(text, noun, schemes);
  if (!isUrl(url)) {
    const [what, advice] = problem ?? ['is not a URL', 'Check its host and port.'];
    const message = `The ${noun} ${shown(url)} ${what}.`;
    return [{ code: 'ERR_VALIDATION', severity: 'error', path: shownUrl(url), message, advice }];
  }
  const problems: Problem[] = problem ? [problem] : [];
  if (url.trim() !== url) problems.push(['has whitespace around it', 'The torrent has it without.']);
  if (!problem && url.trim() !== text) problems.push(['has blanks', 'The torrent has %20 for each of them.']);
  return problems.map(([what, advice]) =>
    warning(code, shownUrl(url), `The ${noun} ${shown(url)} ${what}.`, { advice }),
  );
}

const SCHEME = /^([a-z][a-z\d+.-]*):(\/\/)?/i;

/** The first problem of a URL that has no whitespace around it. */
function urlProblem(url: string, noun: string, schemes: readonly string[]): Problem | null {
  if (url === '') return ['is empty', 'Leave it out.'];
  if (holdsSeveral(url, noun)) return ['is more than one URL', 'Give each URL by itself.'];
  const [start = '', scheme = '', slashes] = SCHEME.exec(url) ?? [];
  const known = schemes.includes(scheme.toLowerCase());
  if (!slashes && !known && !isOtherScheme(scheme, url.slice(start.length)))
    return ['has no scheme', `Write it as ${shownUrl(`${schemes[0]}://${url.replace(/^\/+/, '')}`).slice(0, 80)}.`];
  if (!known) return [`has the unknown scheme ${scheme}`, `Use one of these: ${schemes.join(', ')}.`];
  const authority = /^[^/?#]*/.exec(url.slice(start.length))?.[0] ?? '';
  const address = authority.slice(authority.lastIndexOf('@') + 1);
  if (!slashes || address.replace(/:\d*$/, '') === '') return ['has no host', `Write it as ${scheme}://HOST/PATH.`];
  const port = /:(\d+)$/.exec(address)?.[1];
  if (port !== undefined && Number(port) === 0) return ['has port 0', 'Use a port from 1 to 65535.'];
  if (scheme.toLowerCase() === 'udp' && port === undefined)
    return ['has no port, and UDP trackers have no default port', `Write it as ${scheme}://HOST:PORT/announce.`];
  return null;
}

/** Whether what is before a colon is a scheme, as in `magnet:?xt=1`, and not a host with a port. */
function isOtherScheme(scheme: string, rest: string): boolean {
  return scheme !== '' && !scheme.includes('.') && !/^\d/.test(rest);
}

/** Whether a text is several URLs. A webseed may have commas in its path, and any URL may have another in its query. */
function holdsSeveral(url: string, noun: string): boolean {
  const [beforeQuery = ''] = url.split(/[?#]/, 1);
  const hasComma = noun === 'tracker' && beforeQuery.includes(',');
  return hasComma || /\s/.test(url) || /:\/\/.*:\/\//s.test(beforeQuery);
}

/** URLs that are in their list before, also with another case of the scheme or host, or with the default port. */
function duplicates({ code, noun, urls }: UrlList): Finding[] {
  const seen = new Set<string>();
  return urls.flatMap((url) => {
    const isNew = seen.size < seen.add(urlKey(url)).size;
    if (isNew) return [];
    const own = noun === 'tracker' ? 'duplicate_tracker' : code;
    return [warning(own, shownUrl(url), `The ${noun} ${shown(url)} is given twice.`, { advice: 'Give it once.' })];
  });
}

/** Warns of the magnet link of a private torrent. */
export function magnetFindings(isPrivate: boolean | null | undefined): Finding[] {
  if (!isPrivate) return [];
  const message =
    'The torrent is private, but its magnet link may have a passkey, and clients ask the DHT for the torrent before they know that.';
  return [warning('private_magnet', null, message, { advice: 'Give others the torrent file instead.' })];
}

/** Finds the trackers and nodes that a private torrent lacks or cannot use. */
export function privateFindings(trackers: readonly string[], nodes = 0): Finding[] {
  const lonely = 'A private torrent gets its peers from trackers only, and this one has no tracker.';
  const toAdd = 'Add a tracker, or do not make the torrent private.';
  const unused = 'Clients do not use the DHT for a private torrent, but this one has DHT nodes.';
  const toOmit = 'Leave the nodes out, or do not make the torrent private.';
  return [
    ...(trackers.length === 0 ? [warning('private_without_tracker', null, lonely, { advice: toAdd })] : []),
    ...(nodes > 0 ? [warning('private_with_nodes', null, unused, { advice: toOmit })] : []),
  ];
}

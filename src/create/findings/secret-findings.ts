/** Finds what would give secrets away: torrents among the content, and personal keys, passwords and tokens in URLs. */
import { asWebUrl, hasPersonalKey, hasSecret } from '../../text/urls.ts';
import type { Draft } from '../draft-fields.ts';
import type { TorrentLayout } from '../torrent-layout.ts';
import { type Finding, listed, MAX_LISTED, warning } from './findings.ts';

/** The findings about the secrets of a draft, except those in its trackers. */
export function secretFindings(
  { fields, info }: Pick<Draft, 'fields' | 'info'>,
  layout: Pick<TorrentLayout, 'torrents'> | null,
): Finding[] {
  const webseeds = [fields.urlList ?? [], fields.httpseeds ?? []].flat();
  const torrents = layout?.torrents ?? [];
  const first = torrents.toSorted().slice(0, MAX_LISTED);
  const ofFiles = first.map((path) => {
    const message = `${path} is named like a torrent, which may have the passkey of a tracker.`;
    const advice = 'Leave it out, unless everybody who gets the torrent may have it.';
    return warning('torrent_files', path, message, { advice, option: { exclude: true } });
  });
  return [
    ...webseedSecrets(info.private, webseeds),
    ...listed(ofFiles, torrents.length, 'files that are named like torrents'),
  ];
}

/** The findings about webseeds. No finding holds a secret: each names the host alone. */
export function webseedSecrets(isPrivate: boolean | null | undefined, webseeds: readonly string[]): Finding[] {
  return hostsOf((isPrivate ? [] : webseeds).filter(hasSecret)).map((host) => {
    const message = `The URL of the webseed ${host} has a password, signature or token, but the torrent is not private.`;
    const advice = 'Use a URL without it: everybody who gets the torrent can read it.';
    return warning('webseed_secret', host, message, { advice });
  });
}

/** The findings about the keys in the URLs of trackers. No finding holds a key: each names the host alone. */
export function personalFindings(isPrivate: boolean | null | undefined, trackers: readonly string[]): Finding[] {
  const personal = hostsOf(trackers.filter(hasPersonalKey));
  if (!isPrivate)
    return personal.map((host) => {
      const message = `The URL of the tracker ${host} has a personal key, but the torrent is not private.`;
      const advice = 'Make it private: everybody who gets the torrent can use the key.';
      return warning('personal_tracker', host, message, { advice, option: { private: true } });
    });
  const known = new Set(personal);
  const unlike = personal[0] === undefined ? '' : `, unlike that of ${personal[0]}`;
  // A private site may know its users by their addresses, but hardly one has a tracker without HTTP.
  const others = hostsOf(trackers.filter((url) => unlike || /^\s*(udp|ws)/i.test(url)));
  return others.flatMap((host) => {
    if (known.has(host)) return [];
    const message = `The tracker ${host} may be public: its URL has no personal key${unlike}.`;
    return [warning('public_tracker', host, message, { advice: 'Leave it out if it is public.' })];
  });
}

const hostsOf = (urls: readonly string[]) => [...new Set(urls.flatMap((url) => asWebUrl(url)?.hostname ?? []))];

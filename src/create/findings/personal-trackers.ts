/** Finds the personal keys of private sites in torrents that are not private, and public trackers beside them. */
import { asWebUrl } from '../../text/urls.ts';
import { type Finding, warning } from './findings.ts';

/** The findings about the keys in the URLs of trackers. No finding holds a key: each names the host alone. */
export function personalFindings(isPrivate: boolean | null | undefined, trackers: readonly string[]): Finding[] {
  const personal = hostsOf(trackers.filter(isPersonal));
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

/** Parameters that hold a personal key. */
const KEY_NAME = /^(?:pass_?key|auth(?:_?key)?|torrent_?pass|(?:rss|api)_?key|p(?:id|k)|token|secret|key)$/i;
/** A personal key anywhere: a UUID, hexadecimal digits, or letters and digits. */
const KEY = /^(?:[\da-f-]{32,}|(?=.*\d)(?=.*[a-z])[a-z\d]{24,})$/i;

/** Whether the URL of a tracker has a personal key, such as a passkey: a private site gives each user another one. */
function isPersonal(tracker: string): boolean {
  const url = asWebUrl(tracker);
  if (!url) return false;
  if (url.password !== '') return true;
  const isKey = ([name, value]: [string, string]) =>
    KEY.test(value) || (KEY_NAME.test(name) && /^[\w-]{8,}$/.test(value));
  return url.pathname.split('/').some((segment) => KEY.test(segment)) || [...url.searchParams].some(isKey);
}

/** Parses and compares URLs, repairs the whitespace of those that a caller gives, and hides the secrets of those in messages. */

/** The URL as a torrent stores it: without whitespace around it, and with blanks as %20. Several URLs in one text stay as they are. */
export function storedUrl(url: string): string {
  const text = url.trim();
  return /:\/\/.*:\/\//s.test(text) ? text : text.replaceAll(' ', '%20');
}

/**
 * A text that is equal for URLs of the same resource: the case of the scheme and host, the default port and whitespace around the URL
 * do not count.
 */
export function urlKey(url: string): string {
  const scheme = url.trim().split(':', 1)[0] as string;
  return `${scheme.toLowerCase()} ${asWebUrl(url)?.href ?? url.trim()}`;
}

const ASCII = /^[\0-\x7f]*$/;

/** Parses a URL; null for anything else. In Node 20 and 22, `URL.canParse` refuses other letters than ASCII once it has run some thousand times. */
export function parseUrl(text: string, base?: string): URL | null {
  // Saves the error.
  if (ASCII.test(text + (base ?? '')) && !URL.canParse(text, base)) return null;
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** Whether a text is a URL: see {@link parseUrl}. */
export function isUrl(text: string): boolean {
  return ASCII.test(text) ? URL.canParse(text) : parseUrl(text) !== null;
}

/**
 * The URL of a file below another URL.
 *
 * @param path The names of the folders and the file.
 * @returns null for a base that no path can be appended to: one with a query or fragment, without a host, or with no slashes
 */
export function urlBelow(base: string, path: readonly string[]): string | null {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/\\?#][^?#]*$/i.test(base) || !isUrl(base)) return null;
  return (base.endsWith('/') ? base : `${base}/`) + path.map(encodeURIComponent).join('/');
}

/** A URL with the scheme HTTP instead of one whose hosts Node does not parse, such as UDP; null for anything but a URL. */
export function asWebUrl(url: string): URL | null {
  const [, scheme = '', rest = ''] = /^\s*([a-z][a-z\d+.-]*)(:\/\/.*)$/is.exec(url) ?? [];
  // libtorrent takes port 80 as the default of UDP too.
  const text = /^(https?|wss?|ftp)$/i.test(scheme) ? url : `http${rest}`;
  return parseUrl(text);
}

/** A host, perhaps with a port, in lower case; a name in other letters is in Punycode. Null for any other text. */
export function hostKey(text: string): string | null {
  const url = /[/?#@\s\\]|:$/.test(text) ? null : parseUrl(`http://${text}`);
  // A URL drops the port 80.
  return url && hostOf(url) + (/:\d+$/.exec(text) ? `:${url.port || 80}` : '');
}

/** The host of a URL as {@link hostKey} writes it: with its port, and without. Empty for anything but a URL. */
export function hostKeysOf(text: string): string[] {
  const url = asWebUrl(text);
  if (!url) return [];
  return [`${hostOf(url)}:${url.port || (/^(http|ws)s/.test(url.protocol) ? 443 : 80)}`, hostOf(url)];
}

const hostOf = (url: URL): string => url.hostname.replace(/\.$/, '');

/** Parameters whose values are secrets: signatures, tokens, passwords and keys. */
const SECRET =
  '[\\w.-]*(?:signature|token|secret|credential|password|passwd|passphrase|pass_?key|torrent_?pass|auth|authorization|(?:auth|rss|api|access|private)_?key|jwt|hmac)|sig|pwd|pass|hdn(?:ts|ea)';
/** Parameters that may be short for something else. */
const SHORT = 'p(?:id|k)|key';
const [IS_SECRET, IS_SHORT] = [SECRET, SHORT].map((names) => new RegExp(`^(?:${names})$`, 'i')) as [RegExp, RegExp];
/** A personal key anywhere: a UUID, hexadecimal digits, or letters and digits. */
const KEY = /^(?:[\da-f-]{32,}|(?=.*\d)(?=.*[a-z])[a-z\d]{24,})$/i;

/** Whether a URL gives a password away, or a parameter that is a secret. */
export function hasSecret(text: string): boolean {
  const url = asWebUrl(text);
  const isSecret = ([name, value]: [string, string]) =>
    IS_SECRET.test(name) ? value !== '' : IS_SHORT.test(name) && /^[\w-]{8,}$/.test(value);
  return url !== null && (url.username + url.password !== '' || [...url.searchParams].some(isSecret));
}

/** Whether a URL has a personal key, such as the passkey of a tracker: a private site gives each user another one. */
export function hasPersonalKey(text: string): boolean {
  const url = asWebUrl(text);
  const values = url ? [...url.pathname.split('/'), ...url.searchParams.values()] : [];
  return hasSecret(text) || values.some((value) => KEY.test(value));
}

/** The start of a URL, also with slashes that are missing, or encoded in a parameter of another URL. */
const START =
  /((?:[a-z][a-z\d+.-]{1,20}(?::\/\/|%3A%2F%2F)|\b(?:https?|ftps?|wss?|udp|s3|rediss?|valkey|postgres(?:ql)?):)[\\/]*)/i;
const PARAMETER = new RegExp(
  `((?:[?&;#]|%3F|%26|%23)(?:${SECRET}|${SHORT})(?:=|%3D))(?!\\*\\*\\*)[^&#\\s]*[^&#\\s.,:;'")\\]>]`,
  'gi',
);

/**
 * A text without the users, passwords and secret parameters of the URLs in it, which need not be valid: `https://***@host/?token=***`.
 *
 * @param end Where a URL ends. A text that is a URL itself may have blanks in its password.
 */
export function withoutSecrets(text: string, end: RegExp = /\s|$/): string {
  if (!/[@=]|%40|%3D/i.test(text)) return text;
  const parts = text.split(START).map((part, i) => (i > 0 && i % 2 === 0 ? withoutUser(part, end) : part));
  return parts.join('').replace(PARAMETER, '$1***');
}

/** @param rest A URL from its host on, and the text behind it. */
function withoutUser(rest: string, end: RegExp): string {
  const url = rest.slice(0, rest.search(end));
  const authority = (/^[^\\/?#]*/.exec(url) as RegExpExecArray)[0];
  // A password with a slash makes the URL malformed.
  const isWhole = /@|%40/i.test(authority) || isUrl(`http://${authority}`);
  const [user] = /^.*(?=@|%40)/is.exec(isWhole ? authority : url) ?? [];
  return user === undefined ? rest : `***${rest.slice(user.length)}`;
}

/** A text that may be a URL, for messages: without secrets and personal keys. Other texts stay as they are. */
export function shownUrl(text: string): string {
  const safe = withoutSecrets(text, /$/);
  return /^\s*[a-z][a-z\d+.-]+:\/\//i.test(safe)
    ? safe.replace(/[^/?#&=]+/g, (part) => part.replace(KEY, '***'))
    : safe;
}

/** Parses and compares URLs, and repairs the whitespace of those that a caller gives. */

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

/** A URL with the scheme HTTP instead of one whose hosts Node does not parse, such as UDP; null for anything but a URL. */
export function asWebUrl(url: string): URL | null {
  const [, scheme = '', rest = ''] = /^\s*([a-z][a-z\d+.-]*)(:\/\/.*)$/is.exec(url) ?? [];
  // libtorrent takes port 80 as the default of UDP too.
  const text = /^(https?|wss?|ftp)$/i.test(scheme) ? url : `http${rest}`;
  return URL.canParse(text) ? new URL(text) : null;
}

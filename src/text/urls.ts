/** Compares URLs, and repairs the whitespace of those that a caller gives. */

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
  const [, scheme = '', rest = ''] = /^\s*([a-z][a-z\d+.-]*)(:\/\/.*)$/is.exec(url) ?? [];
  // Node parses the hosts of web schemes only. libtorrent takes port 80 as the default of UDP too.
  const isWeb = /^(https?|wss?|ftp)$/i.test(scheme);
  const text = `${isWeb ? scheme : 'http'}${rest}`;
  return URL.canParse(text) ? `${scheme.toLowerCase()} ${new URL(text).href}` : url.trim();
}

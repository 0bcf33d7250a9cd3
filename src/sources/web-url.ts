/** Checks the URL of a web object, takes its credentials out, and finds the name that it gives to a torrent. */
import { shown } from '../errors/errors.ts';
import { invalidArgument } from '../errors/guard.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { latin1Text, utf8Bytes } from '../platform/node.ts';
import { parseUrl } from '../text/urls.ts';

/** The URL of a web object. */
export interface WebUrl {
  /** The URL without credentials and fragment: it is fit for messages and torrents. */
  href: string;
  /** The value of the header `Authorization` for the credentials in the URL; null if it has none. */
  authorization: string | null;
  /** The last segment of the path, decoded; null if a torrent cannot have it as its name. */
  name: string | null;
}

/** Parses the URL of a web object. Throws `ERR_INVALID_ARGUMENT` unless it is of http or https and does not end with a slash. */
export function parseWebUrl(url: unknown): WebUrl {
  const parsed = typeof url === 'string' ? parseUrl(url) : null;
  if (!parsed) throw invalidArgument(`${shown(url)} is not a URL`);
  const authorization = authorizationOf(parsed);
  parsed.username = '';
  parsed.password = '';
  parsed.hash = '';
  const { href, protocol } = parsed;
  if (!isWeb(protocol))
    throw invalidArgument(`${href} has the scheme ${protocol} but only http: and https: are supported`);
  // BEP 19: clients append the torrent's name to such a URL.
  if (href.endsWith('/')) throw invalidArgument(`${href} ends with a slash: give the URL of a file`);
  return { href, authorization, name: nameIn(parsed.pathname) };
}

/** Whether a protocol is that of the web. */
export const isWeb = (protocol: string): boolean => protocol === 'http:' || protocol === 'https:';

function authorizationOf({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  const text = `${decoded(username) ?? username}:${decoded(password) ?? password}`;
  return `Basic ${btoa(latin1Text(utf8Bytes(text)))}`;
}

/** The last segment of a path, decoded; null if a torrent cannot have it as its name. */
export function nameIn(pathname: string): string | null {
  const name = decoded(pathname.slice(pathname.lastIndexOf('/') + 1));
  return name === null || unsafeComponent(name) !== null ? null : name;
}

/** Percent-decodes a text; null if the bytes are not UTF-8. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

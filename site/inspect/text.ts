/** Texts as the page shows them: names of strangers, and messages of the library. It touches no document. */
import { printable } from '../../src/text/printable.ts';

/** A joiner between two emoji, which makes one of them. */
const JOINER = /\u200d(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?\u200d)(?=\p{Extended_Pictographic})/u;

/** Makes untrusted text safe to show: {@link printable}, but emoji stay whole. */
export function visible(text: string): string {
  return text.split(JOINER).map(printable).join('\u200d');
}

/** The parts of messages that name options of the command or of the library: the page has none of them. */
const OPTIONS = [
  / \(profile compat, --compat, accepts it\)/g,
  /: raise it with limits: \{.*?\} if you trust the input/g,
  /, and more with limits: \{.*?\}/g,
  / ?Write composed names in the torrent with normalize: 'nfc'\./g,
];

/** A message of the library without the options that it names. */
export function withoutOptions(message: string): string {
  return OPTIONS.reduce((text, option) => text.replace(option, ''), message);
}

/** The address of a peer: IPv6 in brackets. */
export function peerText(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A pasted text as a magnet link: an infohash of 40 or 64 hexadecimal digits becomes one. */
export function magnetText(text: string): string {
  const hash = text.trim();
  if (/^[\da-f]{40}$/i.test(hash)) return `magnet:?xt=urn:btih:${hash}`;
  return /^[\da-f]{64}$/i.test(hash) ? `magnet:?xt=urn:btmh:1220${hash}` : text;
}

const FLAGS = new Map([
  ['x', 'executable'],
  ['h', 'hidden'],
  ['l', 'symlink'],
]);

/** The flags of a file (BEP 47) in words. @param target That of a symbolic link, if the torrent has one. */
export function flagsText(attr: string | null, target: string | undefined): string {
  const flags = [...(attr ?? '')].map((flag) =>
    flag === 'l' && target !== undefined ? `→ ${target}` : (FLAGS.get(flag) ?? flag),
  );
  return visible(flags.join(', '));
}

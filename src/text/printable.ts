/** Escapes that make untrusted text safe to print. */

/** Escapes that were made before. A text may consist of escapes only, and each would otherwise be a new string. */
const escapes = new Map<string, string>();
/** Code units to escape at once: `replace` holds all replacements in memory until it ends. */
const CHUNK = 2 ** 16;

/** Replaces the characters of a text that could change what a terminal shows. */
export function escaped(text: string, replace: (char: string) => string): string {
  // The other expression takes half a millisecond to compile.
  if (/^[ -~]*$/.test(text)) return text;
  // Controls, line separators, and characters that have no width or change the direction of text. Variation selectors are
  // allowed, as they only choose a form of the character before them, as in emoji.
  const unprintable = /(?![\ufe00-\ufe0f])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
  let all = '';
  for (let at = 0; at < text.length; ) {
    // Do not split a surrogate pair.
    const isHalf = (text.codePointAt(at + CHUNK - 1) ?? 0) > 0xffff;
    const end = at + CHUNK + (isHalf ? 1 : 0);
    all += text.slice(at, end).replace(unprintable, replace);
    at = end;
  }
  return all;
}

/** Makes untrusted text safe to print: unprintable characters become \xNN, \uNNNN or \u{NNNNN}. */
export function printable(text: string): string {
  return escaped(text, (char) => {
    const known = escapes.get(char);
    if (known !== undefined) return known;
    const shown = escapeOf(char.codePointAt(0) as number);
    escapes.set(char, shown);
    return shown;
  });
}

function escapeOf(code: number): string {
  // A byte of a name that is not UTF-8: see `nameText`.
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code & 0xff).toString(16)}`;
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** Does what {@link printable} does, but with an escape for each character beyond ASCII in names that would look like another one of these. */
export function distinctly(names: Iterable<string>): (name: string) => string {
  const formOf = (name: string) => printable(name).normalize('NFC');
  const forms = new Map<string, Set<string>>();
  for (const name of names) {
    if (/^[ -~]*$/.test(name)) continue;
    const form = formOf(name);
    forms.set(form, (forms.get(form) ?? new Set()).add(name));
  }
  return (name) => {
    if ((forms.get(formOf(name))?.size ?? 0) < 2) return printable(name);
    return printable(name).replace(/[^ -~]/gu, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`);
  };
}

/** Does what {@link printable} does, but keeps line feeds. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The first texts without full stops, and the number of the others: `a; b; and 3 more`. @param count That of all texts. */
export function joinFirst(texts: readonly string[], most: number, count = texts.length): string {
  const first = texts.slice(0, most).map((text) => text.replace(/(?<!\.)\.$/, ''));
  const more = count > first.length ? [`and ${count - first.length} more`] : [];
  return [...first, ...more].join('; ');
}

/** The rules of Windows for names of files and folders. */

/** Characters that no name on Windows may contain, apart from control characters and the two separators. */
export const WINDOWS_CHARACTERS = '<>:"|?*';

const FORBIDDEN = new RegExp(`[\\\\${WINDOWS_CHARACTERS}]`, 'g');

/** Names of devices, also with an extension or trailing spaces. */
const DEVICE_NAME = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d\u00b9\u00b2\u00b3]) *(\.|$)/i;

/** Whether Windows takes a name for that of a device: `con`, `nul.txt`, `LPT1`. */
export function isDeviceName(name: string): boolean {
  return DEVICE_NAME.test(name);
}

/** Matches most names that Windows can store, so that a million names take one test each. */
const PLAIN = new RegExp(
  `^(?!con|prn|aux|nul|com|lpt)[^\\\\\u0001-\u001f${WINDOWS_CHARACTERS}]*[^\\\\\u0001-\u001f${WINDOWS_CHARACTERS}. ]$`,
  'i',
);

/** Why Windows cannot store a name, as the end of a sentence about it; null if it can. */
export function windowsProblem(name: string): string | null {
  if (PLAIN.test(name)) return null;
  const chars = name.match(FORBIDDEN);
  if (chars) return `contains ${[...new Set(chars)].map((char) => `'${char}'`).join(', ')}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matching control characters is the purpose
  if (/[\u0001-\u001f]/.test(name)) return 'contains a control character';
  if (isDeviceName(name)) return 'is that of a device';
  if (/[. ]$/.test(name)) return `ends with a ${name.endsWith('.') ? 'dot' : 'space'}`;
  return null;
}

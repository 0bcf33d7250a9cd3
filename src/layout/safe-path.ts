/** Why a name cannot be a component of a path in a torrent; null when it can. */
export function unsafeComponent(name: string): string | null {
  if (name === '') return 'an empty name';
  if (name === '.' || name === '..') return `the name ${name}`;
  if (name.includes('/')) return 'a name with a slash';
  if (name.includes('\0')) return 'a name with a NUL';
  return null;
}

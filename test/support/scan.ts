/** Finds values in bencode without the code under test, to check offsets and infohashes. */

/** A value with its start and end; keys have one character per byte. */
export interface Node {
  start: number;
  end: number;
  entries: [key: string | number, node: Node][];
}

/** Reads bencode that must be complete, but need not be canonical. The first of two equal keys comes first. */
export function scan(bytes: Uint8Array, start = 0): Node {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (at: number): [from: number, to: number] => {
    const colon = buffer.indexOf(':', at);
    return [colon + 1, colon + 1 + Number(buffer.toString('latin1', at, colon))];
  };
  const kind = String.fromCharCode(buffer[start] as number);
  if (kind === 'i') return { start, end: buffer.indexOf('e', start) + 1, entries: [] };
  if (kind !== 'd' && kind !== 'l') return { start, end: text(start)[1], entries: [] };
  const entries: Node['entries'] = [];
  let at = start + 1;
  while (buffer[at] !== 0x65) {
    let key: string | number = entries.length;
    if (kind === 'd') {
      const [from, to] = text(at);
      key = buffer.toString('latin1', from, to);
      at = to;
    }
    const node = scan(bytes, at);
    entries.push([key, node]);
    at = node.end;
  }
  return { start, end: at + 1, entries };
}

/** Returns the bytes of `info`; undefined if there is none. */
export function infoOf(bytes: Uint8Array): Uint8Array | undefined {
  const node = scan(bytes).entries.find(([key]) => key === 'info')?.[1];
  return node && bytes.subarray(node.start, node.end);
}

/** Returns the offset of the value at an issue's path, or of the deepest value that exists on the way to it. */
export function offsetOf(bytes: Uint8Array, path: readonly (string | number)[]): number {
  let node = scan(bytes);
  for (const step of path) {
    const below = node.entries.find(([key]) => (typeof key === 'number' ? key : readable(key)) === step);
    if (!below) break;
    [, node] = below;
  }
  return node.start;
}

/** Formats a key as issues show it: as text, but roots and bytes that are not UTF-8 as hexadecimal. */
function readable(key: string): string {
  const bytes = Buffer.from(key, 'latin1');
  const text = bytes.toString('utf8');
  const isRoot = bytes.length === 32 && !/^[ -~]*$/.test(key);
  return isRoot || !Buffer.from(text).equals(bytes) ? bytes.toString('hex') : text;
}

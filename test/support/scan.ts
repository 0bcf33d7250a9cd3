// Where things stand in bencode, found without the sources: what places and infohashes are held against.

/** A value and where it begins and ends; keys are one char a byte. */
export interface Node {
  start: number;
  end: number;
  entries: [key: string | number, node: Node][];
}

/** Reads what need not be canonical, but must be whole. Of a key that comes twice the first is found first. */
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

/** The bytes of `info`; undefined when there is none. */
export function infoOf(bytes: Uint8Array): Uint8Array | undefined {
  const node = scan(bytes).entries.find(([key]) => key === 'info')?.[1];
  return node && bytes.subarray(node.start, node.end);
}

/** Where the value at an issue's path begins, or what should have held it. */
export function offsetOf(bytes: Uint8Array, path: readonly (string | number)[]): number {
  let node = scan(bytes);
  for (const step of path) {
    const below = node.entries.find(([key]) => (typeof key === 'number' ? key : readable(key)) === step);
    if (!below) break;
    [, node] = below;
  }
  return node.start;
}

/** A key as issues show it: text, but roots and what is no UTF-8 in hexadecimal. */
function readable(key: string): string {
  const bytes = Buffer.from(key, 'latin1');
  const text = bytes.toString('utf8');
  const isRoot = bytes.length === 32 && !/^[ -~]*$/.test(key);
  return isRoot || !Buffer.from(text).equals(bytes) ? bytes.toString('hex') : text;
}

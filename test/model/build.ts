/** Builds torrent files for tests with reference code alone, without the code under test. */
import { type Plain, reference } from '../bencode/reference.ts';
import { v1Pieces, v2Hashes } from '../hash/reference.ts';

export const PIECE = 32_768;

/** The files of a folder by path with `/`, in the order of the torrent, or the bytes of a single file. */
export type Content = Buffer | Readonly<Record<string, Buffer>>;

/** Keys to set; undefined removes a key. */
type Changes = Readonly<Record<string, Plain | undefined>>;

interface Recipe {
  version: 'v1' | 'v2' | 'hybrid';
  content: Content;
  info?: Changes;
  top?: Changes;
}

export const NAME = 'album';

/** The bytes of a torrent file and of its info dictionary. */
export function build({ version, content, info = {}, top = {} }: Recipe): { bytes: Buffer; info: Buffer } {
  const single = content instanceof Buffer;
  const files = Object.entries(single ? { [NAME]: content } : content);
  const layers = new Map<string, Buffer>();
  const whole: Record<string, Plain> = { name: NAME, 'piece length': PIECE };
  if (version !== 'v1') {
    Object.assign(whole, { 'meta version': 2, 'file tree': tree(files, layers) });
  }
  if (version !== 'v2') Object.assign(whole, v1Part(files, single, version === 'hybrid'));
  const changed = withChanges(whole, info);
  const rest: Record<string, Plain> = version === 'v1' ? {} : { 'piece layers': layers };
  return { bytes: reference(withChanges({ ...rest, info: changed }, top)), info: reference(changed) };
}

function withChanges(given: Record<string, Plain>, changes: Changes): Record<string, Plain> {
  const entries = Object.entries({ ...given, ...changes });
  return Object.fromEntries(entries.filter((entry): entry is [string, Plain] => entry[1] !== undefined));
}

function v1Part(files: [path: string, content: Buffer][], single: boolean, padded: boolean): Record<string, Plain> {
  const list: Plain[] = [];
  const stream: Buffer[] = [];
  for (const [path, content] of files) {
    list.push({ length: content.length, path: path.split('/') });
    stream.push(content);
    const pad = padded && !single ? (PIECE - (content.length % PIECE)) % PIECE : 0;
    if (pad === 0) continue;
    list.push({ attr: 'p', length: pad, path: ['.pad', String(pad)] });
    stream.push(Buffer.alloc(pad));
  }
  const bytes = Buffer.concat(stream);
  const pieces = Buffer.concat(v1Pieces(bytes, PIECE));
  return single ? { pieces, length: bytes.length } : { pieces, files: list };
}

interface Tree {
  [name: string]: Tree | Plain;
}

function tree(files: [path: string, content: Buffer][], layers: Map<string, Buffer>): Plain {
  // Without a prototype, a file may be called `constructor`.
  const empty = () => Object.create(null) as Tree;
  const root = empty();
  for (const [path, content] of files) {
    let node = root;
    for (const name of path.split('/')) {
      node[name] ??= empty();
      node = node[name] as Tree;
    }
    const hashes = content.length > 0 ? v2Hashes(content, PIECE) : null;
    node[''] = { length: content.length, ...(hashes && { 'pieces root': hashes.root }) };
    if (hashes && hashes.layer.length > 0) layers.set(hashes.root.toString('latin1'), Buffer.concat(hashes.layer));
  }
  return root as Plain;
}

/** Makes mutants of valid torrents from a fixed seed, and compares the verdicts of a profile and of libtorrent. */
import { mutate } from '../../fuzz/engine/mutate.ts';
import { pick, seedRandom } from '../../fuzz/engine/random.ts';
import { TORRENT_WORDS } from '../../fuzz/engine/target.ts';
import { BencodeError } from '../../src/bencode/bencode-error.ts';
import { decodeTrusted } from '../../src/bencode/decode.ts';
import { LimitError, NO_LIMITS } from '../../src/bencode/limits.ts';
import { type BencodeValue, toKey } from '../../src/bencode/value.ts';
import { isNamedLikePad } from '../../src/layout/padding.ts';
import type { InfoDictV1 } from '../../src/model/info-dict.ts';
import type { Profile } from '../../src/model/profile.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import {
  A,
  B,
  EMPTY,
  file,
  folder,
  hybrid,
  LAYER,
  layers,
  leaf,
  long,
  PAD_A,
  PAD_B,
  PIECE,
  pad,
  ROOT,
  single,
  TREE,
  torrent,
  v2,
  withLayers,
} from './build.ts';
import type { ContentAnswer } from './libtorrent.ts';

const LINK = { ...file(0, 'l'), attr: 'l', 'symlink path': ['a'] };
const LEAF_LINK = { '': { attr: 'l', length: 0, 'symlink path': ['a'] } };
const TOP = {
  announce: 'http://a.example/',
  'announce-list': [['http://a.example/'], ['udp://b.example:1/x']],
  'creation date': 9,
  nodes: [['a.example', 6881]],
  'url-list': ['http://w.example/'],
};

/** The torrents to mutate. They are no fixtures, because a new fixture would change every mutant. */
const PARENTS: readonly Buffer[] = [
  torrent(single, TOP),
  torrent({ ...single, 'name.utf-8': 'é', private: 1, source: 's' }),
  torrent(folder([file(PIECE, 'x', 'y'), { ...file(5, 'z'), attr: 'x' }]), TOP),
  torrent(folder([{ ...file(5, 'x'), 'path.utf-8': ['é', 'x'] }, LINK])),
  torrent(folder([A, PAD_A, B])),
  torrent(folder([A, file(PIECE - 5, '_____padding_file_0_'), B])),
  withLayers(long, layers([ROOT, LAYER]), TOP),
  withLayers(v2({ a: leaf(5) })),
  withLayers(v2({ a: { b: leaf(5), c: leaf(0) }, d: leaf(PIECE, { attr: 'x' }), l: LEAF_LINK }, { private: 1 })),
  withLayers({ ...long, length: 20_000, pieces: Buffer.alloc(40, 1) }, layers([ROOT, LAYER])),
  withLayers(hybrid([A, PAD_A, B, PAD_B], TREE)),
  withLayers(hybrid([A, PAD_A, B, EMPTY], { ...TREE, c: leaf(0) }, { source: 's' })),
  withLayers(hybrid([{ ...A, 'path.utf-8': ['a'] }, pad(PIECE - 5), B], TREE, { 'name.utf-8': 'a' })),
];

/** Returns mutants: always the same for the same seed and count. */
export function mutants(count: number, seed: number): Buffer[] {
  seedRandom(seed);
  return Array.from({ length: count }, () => mutate(pick(PARENTS), pick(PARENTS), TORRENT_WORDS));
}

interface Verdict {
  torrent: Torrent | null;
  /** The code and the place of the first issue. */
  why: string;
}

function judge(bytes: Buffer, profile: Profile): Verdict {
  try {
    const { torrent: read, issues } = Torrent.inspect(bytes, { context: { profile } });
    return { torrent: read, why: issues[0] ? `${issues[0].code}${placeOf(bytes, issues[0].path)}` : '' };
  } catch (error) {
    if (error instanceof BencodeError) return { torrent: null, why: error.bencodeCode };
    if (error instanceof LimitError) return { torrent: null, why: error.limit };
    throw error;
  }
}

/** The place of an issue in a mutant: an index is `#`, a name of the file tree and the root of a layer are `*`. */
function placeOf(bytes: Buffer, path: readonly (string | number)[]): string {
  const [top, key = ''] = path;
  if (top === 'piece layers' && /^[0-9a-f]{64}$/.test(String(key))) {
    const root = Buffer.from(String(key), 'hex');
    return ` at piece layers.*, ${bytes.indexOf(root) === bytes.lastIndexOf(root) ? 'of no file' : 'of a file'}`;
  }
  if (path.length === 0) return '';
  const leaf = path.indexOf('', 2);
  const below =
    key === 'file tree' ? (leaf < 0 ? path.slice(2).map(() => '*') : ['*', ...path.slice(leaf + 1)]) : path.slice(2);
  const place = [top, ...path.slice(1, 2), ...below].map((step) => (typeof step === 'number' ? '#' : step)).join('.');
  return ` at ${place}${below.length > 1 && isLink(bytes, path) ? ' of a link' : ''}`;
}

/** Whether the file above a place is a symbolic link. */
function isLink(bytes: Buffer, path: readonly (string | number)[]): boolean {
  let value: BencodeValue | undefined = decodeTrusted(bytes, { tolerant: true, limits: NO_LIMITS }).value;
  for (const step of path.slice(0, -1)) {
    if (isLinkDictionary(value)) return true;
    if (value instanceof Map) value = value.get(toKey(String(step)));
    else value = Array.isArray(value) ? (value[Number(step)] as BencodeValue) : undefined;
  }
  return isLinkDictionary(value);
}

function isLinkDictionary(value: BencodeValue | undefined): boolean {
  const attr = value instanceof Map ? value.get('attr') : undefined;
  return attr instanceof Uint8Array && attr.includes(0x6c);
}

/** Why the sizes or the numbers of files differ: the cause, or `?` for an unknown one. */
function paddingCause({ info }: Torrent): string {
  const { files, extra } = info as InfoDictV1;
  if (!files) return extra?.get('attr') ? 'attr of a single file' : '?';
  return files.some(({ path, pathUtf8 }) => isNamedLikePad(pathUtf8 ?? path)) ? 'name of BitComet' : '?';
}

/** Why libtorrent refuses a torrent that a profile accepts: the cause, or `?` for an unknown one. */
function acceptedCause({ torrentVersion, warnings }: Torrent, error: string): string {
  const has = (code: string) => warnings.some((warning) => warning.code === code);
  if (error === 'missing name in torrent file')
    return torrentVersion === 'v2' && has('unsafe_path') ? 'of a v2 file' : '?';
  if (error === 'a piece layer is invalid') return has('not_canonical') ? 'two layers under one key' : '?';
  if (error.endsWith('does not specify meta version 2')) return has('meta_version') ? 'no meta version' : '?';
  return torrentVersion;
}

/**
 * Describes how a profile and libtorrent disagree about a torrent, and the cause as far as the torrent shows it; null if they agree, or if
 * the profile is stricter by design.
 */
export function disagreement(
  bytes: Buffer,
  profile: Profile,
  theirs: ContentAnswer | { error: string },
): string | null {
  const { torrent: ours, why } = judge(bytes, profile);
  if ('error' in theirs) {
    const error = theirs.error.replace(/ \[.*/, '');
    return ours && `accepted, libtorrent: ${error} (${acceptedCause(ours, error)})`;
  }
  // The profiles default and strict are stricter than libtorrent.
  if (profile !== 'compat') return null;
  if (!ours) return `refused: ${why} (${theirs.v1 === null ? 'v2' : theirs.v2 === null ? 'v1' : 'hybrid'})`;
  const { infohashV1, infohashV2, totalSize, nFiles, torrentVersion, info } = ours;
  if (theirs.v1 !== infohashV1 || theirs.v2 !== infohashV2) {
    const cause = torrentVersion === 'v2' && !('pieces' in info && info.pieces) ? 'no pieces' : '?';
    return `infohashes: ${torrentVersion} (${cause})`;
  }
  if (theirs.content !== totalSize) return `size: ${torrentVersion} (${paddingCause(ours)})`;
  return theirs.names === nFiles ? null : `files: ${torrentVersion} (${paddingCause(ours)})`;
}

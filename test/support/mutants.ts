/** Makes mutants of valid torrents from a fixed seed, and compares the verdicts of a profile and of libtorrent. */
import { mutate } from '../../fuzz/engine/mutate.ts';
import { pick, seedRandom } from '../../fuzz/engine/random.ts';
import { TORRENT_WORDS } from '../../fuzz/engine/target.ts';
import { BencodeError } from '../../src/bencode/bencode-error.ts';
import { LimitError } from '../../src/bencode/limits.ts';
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

function judge(bytes: Buffer, profile: Profile): { torrent: Torrent | null; why: string } {
  try {
    const { torrent: read, issues } = Torrent.inspect(bytes, { context: { profile } });
    return { torrent: read, why: issues[0]?.code ?? '' };
  } catch (error) {
    if (error instanceof BencodeError) return { torrent: null, why: error.bencodeCode };
    if (error instanceof LimitError) return { torrent: null, why: error.limit };
    throw error;
  }
}

/** Describes how a profile and libtorrent disagree about a torrent; null if they agree, or if the profile is stricter by design. */
export function disagreement(
  bytes: Buffer,
  profile: Profile,
  theirs: ContentAnswer | { error: string },
): string | null {
  const { torrent: ours, why } = judge(bytes, profile);
  if ('error' in theirs) return ours && `accepted, libtorrent: ${theirs.error.replace(/ \[.*/, '')}`;
  // The profiles default and strict are stricter than libtorrent.
  if (profile !== 'compat') return null;
  if (!ours) return `refused: ${why}`;
  const { infohashV1, infohashV2, totalSize, nFiles } = ours;
  if (theirs.v1 !== infohashV1 || theirs.v2 !== infohashV2) return `infohashes: ${ours.torrentVersion}`;
  if (theirs.content !== totalSize) return `size: ${ours.torrentVersion}`;
  return theirs.names === nFiles ? null : `files: ${ours.torrentVersion}`;
}

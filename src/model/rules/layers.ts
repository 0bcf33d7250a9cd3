/** The rules of v2 hashes: pieces roots and piece layers (BEP 52). */
import { shown, toHex } from '../../errors/errors.ts';
import { layerRoots } from '../../hash/merkle.ts';
import { BLOCK_SIZE, isPowerOfTwo } from '../../layout/piece-length.ts';
import { hexBytes, latin1Text } from '../../platform/node.ts';
import { HashList } from '../hash-list.ts';
import type { FlatFile } from '../lazy/flat-tree.ts';
import { pathOfLeaf, type Subject } from './subject.ts';

/** A file with content must have a pieces root, an empty file must not. Symbolic links have no content. */
export function piecesRoots({ flat, issues }: Subject): void {
  for (const file of flat ?? []) {
    const { length, piecesRoot, attr } = file;
    if (attr?.includes('l')) continue;
    const pathOf = () => [...pathOfLeaf(file), 'pieces root'];
    const isZero = piecesRoot?.every((byte) => byte === 0);
    if (length === 0 && piecesRoot) {
      const message = 'expected no pieces root for an empty file, got one';
      // Deluge writes a root of zeros.
      if (isZero && !issues.rules.isExact) issues.add('pieces_root', pathOf, message, 'warning');
      else issues.forgivable('pieces_root', pathOf, message);
    } else if (isZero) issues.add('pieces_root', pathOf, 'expected a hash, got 32 zero bytes');
    if (length > 0 && piecesRoot === undefined)
      issues.add('pieces_root', pathOf, () => `expected a pieces root for ${length} bytes, got nothing`);
  }
}

/** A v2 or hybrid torrent must have piece layers. */
export function pieceLayersIfV2({ version, layers, issues }: Subject): void {
  if (version === 'v1' || layers !== null) return;
  issues.forgivable('piece_layers_if_v2', ['piece layers'], 'expected piece layers, got nothing');
}

/** Each file longer than a piece must have a layer: one hash per piece, which hash to its root. No other layers are allowed. */
export function piecesLayersCorrect({ version, info, flat, layers, issues }: Subject): void {
  const { pieceLength } = info;
  if (version === 'v1' || !flat || !layers || !isPowerOfTwo(pieceLength) || pieceLength < BLOCK_SIZE) return;
  const expected = new Map<string, FlatFile>();
  for (const file of flat) {
    if (file.length > pieceLength && file.piecesRoot) expected.set(toHex(file.piecesRoot), file);
  }
  const pathOf = (root: string) => ['piece layers', keyOf(root)] as const;
  const report = (root: string, message: () => string) => issues.add('pieces_layers_correct', pathOf(root), message);
  const complete: string[] = [];
  for (const [root, file] of expected) {
    const layer = layers.get(root);
    const count = Math.ceil(file.length / pieceLength);
    const name = () => shown(file.path.join('/'));
    if (!layer && issues.covers(pathOf(root))) continue;
    if (!layer)
      issues.forgivable('pieces_layers_correct', pathOf(root), () => `expected a layer for ${name()}, got nothing`);
    else if (layer.length === count) complete.push(root);
    else report(root, () => `expected ${count} hashes for ${name()}, got ${layer.length}`);
  }
  for (const root of layers.keys()) {
    if (root.length === 64 && !expected.has(root))
      report(root, () => 'expected no layer: no file longer than a piece has this root');
  }
  const roots = layerRoots(
    complete.map((root) => HashList.viewOf(layers.get(root) as HashList)),
    pieceLength / BLOCK_SIZE,
  );
  for (const [i, root] of complete.entries()) {
    const got = toHex(roots.subarray(i * 32, (i + 1) * 32));
    if (got !== root) report(root, () => `expected hashes whose root is ${root}, got ${got}`);
  }
}

function keyOf(root: string): string {
  return latin1Text(hexBytes(root));
}

/** The limits of libtorrent on sizes, which the compat profile applies. */
import { v1Files } from '../file-item.ts';
import { LIBTORRENT_MAX_LENGTH, LIBTORRENT_MAX_PIECE_LENGTH, LIBTORRENT_MAX_PIECES } from '../limits.ts';
import { pathOfLeaf, type Subject } from './subject.ts';

/** In compat, sizes beyond those that libtorrent loads are errors. */
export function libtorrentSizes({ version, info, flat, issues }: Subject): void {
  if (!issues.compat) return;
  const check = (bytes: number, pathOf: () => (string | number)[]) => {
    const message = () => `expected at most ${LIBTORRENT_MAX_LENGTH}, got ${bytes}`;
    if (bytes > LIBTORRENT_MAX_LENGTH) issues.add('too_large', pathOf, message);
  };
  for (const [i, file] of (info.files ?? []).entries()) check(file.length, () => ['info', 'files', i, 'length']);
  for (const file of flat ?? []) check(file.length, () => [...pathOfLeaf(file), 'length']);
  if (version !== 'v2') check(info.length ?? 0, () => ['info', 'length']);
  const length = info.pieceLength ?? 0;
  const files = version === 'v1' || !flat ? v1Files(info) : flat;
  const count = (file: { length: number }) => Math.ceil(file.length / length);
  const pieces =
    version === 'v1' ? (info.pieces?.length ?? 0) : (files ?? []).reduce((all, file) => all + count(file), 0);
  if (length > 0 && pieces > LIBTORRENT_MAX_PIECES) {
    issues.add('too_large', ['info'], `expected at most ${LIBTORRENT_MAX_PIECES} pieces, got ${pieces}`);
  }
}

/** Longer pieces are valid by BEP 3, but libtorrent refuses them. */
export function maxPieceLength({ info, issues }: Subject): void {
  if (info.pieceLength == null || info.pieceLength <= LIBTORRENT_MAX_PIECE_LENGTH) return;
  const message = `expected at most ${LIBTORRENT_MAX_PIECE_LENGTH}, the longest that libtorrent loads, got ${info.pieceLength}`;
  issues.add('piece_length', ['info', 'piece length'], message, issues.rules.refusedByLibtorrent);
}

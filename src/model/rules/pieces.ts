/** The rules of v1 pieces: their number, and the padding that aligns files with them. */
import { shown } from '../../errors/errors.ts';
import { addPadfiles, firstMispadded, firstUnaligned } from '../../layout/padding.ts';
import { isPowerOfTwo } from '../../layout/piece-length.ts';
import { v1Files } from '../file-item.ts';
import { type Subject, totalLength } from './subject.ts';

/** The number of pieces must be what the sizes imply, pad files included. */
export function expectedNPieces({ version, info, issues }: Subject): void {
  const files = v1Files(info);
  const { pieces, pieceLength } = info;
  if (version === 'v2' || !files || !pieces || !(pieceLength && pieceLength > 0)) return;
  const total = totalLength(files);
  const expected = Math.ceil(total / pieceLength);
  if (!Number.isSafeInteger(total) || pieces.length === expected) return;
  const message = `expected ${expected} pieces (${total} bytes in pieces of ${pieceLength}), got ${pieces.length}`;
  issues.add('expected_n_pieces', ['info', 'pieces'], message);
}

/** The same for a draft: its list may have pad files already, or they may be added later. */
export function expectedDraftPieces(subject: Subject): void {
  const { files, pieces, pieceLength } = subject.info;
  const padded = files && pieces && isPowerOfTwo(pieceLength) ? totalLength(addPadfiles(files, pieceLength)) : 0;
  if (padded > 0 && pieces?.length === Math.ceil(padded / (pieceLength as number))) return;
  expectedNPieces(subject);
}

/**
 * Files must start where pieces start, as far as the context asks for it. A v1 list without pad files has nothing to align;
 * another rule compares the pad files of a hybrid with its tree.
 */
export function padfileAlignment({ version, info, isPad, context, issues }: Subject): void {
  const { files, pieceLength } = info;
  if (version === 'v2' || !files || !(pieceLength && pieceLength > 0)) return;
  const { padding = 'default' } = context;
  const pathOf = (index: number) => ['info', 'files', index];
  const pad = files.findIndex(isPad);
  if (padding === 'forbid') {
    if (pad >= 0) issues.add('padfile_alignment', pathOf(pad), 'expected no pad files, got one');
    return;
  }
  const strict = padding === 'strict' || (padding === 'default' && issues.rules.isExact);
  if (!(version === 'hybrid' ? strict || padding === 'default' : strict && pad >= 0)) return;
  const unaligned = firstUnaligned(files, pieceLength);
  if (unaligned >= 0) {
    const start = totalLength(files.slice(0, unaligned));
    const message = `expected a file to start at a multiple of ${pieceLength}, got ${start}`;
    issues.add('padfile_alignment', pathOf(unaligned), message);
    return;
  }
  const misplaced = version === 'v1' ? firstMispadded(files, pieceLength) : -1;
  if (misplaced < 0) return;
  const message = `expected a pad file that ends where the next piece starts, got one of ${files[misplaced]?.length} bytes`;
  issues.add('padfile_alignment', pathOf(misplaced), message);
}

/** A pad file must be named `.pad/<length>`, with a number after it where that repeats, in strict or when the context asks for it. */
export function padPath({ version, info, isPad, context, issues }: Subject): void {
  const { paddingPath = 'default' } = context;
  const strict = paddingPath === 'strict' || (paddingPath === 'default' && issues.rules.isExact);
  if (version === 'v2' || !strict) return;
  for (const [index, file] of (info.files ?? []).entries()) {
    const [folder = '', name = '', ...more] = file.path;
    const isNamed = more.length === 0 && /^\.pad_*$/.test(folder) && name.replace(/\.\d+$/, '') === String(file.length);
    if (!isPad(file) || isNamed) continue;
    const message = () => `expected .pad/${file.length}, got ${shown(file.path.join('/'))}`;
    issues.add('pad_path', ['info', 'files', index, 'path'], message);
  }
}

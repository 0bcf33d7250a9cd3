/** Warns, before any file is hashed, about properties of a torrent that readers and clients refuse. */
import type { IssueCode } from '../../errors/codes.ts';
import type { Issue } from '../../errors/errors.ts';
import { printable } from '../../text/printable.ts';
import { limitWarnings } from './reader-limits.ts';
import { SizesOf, type TorrentShape } from './torrent-sizes.ts';

/** Options of jobs that warn. */
export interface WarningOptions {
  /**
   * Called for each warning before the first file is hashed; with streams of unknown size, after the last. If it throws or
   * returns a promise that rejects, the job fails with that error.
   *
   * @default process.emitWarning, once for each code: a `MetainfoWarning` whose `code` is the code of the issue
   */
  onWarning?: ((warning: Issue) => unknown) | undefined;
}

/**
 * Warns about everything that readers and clients refuse.
 *
 * @throws {MetainfoError} `ERR_NAME` for a file tree that is too deep for any reader
 * @throws the error of `onWarning`
 */
export async function warn(shape: TorrentShape, { onWarning = emit }: WarningOptions): Promise<void> {
  for (const warning of await warningsOf(shape)) await onWarning(warning);
}

/** A server that makes many torrents gets one warning of each kind. */
const emitted = new Set<IssueCode>();

function emit({ code, message }: Issue): void {
  if (emitted.has(code)) return;
  emitted.add(code);
  // Node prints warnings raw, and file names may hold terminal escapes.
  process.emitWarning(printable(message), { type: 'MetainfoWarning', code });
}

/**
 * The warnings of a torrent.
 *
 * @throws {MetainfoError} `ERR_NAME` for a file tree that is too deep for any reader
 */
export async function warningsOf(shape: TorrentShape): Promise<Issue[]> {
  const warnings = await limitWarnings(new SizesOf(shape));
  return warnings.map(({ code, path, text, advice, option }) => {
    const message = advice === null ? text : `${text} ${advice}`;
    return { code, severity: 'warning', path, message, ...(option && { option }) };
  });
}

/** Warns, before any file is hashed, about properties of a torrent that readers and clients refuse. */
import { emitWarning } from '../../platform/node.ts';
import { printable } from '../../text/printable.ts';
import type { Finding } from './findings.ts';
import { limitFindings } from './reader-limits.ts';
import { SizesOf, type TorrentShape } from './torrent-sizes.ts';

/** Options of jobs that warn. */
export interface WarningOptions {
  /**
   * Called for each warning before the first file is hashed; with streams of unknown size, after the last. If it throws or
   * returns a promise that rejects, the job fails with that error.
   *
   * @default process.emitWarning, once for each code: a `MetainfoWarning` whose `code` is the code of the finding
   */
  onWarning?: ((warning: Finding) => unknown) | undefined;
}

/**
 * @internal Warns about everything that readers and clients refuse.
 *
 * @param others Further warnings.
 * @throws {MetainfoError} `ERR_NAME` for a file tree that is too deep for any reader
 * @throws the error of `onWarning`
 */
export async function warn(
  shape: TorrentShape,
  { onWarning = emit }: WarningOptions,
  others: readonly Finding[] = [],
): Promise<void> {
  for (const warning of [...(await limitFindings(new SizesOf(shape))), ...others]) await onWarning(warning);
}

/** A server that makes many torrents gets one warning of each kind. */
const emitted = new Set<Finding['code']>();

/** @internal The default of `onWarning`. */
export function emit({ code, message, advice }: Finding): void {
  if (emitted.has(code)) return;
  emitted.add(code);
  // Node prints warnings raw, and file names may hold terminal escapes.
  emitWarning(printable(`${message} ${advice}`), code);
}

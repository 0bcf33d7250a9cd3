/** Prevents a join from replacing a file of its plan. */

import { requireNoInput } from '../disk/output.ts';
import { realRoot } from './hash-part.ts';
import { diskPathOf } from './identity.ts';
import type { TorrentPlan, TorrentPlanFiles } from './torrent-plan.ts';

/**
 * Rejects an output that is one of the files of a plan, even under another name or through a link.
 *
 * @param output The torrent file; undefined for standard output.
 * @param options.root Where the path root of the plan is on this machine; by default where it was planned.
 * @throws {MetainfoError} `ERR_OUTPUT_IS_INPUT`
 */
export async function requireOutputNotPlanned(
  output: string | undefined,
  plan: TorrentPlan,
  { root = plan.root }: { root?: string | undefined } = {},
): Promise<void> {
  // A machine that cannot see the content cannot replace it.
  const real = await realRoot(root).catch(() => null);
  if (real === null) return;
  await requireNoInput(output, { withLength: (length) => filesOfLength(plan.files, length, real) });
}

function* filesOfLength(files: TorrentPlanFiles, length: number, root: string): Generator<{ diskPath: string }> {
  for (const [index, bytes] of files.length.entries()) {
    const isOnDisk = files.mtimeNs[index] !== null;
    if (isOnDisk && bytes === length) yield { diskPath: diskPathOf(files, index, root) };
  }
}

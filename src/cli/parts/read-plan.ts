/** Reads the plan that `metainfo plan --part-size` wrote. */

import { webFile } from '../../create/sources/web-source.ts';
import { invalidArgument } from '../../errors/guard.ts';
import type { OpenObject } from '../../parts/identity.ts';
import { parseJson } from '../../parts/plan-text.ts';
import type { TorrentPlan } from '../../parts/torrent-plan.ts';
import { nameOfInput, readInput } from '../terminal/standard-input.ts';

/** Bytes: a longer text does not fit into a string. */
const MAX_BYTES = 2 ** 29 - 1;

const HINT = { what: 'a plan', example: 'cat plan.json | metainfo hash-part - --index 0 --parts parts' };

/**
 * Reads a plan from a file or, for `-`, from standard input. {@link hashPart} and {@link joinParts} check it.
 *
 */
export async function readPlan(file: string): Promise<TorrentPlan> {
  const bytes = await readInput(file, MAX_BYTES, HINT);
  return parseJson(bytes, nameOfInput(file), ': make a plan with metainfo plan --part-size') as TorrentPlan;
}

/** Opens the web objects of a plan by their URLs. */
export const openObject: OpenObject = async ({ path, url }) => {
  if (url !== null) return webFile(url);
  const message = `${path} was planned from a source without a URL: hash its parts with the library, and its option open`;
  throw invalidArgument(message, { path });
};

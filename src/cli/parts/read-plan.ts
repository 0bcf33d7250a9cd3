/** Reads the plan that `metainfo plan --part-size` wrote. */
import { webFile } from '../../create/sources/web-source.ts';
import { withPath } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import type { TorrentPlan } from '../../parts/plan.ts';
import type { OpenObject } from '../../parts/planned-files.ts';
import { parsePlan } from '../../parts/read-plan.ts';
import { nameOfInput, readInput } from '../terminal/standard-input.ts';

/** Bytes: a longer text does not fit into a string. */
const MAX_BYTES = 2 ** 29 - 1;

const HINT = { what: 'a plan', example: 'cat plan.json | metainfo hash-part - --index 0 --parts parts' };

/** Reads and checks a plan from a file or, for `-`, from standard input. */
export async function readPlan(file: string): Promise<TorrentPlan> {
  const bytes = await readInput(file, MAX_BYTES, HINT);
  return (await parsePlan(bytes).catch((error: unknown) => {
    throw withPath(error, nameOfInput(file));
  })) as TorrentPlan;
}

/** Opens the web objects of a plan by their URLs. */
export const openObject: OpenObject = async ({ path, url }) => {
  if (url !== null) return webFile(url);
  const message = `${path} was planned from a source without a URL: hash its parts with the library, and its option open`;
  throw invalidArgument(message, { path });
};

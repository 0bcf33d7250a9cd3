/** Reads the plan that `metainfo plan --part-size` wrote. */
import { webFile } from '../../create/sources/web-source.ts';
import { MetainfoError, withPath } from '../../errors/errors.ts';
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

/**
 * Opens the web objects of a plan by their URLs.
 *
 * @param allowed Hosts, each with or without a port.
 * @throws {MetainfoError} `ERR_PLAN` if the plan names other hosts
 */
export function openerOf({ files }: TorrentPlan, allowed: readonly string[] = []): OpenObject {
  const others = new Set<string>();
  for (const { url } of Object.values(files.objects)) {
    if (url === null || !URL.canParse(url)) continue;
    const { host, hostname } = new URL(url);
    if (!allowed.includes(host) && !allowed.includes(hostname)) others.add(host);
  }
  if (others.size > 0) {
    const names = [...others].slice(0, MAX_LISTED).join(', ');
    const message = `the plan reads files from ${others.size > MAX_LISTED ? `${names} and others` : names}: if you trust it, allow each with --allow-host HOST.`;
    throw new MetainfoError('ERR_PLAN', message);
  }
  return async ({ path, url }) => {
    if (url !== null) return webFile(url);
    const message = `${path} was planned from a source without a URL: hash its parts with the library, and its option open`;
    throw invalidArgument(message, { path });
  };
}

/** The hosts that a message lists. */
const MAX_LISTED = 10;

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
  const hosts = allowed.map((host) => host.toLowerCase());
  const isAllowed = ({ host, hostname }: URL) => hosts.includes(host) || hosts.includes(hostname);
  const notAllowed = (what: string) =>
    new MetainfoError('ERR_PLAN', `${what}: if you trust it, allow each with --allow-host HOST.`);
  const others = new Set<string>();
  for (const { url } of Object.values(files.objects)) {
    if (url !== null && URL.canParse(url) && !isAllowed(new URL(url))) others.add(new URL(url).host);
  }
  if (others.size > 0) {
    const names = [...others].slice(0, MAX_LISTED).join(', ');
    throw notAllowed(`the plan reads files from ${others.size > MAX_LISTED ? `${names} and others` : names}`);
  }
  return async ({ path, url }) => {
    const onRedirect = (to: URL) => {
      if (!isAllowed(to)) throw notAllowed(`${url} redirects to ${to.host}`);
    };
    if (url !== null) return webFile(url, { onRedirect });
    const message = `${path} was planned from a source without a URL: hash its parts with the library, and its option open`;
    throw invalidArgument(message, { path });
  };
}

/** The hosts that a message lists. */
const MAX_LISTED = 10;

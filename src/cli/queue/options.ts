/** The options of commands that use a queue: its server, the store, and the names of folders. */
import type { Command } from 'commander';
import { invalidArgument } from '../../errors/guard.ts';
import { variable } from '../../platform/node.ts';
import { collectRoot, type NamedRoot, parsePartSize, parseStore, STORE } from '../options/option-values.ts';

/** The options of every command that sends work to a queue. */
export interface QueueingOptions {
  queue?: string;
  root?: NamedRoot[];
  store?: string;
  partSize?: number | 'auto';
  priority?: number;
}

/** Adds the options of {@link QueueingOptions} to a command. */
export function queueingOptions(command: Command): Command {
  return command
    .optionsGroup('Other machines:')
    .option(
      '--queue <url>',
      'let the workers of a queue hash: redis:// or postgres:// (default with --root: QUEUE_URL in the environment)',
    )
    .option('--root <name=path>', 'with --queue: a folder, and its name on the workers (repeatable)', collectRoot)
    .option('--store <store>', `with --queue: plans and parts that the workers share: ${STORE}`, parseStore)
    .option('--part-size <size>', 'with --queue: bytes of content of a part (default: auto)', parsePartSize);
}

/** A queue as the command line names it. */
export interface QueueTarget {
  connection: string;
  folder: string;
  roots: Record<string, string>;
}

/** The queue of a command line; null without `--queue`. Throws `ERR_INVALID_ARGUMENT` for options that are missing, or need it. */
export function queueOf({ queue: given, root, store, partSize, priority }: QueueingOptions): QueueTarget | null {
  const lonely = Object.entries({ root, store, 'part-size': partSize, priority }).find(
    ([, value]) => value !== undefined,
  )?.[0];
  // The environment alone sends nothing to other machines.
  const queue = given ?? (lonely ? variable('QUEUE_URL') : undefined);
  if (!queue) {
    if (lonely)
      throw invalidArgument(`--${lonely} needs a queue: give --queue URL, or set QUEUE_URL in the environment`);
    return null;
  }
  if (!root)
    throw invalidArgument('--queue needs --root NAME=PATH: a folder with the content, and its name on the workers');
  if (store === undefined) throw invalidArgument('--queue needs --store: where the workers share plans and parts');
  return { connection: queue, folder: store, roots: rootsOf(root) };
}

/** Named folders as an object. */
export function rootsOf(roots: readonly NamedRoot[]): Record<string, string> {
  return Object.fromEntries(roots.map(({ name, folder }) => [name, folder]));
}

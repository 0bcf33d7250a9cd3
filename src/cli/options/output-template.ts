/** Outputs as templates: placeholders such as `{name}` stand for what is known of each torrent before hashing. */
import { invalidArgument } from '../../errors/guard.ts';
import { safePaths } from '../../layout/safe-path.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { asWebUrl } from '../../text/urls.ts';
import type { CreateOptions } from '../create/options.ts';

/** The placeholders of a template, without braces. */
const PLACEHOLDERS = ['name', 'tracker', 'version', 'preset'] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];
const isKnown = (word: string): boolean => (PLACEHOLDERS as readonly string[]).includes(word);

/** A placeholder, or a word in doubled braces, which is text. Braces around anything else, as in `{edition-Extended}`, are text too. */
const BRACES = /\{\{([a-z_]+)\}\}|\{([a-z_]+)\}/gi;

/** Whether an output is a template. */
export const hasPlaceholders = (output: string): boolean => output.search(BRACES) >= 0;

/** Describes the unknown placeholders of an output; undefined if all are known. */
export function placeholderProblem(output: string): string | undefined {
  const words = [...output.matchAll(BRACES)].flatMap(([, , word = '']) => (word === '' || isKnown(word) ? [] : [word]));
  if (words.length === 0) return undefined;
  const unknown = [...new Set(words)].map((word) => `{${word}}`).join(', ');
  return `Unknown placeholder ${unknown}: expected ${PLACEHOLDERS.map((word) => `{${word}}`).join(', ')}. Write {{${words[0]}}} for that word in braces.`;
}

/**
 * Replaces the placeholders of an output. Each value becomes a part of one file name: it adds no folders.
 *
 * @param name The name of the torrent.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a placeholder that this torrent has no value for
 */
export function filledOutput(
  output: string,
  name: string,
  options: Pick<CreateOptions, 'tracker' | 'torrentVersion' | 'preset'>,
): string {
  const values: Record<Placeholder, () => string | undefined> = {
    name: () => name,
    tracker: () => asWebUrl(options.tracker?.[0]?.[0] ?? '')?.hostname.replace(/\.$/, ''),
    version: () => options.torrentVersion,
    preset: () => options.preset,
  };
  const filled = output.replace(BRACES, (_, literal: string | undefined, word: Placeholder) => {
    if (literal !== undefined) return `{${literal}}`;
    const value = values[word]();
    if (value !== undefined) return [...safePaths([[value]])].flat().join('');
    const missing = word === 'tracker' ? 'a tracker with a host (-t)' : `--${word}`;
    throw invalidArgument(`{${word}} in the output ${output} needs ${missing}: add that, or name another file with -o`);
  });
  // A name that would mean standard output.
  return filled === '-' ? './-' : filled;
}

/** Replaces the placeholders of an output, if it has any, by the values of a torrent. */
export function filledFor(
  output: string | undefined,
  { name, torrentVersion, flatTrackers }: Pick<Torrent, 'name' | 'torrentVersion' | 'flatTrackers'>,
  preset?: string,
): string | undefined {
  if (output === undefined || !hasPlaceholders(output)) return output;
  return filledOutput(output, name, {
    torrentVersion,
    tracker: [flatTrackers],
    ...(preset !== undefined && { preset }),
  });
}

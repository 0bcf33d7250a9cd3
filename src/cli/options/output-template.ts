/** Outputs as templates: fields in braces, such as `{name}`, stand for what is known of each torrent before hashing. */
import { invalidArgument } from '../../errors/guard.ts';
import { safePaths } from '../../layout/safe-path.ts';
import { asWebUrl } from '../../text/urls.ts';
import type { CreateOptions } from '../create/options.ts';

/** The fields of a template. */
const FIELDS = ['name', 'tracker', 'version', 'preset'] as const;
type Field = (typeof FIELDS)[number];
const isField = (name: string): name is Field => FIELDS.includes(name as Field);

/** A field, or a word in doubled braces, which is text. Braces around anything else, as in `{imdb-tt0000001}`, are text too. */
const BRACES = /\{\{([a-z_]+)\}\}|\{([a-z_]+)\}/gi;

/** Whether an output has fields. */
export const hasFields = (output: string): boolean => output.search(BRACES) >= 0;

/** What is wrong with the fields of an output; undefined if all are known. */
export function fieldProblem(output: string): string | undefined {
  const words = [...output.matchAll(BRACES)].flatMap(([, , word = '']) => (word === '' || isField(word) ? [] : [word]));
  if (words.length === 0) return undefined;
  const unknown = [...new Set(words)].map((word) => `{${word}}`).join(', ');
  return `Unknown field ${unknown}: expected ${FIELDS.map((field) => `{${field}}`).join(', ')}. Write {{${words[0]}}} for that word in braces.`;
}

/**
 * Fills the fields of an output. Each value becomes a part of one file name: it adds no folders.
 *
 * @param name The name of the torrent.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a field that this torrent has no value for
 */
export function filledOutput(output: string, name: string, options: CreateOptions): string {
  const values: Record<Field, () => string | undefined> = {
    name: () => name,
    tracker: () => asWebUrl(options.tracker?.[0]?.[0] ?? '')?.hostname.replace(/\.$/, ''),
    version: () => options.torrentVersion,
    preset: () => options.preset,
  };
  const filled = output.replace(BRACES, (_, literal: string | undefined, field: Field) => {
    if (literal !== undefined) return `{${literal}}`;
    const value = values[field]();
    if (value !== undefined) return [...safePaths([[value]])].flat().join('');
    const missing = field === 'tracker' ? 'a tracker with a host (-t)' : `--${field}`;
    throw invalidArgument(`{${field}} in the output ${output} needs ${missing}: add that, or name another file with -o`);
  });
  // A name that would mean standard output.
  return filled === '-' ? './-' : filled;
}

/** Prints the options that messages of the library name as options of the command. */
import type { Finding } from '../../create/findings/findings.ts';
import { type Issue, type MetainfoError, optionText, ValidationError } from '../../errors/errors.ts';
import { exactBytes } from '../../text/format.ts';
import { FLAG_OF_FIELD } from '../options/key-options.ts';
import { adviceFor } from './advice.ts';

type Value = string | number | true | null;

/** Options of the library and fields of a draft whose names differ from those of the command in more than letter case. */
const FLAGS: Readonly<Record<string, string>> = {
  ...FLAG_OF_FIELD,
  announce: '--tracker',
  announceList: '--tracker',
  extra: '--set and --unset',
  infoExtra: '--set and --unset',
  limits: '--limit',
  systemFiles: '--no-system-files',
  version: '-k',
};

/** A name as the command line writes it: `piece-length`. */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** An option of the library as the command line has it: `--piece-length 1MiB`. */
export function flagText(name: string, value: Value = null): string {
  const flag = FLAGS[name] ?? `--${kebab(name)}`;
  if (value === null || value === true) return flag;
  if (name === 'limits') return `${flag} ${value}=N`;
  return `${flag} ${typeof value === 'number' ? exactBytes(value).replace(' ', '') : value}`;
}

/** Replaces the options that a text names, and returns those that it does not name. */
function replaceOptions(text: string, options: readonly [string, Value][], path: unknown): [string, [string, Value][]] {
  let replaced = text;
  const others = options.filter(([name, value]) => {
    const own = optionText(name, value);
    // A path before the option can contain the same text.
    const at = path ? replaced.lastIndexOf(own) : replaced.indexOf(own);
    if (at >= 0) replaced = replaced.slice(0, at) + flagText(name, value) + replaced.slice(at + own.length);
    return at < 0;
  });
  return [replaced, others];
}

/** The message of a warning, or of any error but that of a draft. */
export function messageWithFlags(problem: Pick<Issue, 'message' | 'option'> & { path?: unknown }): string {
  return replaceOptions(problem.message, Object.entries(problem.option ?? {}), problem.path)[0];
}

/** A finding as the command shows it. Its advice ends with the options that it means. */
export function toPlain({ option = {}, ...finding }: Finding): Finding {
  const [message, others] = replaceOptions(finding.message, Object.entries(option), finding.path);
  const [advice, meant] = replaceOptions(finding.advice, others, null);
  const flags = meant.map(([name, value]) => flagText(name, value)).join(', ');
  return { ...finding, message, advice: flags === '' ? advice : `${advice.replace(/\.$/, '')} (${flags}).` };
}

/** The message of an error. Issues name the options that set their fields. @param file What it is about, if it has no path. */
export function messageOf(error: MetainfoError, file?: string): string {
  if (!(error instanceof ValidationError && ['draft', 'edit'].includes(error.subject)))
    return messageWithFlags(error) + adviceFor(error, file);
  const errors = error.issues.filter(({ severity }) => severity === 'error');
  const lines = errors.map(
    ({ path, message }) => `${flagText(String(path.find((key) => key !== 'info')))}: ${message}`,
  );
  return `${lines.join('; ')}.`;
}

/** Checks the options of queues and workers. */
import { any, func, instance, is, object, optional, type Struct } from 'superstruct';
import { refused, shown } from './failures.ts';

/** Whether a value is right for an option, and the words for what it expects. */
type Check = readonly [isRight: (value: unknown) => boolean, what: string];

/** The check of each option. */
export type Checks = Readonly<Record<string, Check>>;

export const option = <T, S>(struct: Struct<T, S>, what: string): Check => [
  (value) => is(value, optional(struct)),
  what,
];

export const SIGNAL: Checks = { signal: option(instance(AbortSignal), 'an AbortSignal') };
export const CALLBACK = option(func(), 'a function');

/** Options whose values are checked elsewhere. */
export const unchecked = (...names: readonly string[]): Checks =>
  Object.fromEntries(names.map((name) => [name, option(any(), '')]));

/** Checks the names and values of options. Throws `ERR_INVALID_ARGUMENT`. */
export function checkOptions<T>(options: T, checks: Checks): T {
  if (!is(options, object())) throw refused(`options must be an object, not ${shown(options)}`);
  for (const [name, value] of Object.entries(options as object)) {
    const [isRight, what] = Object.hasOwn(checks, name) ? (checks[name] as Check) : [null];
    if (!isRight) throw refused(`unknown option ${name}: expected ${Object.keys(checks).join(', ')}`);
    if (!isRight(value)) throw refused(`${name} must be ${what}, not ${shown(value)}`);
  }
  return options;
}

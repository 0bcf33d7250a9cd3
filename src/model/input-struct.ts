/** Structs that accept the input of callers, and report what is wrong with it as the constructors do. */
import { Struct } from 'superstruct';
import type { Issue } from '../errors/errors.ts';
import type { InputContext } from './input.ts';
import { Issues } from './issues.ts';

/**
 * Lets superstruct's `create` accept the input of callers. Errors that the conversion reports are failures of the struct.
 *
 * @param convert Returns what it does not convert unchanged, for the struct to check.
 */
export function withInput<T, S>(
  struct: Struct<T, S>,
  convert: (value: unknown, context: InputContext) => unknown,
): Struct<T, S> {
  const found = new WeakMap<object, readonly Issue[]>();
  return new Struct<T, S>({
    ...struct,
    coercer(value, context) {
      const issues = new Issues();
      const result: unknown = struct.coercer(convert(value, { path: [], issues }), context);
      if (issues.hasErrors) found.set(result as object, issues.errors());
      return result;
    },
    *validator(value, context) {
      for (const { code, path, message } of found.get(value as object) ?? [])
        yield { refinement: code, path: [...context.path, ...path], message };
      yield* struct.validator(value, context);
    },
  });
}

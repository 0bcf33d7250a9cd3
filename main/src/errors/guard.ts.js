import { isDate, isUint8Array } from "node:util/types";
import { define } from "superstruct";
import { MetainfoError, sentence, shown } from "./errors.ts";
export function expected(what, test) {
  return define(what, (value) => test(value) || what);
}
export function oneOf(...values) {
  return expected(
    values.length > 1 ? `${values.slice(0, -1).join(", ")} or ${values.at(-1)}` : `${values[0]}`,
    (value) => values.includes(value)
  );
}
export function orNull(struct) {
  return expected(`${struct.type} or null`, (value) => value === null || passes(value, struct));
}
export const Unchecked = expected("anything", () => true);
export const Given = expected("given", (value) => value !== void 0);
export const Flag = expected("true or false", (value) => typeof value === "boolean");
export const Text = expected("a string", (value) => typeof value === "string");
export const Path = expected(
  "a path: a string without NUL bytes",
  (value) => typeof value === "string" && !value.includes("\0")
);
export const Bytes = expected("bytes (a Uint8Array)", isUint8Array);
export const List = expected("a list", Array.isArray);
export const Size = expected(
  "a whole number from 0 to 2^53 - 1",
  (value) => Number.isSafeInteger(value) && value >= 0
);
export const DateTime = expected(
  "a valid Date",
  (value) => isDate(value) && !Number.isNaN(value.getTime())
);
export const Callback = expected(
  "a function",
  (value) => typeof value === "function"
);
export const Signal = expected("an AbortSignal", (value) => {
  const { aborted, addEventListener, removeEventListener } = value ?? {};
  const listens = typeof addEventListener === "function" && typeof removeEventListener === "function";
  return typeof aborted === "boolean" && listens;
});
function passes(value, struct) {
  const [failure] = struct.validator(value, { branch: [value], path: [] });
  return failure === void 0;
}
export function checkArgument(name, value, struct) {
  if (readSafely(name, () => passes(value, struct))) return value;
  throw invalidArgument(`${name} must be ${struct.type}, not ${shown(value)}`, { option: { [name]: null } });
}
export function checkOptions(given, structs, { name = "options", example = "{ threads: 2 }" } = {}) {
  if (given === void 0) return {};
  return readSafely(name, () => {
    const isObject = typeof given === "object" && given !== null && !(Symbol.iterator in given);
    if (!isObject) throw invalidArgument(`${name} must be an object such as ${example}, not ${shown(given)}`);
    const copy = {};
    for (const key of Object.keys(given)) {
      if (!Object.hasOwn(structs, key) && given[key] !== void 0) throw unknownOption(name, key, structs);
    }
    for (const key in structs) {
      const value = given[key];
      if (value === void 0) continue;
      const struct = structs[key];
      copy[key] = checkArgument(name === "options" ? key : `${name}.${key}`, value, struct);
    }
    return copy;
  });
}
export function readSafely(name, read) {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof MetainfoError) throw cause;
    throw new MetainfoError("ERR_INVALID_ARGUMENT", `${name} cannot be read: ${reasonOf(cause)}.`, { cause });
  }
}
function reasonOf(cause) {
  try {
    return cause instanceof Error ? String(cause.message) : shown(cause);
  } catch {
    return "it threw an error";
  }
}
function unknownOption(bag, key, structs) {
  const known = Object.keys(structs);
  const meant = suggestName(key, known);
  const hint = meant === void 0 ? `expected one of ${known.join(", ")}` : `did you mean ${meant}?`;
  const what = bag === "options" ? `option ${shown(key)}` : `key ${shown(key)} in ${bag}`;
  return invalidArgument(`unknown ${what}: ${hint}`);
}
export function invalidArgument(problem, details) {
  return new MetainfoError("ERR_INVALID_ARGUMENT", sentence(problem), details);
}
const OTHER_NAMES = { nProcesses: "threads" };
export function suggestName(name, known) {
  const camel = name.replace(/_+([a-z0-9])/g, (_, letter) => letter.toUpperCase());
  const other = Object.hasOwn(OTHER_NAMES, camel) ? OTHER_NAMES[camel] : camel;
  if (other !== name && known.includes(other)) return other;
  const lower = name.toLowerCase();
  return known.find((candidate) => candidate.toLowerCase() === lower && candidate !== name) ?? nearest(name, known);
}
export function nearest(name, known) {
  for (const candidate of known) {
    if (candidate !== name && candidate.length > 3 && isOneTypoOff(name, candidate)) return candidate;
  }
  return void 0;
}
function isOneTypoOff(a, b) {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 1;
  while (end <= a.length - start && a.at(-end) === b.at(-end)) end += 1;
  const odd = Math.max(a.length, b.length) - start - end + 1;
  const swapped = odd === 2 && a.length === b.length && a[start] === b[start + 1] && a[start + 1] === b[start];
  return odd <= 1 || swapped;
}
export function bytesOf(name, value) {
  return bytesOrNull(value) ?? checkArgument(name, value, Bytes);
}
export function bytesOrNull(value) {
  if (!isUint8Array(value)) return null;
  if (value.byteLength === 0) requireAttached(value);
  return isOfThisRealm(value) ? value : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}
function requireAttached(bytes) {
  try {
    new Uint8Array(bytes.buffer);
  } catch (cause) {
    throw new MetainfoError(
      "ERR_INVALID_ARGUMENT",
      "The bytes were transferred to another thread: their memory is gone.",
      { cause }
    );
  }
}
function isOfThisRealm(bytes) {
  return bytes instanceof Uint8Array;
}
//# sourceMappingURL=data:application/json;base64,ewogICJ2ZXJzaW9uIjogMywKICAic291cmNlcyI6IFsiZ3VhcmQudHMiXSwKICAibWFwcGluZ3MiOiAiQUFDQSxTQUFTLFFBQVEsb0JBQW9CO0FBQ3JDLFNBQVMsY0FBMkI7QUFDcEMsU0FBUyxlQUEwQyxVQUFVLGFBQWE7QUFHbkUsZ0JBQVMsU0FBWSxNQUFjLE1BQW9EO0FBQzVGLFNBQU8sT0FBVSxNQUFNLENBQUMsVUFBVSxLQUFLLEtBQUssS0FBSyxJQUFJO0FBQ3ZEO0FBR08sZ0JBQVMsU0FBb0MsUUFBdUM7QUFDekYsU0FBTztBQUFBLElBQ0wsT0FBTyxTQUFTLElBQUksR0FBRyxPQUFPLE1BQU0sR0FBRyxFQUFFLEVBQUUsS0FBSyxJQUFJLENBQUMsT0FBTyxPQUFPLEdBQUcsRUFBRSxDQUFDLEtBQUssR0FBRyxPQUFPLENBQUMsQ0FBQztBQUFBLElBQzFGLENBQUMsVUFBVSxPQUFPLFNBQVMsS0FBVTtBQUFBLEVBQ3ZDO0FBQ0Y7QUFHTyxnQkFBUyxPQUFVLFFBQWlEO0FBQ3pFLFNBQU8sU0FBUyxHQUFHLE9BQU8sSUFBSSxZQUFZLENBQUMsVUFBVSxVQUFVLFFBQVEsT0FBTyxPQUFPLE1BQU0sQ0FBQztBQUM5RjtBQUdPLGFBQU0sWUFBaUMsU0FBUyxZQUFZLE1BQU0sSUFBSTtBQUV0RSxhQUFNLFFBQTZCLFNBQVMsU0FBUyxDQUFDLFVBQVUsVUFBVSxNQUFTO0FBQ25GLGFBQU0sT0FBOEIsU0FBUyxpQkFBaUIsQ0FBQyxVQUFVLE9BQU8sVUFBVSxTQUFTO0FBQ25HLGFBQU0sT0FBNkIsU0FBUyxZQUFZLENBQUMsVUFBVSxPQUFPLFVBQVUsUUFBUTtBQUU1RixhQUFNLE9BQTZCO0FBQUEsRUFDeEM7QUFBQSxFQUNBLENBQUMsVUFBVSxPQUFPLFVBQVUsWUFBWSxDQUFDLE1BQU0sU0FBUyxJQUFJO0FBQzlEO0FBQ08sYUFBTSxRQUFrQyxTQUFTLHdCQUF3QixZQUFZO0FBQ3JGLGFBQU0sT0FBeUMsU0FBUyxVQUFVLE1BQU0sT0FBTztBQUMvRSxhQUFNLE9BQTZCO0FBQUEsRUFDeEM7QUFBQSxFQUNBLENBQUMsVUFBVSxPQUFPLGNBQWMsS0FBSyxLQUFNLFNBQW9CO0FBQ2pFO0FBQ08sYUFBTSxXQUErQjtBQUFBLEVBQzFDO0FBQUEsRUFDQSxDQUFDLFVBQVUsT0FBTyxLQUFLLEtBQUssQ0FBQyxPQUFPLE1BQU0sTUFBTSxRQUFRLENBQUM7QUFDM0Q7QUFDTyxhQUFNLFdBQXlEO0FBQUEsRUFDcEU7QUFBQSxFQUNBLENBQUMsVUFBVSxPQUFPLFVBQVU7QUFDOUI7QUFFTyxhQUFNLFNBQW9DLFNBQVMsa0JBQWtCLENBQUMsVUFBVTtBQUNyRixRQUFNLEVBQUUsU0FBUyxrQkFBa0Isb0JBQW9CLElBQUssU0FBUyxDQUFDO0FBQ3RFLFFBQU0sVUFBVSxPQUFPLHFCQUFxQixjQUFjLE9BQU8sd0JBQXdCO0FBQ3pGLFNBQU8sT0FBTyxZQUFZLGFBQWE7QUFDekMsQ0FBQztBQUtELFNBQVMsT0FBTyxPQUFnQixRQUE0QjtBQUMxRCxRQUFNLENBQUMsT0FBTyxJQUFJLE9BQU8sVUFBVSxPQUFPLEVBQUUsUUFBUSxDQUFDLEtBQUssR0FBRyxNQUFNLENBQUMsRUFBRSxDQUFDO0FBQ3ZFLFNBQU8sWUFBWTtBQUNyQjtBQU9PLGdCQUFTLGNBQWlCLE1BQWMsT0FBZ0IsUUFBc0Q7QUFDbkgsTUFBSSxXQUFXLE1BQU0sTUFBTSxPQUFPLE9BQU8sTUFBTSxDQUFDLEVBQUcsUUFBTztBQUMxRCxRQUFNLGdCQUFnQixHQUFHLElBQUksWUFBWSxPQUFPLElBQUksU0FBUyxNQUFNLEtBQUssQ0FBQyxJQUFJLEVBQUUsUUFBUSxFQUFFLENBQUMsSUFBSSxHQUFHLEtBQUssRUFBRSxDQUFDO0FBQzNHO0FBWU8sZ0JBQVMsYUFDZCxPQUNBLFNBQ0EsRUFBRSxPQUFPLFdBQVcsVUFBVSxpQkFBaUIsSUFBSSxDQUFDLEdBQ2pEO0FBQ0gsTUFBSSxVQUFVLE9BQVcsUUFBTyxDQUFDO0FBQ2pDLFNBQU8sV0FBVyxNQUFNLE1BQU07QUFDNUIsVUFBTSxXQUFXLE9BQU8sVUFBVSxZQUFZLFVBQVUsUUFBUSxFQUFFLE9BQU8sWUFBWTtBQUNyRixRQUFJLENBQUMsU0FBVSxPQUFNLGdCQUFnQixHQUFHLElBQUksOEJBQThCLE9BQU8sU0FBUyxNQUFNLEtBQUssQ0FBQyxFQUFFO0FBQ3hHLFVBQU0sT0FBZ0MsQ0FBQztBQUN2QyxlQUFXLE9BQU8sT0FBTyxLQUFLLEtBQUssR0FBRztBQUNwQyxVQUFJLENBQUMsT0FBTyxPQUFPLFNBQVMsR0FBRyxLQUFLLE1BQU0sR0FBYyxNQUFNLE9BQVcsT0FBTSxjQUFjLE1BQU0sS0FBSyxPQUFPO0FBQUEsSUFDakg7QUFDQSxlQUFXLE9BQU8sU0FBUztBQUN6QixZQUFNLFFBQWlCLE1BQU0sR0FBRztBQUNoQyxVQUFJLFVBQVUsT0FBVztBQUN6QixZQUFNLFNBQVMsUUFBUSxHQUFHO0FBQzFCLFdBQUssR0FBRyxJQUFJLGNBQWMsU0FBUyxZQUFZLE1BQU0sR0FBRyxJQUFJLElBQUksR0FBRyxJQUFJLE9BQU8sTUFBTTtBQUFBLElBQ3RGO0FBQ0EsV0FBTztBQUFBLEVBQ1QsQ0FBQztBQUNIO0FBT08sZ0JBQVMsV0FBYyxNQUFjLE1BQWtCO0FBQzVELE1BQUk7QUFDRixXQUFPLEtBQUs7QUFBQSxFQUNkLFNBQVMsT0FBTztBQUNkLFFBQUksaUJBQWlCLGNBQWUsT0FBTTtBQUMxQyxVQUFNLElBQUksY0FBYyx3QkFBd0IsR0FBRyxJQUFJLG9CQUFvQixTQUFTLEtBQUssQ0FBQyxLQUFLLEVBQUUsTUFBTSxDQUFDO0FBQUEsRUFDMUc7QUFDRjtBQUdBLFNBQVMsU0FBUyxPQUF3QjtBQUN4QyxNQUFJO0FBQ0YsV0FBTyxpQkFBaUIsUUFBUSxPQUFPLE1BQU0sT0FBTyxJQUFJLE1BQU0sS0FBSztBQUFBLEVBQ3JFLFFBQVE7QUFDTixXQUFPO0FBQUEsRUFDVDtBQUNGO0FBRUEsU0FBUyxjQUFjLEtBQWEsS0FBYSxTQUFnQztBQUMvRSxRQUFNLFFBQVEsT0FBTyxLQUFLLE9BQU87QUFDakMsUUFBTSxRQUFRLFlBQVksS0FBSyxLQUFLO0FBQ3BDLFFBQU0sT0FBTyxVQUFVLFNBQVksbUJBQW1CLE1BQU0sS0FBSyxJQUFJLENBQUMsS0FBSyxnQkFBZ0IsS0FBSztBQUNoRyxRQUFNLE9BQU8sUUFBUSxZQUFZLFVBQVUsTUFBTSxHQUFHLENBQUMsS0FBSyxPQUFPLE1BQU0sR0FBRyxDQUFDLE9BQU8sR0FBRztBQUNyRixTQUFPLGdCQUFnQixXQUFXLElBQUksS0FBSyxJQUFJLEVBQUU7QUFDbkQ7QUFHTyxnQkFBUyxnQkFBZ0IsU0FBaUIsU0FBK0M7QUFDOUYsU0FBTyxJQUFJLGNBQWMsd0JBQXdCLFNBQVMsT0FBTyxHQUFHLE9BQU87QUFDN0U7QUFHQSxNQUFNLGNBQWdELEVBQUUsWUFBWSxVQUFVO0FBR3ZFLGdCQUFTLFlBQVksTUFBYyxPQUE4QztBQUN0RixRQUFNLFFBQVEsS0FBSyxRQUFRLGlCQUFpQixDQUFDLEdBQUcsV0FBbUIsT0FBTyxZQUFZLENBQUM7QUFDdkYsUUFBTSxRQUFRLE9BQU8sT0FBTyxhQUFhLEtBQUssSUFBSyxZQUFZLEtBQUssSUFBZTtBQUNuRixNQUFJLFVBQVUsUUFBUSxNQUFNLFNBQVMsS0FBSyxFQUFHLFFBQU87QUFDcEQsUUFBTSxRQUFRLEtBQUssWUFBWTtBQUMvQixTQUFPLE1BQU0sS0FBSyxDQUFDLGNBQWMsVUFBVSxZQUFZLE1BQU0sU0FBUyxjQUFjLElBQUksS0FBSyxRQUFRLE1BQU0sS0FBSztBQUNsSDtBQUdPLGdCQUFTLFFBQVEsTUFBYyxPQUE2QztBQUNqRixhQUFXLGFBQWEsT0FBTztBQUM3QixRQUFJLGNBQWMsUUFBUSxVQUFVLFNBQVMsS0FBSyxhQUFhLE1BQU0sU0FBUyxFQUFHLFFBQU87QUFBQSxFQUMxRjtBQUNBLFNBQU87QUFDVDtBQUVBLFNBQVMsYUFBYSxHQUFXLEdBQW9CO0FBQ25ELE1BQUksS0FBSyxJQUFJLEVBQUUsU0FBUyxFQUFFLE1BQU0sSUFBSSxFQUFHLFFBQU87QUFDOUMsTUFBSSxRQUFRO0FBQ1osU0FBTyxRQUFRLEVBQUUsVUFBVSxFQUFFLEtBQUssTUFBTSxFQUFFLEtBQUssRUFBRyxVQUFTO0FBQzNELE1BQUksTUFBTTtBQUNWLFNBQU8sT0FBTyxFQUFFLFNBQVMsU0FBUyxFQUFFLEdBQUcsQ0FBQyxHQUFHLE1BQU0sRUFBRSxHQUFHLENBQUMsR0FBRyxFQUFHLFFBQU87QUFDcEUsUUFBTSxNQUFNLEtBQUssSUFBSSxFQUFFLFFBQVEsRUFBRSxNQUFNLElBQUksUUFBUSxNQUFNO0FBQ3pELFFBQU0sVUFBVSxRQUFRLEtBQUssRUFBRSxXQUFXLEVBQUUsVUFBVSxFQUFFLEtBQUssTUFBTSxFQUFFLFFBQVEsQ0FBQyxLQUFLLEVBQUUsUUFBUSxDQUFDLE1BQU0sRUFBRSxLQUFLO0FBQzNHLFNBQU8sT0FBTyxLQUFLO0FBQ3JCO0FBUU8sZ0JBQVMsUUFBUSxNQUFjLE9BQTRCO0FBQ2hFLFNBQU8sWUFBWSxLQUFLLEtBQU0sY0FBYyxNQUFNLE9BQU8sS0FBSztBQUNoRTtBQUdPLGdCQUFTLFlBQVksT0FBbUM7QUFDN0QsTUFBSSxDQUFDLGFBQWEsS0FBSyxFQUFHLFFBQU87QUFDakMsTUFBSSxNQUFNLGVBQWUsRUFBRyxpQkFBZ0IsS0FBSztBQUNqRCxTQUFPLGNBQWMsS0FBSyxJQUFJLFFBQVEsSUFBSSxXQUFXLE1BQU0sUUFBUSxNQUFNLFlBQVksTUFBTSxVQUFVO0FBQ3ZHO0FBR0EsU0FBUyxnQkFBZ0IsT0FBeUI7QUFDaEQsTUFBSTtBQUNGLFFBQUksV0FBVyxNQUFNLE1BQU07QUFBQSxFQUM3QixTQUFTLE9BQU87QUFDZCxVQUFNLElBQUk7QUFBQSxNQUNSO0FBQUEsTUFDQTtBQUFBLE1BQ0EsRUFBRSxNQUFNO0FBQUEsSUFDVjtBQUFBLEVBQ0Y7QUFDRjtBQUdBLFNBQVMsY0FBYyxPQUE0QjtBQUNqRCxTQUFPLGlCQUFpQjtBQUMxQjsiLAogICJuYW1lcyI6IFtdCn0K

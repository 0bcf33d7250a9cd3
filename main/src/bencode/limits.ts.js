import { constants } from "node:buffer";
import { MetainfoError, optionText } from "../errors/errors.ts";
import { checkOptions, expected } from "../errors/guard.ts";
export const DEFAULT_LIMITS = {
  bytes: 2 ** 30,
  depth: 100,
  digits: 100,
  items: 3e6,
  text: 2 ** 24,
  paths: 2 ** 27,
  files: 1e6,
  pieces: 1e7,
  padding: 2 ** 40
};
export const NO_LIMITS = {
  bytes: Infinity,
  depth: Infinity,
  digits: Infinity,
  items: Infinity,
  text: constants.MAX_STRING_LENGTH,
  paths: Infinity,
  files: Infinity,
  pieces: Infinity,
  padding: Infinity
};
const MAX_LIMITS = { text: constants.MAX_STRING_LENGTH };
const NOUNS = {
  bytes: "bytes",
  depth: "nested lists and dictionaries",
  digits: "digits in one integer",
  items: "values",
  text: "bytes in one string",
  paths: "characters in paths",
  files: "files",
  pieces: "pieces",
  padding: "bytes of pad files"
};
export class LimitError extends MetainfoError {
  name = "LimitError";
  /** The limit that is exceeded. */
  limit;
  /** The value of that limit. */
  most;
  /** The offset in the input, in bytes, where the limit is exceeded; null if there is no such place. */
  offset;
  /** @internal */
  constructor(limit, most, offset = null) {
    const place = offset === null ? "" : ` at byte ${offset}`;
    const raise = `raise it with ${optionText("limits", limit)} if you trust the input`;
    super("ERR_LIMIT", `limit of ${most} ${NOUNS[limit]} exceeded${place}: ${raise}.`, { option: { limits: limit } });
    this.limit = limit;
    this.most = most;
    this.offset = offset;
  }
}
export function limitsOf(given = {}, defaults = DEFAULT_LIMITS) {
  if (given === NO_LIMITS) return NO_LIMITS;
  const limits = { ...defaults };
  const checked = checkOptions(given, LIMITS, { name: "limits", example: "{ files: 1000 }" });
  for (const [name, most] of Object.entries(checked))
    limits[name] = Math.min(most, MAX_LIMITS[name] ?? Infinity);
  return limits;
}
const Limit = expected("a number of at least 0", (value) => typeof value === "number" && value >= 0);
const LIMITS = {
  bytes: Limit,
  depth: Limit,
  digits: Limit,
  items: Limit,
  text: Limit,
  paths: Limit,
  files: Limit,
  pieces: Limit,
  padding: Limit
};
//# sourceMappingURL=data:application/json;base64,ewogICJ2ZXJzaW9uIjogMywKICAic291cmNlcyI6IFsibGltaXRzLnRzIl0sCiAgIm1hcHBpbmdzIjogIkFBQ0EsU0FBUyxpQkFBaUI7QUFDMUIsU0FBUyxlQUFlLGtCQUFrQjtBQUMxQyxTQUFTLGNBQWMsZ0JBQW9DO0FBMkVwRCxhQUFNLGlCQUFzRDtBQUFBLEVBQ2pFLE9BQU8sS0FBSztBQUFBLEVBQ1osT0FBTztBQUFBLEVBQ1AsUUFBUTtBQUFBLEVBQ1IsT0FBTztBQUFBLEVBQ1AsTUFBTSxLQUFLO0FBQUEsRUFDWCxPQUFPLEtBQUs7QUFBQSxFQUNaLE9BQU87QUFBQSxFQUNQLFFBQVE7QUFBQSxFQUNSLFNBQVMsS0FBSztBQUNoQjtBQUdPLGFBQU0sWUFBaUQ7QUFBQSxFQUM1RCxPQUFPO0FBQUEsRUFDUCxPQUFPO0FBQUEsRUFDUCxRQUFRO0FBQUEsRUFDUixPQUFPO0FBQUEsRUFDUCxNQUFNLFVBQVU7QUFBQSxFQUNoQixPQUFPO0FBQUEsRUFDUCxPQUFPO0FBQUEsRUFDUCxRQUFRO0FBQUEsRUFDUixTQUFTO0FBQ1g7QUFHQSxNQUFNLGFBQStCLEVBQUUsTUFBTSxVQUFVLGtCQUFrQjtBQUV6RSxNQUFNLFFBQTZDO0FBQUEsRUFDakQsT0FBTztBQUFBLEVBQ1AsT0FBTztBQUFBLEVBQ1AsUUFBUTtBQUFBLEVBQ1IsT0FBTztBQUFBLEVBQ1AsTUFBTTtBQUFBLEVBQ04sT0FBTztBQUFBLEVBQ1AsT0FBTztBQUFBLEVBQ1AsUUFBUTtBQUFBLEVBQ1IsU0FBUztBQUNYO0FBR08sYUFBTSxtQkFBbUIsY0FBYztBQUFBLEVBQzFCLE9BQU87QUFBQTtBQUFBLEVBRWhCO0FBQUE7QUFBQSxFQUVBO0FBQUE7QUFBQSxFQUVBO0FBQUE7QUFBQSxFQUdULFlBQVksT0FBa0IsTUFBYyxTQUF3QixNQUFNO0FBQ3hFLFVBQU0sUUFBUSxXQUFXLE9BQU8sS0FBSyxZQUFZLE1BQU07QUFDdkQsVUFBTSxRQUFRLGlCQUFpQixXQUFXLFVBQVUsS0FBSyxDQUFDO0FBQzFELFVBQU0sYUFBYSxZQUFZLElBQUksSUFBSSxNQUFNLEtBQUssQ0FBQyxZQUFZLEtBQUssS0FBSyxLQUFLLEtBQUssRUFBRSxRQUFRLEVBQUUsUUFBUSxNQUFNLEVBQUUsQ0FBQztBQUNoSCxTQUFLLFFBQVE7QUFDYixTQUFLLE9BQU87QUFDWixTQUFLLFNBQVM7QUFBQSxFQUNoQjtBQUNGO0FBT08sZ0JBQVMsU0FBUyxRQUFnQixDQUFDLEdBQUcsV0FBVyxnQkFBcUQ7QUFDM0csTUFBSSxVQUFVLFVBQVcsUUFBTztBQUNoQyxRQUFNLFNBQVMsRUFBRSxHQUFHLFNBQVM7QUFDN0IsUUFBTSxVQUFVLGFBQWEsT0FBTyxRQUFRLEVBQUUsTUFBTSxVQUFVLFNBQVMsa0JBQWtCLENBQUM7QUFDMUYsYUFBVyxDQUFDLE1BQU0sSUFBSSxLQUFLLE9BQU8sUUFBUSxPQUFPO0FBQy9DLFdBQU8sSUFBSSxJQUFJLEtBQUssSUFBSSxNQUFNLFdBQVcsSUFBSSxLQUFLLFFBQVE7QUFDNUQsU0FBTztBQUNUO0FBRUEsTUFBTSxRQUFRLFNBQWlCLDBCQUEwQixDQUFDLFVBQVUsT0FBTyxVQUFVLFlBQVksU0FBUyxDQUFDO0FBQzNHLE1BQU0sU0FBZ0M7QUFBQSxFQUNwQyxPQUFPO0FBQUEsRUFDUCxPQUFPO0FBQUEsRUFDUCxRQUFRO0FBQUEsRUFDUixPQUFPO0FBQUEsRUFDUCxNQUFNO0FBQUEsRUFDTixPQUFPO0FBQUEsRUFDUCxPQUFPO0FBQUEsRUFDUCxRQUFRO0FBQUEsRUFDUixTQUFTO0FBQ1g7IiwKICAibmFtZXMiOiBbXQp9Cg==

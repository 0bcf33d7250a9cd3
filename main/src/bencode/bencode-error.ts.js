import { MetainfoError } from "../errors/errors.ts";
export const BENCODE_CODES = {
  bad_character: "No value starts with this byte.",
  bad_integer: "An integer is not digits followed by `e`.",
  bad_length: "The length of a string is not digits followed by a colon.",
  duplicate_key: "A dictionary has the same key twice.",
  empty: "There is no data.",
  key_not_string: "A dictionary key is not a string.",
  leading_zero: "An integer or the length of a string has leading zeros.",
  missing_value: "A dictionary key has no value.",
  negative_zero: "An integer is `-0`.",
  trailing_data: "There is data after the end of the value.",
  truncated: "The data ends before the value does.",
  unsorted_key: "The keys of a dictionary are not in byte order."
};
export class BencodeError extends MetainfoError {
  name = "BencodeError";
  /** The rule that is broken: see {@link BENCODE_CODES}. */
  bencodeCode;
  /** The offset in the input, in bytes. */
  offset;
  /** The message without the offset. */
  reason;
  /** Makes an error whose message begins with the offset. */
  constructor(bencodeCode, offset, message) {
    super("ERR_BENCODE", `invalid bencode at byte ${offset}: ${message}.`);
    this.bencodeCode = bencodeCode;
    this.offset = offset;
    this.reason = message;
  }
}
//# sourceMappingURL=data:application/json;base64,ewogICJ2ZXJzaW9uIjogMywKICAic291cmNlcyI6IFsiYmVuY29kZS1lcnJvci50cyJdLAogICJtYXBwaW5ncyI6ICJBQUNBLFNBQVMscUJBQXFCO0FBT3ZCLGFBQU0sZ0JBQWdCO0FBQUEsRUFDM0IsZUFBZTtBQUFBLEVBQ2YsYUFBYTtBQUFBLEVBQ2IsWUFBWTtBQUFBLEVBQ1osZUFBZTtBQUFBLEVBQ2YsT0FBTztBQUFBLEVBQ1AsZ0JBQWdCO0FBQUEsRUFDaEIsY0FBYztBQUFBLEVBQ2QsZUFBZTtBQUFBLEVBQ2YsZUFBZTtBQUFBLEVBQ2YsZUFBZTtBQUFBLEVBQ2YsV0FBVztBQUFBLEVBQ1gsY0FBYztBQUNoQjtBQVNPLGFBQU0scUJBQXFCLGNBQWM7QUFBQSxFQUM1QixPQUFPO0FBQUE7QUFBQSxFQUVoQjtBQUFBO0FBQUEsRUFFQTtBQUFBO0FBQUEsRUFFQTtBQUFBO0FBQUEsRUFHVCxZQUFZLGFBQTBCLFFBQWdCLFNBQWlCO0FBQ3JFLFVBQU0sZUFBZSwyQkFBMkIsTUFBTSxLQUFLLE9BQU8sR0FBRztBQUNyRSxTQUFLLGNBQWM7QUFDbkIsU0FBSyxTQUFTO0FBQ2QsU0FBSyxTQUFTO0FBQUEsRUFDaEI7QUFDRjsiLAogICJuYW1lcyI6IFtdCn0K

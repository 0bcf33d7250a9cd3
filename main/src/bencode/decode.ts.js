import { isSharedArrayBuffer } from "node:util/types";
import { bytesOf, checkOptions, Flag, Text, Unchecked } from "../errors/guard.ts";
import { BencodeError } from "./bencode-error.ts";
import { LimitError, limitsOf } from "./limits.ts";
import { RawBencode } from "./value.ts";
const ZERO = 48;
const NINE = 57;
const MINUS = 45;
const COLON = 58;
const DICTIONARY = 100;
const END = 101;
const INTEGER = 105;
const LIST = 108;
const MAX_ERRORS = 100;
const SAFE_DIGITS = 15;
export function decode(bytes, options = {}) {
  return decodeTrusted(bytesOf("bytes", bytes), checkOptions(options, DECODE, { example: "{ span: 'info' }" }));
}
const DECODE = { span: Text, tolerant: Flag, limits: Unchecked };
export function decodeTrusted(bytes, options) {
  return new Decoder(bytes, options).run();
}
class Decoder {
  #bytes;
  /** The same memory as a Buffer, for its latin1 decoding. */
  #buffer;
  #spanKey;
  #limits;
  #tolerant;
  #raw;
  #encoded;
  #errors = [];
  #itemsLeft;
  #at = 0;
  #span = null;
  #spanStart = -1;
  #stack = [];
  constructor(bytes, { span, tolerant = false, raw, limits, encoded }) {
    this.#limits = limitsOf(limits);
    if (bytes.length > this.#limits.bytes) throw this.#beyond("bytes", this.#limits.bytes);
    if (bytes.length === 0) throw new BencodeError("empty", 0, "there is no data");
    this.#bytes = isSharedArrayBuffer(bytes.buffer) ? new Uint8Array(bytes) : bytes;
    const { buffer, byteOffset, byteLength } = this.#bytes;
    this.#buffer = Buffer.from(buffer, byteOffset, byteLength);
    this.#spanKey = span ?? null;
    this.#tolerant = tolerant;
    this.#raw = raw;
    this.#encoded = encoded;
    this.#itemsLeft = this.#limits.items;
  }
  run() {
    for (; ; ) {
      const value = this.#next();
      if (value === null) continue;
      if (this.#stack.length === 0) {
        if (this.#at !== this.#bytes.length) this.#forgivable("trailing_data", this.#at, "there is data after the end");
        return { value, errors: this.#errors, span: this.#span };
      }
      this.#store(value);
    }
  }
  /** Reads one value; returns null after a key, or after the start of a container, which is then the top of the stack. */
  #next() {
    const top = this.#stack.at(-1);
    const start = this.#at;
    const byte = this.#byte();
    if (byte === END && top) return this.#close(top);
    if (top?.map && top.key === null) {
      this.#readKey(top);
      return null;
    }
    this.#count(start);
    if (byte === LIST || byte === DICTIONARY) {
      const raw = this.#raw && this.#isRaw(this.#raw, top) ? this.#skipContainer() : this.#skipEncoded(top);
      if (raw) return raw;
    }
    switch (byte) {
      case INTEGER:
        return this.#readInteger();
      case LIST:
        return this.#open({ list: [], map: null, start, key: null, last: null });
      case DICTIONARY:
        return this.#open({ list: null, map: /* @__PURE__ */ new Map(), start, key: null, last: null });
      default:
        return this.#readString();
    }
  }
  #isRaw({ within, keys }, top) {
    return this.#stack.length === 2 && this.#stack[0]?.key === within && keys.has(top?.key ?? "");
  }
  /** Skips a list or dictionary that the caller has encoded; null if it is none of those. */
  #skipEncoded(top) {
    const depth = this.#stack.length;
    if (!this.#encoded || !top || depth > 2) return null;
    const size = this.#encoded.get(depth === 1 ? `${top.key}` : `${this.#stack[0]?.key}/${top.key}`);
    if (size === void 0) return null;
    const start = this.#at;
    this.#at += size;
    return new RawBencode(this.#bytes.subarray(start, this.#at));
  }
  /** Checks a list or dictionary with all rules, without building it. */
  #skipContainer() {
    const start = this.#at;
    const levels = [];
    let depth = 0;
    let top = null;
    for (; ; ) {
      const byte = this.#byteAt(this.#at);
      if (top?.isMap && !top.hasKey && byte !== END) {
        this.#skipKey(top, byte);
        continue;
      }
      if (byte === END && top) {
        if (top.hasKey) throw this.#error("missing_value", this.#at, "a key has no value");
        this.#at += 1;
        depth -= 1;
        if (depth === 0) return new RawBencode(this.#bytes.subarray(start, this.#at));
        top = levels[depth - 1];
        continue;
      }
      if (top) {
        this.#count(this.#at);
        top.hasKey = false;
      }
      if (byte === LIST || byte === DICTIONARY) {
        this.#requireDepth(this.#stack.length + depth, this.#at);
        top = levels[depth] ??= { isMap: false, hasKey: false, lastFrom: -1, lastTo: -1 };
        top.isMap = byte === DICTIONARY;
        top.hasKey = false;
        top.lastFrom = -1;
        depth += 1;
        this.#at += 1;
      } else if (byte === INTEGER) this.#skipInteger();
      else this.#skipText();
    }
  }
  #skipKey(level, byte) {
    const start = this.#at;
    if (byte < ZERO || byte > NINE) throw this.#error("key_not_string", start, "a key must be a string");
    this.#count(start);
    const from = this.#skipText();
    const to = this.#at;
    if (level.lastFrom >= 0) {
      const order = this.#compare(level.lastFrom, level.lastTo, from, to);
      if (order === 0) this.#forgivable("duplicate_key", start, "a key appears twice");
      else if (order > 0) this.#forgivable("unsorted_key", start, "keys are not in byte order");
    }
    level.hasKey = true;
    level.lastFrom = from;
    level.lastTo = to;
  }
  #compare(aFrom, aTo, bFrom, bTo) {
    const length = Math.min(aTo - aFrom, bTo - bFrom);
    for (let i = 0; i < length; i += 1) {
      const order = this.#bytes[aFrom + i] - this.#bytes[bFrom + i];
      if (order !== 0) return order;
    }
    return aTo - aFrom - (bTo - bFrom);
  }
  #store(value) {
    const top = this.#stack.at(-1);
    if (top.list) {
      top.list.push(value);
      return;
    }
    const key = top.key;
    const isSpan = this.#stack.length === 1 && key === this.#spanKey;
    if (isSpan && this.#spanStart >= 0) this.#span ??= { start: this.#spanStart, end: this.#at };
    if (!top.map?.has(key)) top.map?.set(key, value);
    top.key = null;
  }
  #open(container) {
    this.#requireDepth(this.#stack.length, container.start);
    this.#at += 1;
    this.#stack.push(container);
    return null;
  }
  #requireDepth(depth, start) {
    if (depth >= this.#limits.depth) throw this.#beyond("depth", start);
  }
  #close(top) {
    if (top.key !== null) throw this.#error("missing_value", this.#at, "a key has no value");
    this.#at += 1;
    this.#stack.pop();
    return top.list ?? top.map;
  }
  #readKey(top) {
    const start = this.#at;
    const byte = this.#byte();
    if (byte < ZERO || byte > NINE) throw this.#error("key_not_string", start, "a key must be a string");
    this.#count(start);
    const from = this.#skipText();
    const key = this.#buffer.toString("latin1", from, this.#at);
    if (top.last !== null && key <= top.last) {
      if (key === top.last) this.#forgivable("duplicate_key", start, "a key appears twice");
      else this.#forgivable("unsorted_key", start, "keys are not in byte order");
    }
    top.key = key;
    top.last = key;
    if (this.#stack.length === 1 && key === this.#spanKey) this.#spanStart = this.#at;
  }
  #readString() {
    const from = this.#skipString();
    return this.#bytes.subarray(from, this.#at);
  }
  /** Reads `<length>:`, skips the string and returns where it begins. */
  #skipString() {
    const start = this.#at;
    let length = 0;
    let at = start;
    for (; ; at += 1) {
      const byte = this.#byteAt(at);
      if (byte === COLON && at > start) break;
      if (byte < ZERO || byte > NINE) {
        const code = at === start ? "bad_character" : "bad_length";
        throw this.#error(
          code,
          at,
          at === start ? "no value starts with this byte" : "a length must be digits followed by a colon"
        );
      }
      if (at === start + 1 && length === 0) this.#forgivable("leading_zero", start, "a length has a leading zero");
      length = length * 10 + (byte - ZERO);
      if (length > this.#bytes.length) throw this.#error("truncated", start, "a string is longer than the data");
    }
    const from = at + 1;
    const to = from + length;
    if (to > this.#bytes.length) throw this.#error("truncated", start, "a string is longer than the data");
    this.#at = to;
    return from;
  }
  /** Skips a string that becomes text: beyond half a GiB Node would throw an error of its own. */
  #skipText() {
    const start = this.#at;
    const from = this.#skipString();
    if (this.#at - from > this.#limits.text) throw this.#beyond("text", start);
    return from;
  }
  #readInteger() {
    const first = this.#at + 1;
    this.#skipInteger();
    const text = this.#buffer.toString("latin1", first, this.#at - 1);
    if (text.length <= SAFE_DIGITS) return Number(text) + 0;
    const value = BigInt(text);
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  }
  /** Checks an integer and skips it. */
  #skipInteger() {
    const start = this.#at;
    const first = start + 1;
    const negative = this.#byteAt(first) === MINUS;
    const digits = negative ? first + 1 : first;
    let at = digits;
    for (let byte = this.#byteAt(at); byte !== END; byte = this.#byteAt(at)) {
      if (byte < ZERO || byte > NINE)
        throw this.#error("bad_integer", at, "an integer must be digits followed by an e");
      if (at - digits >= this.#limits.digits) throw this.#beyond("digits", start);
      at += 1;
    }
    const count = at - digits;
    if (count === 0) throw this.#error("bad_integer", start, "an integer has no digits");
    if (this.#bytes[digits] === ZERO) {
      if (negative && count === 1) this.#forgivable("negative_zero", start, "an integer is -0");
      if (count > 1) this.#forgivable("leading_zero", start, "an integer has leading zeros");
    }
    this.#at = at + 1;
  }
  #byte() {
    return this.#byteAt(this.#at);
  }
  #byteAt(at) {
    const byte = this.#bytes[at];
    if (byte === void 0) throw this.#error("truncated", this.#bytes.length, "the data ends too early");
    return byte;
  }
  #count(offset) {
    this.#itemsLeft -= 1;
    if (this.#itemsLeft < 0) throw this.#beyond("items", offset);
  }
  #forgivable(code, offset, message) {
    if (!this.#tolerant) throw this.#error(code, offset, message);
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(this.#error(code, offset, message));
  }
  #beyond(limit, offset) {
    return new LimitError(limit, this.#limits[limit], offset);
  }
  #error(code, offset, message) {
    return new BencodeError(code, offset, message);
  }
}
//# sourceMappingURL=data:application/json;base64,ewogICJ2ZXJzaW9uIjogMywKICAic291cmNlcyI6IFsiZGVjb2RlLnRzIl0sCiAgIm1hcHBpbmdzIjogIkFBQ0EsU0FBUywyQkFBMkI7QUFDcEMsU0FBUyxTQUFTLGNBQWMsTUFBMEIsTUFBTSxpQkFBaUI7QUFDakYsU0FBMkIsb0JBQXlDO0FBQ3BFLFNBQVMsWUFBeUMsZ0JBQWdCO0FBQ2xFLFNBQTZDLGtCQUFrQjtBQXVDL0QsTUFBTSxPQUFPO0FBQ2IsTUFBTSxPQUFPO0FBQ2IsTUFBTSxRQUFRO0FBQ2QsTUFBTSxRQUFRO0FBQ2QsTUFBTSxhQUFhO0FBQ25CLE1BQU0sTUFBTTtBQUNaLE1BQU0sVUFBVTtBQUNoQixNQUFNLE9BQU87QUFFYixNQUFNLGFBQWE7QUFFbkIsTUFBTSxjQUFjO0FBeUNiLGdCQUFTLE9BQU8sT0FBbUIsVUFBeUIsQ0FBQyxHQUFZO0FBQzlFLFNBQU8sY0FBYyxRQUFRLFNBQVMsS0FBSyxHQUFHLGFBQWEsU0FBUyxRQUFRLEVBQUUsU0FBUyxtQkFBbUIsQ0FBQyxDQUFDO0FBQzlHO0FBRUEsTUFBTSxTQUF1QyxFQUFFLE1BQU0sTUFBTSxVQUFVLE1BQU0sUUFBUSxVQUFVO0FBbUJ0RixnQkFBUyxjQUFjLE9BQW1CLFNBQXdDO0FBQ3ZGLFNBQU8sSUFBSSxRQUFRLE9BQU8sT0FBTyxFQUFFLElBQUk7QUFDekM7QUFFQSxNQUFNLFFBQVE7QUFBQSxFQUNIO0FBQUE7QUFBQSxFQUVBO0FBQUEsRUFDQTtBQUFBLEVBQ0E7QUFBQSxFQUNBO0FBQUEsRUFDQTtBQUFBLEVBQ0E7QUFBQSxFQUNBLFVBQTBCLENBQUM7QUFBQSxFQUNwQztBQUFBLEVBQ0EsTUFBTTtBQUFBLEVBQ04sUUFBK0M7QUFBQSxFQUMvQyxhQUFhO0FBQUEsRUFDSixTQUFzQixDQUFDO0FBQUEsRUFFaEMsWUFBWSxPQUFtQixFQUFFLE1BQU0sV0FBVyxPQUFPLEtBQUssUUFBUSxRQUFRLEdBQXlCO0FBQ3JHLFNBQUssVUFBVSxTQUFTLE1BQU07QUFDOUIsUUFBSSxNQUFNLFNBQVMsS0FBSyxRQUFRLE1BQU8sT0FBTSxLQUFLLFFBQVEsU0FBUyxLQUFLLFFBQVEsS0FBSztBQUNyRixRQUFJLE1BQU0sV0FBVyxFQUFHLE9BQU0sSUFBSSxhQUFhLFNBQVMsR0FBRyxrQkFBa0I7QUFFN0UsU0FBSyxTQUFTLG9CQUFvQixNQUFNLE1BQU0sSUFBSSxJQUFJLFdBQVcsS0FBSyxJQUFJO0FBQzFFLFVBQU0sRUFBRSxRQUFRLFlBQVksV0FBVyxJQUFJLEtBQUs7QUFDaEQsU0FBSyxVQUFVLE9BQU8sS0FBSyxRQUFRLFlBQVksVUFBVTtBQUN6RCxTQUFLLFdBQVcsUUFBUTtBQUN4QixTQUFLLFlBQVk7QUFDakIsU0FBSyxPQUFPO0FBQ1osU0FBSyxXQUFXO0FBQ2hCLFNBQUssYUFBYSxLQUFLLFFBQVE7QUFBQSxFQUNqQztBQUFBLEVBRUEsTUFBZTtBQUNiLGVBQVM7QUFDUCxZQUFNLFFBQVEsS0FBSyxNQUFNO0FBQ3pCLFVBQUksVUFBVSxLQUFNO0FBQ3BCLFVBQUksS0FBSyxPQUFPLFdBQVcsR0FBRztBQUM1QixZQUFJLEtBQUssUUFBUSxLQUFLLE9BQU8sT0FBUSxNQUFLLFlBQVksaUJBQWlCLEtBQUssS0FBSyw2QkFBNkI7QUFDOUcsZUFBTyxFQUFFLE9BQU8sUUFBUSxLQUFLLFNBQVMsTUFBTSxLQUFLLE1BQU07QUFBQSxNQUN6RDtBQUNBLFdBQUssT0FBTyxLQUFLO0FBQUEsSUFDbkI7QUFBQSxFQUNGO0FBQUE7QUFBQSxFQUdBLFFBQTZCO0FBQzNCLFVBQU0sTUFBTSxLQUFLLE9BQU8sR0FBRyxFQUFFO0FBQzdCLFVBQU0sUUFBUSxLQUFLO0FBQ25CLFVBQU0sT0FBTyxLQUFLLE1BQU07QUFDeEIsUUFBSSxTQUFTLE9BQU8sSUFBSyxRQUFPLEtBQUssT0FBTyxHQUFHO0FBQy9DLFFBQUksS0FBSyxPQUFPLElBQUksUUFBUSxNQUFNO0FBQ2hDLFdBQUssU0FBUyxHQUFHO0FBQ2pCLGFBQU87QUFBQSxJQUNUO0FBQ0EsU0FBSyxPQUFPLEtBQUs7QUFDakIsUUFBSSxTQUFTLFFBQVEsU0FBUyxZQUFZO0FBQ3hDLFlBQU0sTUFBTSxLQUFLLFFBQVEsS0FBSyxPQUFPLEtBQUssTUFBTSxHQUFHLElBQUksS0FBSyxlQUFlLElBQUksS0FBSyxhQUFhLEdBQUc7QUFFcEcsVUFBSSxJQUFLLFFBQU87QUFBQSxJQUNsQjtBQUNBLFlBQVEsTUFBTTtBQUFBLE1BQ1osS0FBSztBQUNILGVBQU8sS0FBSyxhQUFhO0FBQUEsTUFDM0IsS0FBSztBQUNILGVBQU8sS0FBSyxNQUFNLEVBQUUsTUFBTSxDQUFDLEdBQUcsS0FBSyxNQUFNLE9BQU8sS0FBSyxNQUFNLE1BQU0sS0FBSyxDQUFDO0FBQUEsTUFDekUsS0FBSztBQUNILGVBQU8sS0FBSyxNQUFNLEVBQUUsTUFBTSxNQUFNLEtBQUssb0JBQUksSUFBSSxHQUFHLE9BQU8sS0FBSyxNQUFNLE1BQU0sS0FBSyxDQUFDO0FBQUEsTUFDaEY7QUFDRSxlQUFPLEtBQUssWUFBWTtBQUFBLElBQzVCO0FBQUEsRUFDRjtBQUFBLEVBRUEsT0FBTyxFQUFFLFFBQVEsS0FBSyxHQUE2QyxLQUFxQztBQUN0RyxXQUFPLEtBQUssT0FBTyxXQUFXLEtBQUssS0FBSyxPQUFPLENBQUMsR0FBRyxRQUFRLFVBQVUsS0FBSyxJQUFJLEtBQUssT0FBTyxFQUFFO0FBQUEsRUFDOUY7QUFBQTtBQUFBLEVBR0EsYUFBYSxLQUErQztBQUMxRCxVQUFNLFFBQVEsS0FBSyxPQUFPO0FBQzFCLFFBQUksQ0FBQyxLQUFLLFlBQVksQ0FBQyxPQUFPLFFBQVEsRUFBRyxRQUFPO0FBQ2hELFVBQU0sT0FBTyxLQUFLLFNBQVMsSUFBSSxVQUFVLElBQUksR0FBRyxJQUFJLEdBQUcsS0FBSyxHQUFHLEtBQUssT0FBTyxDQUFDLEdBQUcsR0FBRyxJQUFJLElBQUksR0FBRyxFQUFFO0FBQy9GLFFBQUksU0FBUyxPQUFXLFFBQU87QUFDL0IsVUFBTSxRQUFRLEtBQUs7QUFDbkIsU0FBSyxPQUFPO0FBQ1osV0FBTyxJQUFJLFdBQVcsS0FBSyxPQUFPLFNBQVMsT0FBTyxLQUFLLEdBQUcsQ0FBQztBQUFBLEVBQzdEO0FBQUE7QUFBQSxFQUdBLGlCQUE2QjtBQUMzQixVQUFNLFFBQVEsS0FBSztBQUVuQixVQUFNLFNBQXlCLENBQUM7QUFDaEMsUUFBSSxRQUFRO0FBQ1osUUFBSSxNQUEyQjtBQUMvQixlQUFTO0FBQ1AsWUFBTSxPQUFPLEtBQUssUUFBUSxLQUFLLEdBQUc7QUFDbEMsVUFBSSxLQUFLLFNBQVMsQ0FBQyxJQUFJLFVBQVUsU0FBUyxLQUFLO0FBQzdDLGFBQUssU0FBUyxLQUFLLElBQUk7QUFDdkI7QUFBQSxNQUNGO0FBQ0EsVUFBSSxTQUFTLE9BQU8sS0FBSztBQUN2QixZQUFJLElBQUksT0FBUSxPQUFNLEtBQUssT0FBTyxpQkFBaUIsS0FBSyxLQUFLLG9CQUFvQjtBQUNqRixhQUFLLE9BQU87QUFDWixpQkFBUztBQUNULFlBQUksVUFBVSxFQUFHLFFBQU8sSUFBSSxXQUFXLEtBQUssT0FBTyxTQUFTLE9BQU8sS0FBSyxHQUFHLENBQUM7QUFDNUUsY0FBTSxPQUFPLFFBQVEsQ0FBQztBQUN0QjtBQUFBLE1BQ0Y7QUFDQSxVQUFJLEtBQUs7QUFFUCxhQUFLLE9BQU8sS0FBSyxHQUFHO0FBQ3BCLFlBQUksU0FBUztBQUFBLE1BQ2Y7QUFDQSxVQUFJLFNBQVMsUUFBUSxTQUFTLFlBQVk7QUFDeEMsYUFBSyxjQUFjLEtBQUssT0FBTyxTQUFTLE9BQU8sS0FBSyxHQUFHO0FBQ3ZELGNBQU0sT0FBTyxLQUFLLE1BQU0sRUFBRSxPQUFPLE9BQU8sUUFBUSxPQUFPLFVBQVUsSUFBSSxRQUFRLEdBQUc7QUFDaEYsWUFBSSxRQUFRLFNBQVM7QUFDckIsWUFBSSxTQUFTO0FBQ2IsWUFBSSxXQUFXO0FBQ2YsaUJBQVM7QUFDVCxhQUFLLE9BQU87QUFBQSxNQUNkLFdBQVcsU0FBUyxRQUFTLE1BQUssYUFBYTtBQUFBLFVBQzFDLE1BQUssVUFBVTtBQUFBLElBQ3RCO0FBQUEsRUFDRjtBQUFBLEVBRUEsU0FBUyxPQUFxQixNQUFvQjtBQUNoRCxVQUFNLFFBQVEsS0FBSztBQUNuQixRQUFJLE9BQU8sUUFBUSxPQUFPLEtBQU0sT0FBTSxLQUFLLE9BQU8sa0JBQWtCLE9BQU8sd0JBQXdCO0FBQ25HLFNBQUssT0FBTyxLQUFLO0FBQ2pCLFVBQU0sT0FBTyxLQUFLLFVBQVU7QUFDNUIsVUFBTSxLQUFLLEtBQUs7QUFDaEIsUUFBSSxNQUFNLFlBQVksR0FBRztBQUN2QixZQUFNLFFBQVEsS0FBSyxTQUFTLE1BQU0sVUFBVSxNQUFNLFFBQVEsTUFBTSxFQUFFO0FBQ2xFLFVBQUksVUFBVSxFQUFHLE1BQUssWUFBWSxpQkFBaUIsT0FBTyxxQkFBcUI7QUFBQSxlQUN0RSxRQUFRLEVBQUcsTUFBSyxZQUFZLGdCQUFnQixPQUFPLDRCQUE0QjtBQUFBLElBQzFGO0FBQ0EsVUFBTSxTQUFTO0FBQ2YsVUFBTSxXQUFXO0FBQ2pCLFVBQU0sU0FBUztBQUFBLEVBQ2pCO0FBQUEsRUFFQSxTQUFTLE9BQWUsS0FBYSxPQUFlLEtBQXFCO0FBQ3ZFLFVBQU0sU0FBUyxLQUFLLElBQUksTUFBTSxPQUFPLE1BQU0sS0FBSztBQUNoRCxhQUFTLElBQUksR0FBRyxJQUFJLFFBQVEsS0FBSyxHQUFHO0FBQ2xDLFlBQU0sUUFBUyxLQUFLLE9BQU8sUUFBUSxDQUFDLElBQWdCLEtBQUssT0FBTyxRQUFRLENBQUM7QUFDekUsVUFBSSxVQUFVLEVBQUcsUUFBTztBQUFBLElBQzFCO0FBQ0EsV0FBTyxNQUFNLFNBQVMsTUFBTTtBQUFBLEVBQzlCO0FBQUEsRUFFQSxPQUFPLE9BQTJCO0FBQ2hDLFVBQU0sTUFBTSxLQUFLLE9BQU8sR0FBRyxFQUFFO0FBQzdCLFFBQUksSUFBSSxNQUFNO0FBQ1osVUFBSSxLQUFLLEtBQUssS0FBSztBQUNuQjtBQUFBLElBQ0Y7QUFDQSxVQUFNLE1BQU0sSUFBSTtBQUNoQixVQUFNLFNBQVMsS0FBSyxPQUFPLFdBQVcsS0FBSyxRQUFRLEtBQUs7QUFDeEQsUUFBSSxVQUFVLEtBQUssY0FBYyxFQUFHLE1BQUssVUFBVSxFQUFFLE9BQU8sS0FBSyxZQUFZLEtBQUssS0FBSyxJQUFJO0FBRTNGLFFBQUksQ0FBQyxJQUFJLEtBQUssSUFBSSxHQUFHLEVBQUcsS0FBSSxLQUFLLElBQUksS0FBSyxLQUFLO0FBQy9DLFFBQUksTUFBTTtBQUFBLEVBQ1o7QUFBQSxFQUVBLE1BQU0sV0FBNEI7QUFDaEMsU0FBSyxjQUFjLEtBQUssT0FBTyxRQUFRLFVBQVUsS0FBSztBQUN0RCxTQUFLLE9BQU87QUFDWixTQUFLLE9BQU8sS0FBSyxTQUFTO0FBQzFCLFdBQU87QUFBQSxFQUNUO0FBQUEsRUFFQSxjQUFjLE9BQWUsT0FBcUI7QUFDaEQsUUFBSSxTQUFTLEtBQUssUUFBUSxNQUFPLE9BQU0sS0FBSyxRQUFRLFNBQVMsS0FBSztBQUFBLEVBQ3BFO0FBQUEsRUFFQSxPQUFPLEtBQThCO0FBQ25DLFFBQUksSUFBSSxRQUFRLEtBQU0sT0FBTSxLQUFLLE9BQU8saUJBQWlCLEtBQUssS0FBSyxvQkFBb0I7QUFDdkYsU0FBSyxPQUFPO0FBQ1osU0FBSyxPQUFPLElBQUk7QUFDaEIsV0FBUSxJQUFJLFFBQVEsSUFBSTtBQUFBLEVBQzFCO0FBQUEsRUFFQSxTQUFTLEtBQXNCO0FBQzdCLFVBQU0sUUFBUSxLQUFLO0FBQ25CLFVBQU0sT0FBTyxLQUFLLE1BQU07QUFDeEIsUUFBSSxPQUFPLFFBQVEsT0FBTyxLQUFNLE9BQU0sS0FBSyxPQUFPLGtCQUFrQixPQUFPLHdCQUF3QjtBQUNuRyxTQUFLLE9BQU8sS0FBSztBQUNqQixVQUFNLE9BQU8sS0FBSyxVQUFVO0FBQzVCLFVBQU0sTUFBTSxLQUFLLFFBQVEsU0FBUyxVQUFVLE1BQU0sS0FBSyxHQUFHO0FBQzFELFFBQUksSUFBSSxTQUFTLFFBQVEsT0FBTyxJQUFJLE1BQU07QUFDeEMsVUFBSSxRQUFRLElBQUksS0FBTSxNQUFLLFlBQVksaUJBQWlCLE9BQU8scUJBQXFCO0FBQUEsVUFDL0UsTUFBSyxZQUFZLGdCQUFnQixPQUFPLDRCQUE0QjtBQUFBLElBQzNFO0FBQ0EsUUFBSSxNQUFNO0FBQ1YsUUFBSSxPQUFPO0FBQ1gsUUFBSSxLQUFLLE9BQU8sV0FBVyxLQUFLLFFBQVEsS0FBSyxTQUFVLE1BQUssYUFBYSxLQUFLO0FBQUEsRUFDaEY7QUFBQSxFQUVBLGNBQTBCO0FBQ3hCLFVBQU0sT0FBTyxLQUFLLFlBQVk7QUFDOUIsV0FBTyxLQUFLLE9BQU8sU0FBUyxNQUFNLEtBQUssR0FBRztBQUFBLEVBQzVDO0FBQUE7QUFBQSxFQUdBLGNBQXNCO0FBQ3BCLFVBQU0sUUFBUSxLQUFLO0FBQ25CLFFBQUksU0FBUztBQUNiLFFBQUksS0FBSztBQUNULGFBQVMsTUFBTSxHQUFHO0FBQ2hCLFlBQU0sT0FBTyxLQUFLLFFBQVEsRUFBRTtBQUM1QixVQUFJLFNBQVMsU0FBUyxLQUFLLE1BQU87QUFDbEMsVUFBSSxPQUFPLFFBQVEsT0FBTyxNQUFNO0FBQzlCLGNBQU0sT0FBTyxPQUFPLFFBQVEsa0JBQWtCO0FBQzlDLGNBQU0sS0FBSztBQUFBLFVBQ1Q7QUFBQSxVQUNBO0FBQUEsVUFDQSxPQUFPLFFBQVEsbUNBQW1DO0FBQUEsUUFDcEQ7QUFBQSxNQUNGO0FBQ0EsVUFBSSxPQUFPLFFBQVEsS0FBSyxXQUFXLEVBQUcsTUFBSyxZQUFZLGdCQUFnQixPQUFPLDZCQUE2QjtBQUMzRyxlQUFTLFNBQVMsTUFBTSxPQUFPO0FBQy9CLFVBQUksU0FBUyxLQUFLLE9BQU8sT0FBUSxPQUFNLEtBQUssT0FBTyxhQUFhLE9BQU8sa0NBQWtDO0FBQUEsSUFDM0c7QUFDQSxVQUFNLE9BQU8sS0FBSztBQUNsQixVQUFNLEtBQUssT0FBTztBQUNsQixRQUFJLEtBQUssS0FBSyxPQUFPLE9BQVEsT0FBTSxLQUFLLE9BQU8sYUFBYSxPQUFPLGtDQUFrQztBQUNyRyxTQUFLLE1BQU07QUFDWCxXQUFPO0FBQUEsRUFDVDtBQUFBO0FBQUEsRUFHQSxZQUFvQjtBQUNsQixVQUFNLFFBQVEsS0FBSztBQUNuQixVQUFNLE9BQU8sS0FBSyxZQUFZO0FBQzlCLFFBQUksS0FBSyxNQUFNLE9BQU8sS0FBSyxRQUFRLEtBQU0sT0FBTSxLQUFLLFFBQVEsUUFBUSxLQUFLO0FBQ3pFLFdBQU87QUFBQSxFQUNUO0FBQUEsRUFFQSxlQUFnQztBQUM5QixVQUFNLFFBQVEsS0FBSyxNQUFNO0FBQ3pCLFNBQUssYUFBYTtBQUNsQixVQUFNLE9BQU8sS0FBSyxRQUFRLFNBQVMsVUFBVSxPQUFPLEtBQUssTUFBTSxDQUFDO0FBRWhFLFFBQUksS0FBSyxVQUFVLFlBQWEsUUFBTyxPQUFPLElBQUksSUFBSTtBQUN0RCxVQUFNLFFBQVEsT0FBTyxJQUFJO0FBQ3pCLFdBQU8sU0FBUyxPQUFPLG9CQUFvQixTQUFTLE9BQU8sbUJBQW1CLE9BQU8sS0FBSyxJQUFJO0FBQUEsRUFDaEc7QUFBQTtBQUFBLEVBR0EsZUFBcUI7QUFDbkIsVUFBTSxRQUFRLEtBQUs7QUFDbkIsVUFBTSxRQUFRLFFBQVE7QUFDdEIsVUFBTSxXQUFXLEtBQUssUUFBUSxLQUFLLE1BQU07QUFDekMsVUFBTSxTQUFTLFdBQVcsUUFBUSxJQUFJO0FBQ3RDLFFBQUksS0FBSztBQUNULGFBQVMsT0FBTyxLQUFLLFFBQVEsRUFBRSxHQUFHLFNBQVMsS0FBSyxPQUFPLEtBQUssUUFBUSxFQUFFLEdBQUc7QUFDdkUsVUFBSSxPQUFPLFFBQVEsT0FBTztBQUN4QixjQUFNLEtBQUssT0FBTyxlQUFlLElBQUksNENBQTRDO0FBQ25GLFVBQUksS0FBSyxVQUFVLEtBQUssUUFBUSxPQUFRLE9BQU0sS0FBSyxRQUFRLFVBQVUsS0FBSztBQUMxRSxZQUFNO0FBQUEsSUFDUjtBQUNBLFVBQU0sUUFBUSxLQUFLO0FBQ25CLFFBQUksVUFBVSxFQUFHLE9BQU0sS0FBSyxPQUFPLGVBQWUsT0FBTywwQkFBMEI7QUFDbkYsUUFBSSxLQUFLLE9BQU8sTUFBTSxNQUFNLE1BQU07QUFDaEMsVUFBSSxZQUFZLFVBQVUsRUFBRyxNQUFLLFlBQVksaUJBQWlCLE9BQU8sa0JBQWtCO0FBQ3hGLFVBQUksUUFBUSxFQUFHLE1BQUssWUFBWSxnQkFBZ0IsT0FBTyw4QkFBOEI7QUFBQSxJQUN2RjtBQUNBLFNBQUssTUFBTSxLQUFLO0FBQUEsRUFDbEI7QUFBQSxFQUVBLFFBQWdCO0FBQ2QsV0FBTyxLQUFLLFFBQVEsS0FBSyxHQUFHO0FBQUEsRUFDOUI7QUFBQSxFQUVBLFFBQVEsSUFBb0I7QUFDMUIsVUFBTSxPQUFPLEtBQUssT0FBTyxFQUFFO0FBQzNCLFFBQUksU0FBUyxPQUFXLE9BQU0sS0FBSyxPQUFPLGFBQWEsS0FBSyxPQUFPLFFBQVEseUJBQXlCO0FBQ3BHLFdBQU87QUFBQSxFQUNUO0FBQUEsRUFFQSxPQUFPLFFBQXNCO0FBQzNCLFNBQUssY0FBYztBQUNuQixRQUFJLEtBQUssYUFBYSxFQUFHLE9BQU0sS0FBSyxRQUFRLFNBQVMsTUFBTTtBQUFBLEVBQzdEO0FBQUEsRUFFQSxZQUFZLE1BQXNCLFFBQWdCLFNBQXVCO0FBQ3ZFLFFBQUksQ0FBQyxLQUFLLFVBQVcsT0FBTSxLQUFLLE9BQU8sTUFBTSxRQUFRLE9BQU87QUFFNUQsUUFBSSxLQUFLLFFBQVEsU0FBUyxXQUFZLE1BQUssUUFBUSxLQUFLLEtBQUssT0FBTyxNQUFNLFFBQVEsT0FBTyxDQUFDO0FBQUEsRUFDNUY7QUFBQSxFQUVBLFFBQVEsT0FBa0IsUUFBNEI7QUFDcEQsV0FBTyxJQUFJLFdBQVcsT0FBTyxLQUFLLFFBQVEsS0FBSyxHQUFHLE1BQU07QUFBQSxFQUMxRDtBQUFBLEVBRUEsT0FBTyxNQUFtQixRQUFnQixTQUErQjtBQUN2RSxXQUFPLElBQUksYUFBYSxNQUFNLFFBQVEsT0FBTztBQUFBLEVBQy9DO0FBQ0Y7IiwKICAibmFtZXMiOiBbXQp9Cg==

import { isUtf8 } from "node:buffer";
import { bytesOf } from "../errors/guard.ts";
export class RawBencode {
  /** The bencode of exactly one value. */
  bytes;
  /**
   * Wraps bytes without copying them, and without checking that they are bencode.
   *
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when `bytes` is not a Uint8Array
   */
  constructor(bytes) {
    this.bytes = bytesOf("bytes", bytes);
  }
}
export function toKey(text) {
  if (codeUnitsAtMost(text, 127)) return text;
  return Buffer.from(text, "utf8").toString("latin1");
}
export function codeUnitsAtMost(text, max) {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > max) return false;
  return true;
}
export function keyBytes(key) {
  return Buffer.from(key, "latin1");
}
const { latin1Slice, utf8Slice } = Buffer.prototype;
export function textOrNull(bytes, from = 0, to = bytes.length) {
  let at = from;
  while (at < to && bytes[at] < 128) at += 1;
  if (at === to) return latin1Slice.call(bytes, from, to);
  return isUtf8(bytes.subarray(at, to)) ? utf8Slice.call(bytes, from, to) : null;
}
export function lossyText(bytes) {
  return utf8Slice.call(bytes, 0, bytes.length);
}
export function compareUtf8(a, b) {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return utf8Rank(left) - utf8Rank(right);
  }
  return a.length - b.length;
}
function utf8Rank(unit) {
  if (unit >= 57344) return unit - 2048;
  return unit >= 55296 ? unit + 8192 : unit;
}
//# sourceMappingURL=data:application/json;base64,ewogICJ2ZXJzaW9uIjogMywKICAic291cmNlcyI6IFsidmFsdWUudHMiXSwKICAibWFwcGluZ3MiOiAiQUFDQSxTQUFTLGNBQWM7QUFDdkIsU0FBUyxlQUFlO0FBWWpCLGFBQU0sV0FBVztBQUFBO0FBQUEsRUFFYjtBQUFBO0FBQUE7QUFBQTtBQUFBO0FBQUE7QUFBQSxFQU9ULFlBQVksT0FBbUI7QUFDN0IsU0FBSyxRQUFRLFFBQVEsU0FBUyxLQUFLO0FBQUEsRUFDckM7QUFDRjtBQWFPLGdCQUFTLE1BQU0sTUFBc0I7QUFDMUMsTUFBSSxnQkFBZ0IsTUFBTSxHQUFJLEVBQUcsUUFBTztBQUN4QyxTQUFPLE9BQU8sS0FBSyxNQUFNLE1BQU0sRUFBRSxTQUFTLFFBQVE7QUFDcEQ7QUFHTyxnQkFBUyxnQkFBZ0IsTUFBYyxLQUFzQjtBQUNsRSxXQUFTLElBQUksR0FBRyxJQUFJLEtBQUssUUFBUSxLQUFLLEVBQUcsS0FBSSxLQUFLLFdBQVcsQ0FBQyxJQUFJLElBQUssUUFBTztBQUM5RSxTQUFPO0FBQ1Q7QUFHTyxnQkFBUyxTQUFTLEtBQXFCO0FBQzVDLFNBQU8sT0FBTyxLQUFLLEtBQUssUUFBUTtBQUNsQztBQUVBLE1BQU0sRUFBRSxhQUFhLFVBQVUsSUFBSSxPQUFPO0FBU25DLGdCQUFTLFdBQVcsT0FBbUIsT0FBTyxHQUFHLEtBQUssTUFBTSxRQUF1QjtBQUN4RixNQUFJLEtBQUs7QUFDVCxTQUFPLEtBQUssTUFBTyxNQUFNLEVBQUUsSUFBZSxJQUFNLE9BQU07QUFDdEQsTUFBSSxPQUFPLEdBQUksUUFBTyxZQUFZLEtBQUssT0FBTyxNQUFNLEVBQUU7QUFDdEQsU0FBTyxPQUFPLE1BQU0sU0FBUyxJQUFJLEVBQUUsQ0FBQyxJQUFJLFVBQVUsS0FBSyxPQUFPLE1BQU0sRUFBRSxJQUFJO0FBQzVFO0FBR08sZ0JBQVMsVUFBVSxPQUEyQjtBQUNuRCxTQUFPLFVBQVUsS0FBSyxPQUFPLEdBQUcsTUFBTSxNQUFNO0FBQzlDO0FBTU8sZ0JBQVMsWUFBWSxHQUFXLEdBQW1CO0FBQ3hELFFBQU0sU0FBUyxLQUFLLElBQUksRUFBRSxRQUFRLEVBQUUsTUFBTTtBQUMxQyxXQUFTLElBQUksR0FBRyxJQUFJLFFBQVEsS0FBSyxHQUFHO0FBQ2xDLFVBQU0sT0FBTyxFQUFFLFdBQVcsQ0FBQztBQUMzQixVQUFNLFFBQVEsRUFBRSxXQUFXLENBQUM7QUFDNUIsUUFBSSxTQUFTLE1BQU8sUUFBTyxTQUFTLElBQUksSUFBSSxTQUFTLEtBQUs7QUFBQSxFQUM1RDtBQUNBLFNBQU8sRUFBRSxTQUFTLEVBQUU7QUFDdEI7QUFHQSxTQUFTLFNBQVMsTUFBc0I7QUFDdEMsTUFBSSxRQUFRLE1BQVEsUUFBTyxPQUFPO0FBQ2xDLFNBQU8sUUFBUSxRQUFTLE9BQU8sT0FBUztBQUMxQzsiLAogICJuYW1lcyI6IFtdCn0K

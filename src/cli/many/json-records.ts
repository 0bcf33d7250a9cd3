/** Splits a stream into JSON texts: one array, or one object a line (NDJSON). Memory is bounded by the longest of them. */

/** A JSON text of a stream. */
export interface JsonRecord {
  /** The number of its line, from 1; 1 for an array. */
  line: number;
  /** The text; null if it is longer than the limit. */
  text: string | null;
  /** Whether the text is the whole stream, which starts with a bracket. */
  isArray: boolean;
}

/** The limits of a text in bytes. */
export interface RecordLimits {
  line: number;
  array: number;
}

const LINE_FEED = 0x0a;
const BRACKET = 0x5b;
/** White space, and the bytes of a byte order mark. */
const BLANK = new Set([0x09, LINE_FEED, 0x0d, 0x20, 0xef, 0xbb, 0xbf]);

/** The texts of a stream, each as soon as its line has ended. Blank lines are left out. */
export async function* jsonRecords(chunks: AsyncIterable<Buffer>, limits: RecordLimits): AsyncGenerator<JsonRecord> {
  let isArray = false;
  let isBlank = true;
  let line = 1;
  let parts: Buffer[] = [];
  let size = 0;
  const isTooLong = () => size > (isArray ? limits.array : limits.line);
  /** Ends a line, or the stream. */
  const finish = (): JsonRecord[] => {
    const text = isTooLong() ? null : Buffer.concat(parts).toString().trim();
    [parts, size] = [[], 0];
    return text === '' ? [] : [{ line: isArray ? 1 : line, text, isArray }];
  };
  for await (const chunk of chunks) {
    const first: number | undefined = isBlank ? chunk.find((byte) => !BLANK.has(byte)) : undefined;
    isBlank &&= first === undefined;
    isArray ||= first === BRACKET;
    for (let at = 0; at <= chunk.length; at += 1) {
      const end = isArray ? -1 : chunk.indexOf(LINE_FEED, at);
      const part = chunk.subarray(at, end < 0 ? undefined : end);
      size += part.length;
      if (isTooLong()) parts = [];
      else parts.push(part);
      if (end < 0) break;
      yield* finish();
      line += 1;
      at = end;
    }
  }
  yield* finish();
}

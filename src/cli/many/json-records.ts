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
  const splitter = new Splitter(limits);
  for await (const chunk of chunks) yield* splitter.add(chunk);
  yield* splitter.finish();
}

class Splitter {
  readonly #limits: RecordLimits;
  /** Null until the first byte that is not blank. */
  #isArray: boolean | null = null;
  #line = 1;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(limits: RecordLimits) {
    this.#limits = limits;
  }

  *add(chunk: Buffer): Generator<JsonRecord> {
    if (this.#isArray === null) {
      const first = chunk.find((byte) => !BLANK.has(byte));
      if (first === undefined) {
        for (const byte of chunk) if (byte === LINE_FEED) this.#line += 1;
        return;
      }
      this.#isArray = first === BRACKET;
    }
    for (let at = 0; at < chunk.length; ) {
      const end = this.#isArray ? -1 : chunk.indexOf(LINE_FEED, at);
      this.#append(chunk.subarray(at, end < 0 ? undefined : end));
      if (end < 0) return;
      yield* this.finish();
      this.#line += 1;
      at = end + 1;
    }
  }

  /** Ends a line, or the stream. */
  *finish(): Generator<JsonRecord> {
    const isArray = this.#isArray ?? false;
    const text = this.#size > this.#limit() ? null : Buffer.concat(this.#parts).toString().trim();
    this.#parts = [];
    this.#size = 0;
    if (text !== '') yield { line: isArray ? 1 : this.#line, text, isArray };
  }

  #limit(): number {
    return this.#isArray ? this.#limits.array : this.#limits.line;
  }

  #append(part: Buffer): void {
    this.#size += part.length;
    if (this.#size <= this.#limit()) this.#parts.push(part);
    else this.#parts = [];
  }
}

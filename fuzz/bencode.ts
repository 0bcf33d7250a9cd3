// Fuzzes the codec: compares it with a scanner and an encoder of the tests, and with the package `bencode` where that is exact.
import assert from 'node:assert/strict';
import theirs from 'bencode';
import { BENCODE_CODES, BencodeError } from '../src/bencode/bencode-error.ts';
import { type Decoded, decode, decodeTrusted, type TrustedDecodeOptions } from '../src/bencode/decode.ts';
import { encode } from '../src/bencode/encode.ts';
import { LimitError } from '../src/bencode/limits.ts';
import { type BencodePath, locate } from '../src/bencode/locate.ts';
import { type BencodeValue, RawBencode } from '../src/bencode/value.ts';
import { reference } from '../test/bencode/reference.ts';
import { type Node, scan } from '../test/support/scan.ts';
import { fixtures, type Target, TORRENT_WORDS } from './engine/target.ts';

const SOFT = ['duplicate_key', 'leading_zero', 'negative_zero', 'trailing_data', 'unsorted_key'];

/** The results of decoding other than a value. */
type Failure = BencodeError | LimitError;
const isFailure = (what: unknown): what is Failure => what instanceof BencodeError || what instanceof LimitError;

function outcome(bytes: Buffer, options: TrustedDecodeOptions = {}): Decoded | Failure {
  try {
    return options.raw ? decodeTrusted(bytes, options) : decode(bytes, options);
  } catch (error) {
    assert.ok(isFailure(error), error instanceof Error ? error.stack : String(error));
    requirePlace(error, bytes);
    return error;
  }
}

function requirePlace(error: Failure, bytes: Buffer): void {
  const { offset, message } = error;
  if (error instanceof BencodeError) assert.ok(Object.hasOwn(BENCODE_CODES, error.bencodeCode), error.bencodeCode);
  assert.ok(offset !== null && Number.isInteger(offset) && offset >= 0 && offset <= bytes.length, message);
  assert.ok(message.length < 250, message);
}

const codeOf = (error: Failure) => (error instanceof BencodeError ? error.bencodeCode : error.limit);
const told = (error: Failure) => `${codeOf(error)} at ${error.offset}`;

/** Every value in a tree with its path; for duplicate keys, the first value. */
function* places(node: Node, path: BencodePath = []): Generator<[BencodePath, number]> {
  yield [path, node.start];
  const seen = new Set<string | number>();
  for (const [key, child] of node.entries) {
    if (seen.has(key)) continue;
    seen.add(key);
    yield* places(child, [...path, key]);
  }
}

function depthOf(node: Node, isContainer: (node: Node) => boolean): number {
  return isContainer(node) ? 1 + Math.max(0, ...node.entries.map(([, child]) => depthOf(child, isContainer))) : 0;
}

/** Whether the package `bencode` can represent a value: text keys that objects keep in order, integers that fit doubles. */
function isSimple(value: BencodeValue): boolean {
  if (typeof value === 'number') return true;
  if (typeof value === 'bigint') return false;
  if (value instanceof Uint8Array) return true;
  if (Array.isArray(value)) return value.every(isSimple);
  return [...value].every(([key, item]) => /^[ -~]+$/.test(key) && !/^\d+$|^__proto__$/.test(key) && isSimple(item));
}

export const check: Target['check'] = (input) => {
  const strict = outcome(input, { span: 'info' });
  const tolerant = outcome(input, { span: 'info', tolerant: true });
  if (isFailure(strict)) {
    if (!SOFT.includes(codeOf(strict))) {
      assert.ok(isFailure(tolerant));
      assert.equal(told(tolerant), told(strict));
    } else if (!isFailure(tolerant)) {
      assert.equal(told(tolerant.errors[0] as BencodeError), told(strict));
    }
  } else {
    assert.deepEqual(tolerant, strict);
    assert.deepEqual(strict.errors, []);
    assert.ok(input.equals(encode(strict.value)), 'encoded again');
    assert.ok(input.equals(reference(strict.value)), 'encoded by another');
    if (isSimple(strict.value)) assert.ok(input.equals(theirs.encode(theirs.decode(input))), 'by the package');
    // No proper prefix of valid bencode is valid.
    const cut = input.reduce((sum, byte) => sum * 31 + byte, 7) % input.length;
    assert.ok(isFailure(outcome(input.subarray(0, cut), { tolerant: true })), `cut at ${cut}`);
  }
  const raw = { within: 'info', keys: new Set(['files', 'file tree', 'pieces']) };
  const skipped = outcome(input, { span: 'info', tolerant: true, raw });
  if (isFailure(tolerant)) {
    assert.ok(isFailure(skipped));
    assert.equal(told(skipped), told(tolerant));
    return;
  }
  assert.ok(!isFailure(skipped));
  assert.deepEqual(skipped.errors.map(told), tolerant.errors.map(told));
  assert.deepEqual(skipped.span, tolerant.span);
  for (const error of tolerant.errors) requirePlace(error, input);

  const node = scan(input);
  const info = node.entries.find(([key]) => key === 'info')?.[1];
  assert.deepEqual(tolerant.span, info ? { start: info.start, end: info.end } : null);
  if (skipped.value instanceof Map) {
    const inner = skipped.value.get('info');
    for (const [key, value] of inner instanceof Map ? inner : []) {
      if (!(value instanceof RawBencode)) continue;
      const place = info?.entries.find(([name]) => name === key)?.[1];
      assert.ok(input.subarray(place?.start, place?.end).equals(value.bytes));
    }
  }
  const wanted = [...places(node)].slice(0, 200);
  assert.deepEqual(
    locate(
      input,
      wanted.map(([path]) => path),
    ),
    wanted.map(([, at]) => at),
  );
  // Limits are exact.
  const depth = depthOf(node, ({ start }) => input[start] === 0x64 || input[start] === 0x6c);
  if (depth === 0) return;
  assert.ok(!isFailure(outcome(input, { tolerant: true, limits: { depth } })));
  const shallow = outcome(input, { tolerant: true, limits: { depth: depth - 1 } });
  assert.ok(shallow instanceof LimitError && shallow.limit === 'depth');
};

export const seeds: Target['seeds'] = fixtures;
export const words = [...TORRENT_WORDS, 'i0e', 'i-1e', '0:', '1:a', 'le', 'de', 'd1:a', 'l', 'e', '99999999999:'];

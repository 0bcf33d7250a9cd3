/** Finds the lines of the keys in a TOML document that is known to be valid. */
import { parse } from 'smol-toml';

/** A place in a document: keys and indexes of arrays of tables from the top. */
export type TomlPath = readonly (string | number)[];

/** Returns the line of a key, or of the closest table around it. */
export type LineOf = (path: TomlPath) => number;

const name = (path: TomlPath) => JSON.stringify(path);

/** Reads the lines of all keys. Keys in inline tables have the line on which their table begins. */
export function linesOf(toml: string): LineOf {
  const lines = new Map<string, number>();
  const indexes = new Map<string, number>();
  let table: TomlPath = [];
  for (const { kind, line, key } of statementsOf(toml)) {
    const path = [...(kind === 'key' ? table : []), ...keysOf(key)];
    if (kind === 'key') note(lines, path, table.length, line);
    else {
      table = kind === 'array' ? nextOf(indexes, withIndexes(indexes, path)) : withIndexes(indexes, path);
      note(lines, table, 0, line);
    }
  }
  return (path) => {
    for (let length = path.length; length > 0; length -= 1) {
      const line = lines.get(name(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return 1;
  };
}

/** Notes the line of a path and of the tables that it makes on its way. */
function note(lines: Map<string, number>, path: TomlPath, from: number, line: number): void {
  for (let length = from + 1; length <= path.length; length += 1) {
    const key = name(path.slice(0, length));
    if (length === path.length || !lines.has(key)) lines.set(key, line);
  }
}

/** The path of the next element of an array of tables. */
function nextOf(indexes: Map<string, number>, path: TomlPath): TomlPath {
  const index = (indexes.get(name(path)) ?? -1) + 1;
  indexes.set(name(path), index);
  return [...path, index];
}

/** A path whose arrays of tables are followed by the index of their last element. */
function withIndexes(indexes: ReadonlyMap<string, number>, path: TomlPath): TomlPath {
  const whole: (string | number)[] = [];
  for (const [at, key] of path.entries()) {
    whole.push(key);
    const index = at < path.length - 1 ? indexes.get(name(whole)) : undefined;
    if (index !== undefined) whole.push(index);
  }
  return whole;
}

/** The keys of a dotted key. */
function keysOf(dotted: string): string[] {
  if (/^[\w-]+$/.test(dotted)) return [dotted];
  const keys: string[] = [];
  for (let value: unknown = parse(`${dotted} = 0`); typeof value === 'object' && value !== null; ) {
    const [[key, inner]] = Object.entries(value) as [[string, unknown]];
    keys.push(key);
    value = inner;
  }
  return keys;
}

/** A line that sets a key or begins a table. */
interface Statement {
  kind: 'key' | 'table' | 'array';
  line: number;
  /** The dotted key as it is written. */
  key: string;
}

function* statementsOf(toml: string): Generator<Statement> {
  let line = 1;
  let at = toml.startsWith('\ufeff') ? 1 : 0;
  /** The start of the key of the current statement; null between statements. */
  let start: number | null = null;
  let kind: Statement['kind'] = 'key';
  let depth = 0;
  let hasKey = false;
  while (at < toml.length) {
    const char = toml[at] as string;
    const end = tokenEnd(toml, at);
    if (start === null && !/[\s#]/.test(char)) {
      kind = char !== '[' ? 'key' : toml[at + 1] === '[' ? 'array' : 'table';
      start = at + { key: 0, table: 1, array: 2 }[kind];
      [depth, hasKey] = [0, false];
      // The brackets of a header are no list.
      if (kind !== 'key') {
        at = start;
        continue;
      }
    }
    if (start !== null && !hasKey && char === (kind === 'key' ? '=' : ']')) {
      yield { kind, line, key: toml.slice(start, at).trim() };
      hasKey = true;
    } else if (hasKey && kind === 'key')
      depth += char === '[' || char === '{' ? 1 : char === ']' || char === '}' ? -1 : 0;
    else if (char === '\n' && start === null) depth = 0;
    if (char === '\n' && depth === 0) start = null;
    for (let i = at; i < end; i += 1) if (toml[i] === '\n') line += 1;
    at = end;
  }
}

/** The end of the text, comment or single character that begins at a place. */
function tokenEnd(toml: string, at: number): number {
  const char = toml[at];
  if (char === '#') {
    const end = toml.indexOf('\n', at);
    return end < 0 ? toml.length : end;
  }
  if (char !== '"' && char !== "'") return at + 1;
  const fence = char.repeat(3);
  const quote = toml.startsWith(fence, at) ? fence : char;
  let end = at + quote.length;
  while (end < toml.length && !toml.startsWith(quote, end)) end += char === '"' && toml[end] === '\\' ? 2 : 1;
  end += quote.length;
  // A text of several lines may end with one or two quotes of its own.
  if (quote === fence) while (toml[end] === char) end += 1;
  return end;
}

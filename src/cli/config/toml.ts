/** Parses TOML 1.0 into values, and tells on which line each of them stands. */
import { type AST, parseTOML } from 'toml-eslint-parser';

/** A place in a document: keys and indexes of lists from the top. */
export type TomlPath = readonly (string | number)[];

/** Returns the line of a value, or of the closest table around it. */
export type LineOf = (path: TomlPath) => number;

/** A table, or a list of tables. */
type Container = Record<string | number, unknown>;

/**
 * Parses a document.
 *
 * @throws {ParseError} at the first mistake
 * @throws {RangeError} if lists or inline tables are nested more deeply than the stack allows
 */
export function parseToml(toml: string): { value: unknown; lineOf: LineOf } {
  const top: Container = {};
  const lines = new Map<unknown, Map<string | number, number>>();

  const put = (table: Container, key: string | number, value: unknown, { loc }: AST.TOMLNode) => {
    // An assignment would set the prototype for the key __proto__.
    Object.defineProperty(table, key, { value, enumerable: true, writable: true, configurable: true });
    if (!lines.has(table)) lines.set(table, new Map());
    lines.get(table)?.set(key, loc.start.line);
  };
  /** The table or list at a path, made where it does not exist yet. */
  const open = (from: Container, path: TomlPath, node: AST.TOMLNode) => {
    let table = from;
    for (const [i, key] of path.entries()) {
      if (!Object.hasOwn(table, key)) put(table, key, typeof path[i + 1] === 'number' ? [] : {}, node);
      table = table[key] as Container;
    }
    return table;
  };
  const fill = (table: Container, entries: readonly AST.TOMLKeyValue[]) => {
    for (const { key, value } of entries) {
      const path = key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value));
      put(open(table, path.slice(0, -1), key), path.at(-1) as string, read(value), key);
    }
    return table;
  };
  const read = (node: AST.TOMLContentNode): unknown => {
    if (node.type === 'TOMLArray') return node.elements.map(read);
    if (node.type === 'TOMLInlineTable') return fill({}, node.body);
    // Without an offset, a date and time are local. A time alone gives an invalid date.
    return 'datetime' in node ? new Date(node.datetime.toUpperCase().replace(' ', 'T')) : node.value;
  };

  for (const node of parseTOML(toml, { tomlVersion: '1.0' }).body[0].body) {
    if (node.type === 'TOMLTable') fill(open(top, node.resolvedKey, node), node.body);
    else fill(top, [node]);
  }
  const lineOf = (path: TomlPath) => {
    let [line, at]: [number, unknown] = [1, top];
    for (const key of path) {
      line = lines.get(at)?.get(key) ?? line;
      at = (at as Container | undefined)?.[key];
    }
    return line;
  };
  return { value: top, lineOf };
}

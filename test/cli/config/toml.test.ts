import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { parseToml, type TomlPath } from '../../../src/cli/config/toml.ts';
import { runs } from '../../support/runs.ts';

/** A document with every kind of text, key and table. */
const DOCUMENT = `a = 1
"b.c" = "x # y" # "comment
d."e f".'g' = '''
[not a table]
"""
'''

[t]
h = """
x = 1 \\"""
"quoted""""" # end
i = [ # [
  "]", '[',
  { j = 1 },
]
k = 2
[ t . 'u v' ]
l = { m = "}" }
[[list]]
n = 1
[[list]]
n = 2
[list.inner]
o = 3
[[list.deep]]
p = 1
[[list.deep]]
p = 2`;

const EXPECTED: [TomlPath, number][] = [
  [['a'], 1],
  [['b.c'], 2],
  [['d'], 3],
  [['d', 'e f', 'g'], 3],
  [['t'], 8],
  [['t', 'h'], 9],
  [['t', 'i'], 12],
  [['t', 'i', 1], 12],
  [['t', 'i', 2, 'j'], 14],
  [['t', 'k'], 16],
  [['t', 'u v'], 17],
  [['t', 'u v', 'l'], 18],
  [['t', 'u v', 'l', 'm'], 18],
  [['list', 0], 19],
  [['list', 0, 'n'], 20],
  [['list', 1, 'n'], 22],
  [['list', 1, 'inner', 'o'], 24],
  [['list', 1, 'deep', 0, 'p'], 26],
  [['list', 1, 'deep', 1, 'p'], 28],
];

/** The values of smol-toml: another parser is the oracle. */
const expectedOf = (toml: string) => JSON.stringify(parse(toml));

describe('parseToml', () => {
  for (const [name, toml] of [
    ['line feeds', DOCUMENT],
    ['carriage returns', DOCUMENT.replaceAll('\n', '\r\n')],
  ] as const) {
    it(`reads every kind of table and text, and finds their lines: ${name}`, () => {
      const { value, lineOf } = parseToml(toml);
      // Line ends within a text become line feeds, as TOML allows.
      assert.equal(JSON.stringify(value), expectedOf(DOCUMENT));
      assert.deepEqual(
        EXPECTED.map(([path]) => [path, lineOf(path)]),
        EXPECTED,
      );
    });
  }

  it('keeps the key __proto__ as any other', () => {
    for (const toml of ['__proto__ = 1', 'a.__proto__.b = 1\na.__proto__.c = 2', '[[__proto__]]\nx = 1\n[[__proto__]]'])
      assert.equal(JSON.stringify(parseToml(toml).value), expectedOf(toml));
    assert.equal(Object.hasOwn(Object.prototype, 'b'), false);
  });

  it('reads dates, and takes those without an offset as local', () => {
    const { value } = parseToml(
      'a = 1979-05-27T07:32:00.5-01:00\nb = 1979-05-27 07:32:00z\nc = 1979-05-27T07:32:00\nd = 1979-05-27\ne = 07:32:00',
    );
    assert.deepEqual(Object.values(value as object).map(Number), [
      Date.UTC(1979, 4, 27, 8, 32, 0, 500),
      Date.UTC(1979, 4, 27, 7, 32),
      new Date(1979, 4, 27, 7, 32).getTime(),
      Date.UTC(1979, 4, 27),
      Number.NaN,
    ]);
  });

  it('falls back to the table around a key, and to the first line', () => {
    const { lineOf } = parseToml('\n[a]\nb = { c = 1 }');
    assert.deepEqual([lineOf(['a', 'b', 'c']), lineOf(['a', 'x']), lineOf(['x']), lineOf([])], [3, 2, 1, 1]);
  });

  it('reads any document, and finds the line that sets each key', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'ab.= #[]{}"\'\\\n\t\u00e9'), maxLength: 8 }),
      fc.string({ maxLength: 6 }),
    );
    const value = fc.oneof(text, fc.boolean(), fc.integer(), fc.array(text, { maxLength: 3 }));
    const table = fc.uniqueArray(fc.tuple(text, value), { selector: ([key]) => key, maxLength: 4 });
    const tables = fc.uniqueArray(fc.tuple(text, table), { selector: ([key]) => key, maxLength: 4 });
    // `stringify` is the oracle: a document of one key tells how it writes that key.
    fc.assert(
      fc.property(tables, (entries) => {
        const object = Object.fromEntries(entries.map(([key, inner]) => [key, Object.fromEntries(inner)]));
        const toml = stringify(object);
        const lines = toml.split('\n');
        const { value: read, lineOf } = parseToml(toml);
        assert.equal(JSON.stringify(read), expectedOf(toml));
        for (const [key, inner] of Object.entries(object)) {
          for (const [name, one] of Object.entries(inner)) {
            const line = lineOf([key, name]);
            const [written = ''] = stringify({ [name]: one }).split('\n');
            assert.equal(lines[line - 1], written, toml);
            const header = lines.slice(0, line).findLast((above) => above.startsWith('['));
            assert.equal(header, stringify({ [key]: { x: 1 } }).split('\n')[0], toml);
          }
        }
      }),
      { numRuns: runs(300) },
    );
  });
});

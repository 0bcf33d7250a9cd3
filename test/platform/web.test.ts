// src/platform/web.ts gives what src/platform/node.ts gives.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import vm from 'node:vm';
import fc from 'fast-check';
import * as nodePlatform from '../../src/platform/node.ts';
import * as webPlatform from '../../src/platform/web.ts';
import { runs } from '../support/runs.ts';

const node = { ...nodePlatform };
const web = { ...webPlatform };

const bytes = fc.uint8Array({ maxLength: 300 });
/** Bytes that are often UTF-8: of any text, and with some bytes changed. */
const almostUtf8 = fc.oneof(
  bytes,
  fc.string({ unit: 'binary', maxLength: 80 }).map((text) => new Uint8Array(Buffer.from(text))),
  fc
    .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), fc.nat(100), fc.nat(255))
    .map(([text, at, byte]) => {
      const changed = new Uint8Array(Buffer.from(text));
      changed[at % changed.length] = byte;
      return changed;
    }),
);
/** Text with halves of surrogate pairs. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((codes) => String.fromCharCode(...codes)),
  fc
    .array(fc.constantFrom('\ud800', '\udc00', '\udfff', 'a', 'é', '€'), { maxLength: 20 })
    .map((parts) => parts.join('')),
);

/** Asserts that both platforms give the same for the same arguments, in Uint8Arrays of any class. */
function assertSame<A extends unknown[]>(name: string, one: (...args: A) => unknown, other: (...args: A) => unknown) {
  return (...args: A): void => {
    const [inNode, inWeb] = [one(...args), other(...args)].map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
    );
    assert.deepEqual(inWeb, inNode, name);
  };
}

function property<A extends [unknown, ...unknown[]]>(
  arbitraries: { [K in keyof A]: fc.Arbitrary<A[K]> },
  check: (...args: A) => void,
  usual = 1000,
) {
  fc.assert(
    fc.property(fc.tuple(...arbitraries), (args) => check(...(args as A))),
    { numRuns: runs(usual) },
  );
}

describe('the platform of browsers', () => {
  it('has every name of that of Node', () => {
    assert.deepEqual(Object.keys(web).sort(), Object.keys(node).sort());
  });

  describe('isUtf8', () => {
    const same = assertSame('isUtf8', node.isUtf8, web.isUtf8);

    it('agrees on all sequences of at most two bytes', () => {
      same(new Uint8Array());
      for (let first = 0; first < 256; first += 1) {
        same(Uint8Array.of(first));
        for (let second = 0; second < 256; second += 1) same(Uint8Array.of(first, second));
      }
    });

    it('agrees on sequences of three and four bytes at every border', () => {
      const edges = [
        0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4,
        0xf5, 0xff,
      ];
      for (const a of edges)
        for (const b of edges) for (const c of edges) for (const d of edges) same(Uint8Array.of(a, b, c, d));
    });

    it('agrees on any bytes', () => {
      const lead = fc.integer({ min: 0xc0, max: 0xf7 });
      const next = fc.oneof(fc.integer({ min: 0x80, max: 0xbf }), fc.nat(255));
      property<[number, number, number, number]>(
        [lead, next, next, next],
        (...all) => {
          same(Uint8Array.from(all));
          same(Uint8Array.from(all.slice(0, 3)));
        },
        5000,
      );
      property([almostUtf8], same);
      property([almostUtf8], assertSame('isAscii', node.isAscii, web.isAscii));
    });
  });

  it('decodes text the same way', () => {
    const range = fc.tuple(almostUtf8, fc.nat(300), fc.nat(300)).map(([all, a, b]): [Uint8Array, number, number] => {
      const [from, to] = [a, b].map((at) => Math.min(at, all.length)).sort((x, y) => x - y) as [number, number];
      return [all, from, to];
    });
    for (const name of ['utf8Text', 'latin1Text'] as const) {
      property(
        [almostUtf8],
        assertSame(
          name,
          (all: Uint8Array) => node[name](all),
          (all: Uint8Array) => web[name](all),
        ),
      );
      property([range], ([all, from, to]) => assertSame(name, node[name], web[name])(all, from, to));
    }
    property([bytes], assertSame('hexText', node.hexText, web.hexText));
    // A mark of the byte order is text.
    assertSame('utf8Text', node.utf8Text, web.utf8Text)(Uint8Array.of(0xef, 0xbb, 0xbf, 0x41));
    const long = new Uint8Array(100_000).map((_, i) => i % 256);
    assert.equal(web.latin1Text(long), node.latin1Text(long));
  });

  it('encodes text the same way', () => {
    for (const name of ['utf8Bytes', 'utf8Length', 'latin1Bytes'] as const)
      property([text], assertSame<[string]>(name, node[name], web[name]));
  });

  it('decodes hexadecimal digits up to the first pair that is none', () => {
    const same = assertSame('hexBytes', node.hexBytes, web.hexBytes);
    for (const odd of ['', 'a', 'ab', 'abc', 'aB0', 'zz', 'ab??12', '0xab', 'ab cd', ' ab', 'ab\n', 'é0', 'ab12é0'])
      same(odd);
    property([fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), maxLength: 90 })], same);
    property([fc.string({ unit: fc.constantFrom(...'09afAFgG \n'), maxLength: 9 })], same);
    // Node takes the low byte of any other character.
    property([text.filter((one) => /^[\0-\xff]*$/.test(one))], same);
  });

  it('joins, compares and searches bytes the same way', () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 6 });
    property([parts], assertSame('concatBytes', node.concatBytes, web.concatBytes));
    const some = fc.array(fc.uint8Array({ maxLength: 20 }), { minLength: 1, maxLength: 6 });
    property([some, fc.nat(130)], assertSame('concatBytes', node.concatBytes, web.concatBytes));
    const few = fc.uint8Array({ maxLength: 4, max: 3 });
    property([few, few], (a, b) => assert.equal(Math.sign(web.compareBytes(a, b)), node.compareBytes(a, b)));
    property([bytes, bytes], (a, b) => assert.equal(Math.sign(web.compareBytes(a, b)), node.compareBytes(a, b)));
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 3 });
    const longer = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 12 });
    property([longer, letters], (all, part) => {
      const within = new Uint8Array(Buffer.from(`xx${all}yy`)).subarray(2, -2);
      assert.equal(web.includesBytes(within, part), node.includesBytes(within, part), `${all} ${part}`);
    });
    property([bytes], (all) => {
      const copy = web.copyOf(all);
      assert.deepEqual(copy, all);
      assert.notEqual(copy.buffer, all.buffer);
    });
    assert.deepEqual([web.newBytes(3), web.shortBytes(3)], [new Uint8Array(3), new Uint8Array(3)]);
  });

  it('hashes the same way, in one part or more', () => {
    for (const algorithm of ['sha1', 'sha256'] as const)
      property(
        [bytes, bytes],
        (a, b) => {
          const hash = ({ createHasher }: Pick<typeof node, 'createHasher'>) =>
            Buffer.from(createHasher(algorithm).update(a).update(b).digest()).toString('hex');
          assert.equal(hash(web), hash(node));
          assert.equal(web.hashHex(algorithm, a), node.hashHex(algorithm, a));
        },
        300,
      );
  });

  it('hashes every length around the ends of blocks, in parts of any length', () => {
    const all = new Uint8Array(300).map((_, i) => i * 7);
    for (const algorithm of ['sha1', 'sha256'] as const)
      for (let length = 0; length <= 260; length += 1)
        for (const first of [0, 1, 55, 63, 64, 65, 128]) {
          const [a, b] = [all.subarray(0, Math.min(first, length)), all.subarray(Math.min(first, length), length)];
          const digest = web.createHasher(algorithm).update(a).update(b).digest();
          assert.equal(web.hexText(digest), node.hashHex(algorithm, all.subarray(0, length)), `${length}, ${first}`);
        }
  });

  it('hashes more than 2^29 bytes, whose number of bits has more than 32 bits', () => {
    const part = new Uint8Array(2 ** 25).fill(1);
    const [own, expected] = [web.createHasher('sha256'), createHash('sha256')];
    for (let i = 0; i < 17; i += 1) {
      own.update(part);
      expected.update(part);
    }
    assert.equal(web.hexText(own.digest()), expected.digest('hex'));
  });

  it('takes paths apart as those of POSIX', () => {
    const parts = fc.string({ unit: fc.constantFrom('a', 'b.c', '/', 'é'), maxLength: 9 });
    property([parts], assertSame<[string]>('basename', node.basename, web.basename));
    property([parts], assertSame('isAbsolute', node.isAbsolute, web.isAbsolute));
    assert.equal(web.joinPath('a', 'b'), node.joinPath('a', 'b'));
    assert.deepEqual([web.resolvePath('/a', 'b'), web.resolvePath('/a', '/b')], ['/a/b', '/b']);
    assert.equal(web.sep, '/');
  });

  describe('checks of built-in types', () => {
    const CHECKS = [
      'isMap',
      'isDate',
      'isArrayBuffer',
      'isUint8Array',
      'isFloat64Array',
      'isSharedArrayBuffer',
    ] as const;
    const SOURCES = [
      ...[
        'new Map()',
        'new Set()',
        'new Date()',
        'new ArrayBuffer(1)',
        'new SharedArrayBuffer(1)',
        'Promise.resolve()',
      ],
      ...['new Uint8Array(1)', 'new Uint8ClampedArray(1)', 'new Float64Array(1)', 'new DataView(new ArrayBuffer(1))'],
      ...[
        'class A extends Map {}; new A()',
        'class B extends Uint8Array {}; new B(1)',
        'class C extends Date {}; new C()',
      ],
      ...[
        'Map.prototype',
        'Date.prototype',
        'Uint8Array.prototype',
        'Object.create(Map.prototype)',
        'Object.create(new Date())',
      ],
      'Object.setPrototypeOf(new Uint8Array(1), Array.prototype)',
      ...[
        '({})',
        '[]',
        'null',
        'undefined',
        '1',
        '"Map"',
        'Symbol()',
        '1n',
        '() => {}',
        '(function () { return arguments; })()',
      ],
      ...['Map', 'Date', 'new Proxy([], {})', 'Object.create(null)', '/x/', 'new Error()', '({ then() {} })'],
    ];
    /** Objects that say that they are of a type. */
    const impostors = ['Map', 'Date', 'ArrayBuffer', 'SharedArrayBuffer', 'Uint8Array', 'Float64Array'].flatMap(
      (name) => [{ [Symbol.toStringTag]: name }, Object.assign([], { [Symbol.toStringTag]: name })],
    );

    /** Asserts that both agree, and name the value. */
    const check = (values: readonly [string, unknown][], checks: readonly (typeof CHECKS)[number][]) => {
      for (const [source, value] of values)
        for (const name of checks) assert.equal(web[name](value), node[name](value), `${name}: ${source}`);
    };

    it('agree on values of this realm, and on impostors', () => {
      check(
        SOURCES.map((source) => [source, vm.runInThisContext(source)]),
        CHECKS,
      );
      check(
        impostors.map((value) => [JSON.stringify(value), value]),
        CHECKS,
      );
      check([['a Buffer', Buffer.alloc(1)]], CHECKS);
    });

    it('reject objects that have lost their methods', () => {
      for (const value of [new Map(), new ArrayBuffer(1)])
        for (const name of ['isMap', 'isArrayBuffer'] as const)
          assert.equal(web[name](Object.setPrototypeOf(value, null)), false);
    });

    it('agree on values of another realm', () => {
      const realm = vm.createContext();
      const values = SOURCES.map((source): [string, unknown] => [source, vm.runInContext(source, realm)]);
      check(values, ['isMap', 'isDate', 'isArrayBuffer', 'isUint8Array', 'isFloat64Array']);
    });
  });

  it('lets other work run in the next round', async () => {
    const order: string[] = [];
    const round = web.nextRound().then(() => order.push('round'));
    await Promise.resolve();
    order.push('microtask');
    await round;
    assert.deepEqual(order, ['microtask', 'round']);
    assert.ok(web.uptime() > 0);
    assert.ok(web.availableParallelism() >= 1);
  });
});

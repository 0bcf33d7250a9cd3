import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nameFindings } from '../../../src/create/findings/name-findings.ts';
import { FileTable, pathColumn } from '../../../src/layout/file-table.ts';
import { sortV1, sortV2 } from '../../../src/layout/order.ts';
import { runs } from '../../support/runs.ts';

type Paths = readonly (readonly string[])[];

/** A list of files. */
const list = (paths: Paths) => new FileTable(paths.map((path) => ({ path: [...path], length: 1 })));

/** The same files in columns, whose bytes are a view into a larger buffer. */
function columns(paths: Paths): FileTable {
  const numbers = new Float64Array(paths.length);
  const { bytes, ends } = pathColumn(paths.map((path) => path.join('\0')));
  const view = Buffer.concat([Buffer.from('x\0y'), bytes, Buffer.from('z\0:')]).subarray(3, 3 + bytes.length);
  const packed = { paths: { bytes: view, ends }, lengths: numbers, mtimes: numbers, ctimes: numbers, diskPaths: null };
  return new FileTable({ root: '/', columns: packed });
}

/** The findings as `code path`. */
async function found(paths: Paths, name = 't'): Promise<string[]> {
  const findings = await nameFindings(list(paths), name, false);
  for (const { severity, advice, message } of findings) {
    assert.equal(severity, 'warning');
    assert.ok(advice.endsWith('.') && message.endsWith('.'));
  }
  return findings.map(({ code, path }) => `${code} ${path}`);
}

/** The same rules, written down without regard to speed. */
function expected(paths: Paths, name: string): string[] {
  const codes: string[] = [];
  const folders = new Map<string, Map<string, string>>();
  const key = (text: string) => text.toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
  const devices = ['con', 'prn', 'aux', 'nul', 'conin$', 'conout$'];
  for (const port of '0123456789\u00b9\u00b2\u00b3') devices.push(`com${port}`, `lpt${port}`);
  const single = (part: string, path: string) => {
    const base = (part.split('.')[0] as string).replace(/ +$/, '').toLowerCase();
    const isBad = [...part].some((char) => '<>:"|?*\\'.includes(char) || char < ' ');
    if (isBad || devices.includes(base) || part.endsWith('.') || part.endsWith(' ')) codes.push(`windows_name ${path}`);
    if (Buffer.byteLength(part) > 255) codes.push(`long_name ${path}`);
    const isChanged = [...part].some((char) => char < ' ' || char === '\\' || '\u200e\u202e\u2066'.includes(char));
    if (isChanged || Buffer.byteLength(part) > 240) codes.push(`client_name ${path}`);
    if (part !== part.normalize('NFC')) codes.push(`unicode_form ${path}`);
  };
  single(name, name);
  // v2 order, in which the findings are listed.
  const sorted = sortV2(paths.map((path) => ({ path: [...path] })));
  for (const { path } of sorted) {
    for (const [depth, part] of path.entries()) {
      const folder = path.slice(0, depth).join('/');
      const siblings = folders.get(folder) ?? new Map<string, string>();
      folders.set(folder, siblings);
      if (siblings.has(`name ${part}`)) continue;
      const full = path.slice(0, depth + 1).join('/');
      single(part, full);
      if (siblings.has(`key ${key(part)}`)) codes.push(`similar_names ${full}`);
      siblings.set(`name ${part}`, part).set(`key ${key(part)}`, part);
    }
    if ([name, ...path].join('/').length > 260) codes.push(`long_path ${path.join('/')}`);
  }
  return codes.sort();
}

const part = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom('a', 'A', 'b', 'é', 'e\u0301', 'É', 'E\u0301', 'ß', 'ss', 'SS', '\u212a', 'k', 'K'),
  },
  fc.constantFrom(
    'con',
    'CON.txt',
    'com\u00b2.x',
    'lpt0',
    'conin$',
    'conout$.a',
    'nul .b',
    'console',
    'com1c',
    'x:y',
    'a\\b',
  ),
  fc.constantFrom('x\u200e', '\u202ey', 'z\u2066'),
  fc.constantFrom('a.', 'a ', '.', '\x01', '\x7f', '\u{1f600}', 'ſ', 's', 'İ', 'i̇', 'ﬁ', 'fi', '日本'),
  fc.constantFrom(80, 85, 86, 127, 128, 254, 255, 256).map((length) => '\u65e5'.repeat(length / 3).padEnd(length, 'x')),
  fc
    .string({ minLength: 1, maxLength: 6, unit: 'grapheme' })
    .filter((text) => !/[/\0\u061c\u200f\u202a-\u202d\u2067-\u2069]/.test(text) && text.isWellFormed()),
);
const paths = fc
  .uniqueArray(fc.array(part, { minLength: 1, maxLength: 4 }), { maxLength: 40, selector: (path) => path.join('/') })
  .filter((all) =>
    all.every((path) => !all.some((other) => other !== path && path.every((name, i) => name === other[i]))),
  );

describe('nameFindings', () => {
  it('finds what an independent implementation finds, in any order of the files', async () => {
    await fc.assert(
      fc.asyncProperty(paths, part, async (given, name) => {
        const wanted = expected(given, name);
        const v1 = sortV1(given.map((path) => ({ path: [...path] }))).map(({ path }) => path);
        for (const files of [list(given), columns(given), list(v1), list(v1.toReversed())]) {
          const findings = await nameFindings(files, name, false);
          assert.deepEqual(findings.map(({ code, path }) => `${code} ${path}`).sort(), wanted);
        }
      }),
      { numRuns: runs(400) },
    );
  });

  it('finds the same among so many files that native code orders them', async () => {
    const many = Array.from({ length: 600 }, (_, i) => [`folder${i % 7}`, `${i}.txt`]);
    const odd = [
      ['A', 'x'],
      ['a', 'x'],
      ['folder3', 'nul'],
      ['FOLDER3', 'y?'],
      ['z.', 'b'],
      ['z.', 'B'],
    ];
    for (const given of [[...many, ...odd], [...odd, ...many].toReversed()]) {
      for (const files of [list(given), columns(given)]) {
        const findings = await nameFindings(files, 't', false);
        assert.deepEqual(findings.map(({ code, path }) => `${code} ${path}`).sort(), expected(given, 't'));
      }
    }
  });

  it('reports a folder once, whatever number of files it has', async () => {
    assert.deepEqual(
      await found([
        ['con', 'a'],
        ['con', 'b'],
        ['con', 'c', 'd'],
        ['Con', 'a'],
      ]),
      ['windows_name Con', 'windows_name con', 'similar_names con'],
    );
  });

  it('compares names with those of the same folder only', async () => {
    assert.deepEqual(await found([['a', 'x'], ['b', 'X'], ['X']]), []);
    assert.deepEqual(
      await found([
        ['a', 'X'],
        ['a', 'x', 'y'],
      ]),
      ['similar_names a/x'],
    );
  });

  it('says how two names differ', async () => {
    const message = async (a: string, b: string) =>
      (
        await nameFindings(
          list([
            ['d', a],
            ['d', b],
          ]),
          't',
          false,
        )
      )[0]?.message;
    assert.match((await message('A', 'a')) ?? '', /^"d\/A" and "d\/a" differ only in letter case: some systems/);
    assert.match((await message('e\u0301', '\u00e9')) ?? '', /differ only in Unicode normalization:/);
    assert.match((await message('E\u0301', '\u00e9')) ?? '', /differ only in letter case or Unicode normalization:/);
  });

  it('counts UTF-16 units of a path with the name of the torrent', async () => {
    // 25 components of 10 units with their slashes, and one of 6 units and 11 bytes.
    const deep = [...Array.from({ length: 25 }, () => 'x'.repeat(9)), '\u00e9\u{1f600}xx\u65e5'];
    for (const [name, units] of [
      ['abc', 260],
      ['abcd', 261],
      ['a\u{1f600}', 260],
      ['ab\u{1f600}', 261],
    ] as const) {
      const messages = (await nameFindings(list([deep]), name, false)).map(({ message }) => message);
      assert.equal(messages.length, units > 260 ? 1 : 0);
      if (units > 260) assert.match(messages[0] ?? '', / and the folder of the torrent have 261 characters: /);
    }
  });

  it('counts 260 characters and 255 bytes exactly', async () => {
    const path = (units: number) => [...Array.from({ length: 25 }, () => 'x'.repeat(9)), 'x'.repeat(units - 252)];
    assert.deepEqual(await found([path(260)]), []);
    assert.deepEqual(await found([path(261)]), [`long_path ${path(261).join('/')}`]);
    const isLong = async (name: string) => (await found([[name]])).includes(`long_name ${name}`);
    const names = ['\u{1f600}'.repeat(63), 'x'.repeat(255), '\u{1f600}'.repeat(64)];
    assert.deepEqual(await Promise.all(names.map(isLong)), [false, false, true]);
  });

  it('checks the name of a torrent of a single file, and nothing else', async () => {
    for (const files of [list([['a:b']]), list([[]])]) {
      const findings = await nameFindings(files, 'a:b', true);
      assert.deepEqual(
        findings.map(({ code, path, message }) => [code, path, message]),
        [['windows_name', 'a:b', 'Windows cannot store "a:b": the name contains \':\'.']],
      );
    }
    const codes = async (name: string) => (await nameFindings(list([[name]]), name, true)).map(({ code }) => code);
    assert.deepEqual(await codes('x'.repeat(240)), []);
    assert.deepEqual(await codes('x'.repeat(261)), ['client_name', 'long_path', 'long_name']);
  });

  it('says of a name of text direction marks alone that libtorrent removes them', async () => {
    const marks = '\u202e\u2066';
    const all = [
      ...(await nameFindings(list([[marks]]), marks, true)),
      ...(await nameFindings(list([['a', marks]]), 't', false)),
    ];
    assert.deepEqual(
      all.map(({ code, message }) => [code, message]),
      ['', 'a/'].map((folder) => [
        'client_name',
        `"${folder}\\u202e\\u2066" has only text direction marks, which libtorrent removes.`,
      ]),
    );
  });

  it('names what libtorrent will look for, and how to write composed names', async () => {
    const given = [['mark\u200e.txt'], ['cafe\u0301']];
    const [changed, decomposed] = await nameFindings(list(given), 't', false);
    assert.equal(
      changed?.message,
      'libtorrent (qBittorrent, Deluge) looks for "mark.txt" in place of "mark\\u200e.txt", and does not find it.',
    );
    assert.deepEqual(
      [decomposed?.code, decomposed?.severity, decomposed?.option],
      ['unicode_form', 'hint', { normalize: 'nfc' }],
    );
  });

  it('lists 100 findings of a code and counts the rest', async () => {
    const given = Array.from({ length: 250 }, (_, i) => [`folder${i}`, `${i}?`]);
    const findings = await nameFindings(list([...given, ['con']]), 't', false);
    assert.equal(findings.length, 101);
    assert.deepEqual(findings[100], {
      code: 'windows_name',
      severity: 'warning',
      path: null,
      message: '151 more names that Windows cannot store.',
      advice: 'Rename it, or leave it out.',
      option: { exclude: true },
      count: 151,
    });
  });

  it('is linear in a folder of variants of one name, and lets the event loop run', async () => {
    const variants = Array.from({ length: 2 ** 17 }, (_, i) =>
      [...'abcdefghijklmnopq'].map((char, bit) => ((i >> bit) & 1 ? char.toUpperCase() : char)).join(''),
    ).sort();
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const findings = await nameFindings(columns(variants.map((name) => [name])), 't', false);
    clearInterval(timer);
    assert.equal(findings.length, 101);
    assert.equal(findings[100]?.message, `${2 ** 17 - 101} more names that are like another.`);
    assert.ok(turns > 2);
  });

  it('reads paths that are deeper than any folder', async () => {
    const deep = Array.from({ length: 5000 }, () => 'd');
    assert.deepEqual(
      await found([
        [...deep, 'a:'],
        [...deep, 'b'],
      ]),
      [
        `windows_name ${[...deep, 'a:'].join('/')}`,
        `long_path ${[...deep, 'a:'].join('/')}`,
        `long_path ${[...deep, 'b'].join('/')}`,
      ],
    );
  });

  it('finds nothing in a table without files', async () => {
    assert.deepEqual(await found([]), []);
  });
});

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The rooms of src from the top down: each imports only from itself and from those below it. */
const ROOMS = [
  ['cli'],
  ['edit'],
  ['verify'],
  ['create'],
  ['hashers'],
  ['model'],
  ['jobs'],
  ['disk'],
  ['hash'],
  ['magnet'],
  ['layout'],
  ['bencode'],
  ['errors'],
];
/** What only these rooms may load: the library must not. */
const COMMAND_ONLY = ['commander', 'picocolors', 'picomatch'];
/** The one file that loads the addon. */
const LOADER = 'src/hash/addon.ts';

interface Import {
  from: string;
  to: string;
  /** `import type` leaves nothing behind at run time. */
  type: boolean;
}

function sources(folder: string, ending: RegExp): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => path.posix.join(folder, file))
    .filter((file) => ending.test(file))
    .sort();
}

function importsOf(from: string, text: string): Import[] {
  const found: Import[] = [];
  const statement =
    /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^;'"]*?from\s+['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/g;
  for (const [, type, to = '', dynamic] of text.matchAll(statement)) {
    found.push({ from, to: resolve(from, dynamic ?? to), type: type !== undefined });
  }
  for (const [, to = ''] of text.matchAll(/(?:^|\n)import\s+['"]([^'"]+)['"]/g)) {
    found.push({ from, to: resolve(from, to), type: false });
  }
  return found;
}

function resolve(from: string, to: string): string {
  return to.startsWith('.') ? path.posix.join(path.posix.dirname(from), to) : to;
}

function rankOf(file: string): number {
  return ROOMS.findIndex((rooms) => rooms.some((room) => file.startsWith(`src/${room}`)));
}

/** Every import that goes up, or that its room may not make. */
function offences(imports: readonly Import[]): string[] {
  return imports.flatMap(({ from, to }) => {
    const inside = to.startsWith('src/');
    const up = inside && from !== 'src/index.ts' && rankOf(to) < rankOf(from);
    const index = to === 'src/index.ts';
    const outside = COMMAND_ONLY.includes(to) && !from.startsWith('src/cli/');
    const loader = /node-gyp-build|\.node$/.test(to) && from !== LOADER;
    return up || index || outside || loader ? [`${from} imports ${to}`] : [];
  });
}

/** A circle of imports that are there at run time, or null. */
function circle(imports: readonly Import[]): string[] | null {
  const edges = new Map<string, Import[]>();
  for (const one of imports) {
    if (one.to.startsWith('src/') && !one.type) edges.set(one.from, [...(edges.get(one.from) ?? []), one]);
  }
  const done = new Set<string>();
  const visit = (file: string, above: string[]): string[] | null => {
    if (above.includes(file)) return [...above.slice(above.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const { to } of edges.get(file) ?? []) {
      const found = visit(to, [...above, file]);
      if (found) return found;
    }
    done.add(file);
    return null;
  };
  for (const file of edges.keys()) {
    const found = visit(file, []);
    if (found) return found;
  }
  return null;
}

describe('the import direction', () => {
  const imports = sources('src', /\.ts$/).flatMap((file) =>
    importsOf(file, readFileSync(path.join(ROOT, file), 'utf8')),
  );

  it('knows every room', () => {
    const unknown = sources('src', /\.ts$/).filter((file) => file !== 'src/index.ts' && rankOf(file) < 0);
    assert.deepEqual(unknown, []);
    assert.ok(imports.length > 50, 'the imports were found');
  });

  it('points one way', () => {
    assert.deepEqual(offences(imports), []);
  });

  it('has no circle', () => {
    assert.equal(circle(imports), null);
  });

  it('is noticed when it is broken', () => {
    const bad = [
      ...importsOf('src/model/torrent.ts', "import { generate } from '../create/generate.ts';"),
      ...importsOf('src/model/pprint.ts', "import picocolors from 'picocolors';"),
      ...importsOf('src/hash/native.ts', "const x = await import('../index.ts');"),
      ...importsOf('src/disk/scan.ts', "import build from 'node-gyp-build';"),
    ];
    assert.equal(offences(bad).length, 4);
    const round = [
      ...importsOf('src/layout/a.ts', "import { b } from './b.ts';"),
      ...importsOf('src/layout/b.ts', "export { a } from './a.ts';"),
    ];
    assert.deepEqual(circle(round), ['src/layout/a.ts', 'src/layout/b.ts', 'src/layout/a.ts']);
    assert.equal(circle(importsOf('src/layout/a.ts', "import type { A } from './a.ts';")), null);
  });
});

describe('native code', () => {
  const included = (folder: string, header: RegExp) =>
    sources(folder, /\.(cc|h)$/).filter((file) => header.test(readFileSync(path.join(ROOT, file), 'utf8')));

  it('keeps <napi.h> at the door', () => {
    const allowed = included('native', /#include <napi\.h>/).filter(
      (file) => !/^native\/((libtorrent\/)?addon\.cc|binding\/)/.test(file),
    );
    assert.deepEqual(allowed, []);
    assert.ok(included('native/binding', /#include <napi\.h>/).length > 0, 'the pattern finds it where it is');
  });

  it('keeps containers, allocation and exceptions out of kernels', () => {
    const banned =
      /#include <(vector|string|map|memory|functional|array|optional)>|\b(throw|new|malloc|std::vector)\b(?![^\n]*\/\/)/;
    const offenders = sources('native/kernels', /\.(cc|h)$/).filter((file) => banned.test(withoutComments(file)));
    assert.deepEqual(offenders, []);
    assert.match('throw 1;', banned);
  });

  it('uses no uv_* call and no std::filesystem', () => {
    assert.deepEqual(included('native', /\buv_\w+\(|std::filesystem|AsyncWorker/), []);
  });

  function withoutComments(file: string): string {
    return readFileSync(path.join(ROOT, file), 'utf8').replace(/\/\/.*$/gm, '');
  }
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './support/tree.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

function sources(folder: string, ending: RegExp): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => path.posix.join(folder, file))
    .filter((file) => ending.test(file))
    .sort();
}

// `npm run check` applies the rules to src; these tests show that the rules find what they are for.
describe('the import rules', () => {
  /** Sources that break a rule: the rule, the file that breaks it, its text, and a file that it imports. */
  const CASES: [rule: string, file: string, text: string, imported?: string][] = [
    ['disk-imports-down', 'src/disk/a.ts', "import '../model/x.ts';", 'src/model/x.ts'],
    ['model-imports-down', 'src/model/a.ts', "import type { X } from '../create/x.ts';", 'src/create/x.ts'],
    ['verify-without-hashers', 'src/verify/a.ts', "import '../hashers/x.ts';", 'src/hashers/x.ts'],
    ['no-index', 'src/hash/a.ts', "export const x = () => import('../index.ts');", 'src/index.ts'],
    ['one-loader', 'src/disk/b.ts', "import './metainfo.node';", 'src/disk/metainfo.node'],
    ['one-loader', 'src/disk/c.ts', "import 'node-gyp-build';"],
    ['platform-imports-down', 'src/platform/a.ts', "import '../text/x.ts';", 'src/text/x.ts'],
    ['browser-without-node', 'src/browser/a.ts', "import 'node:fs';"],
    ['cli-without-browser', 'src/cli/b.ts', "import '../browser/x.ts';", 'src/browser/x.ts'],
    ['known-layers', 'src/cli/a.ts', "import '../basement/x.ts';", 'src/basement/x.ts'],
    ['no-cycles', 'src/layout/a.ts', "import { b } from './b.ts'; export const a = b;"],
    ['command-only', 'src/model/b.ts', "import 'picocolors';", 'node_modules/picocolors/index.js'],
    ['bullmq-alone', 'src/parts/a.ts', "import 'bullmq';", 'node_modules/bullmq/index.js'],
    ['packages-public', 'packages/queues/src/a.ts', "import '../../../src/jobs/x.ts';", 'src/jobs/x.ts'],
    ['queues-late', 'src/cli/c.ts', "import '../../packages/queues/src/b.ts';", 'packages/queues/src/b.ts'],
    ['resolvable', 'src/model/c.ts', "import './missing.ts';"],
  ];
  const RIGHT = {
    'src/cli/right.ts': "import type { B } from './right-too.ts'; import '../errors/x.ts'; export type A = B;",
    'src/cli/right-too.ts': "import type { A } from './right.ts'; export type B = A[];",
    'src/errors/x.ts': '',
  };

  it('report every violation and accept imports that point down, and cycles of types', async (t) => {
    const folder = await temporaryFolder(t);
    const files: Record<string, string> = {
      ...Object.fromEntries(CASES.flatMap(([, , , imported]) => (imported ? [[imported, '']] : []))),
      ...Object.fromEntries(CASES.map(([, file, text]) => [file, text])),
      'src/layout/b.ts': "export { a as b } from './a.ts';",
      'node_modules/picocolors/package.json': '{}',
      'node_modules/bullmq/package.json': '{}',
      'tsconfig.json': '{}',
      ...RIGHT,
    };
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(folder, file), text);
    }
    const command = path.join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
    const args = [command, '--config', path.join(ROOT, '.dependency-cruiser.cjs'), 'src', 'packages'];
    const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    const missing = CASES.filter(([rule, file]) => !stdout.includes(`error ${rule}: ${file}`));
    assert.deepEqual(missing, [], stdout);
    for (const file of Object.keys(RIGHT)) assert.ok(!stdout.includes(file), stdout);
  });
});

describe('source files', () => {
  it('say in their first line what they are for', () => {
    const queues = ['src', 'bench', 'test/support'].map((name) => `packages/metainfo-bullmq/${name}`);
    const folders = ['src', ...queues, 'native', 'scripts', 'bench', 'fuzz', 'test/support'];
    const files = folders.flatMap((folder) => sources(folder, /\.(ts|cts|mjs|cc|h|c)$/));
    const silent = files.filter((file) => !/^(\/\/ |\/\*\*|#!)/.test(readFileSync(path.join(ROOT, file), 'utf8')));
    assert.deepEqual(
      silent.filter((file) => !/\/(build|node_modules)\//.test(file)),
      [],
    );
  });
});

describe('native code', () => {
  const included = (folder: string, header: RegExp) =>
    sources(folder, /\.(cc|h)$/).filter((file) => header.test(readFileSync(path.join(ROOT, file), 'utf8')));

  it('includes <napi.h> only in native/binding', () => {
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
    // Writing waits for the disk in libuv, as Node's own writes do, and takes no thread of the budget from hashing.
    const found = included('native', /\buv_\w+\(|std::filesystem|AsyncWorker/);
    assert.ok(
      found.every((line) => JSON.stringify(line).includes('native/binding/write_files.cc')),
      `${found}`,
    );
  });

  function withoutComments(file: string): string {
    return readFileSync(path.join(ROOT, file), 'utf8').replace(/\/\/.*$/gm, '');
  }
});

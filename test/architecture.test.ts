import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './support/tree.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

function sources(folder: string, ending: RegExp): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => path.posix.join(folder, file))
    .filter((file) => ending.test(file))
    .sort();
}

/** Runs dependency-cruiser with the project's rules on a folder that holds these files, and returns what it prints. */
async function cruise(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const [file, text] of Object.entries({ 'tsconfig.json': '{}', ...files })) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  const command = path.join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [command, '--config', path.join(ROOT, '.dependency-cruiser.cjs'), 'src'];
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).stdout;
}

// `npm run check` applies the rules to src; these tests show that the rules find what they are for.
describe('the import rules', () => {
  const layer = (name: string) => `src/${name}/x.ts`;
  const CASES: [rule: string, files: Record<string, string>][] = [
    ['disk-imports-down', { [layer('disk')]: "import '../model/x.ts';", [layer('model')]: '' }],
    ['model-imports-down', { [layer('model')]: "import type { X } from '../create/x.ts';", [layer('create')]: '' }],
    ['verify-without-hashers', { [layer('verify')]: "import '../hashers/x.ts';", [layer('hashers')]: '' }],
    ['no-index', { [layer('hash')]: "export const x = () => import('../index.ts');", 'src/index.ts': '' }],
    ['one-loader', { [layer('disk')]: "import './metainfo.node';", 'src/disk/metainfo.node': '' }],
    ['one-loader', { [layer('disk')]: "import 'node-gyp-build';" }],
    ['known-layers', { [layer('cli')]: "import '../basement/x.ts';", [layer('basement')]: '' }],
    [
      'no-cycles',
      {
        'src/layout/a.ts': "import { b } from './b.ts'; export const a = b;",
        'src/layout/b.ts': "export { a as b } from './a.ts';",
      },
    ],
    [
      'command-only',
      {
        [layer('model')]: "import 'picocolors';",
        'node_modules/picocolors/index.js': '',
        'node_modules/picocolors/package.json': '{}',
      },
    ],
    [
      'bullmq-alone',
      {
        [layer('parts')]: "import 'bullmq';",
        'node_modules/bullmq/index.js': '',
        'node_modules/bullmq/package.json': '{}',
      },
    ],
    ['resolvable', { [layer('model')]: "import './missing.ts';" }],
  ];
  for (const [rule, files] of CASES) {
    it(`report a violation of ${rule}: ${Object.values(files)[0]}`, async (t) => {
      assert.match(await cruise(t, files), new RegExp(`error ${rule}: src/`));
    });
  }

  it('accept imports that point down, and cycles of types', async (t) => {
    const files = {
      'src/cli/a.ts': "import type { B } from './b.ts'; import '../errors/x.ts'; export type A = B;",
      'src/cli/b.ts': "import type { A } from './a.ts'; export type B = A[];",
      [layer('errors')]: '',
    };
    assert.match(await cruise(t, files), /no dependency violations found/);
  });
});

describe('source files', () => {
  it('say in their first line what they are for', () => {
    const folders = ['src', 'native', 'scripts', 'bench', 'fuzz', 'test/support'];
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
    assert.deepEqual(included('native', /\buv_\w+\(|std::filesystem|AsyncWorker/), []);
  });

  function withoutComments(file: string): string {
    return readFileSync(path.join(ROOT, file), 'utf8').replace(/\/\/.*$/gm, '');
  }
});

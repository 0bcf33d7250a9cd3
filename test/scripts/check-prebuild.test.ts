import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { engineMissing } from '../support/engine.ts';
import { missing } from '../support/external.ts';
import { temporaryFolder } from '../support/tree.ts';

// A script in plain JavaScript, which has no types.
const { problemsOf, missingIn } = (await import('../../scripts/check-prebuild.mjs' as string)) as {
  problemsOf: (file: string) => string[];
  missingIn: (folder: string) => string[];
};
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILT = path.join(ROOT, 'build/Release/metainfo.node');
const LIBTORRENT = path.join(ROOT, 'native/libtorrent/build/Release/metainfo_libtorrent.node');

const onLinux = process.platform === 'linux';
const prebuiltOnly = process.env['PREBUILDS_ONLY'] ? 'there is a prebuilt addon only' : false;

describe('check-prebuild of a binary for Linux', { skip: onLinux ? prebuiltOnly : 'it reads ELF' }, () => {
  it('accepts a local build, except that it needs the C++ runtime', () => {
    const problems = problemsOf(BUILT);
    assert.ok(problems.some((problem) => /^needs: .*libstdc\+\+\.so\.6/.test(problem)));
    assert.deepEqual(
      problems.filter((problem) => !/^needs/.test(problem)),
      [],
    );
  });

  it('finds the entry points of a stripped binary', async (t) => {
    const stripped = path.join(await temporaryFolder(t), 'stripped.node');
    execFileSync('strip', ['-o', stripped, BUILT]);
    assert.deepEqual(problemsOf(stripped), problemsOf(BUILT));
  });

  // The linked file has no note, because some objects of OpenSSL and of the C library lack it.
  it('finds CET in every object of the project', { skip: process.arch === 'x64' ? false : 'CET is of x86-64' }, () => {
    // A clone compiles the files of most folders joined: see scripts/setup.mjs.
    const folder = path.join(ROOT, 'build/Release/obj.target/metainfo');
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.o'));
    const objects = names.map((name) => path.join(folder, name));
    assert.ok(objects.length >= 13, `${objects.length} objects`);
    for (const object of objects) {
      const notes = execFileSync('readelf', ['--wide', '--notes', object], { cwd: ROOT, encoding: 'utf8' });
      assert.match(notes, /x86 feature: IBT, SHSTK/, object);
    }
  });

  it('finds the hardening of the libtorrent addon', {
    skip: engineMissing(),
  }, () => {
    // It calls no function with a fortified form; that depends on the compiler.
    const lacks = problemsOf(LIBTORRENT).filter((problem) => /^lacks: (?!fortified functions$)/.test(problem));
    assert.deepEqual(lacks, []);
  });

  const HARDENED = [
    ...['-O2', '-fstack-protector-strong', '-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=2'],
    ...['-Wl,-z,relro', '-Wl,-z,now', '-Wl,-z,noexecstack'],
    ...(process.arch === 'x64' ? ['-fcf-protection=full'] : []),
  ];
  const compile = async (t: TestContext, ...flags: string[]) => {
    const folder = await temporaryFolder(t);
    const [source, file] = [path.join(folder, 'part.c'), path.join(folder, 'part.node')] as [string, string];
    const text =
      '#include <string.h>\nvoid use(char *text);\n' +
      'int napi_register_module_v1(const char *text, unsigned long size) { char copy[64]; memcpy(copy, text, size); use(copy); return 1; }\n' +
      'int node_api_module_get_api_version_v1(void) { return 8; }\n';
    await writeFile(source, text);
    execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', file, source, ...HARDENED, ...flags]);
    return problemsOf(file).filter((problem) => problem.startsWith('lacks'));
  };

  it('accepts a binary with all protections', async (t) => {
    assert.deepEqual(await compile(t), []);
  });

  const CET = process.arch === 'x64' ? ['-fcf-protection=none'] : [];
  const WEAKER: [string, string[]][] = [
    ['full RELRO', ['-Wl,-z,lazy']],
    ['full RELRO', ['-Wl,-z,norelro']],
    ['a stack without execution', ['-Wl,-z,execstack']],
    ['stack protector', ['-fno-stack-protector']],
    ['fortified functions', ['-U_FORTIFY_SOURCE']],
    ...(CET.length > 0 ? [['landing pads (CET)', CET] as [string, string[]]] : []),
  ];
  for (const [protection, flags] of WEAKER)
    it(`reports missing ${protection} with ${flags.join(' ')}`, async (t) => {
      assert.deepEqual(await compile(t, ...flags), [`lacks: ${protection}`]);
    });

  it('reports all problems at once', async (t) => {
    const folder = await temporaryFolder(t);
    const source = path.join(folder, 'bad.c');
    const file = path.join(folder, 'bad.node');
    const text =
      'extern int EVP_sha1(void);\nchar much[1100000] = {1};\nint napi_register_module_v1(void) { return EVP_sha1(); }\n';
    await writeFile(source, text);
    execFileSync('cc', ['-shared', '-fPIC', '-o', file, source, '-Wl,-z,lazy', '-Wl,--no-as-needed', '-lcrypto']);
    const problems = problemsOf(file);
    for (const expected of [
      /^does not export: node_api_module_get_api_version_v1$/,
      /^exports: .*\bmuch\b/,
      /^imports cryptography: EVP_sha1$/,
      /^needs: .*libcrypto/,
      /^lacks: full RELRO, /,
      /^has \d+ bytes, more than 1000000$/,
    ])
      assert.ok(
        problems.some((problem) => expected.test(problem)),
        `${expected}: ${problems.join('\n')}`,
      );
  });
});

/** Returns the linker; in PATH, its name may have a version. */
function linker(): string {
  return spawnSync('clang', ['-print-prog-name=ld64.lld'], { encoding: 'utf8' }).stdout?.trim() || 'ld64.lld';
}

/** Compiles C to a bundle for macOS, without any file of that system. */
async function bundle(folder: string, text: string, ...options: string[]): Promise<string> {
  const [source, object, file] = ['of.c', 'of.o', 'of.node'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(source, text);
  execFileSync('clang', ['--target=arm64-apple-macos11', '-c', source, '-o', object]);
  const platform = ['-arch', 'arm64', '-platform_version', 'macos', '11.0', '11.0'];
  execFileSync(linker(), [...platform, '-undefined', 'dynamic_lookup', ...options, '-o', file, object]);
  return file;
}

const macTools =
  missing('clang', 'clang', ['--version']) ||
  missing('llvm', 'llvm-nm', ['--version']) ||
  missing('lld', linker(), ['--version']);
const ENTRY_POINTS =
  'int napi_create_int32(int);\nint napi_register_module_v1(int x) { return napi_create_int32(x); }\n' +
  'int node_api_module_get_api_version_v1(void) { return 8; }\n';

describe('check-prebuild of a binary for macOS', { skip: onLinux ? macTools : 'it links for macOS on Linux' }, () => {
  it('accepts a binary with the right exports and imports', async (t) => {
    const file = await bundle(await temporaryFolder(t), ENTRY_POINTS, '-bundle');
    assert.deepEqual(problemsOf(file), []);
  });

  it('reports all problems at once', async (t) => {
    const folder = await temporaryFolder(t);
    const library = await bundle(
      folder,
      'int other(void) { return 1; }\n',
      '-dylib',
      '-install_name',
      '/opt/libcrypto.3.dylib',
    );
    const text =
      'int EVP_sha1(void);\nint other(void);\nint napi_register_module_v1(void) { return EVP_sha1() + other(); }\n';
    await mkdir(path.join(folder, 'bad'));
    const file = await bundle(path.join(folder, 'bad'), `${text}char much[1100000] = {1};\n`, '-bundle', library);
    assert.deepEqual(problemsOf(file), [
      'does not export: node_api_module_get_api_version_v1',
      'exports: much',
      'imports cryptography: EVP_sha1',
      'needs: /opt/libcrypto.3.dylib',
      `has ${(await stat(file)).size} bytes, more than 1000000`,
    ]);
  });
});

const MINGW = 'x86_64-w64-mingw32';

describe('check-prebuild of a binary for Windows', {
  skip: missing('mingw-w64', `${MINGW}-gcc`, ['--version']),
}, () => {
  const build = async (t: TestContext, text: string, ...options: string[]) => {
    const folder = await temporaryFolder(t);
    const [source, definitions, library, file] = ['dll.c', 'crypto.def', 'crypto.a', 'dll.node'].map((name) =>
      path.join(folder, name),
    ) as [string, string, string, string];
    await writeFile(source, text);
    await writeFile(definitions, 'LIBRARY libcrypto-3-x64.dll\nEXPORTS\nEVP_sha1\n');
    execFileSync(`${MINGW}-dlltool`, ['-d', definitions, '-l', library]);
    execFileSync(`${MINGW}-gcc`, ['-shared', '-static', '-s', '-o', file, source, library, ...options]);
    return problemsOf(file);
  };
  const both =
    '__declspec(dllexport) int napi_register_module_v1(void) { return 1; }\n' +
    '__declspec(dllexport) int node_api_module_get_api_version_v1(void) { return 8; }\n';

  const HARDENED = ['-fstack-protector-all', '-Wl,--dynamicbase,--nxcompat,--high-entropy-va'];

  it('accepts a binary with the right exports and libraries that every Windows has', async (t) => {
    assert.deepEqual(await build(t, both, ...HARDENED), []);
  });

  for (const [protections, flag] of [
    ['DYNAMIC_BASE, HIGH_ENTROPY_VA', '-Wl,--disable-dynamicbase'],
    ['NX_COMPAT', '-Wl,--disable-nxcompat'],
    ['HIGH_ENTROPY_VA', '-Wl,--disable-high-entropy-va'],
    ['stack protector', '-fno-stack-protector'],
  ] as const)
    it(`reports missing ${protections} with ${flag}`, async (t) => {
      assert.deepEqual(await build(t, both, ...HARDENED, flag), [`lacks: ${protections}`]);
    });

  it('reports all problems at once', async (t) => {
    const problems = await build(
      t,
      'unsigned long __stdcall timeGetTime(void);\nint EVP_sha1(void);\nchar much[1100000] = {1};\n' +
        '__declspec(dllexport) char *all(void) { return much; }\n' +
        '__declspec(dllexport) int napi_register_module_v1(void) { return timeGetTime() + EVP_sha1(); }\n',
      '-lwinmm',
    );
    assert.deepEqual(problems.slice(0, 3), [
      'does not export: node_api_module_get_api_version_v1',
      'exports: all',
      'imports cryptography: EVP_sha1',
    ]);
    assert.match(problems[3] ?? '', /^needs: (libcrypto-3-x64\.dll, WINMM\.dll|WINMM\.dll, libcrypto-3-x64\.dll)$/i);
    assert.equal(problems[4], 'lacks: stack protector');
    assert.match(problems[5] ?? '', /^has \d+ bytes, more than 1000000$/);
    assert.equal(problems.length, 6);
  });
});

describe('the binaries of a release', () => {
  it('are reported as missing until all exist', async (t) => {
    const folder = await temporaryFolder(t);
    const all = missingIn(folder);
    for (const platform of ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-x64'])
      assert.ok(
        all.some((name) => name.startsWith(`${platform}/`)),
        platform,
      );
    for (const [i, name] of all.entries()) {
      assert.deepEqual(missingIn(folder), all.slice(i));
      await mkdir(path.join(folder, path.dirname(name)), { recursive: true });
      await writeFile(path.join(folder, name), '');
    }
    assert.deepEqual(missingIn(folder), []);
  });

  it('are where node-gyp-build looks for them', async (t) => {
    const folder = await temporaryFolder(t);
    for (const name of missingIn(folder)) {
      const [platform = '', arch = ''] = path.dirname(name).split('-');
      await mkdir(path.join(folder, 'prebuilds', path.dirname(name)), { recursive: true });
      await writeFile(path.join(folder, 'prebuilds', name), '');
      const LIBC = name.includes('musl') ? 'musl' : 'glibc';
      const env = { ...process.env, npm_config_platform: platform, npm_config_arch: arch, LIBC };
      const print = "console.log(require('node-gyp-build').resolve(process.argv[1]))";
      const found = execFileSync(process.execPath, ['-e', print, folder], { env, encoding: 'utf8', cwd: ROOT });
      assert.equal(found.trim(), path.join(folder, 'prebuilds', name));
    }
  });
});

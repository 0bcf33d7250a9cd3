// Builds prebuilds/win32-x64/metainfo.node with mingw-w64 on Linux, because node-gyp supports no cross compiler for Windows.
// The sources and flags come from binding.gyp. Everything but Windows' own libraries and Node-API is linked statically.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeHeaders, root } from './setup.mjs';
import { compile, foreign, nativeParts, UNALIGNED } from './test-native.mjs';

const TARGET = 'x86_64-w64-mingw32';
const BINARY = 'prebuilds/win32-x64/metainfo.node';

/** A gyp file is a Python literal. */
function gypTarget() {
  const print = 'import ast, json, sys; print(json.dumps(ast.literal_eval(sys.stdin.read())))';
  const input = readFileSync(path.join(root, 'binding.gyp'));
  return JSON.parse(execFileSync('python3', ['-c', print], { input, encoding: 'utf8' })).targets[0];
}

/** Makes an import library of every function that Node's headers declare; the linker uses those that are called. */
function importLibrary(headers, folder) {
  const names = ['js_native_api.h', 'node_api.h'].flatMap((name) =>
    [...readFileSync(path.join(headers, name), 'utf8').matchAll(/NAPI_CDECL\s+(\w+)\(/g)].map(([, symbol]) => symbol),
  );
  const definitions = path.join(folder, 'node.def');
  const library = path.join(folder, 'libnode.a');
  writeFileSync(definitions, `NAME node.exe\nEXPORTS\n${names.join('\n')}\n`);
  execFileSync(`${TARGET}-dlltool`, ['-d', definitions, '--output-delaylib', library]);
  return library;
}

export function prebuildWin32() {
  const env = foreign('win32');
  const { library, flags } = nativeParts(env);
  const headers = nodeHeaders();
  const { sources, defines, cflags, cflags_cc } = gypTarget();
  const folder = path.join('build', 'win32-x64');
  mkdirSync(path.join(root, folder), { recursive: true });
  const binary = compile({
    folder,
    name: 'metainfo.node',
    compiler: env.CXX,
    sources,
    flags: [
      ...flags,
      ...cflags,
      ...cflags_cc,
      ...defines.map((define) => `-D${define}`),
      ...['-DNODE_ADDON_API_CPP_EXCEPTIONS', `-isystem ${headers}`, '-isystem node_modules/node-addon-api'],
      ...['-O3', '-Werror', '-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=2', ...UNALIGNED],
    ],
    link: [
      // -fstack-protector-strong links the functions that protected code calls.
      ...['-fstack-protector-strong', '-Wl,--gc-sections', '-Wl,--dynamicbase,--nxcompat,--high-entropy-va'],
      ...['-shared', '-static', '-s', library, importLibrary(headers, path.join(root, folder))],
      ...['-ldelayimp', '-lws2_32', '-ladvapi32', '-luser32', '-lcrypt32'],
    ],
    title: 'building the addon for win32-x64',
  });
  cpSync(binary, path.join(root, BINARY));
}

if (process.argv[1] === import.meta.filename) prebuildWin32();

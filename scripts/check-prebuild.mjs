// Holds every binary in prebuilds/ to what makes it safe to load anywhere: it exports what Node asks for and nothing else,
// takes no cryptography from whoever loads it, needs no library but the C library's own, and no newer one than Node does.
// `--all` asks for every binary of a release.
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './setup.mjs';

/** What a release has, in prebuilds/. */
const BINARIES = [
  'darwin-arm64/metainfo.node',
  'darwin-x64/metainfo.node',
  'linux-arm64/metainfo.glibc.node',
  'linux-arm64/metainfo.musl.node',
  'linux-x64/metainfo.glibc.node',
  'linux-x64/metainfo.musl.node',
  'win32-x64/metainfo.node',
];

const EXPORTS = ['napi_register_module_v1', 'node_api_module_get_api_version_v1'];
/** What every system of the kind has. */
const LIBRARIES = {
  linux: /^(lib(c|m|dl|pthread|rt)\.so\.\d|ld-linux-[\w-]+\.so\.\d|libc\.so|libc\.musl-\w+\.so\.1)$/,
  macos: /^\/usr\/lib\/lib(System\.B|c\+\+\.1)\.dylib$/,
  // Node-API is no import there: it is looked up in the running program when it is first called.
  windows: /^(kernel32|msvcrt|advapi32|user32|ws2_32|bcrypt|crypt32|api-ms-win-crt-[\w-]+)\.dll$/i,
};
const CRYPTO = /^_?(SHA\d|EVP_|OPENSSL_|CRYPTO_)/;
/** That of Node's own binaries. */
const GLIBC_FLOOR = [2, 28];
const MOST_BYTES = 1_000_000;

const output = (command, args) => execFileSync(command, args, { encoding: 'utf8' });

/** Symbols, libraries and versions of glibc of a binary for Linux. */
function elf(file) {
  const read = (...options) => output('readelf', ['--wide', ...options, file]);
  const symbols = read('--dyn-syms')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([number, , , , binding, , , name]) => /^\d+:$/.test(number) && binding !== 'LOCAL' && name)
    .map(([, , , , , , section, name]) => ({ name: name.replace(/@.*/, ''), isDefined: section !== 'UND' }));
  return {
    libraries: LIBRARIES.linux,
    exported: symbols.filter(({ isDefined }) => isDefined).map(({ name }) => name),
    undefinedNames: symbols.filter(({ isDefined }) => !isDefined).map(({ name }) => name),
    needed: [...read('--dynamic').matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, library]) => library),
    versions: [...read('--version-info').matchAll(/Name: GLIBC_(\d+)\.(\d+)/g)].map(([, ...parts]) =>
      parts.map(Number),
    ),
  };
}

/** The same of one for macOS, where those of LLVM are the tools of the system. C names have an underscore more there. */
function machO(file) {
  const llvm = process.platform === 'darwin' ? '' : 'llvm-';
  const names = (option) =>
    output(`${llvm}nm`, ['--extern-only', '--just-symbol-name', option, file])
      .split('\n')
      .filter(Boolean)
      .map((name) => name.replace(/^_/, ''));
  return {
    libraries: LIBRARIES.macos,
    exported: names('--defined-only'),
    undefinedNames: names('--undefined-only'),
    needed: [...output(`${llvm}objdump`, ['--macho', '--dylibs-used', file]).matchAll(/^\s+(.*) \(/gm)].map(
      ([, library]) => library,
    ),
    versions: [],
  };
}

/** The same of one for Windows. */
function pe(file) {
  const said = output('objdump', ['--private-headers', file]);
  const exportTable = said.split('[Ordinal/Name Pointer] Table')[1]?.split('\n\n')[0] ?? '';
  const names = (text, pattern) => [...text.matchAll(pattern)].map(([, name]) => name);
  return {
    libraries: LIBRARIES.windows,
    exported: names(exportTable, /^\s+\[ *\d+\].*?(\S+)$/gm),
    undefinedNames: names(said, /^\t[\da-f]+\t *\d+ +(\S+)$/gm),
    needed: names(said, /DLL Name: (\S+)$/gm),
    versions: [],
  };
}

/** By what such files begin with. */
const READERS = { '7f454c46': elf, cffaedfe: machO, '4d5a': pe };

function read(file) {
  const magic = Buffer.alloc(4);
  const descriptor = openSync(file);
  readSync(descriptor, magic);
  closeSync(descriptor);
  const start = magic.toString('hex');
  const [, reader] = Object.entries(READERS).find(([known]) => start.startsWith(known)) ?? [];
  if (!reader) throw new Error(`${file} is no binary for any system`);
  return reader(file);
}

/** What is wrong with a binary; an empty list when nothing is. */
export function problemsOf(file) {
  const { libraries, exported, undefinedNames, needed, versions } = read(file);
  const isNewer = ([major, minor]) => major > GLIBC_FLOOR[0] || (major === GLIBC_FLOOR[0] && minor > GLIBC_FLOOR[1]);
  const { size } = statSync(file);
  const list = (what, names) => (names.length > 0 ? [`${what}: ${names.join(', ')}`] : []);
  return [
    ...list(
      'does not export',
      EXPORTS.filter((name) => !exported.includes(name)),
    ),
    ...list(
      'exports',
      exported.filter((name) => !EXPORTS.includes(name)),
    ),
    ...list(
      'takes from whoever loads it',
      undefinedNames.filter((name) => CRYPTO.test(name)),
    ),
    ...list(
      'needs',
      needed.filter((library) => !libraries.test(library)),
    ),
    ...list(
      'needs glibc',
      versions.filter(isNewer).map((parts) => parts.join('.')),
    ),
    ...(size > MOST_BYTES ? [`has ${size} bytes, more than ${MOST_BYTES}`] : []),
  ];
}

const PREBUILDS = path.join(root, 'prebuilds');

/** Those of a release that are not in a folder. */
export function missingIn(folder) {
  return BINARIES.filter((name) => !existsSync(path.join(folder, name)));
}

/** All of them, by folder. */
function prebuilds() {
  if (!existsSync(PREBUILDS)) return [];
  return readdirSync(PREBUILDS, { recursive: true })
    .filter((name) => name.endsWith('.node'))
    .map((name) => path.join(PREBUILDS, name))
    .sort();
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({ options: { all: { type: 'boolean' } }, allowPositionals: true });
  const files = positionals.length > 0 ? positionals : prebuilds();
  if (files.length === 0) throw new Error('there are no binaries in prebuilds');
  for (const file of files) {
    const problems = problemsOf(file);
    const name = path.relative(root, file);
    process.stdout.write(`${problems.length === 0 ? 'ok' : 'WRONG'}: ${name} (${statSync(file).size} bytes)\n`);
    for (const problem of problems) process.stdout.write(`  ${problem}\n`);
    if (problems.length > 0) process.exitCode = 1;
  }
  for (const name of values.all ? missingIn(PREBUILDS) : []) {
    process.stdout.write(`MISSING: prebuilds/${name}\n`);
    process.exitCode = 1;
  }
}

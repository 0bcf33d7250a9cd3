// Checks that every binary in prebuilds/ is safe to load: it exports only the symbols that Node asks for, imports no
// cryptography, needs no library but the system's and no newer C library than Node does, and has the protections of HARDENING.
// With `--all` every binary of a release must be there.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { filesIn, root } from './setup.mjs';

/** The files of a release in prebuilds/. */
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
/** The libraries that every such system has. */
const LIBRARIES = {
  linux: /^(lib(c|m|dl|pthread|rt)\.so\.\d|ld-linux-[\w-]+\.so\.\d|libc\.so|libc\.musl-\w+\.so\.1)$/,
  macos: /^\/usr\/lib\/lib(System\.B|c\+\+\.1)\.dylib$/,
  // Node-API is not imported on Windows: the addon looks it up in the running program at the first call.
  windows: /^(kernel32|msvcrt|advapi32|user32|ws2_32|bcrypt|crypt32|api-ms-win-crt-[\w-]+)\.dll$/i,
};
const CRYPTO = /^_?(SHA\d|EVP_|OPENSSL_|CRYPTO_)/;
/** The glibc that Node's own binaries need. */
const GLIBC_FLOOR = [2, 28];
const MOST_BYTES = 1_000_000;

/**
 * The protections of a binary, by format. Each function finds out from `facts` whether the binary has the protection.
 *
 * Some protections cannot be checked: musl has no fortified functions; mingw-w64 links them statically, without a name; the
 * linker of macOS protects by itself. On x86-64 Linux only our own code has landing pads for CET: some linked objects of OpenSSL
 * and of the C library lack the note, so the file as a whole is not marked.
 */
const HARDENING = {
  elf: {
    'full RELRO': ({ segments, dynamic }) => /^ +GNU_RELRO /m.test(segments) && /\(FLAGS_1\).*\bNOW\b/.test(dynamic),
    'a stack without execution': ({ segments }) => /^ +GNU_STACK .* RW +0x/m.test(segments),
    'stack protector': ({ undefinedNames }) => undefinedNames.includes('__stack_chk_fail'),
    'fortified functions': ({ isGlibc, undefinedNames }) =>
      !isGlibc || undefinedNames.some((name) => /^__\w+_chk$/.test(name)),
    'landing pads (CET)': ({ isX64, file, entries }) => !isX64 || entries.every((entry) => hasLandingPad(file, entry)),
  },
  pe: {
    ...Object.fromEntries(
      ['DYNAMIC_BASE', 'NX_COMPAT', 'HIGH_ENTROPY_VA'].map((name) => [
        name,
        ({ said }) => new RegExp(`^\\s+${name}$`, 'm').test(said),
      ]),
    ),
    // The function that reports an overflow is linked statically, with its message.
    'stack protector': ({ file }) => readFileSync(file).includes('stack smashing detected'),
  },
};

const lacking = (protections, facts) => Object.keys(protections).filter((name) => !protections[name](facts));
const output = (command, args) => execFileSync(command, args, { encoding: 'utf8' });

/** Returns the first group of every match. */
const captures = (text, pattern) => [...text.matchAll(pattern)].map(([, name]) => name);

/** Whether the code at an address of an x86-64 binary is `endbr64`, the target of indirect calls under CET. */
function hasLandingPad(file, address) {
  const range = [`--start-address=${address}`, `--stop-address=${address + 4n}`];
  return /\bendbr64\b/.test(output('objdump', ['--disassemble', ...range, file]));
}

/** Reads symbols, libraries, glibc versions and missing protections of a Linux binary. */
function elf(file) {
  const read = (...options) => output('readelf', ['--wide', ...options, file]);
  const symbols = read('--dyn-syms')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([number, , , , binding, , , name]) => /^\d+:$/.test(number) && binding !== 'LOCAL' && name)
    .map(([, value, , , , , section, name]) => ({
      name: name.replace(/@.*/, ''),
      address: BigInt(`0x${value}`),
      isDefined: section !== 'UND',
    }));
  const undefinedNames = symbols.filter(({ isDefined }) => !isDefined).map(({ name }) => name);
  const [header, segments, dynamic] = ['--file-header', '--program-headers', '--dynamic'].map((option) => read(option));
  const versions = [...read('--version-info').matchAll(/Name: GLIBC_(\d+)\.(\d+)/g)].map(([, ...parts]) =>
    parts.map(Number),
  );
  const entries = symbols.filter(({ name }) => EXPORTS.includes(name)).map(({ address }) => address);
  const isX64 = /Machine:.*X86-64/.test(header);
  const facts = { file, segments, dynamic, undefinedNames, entries, isX64, isGlibc: versions.length > 0 };
  return {
    libraries: LIBRARIES.linux,
    exported: symbols.filter(({ isDefined }) => isDefined).map(({ name }) => name),
    undefinedNames,
    needed: captures(dynamic, /\(NEEDED\).*\[(.*)\]/g),
    versions,
    lacks: lacking(HARDENING.elf, facts),
  };
}

/** Reads the same from a macOS binary, with the tools of LLVM. C names have an additional underscore there. */
function machO(file) {
  const llvm = process.platform === 'darwin' ? '' : 'llvm-';
  const names = (option) =>
    captures(output(`${llvm}nm`, ['--extern-only', '--just-symbol-name', option, file]), /^_?(.+)$/gm);
  return {
    libraries: LIBRARIES.macos,
    exported: names('--defined-only'),
    undefinedNames: names('--undefined-only'),
    needed: captures(output(`${llvm}objdump`, ['--macho', '--dylibs-used', file]), /^\s+(.*) \(/gm),
    versions: [],
    lacks: [],
  };
}

/** Reads the same from a Windows binary. */
function pe(file) {
  const said = output('objdump', ['--private-headers', file]);
  const exportTable = said.split('[Ordinal/Name Pointer] Table')[1]?.split('\n\n')[0] ?? '';
  return {
    libraries: LIBRARIES.windows,
    exported: captures(exportTable, /^\s+\[ *\d+\].*?(\S+)$/gm),
    undefinedNames: captures(said, /^\t[\da-f]+\t *\d+ +(\S+)$/gm),
    needed: captures(said, /DLL Name: (\S+)$/gm),
    versions: [],
    lacks: lacking(HARDENING.pe, { file, said }),
  };
}

/** The readers, by the first bytes of the file in hex. */
const READERS = { '7f454c46': elf, cffaedfe: machO, '4d5a': pe };

function read(file) {
  const start = readFileSync(file).toString('hex', 0, 4);
  const [, reader] = Object.entries(READERS).find(([known]) => start.startsWith(known)) ?? [];
  if (!reader) throw new Error(`${file} is not a binary of a known format`);
  return reader(file);
}

/** Lists everything that is wrong with a binary. */
export function problemsOf(file) {
  const { libraries, exported, undefinedNames, needed, versions, lacks } = read(file);
  const isNewer = ([major, minor]) => major > GLIBC_FLOOR[0] || (major === GLIBC_FLOOR[0] && minor > GLIBC_FLOOR[1]);
  const { size } = statSync(file);
  const problems = {
    'does not export': EXPORTS.filter((name) => !exported.includes(name)),
    exports: exported.filter((name) => !EXPORTS.includes(name)),
    'imports cryptography': undefinedNames.filter((name) => CRYPTO.test(name)),
    needs: needed.filter((library) => !libraries.test(library)),
    'needs glibc': versions.filter(isNewer).map((parts) => parts.join('.')),
    lacks,
  };
  return [
    ...Object.entries(problems).flatMap(([what, names]) => (names.length > 0 ? [`${what}: ${names.join(', ')}`] : [])),
    ...(size > MOST_BYTES ? [`has ${size} bytes, more than ${MOST_BYTES}`] : []),
  ];
}

const PREBUILDS = path.join(root, 'prebuilds');

/** Lists the files of a release that a folder lacks. */
export function missingIn(folder) {
  return BINARIES.filter((name) => !existsSync(path.join(folder, name)));
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({ options: { all: { type: 'boolean' } }, allowPositionals: true });
  const built = filesIn('prebuilds').filter((name) => name.endsWith('.node'));
  const files = positionals.length > 0 ? positionals : built.map((name) => path.join(root, name));
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

// Holds every binary in prebuilds/ to what makes it safe to load anywhere: it exports what Node asks for and nothing else,
// takes no cryptography from whoever loads it, needs no library but the C library's own, and no newer one than Node does.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { root } from './setup.mjs';

const EXPORTS = ['napi_register_module_v1', 'node_api_module_get_api_version_v1'];
const NEEDED = /^(lib(c|m|dl|pthread|rt)\.so\.\d|ld-linux-[\w-]+\.so\.\d|libc\.musl-\w+\.so\.1)$/;
/** What every Windows has. Node-API is no import there: it is looked up in the running program when it is first called. */
const NEEDED_ON_WINDOWS = /^(kernel32|msvcrt|advapi32|user32|ws2_32|bcrypt|crypt32|api-ms-win-crt-[\w-]+)\.dll$/i;
const CRYPTO = /^_?(SHA\d|EVP_|OPENSSL_|CRYPTO_)/;
/** That of Node's own binaries. */
const GLIBC_FLOOR = [2, 28];
const MOST_BYTES = 1_000_000;

/** What a library for Windows exports, imports, and the DLLs that it needs. */
function readPe(file) {
  const said = execFileSync('objdump', ['--private-headers', file], { encoding: 'utf8' });
  const exportTable = said.split('[Ordinal/Name Pointer] Table')[1]?.split('\n\n')[0] ?? '';
  const names = (text, pattern) => [...text.matchAll(pattern)].map(([, name]) => name);
  return {
    exported: names(exportTable, /^\s+\[ *\d+\].*?(\S+)$/gm),
    undefinedNames: names(said, /^\t[\da-f]+\t *\d+ +(\S+)$/gm),
    needed: names(said, /DLL Name: (\S+)$/gm),
    versions: [],
  };
}

function readElf(file) {
  const read = (...options) => execFileSync('readelf', ['--wide', ...options, file], { encoding: 'utf8' });
  const symbols = read('--dyn-syms')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([number, , , , binding, , , name]) => /^\d+:$/.test(number) && binding !== 'LOCAL' && name)
    .map(([, , , , , , section, name]) => ({
      name: name.replace(/@.*/, ''),
      version: name,
      isDefined: section !== 'UND',
    }));
  const exported = symbols.filter(({ isDefined }) => isDefined).map(({ name }) => name);
  const undefinedNames = symbols.filter(({ isDefined }) => !isDefined).map(({ name }) => name);
  const needed = [...read('--dynamic').matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, library]) => library);
  const versions = [...read('--version-info').matchAll(/Name: GLIBC_(\d+)\.(\d+)/g)].map(([, ...parts]) =>
    parts.map(Number),
  );
  return { exported, undefinedNames, needed, versions };
}

/** What is wrong with a binary; an empty list when nothing is. */
export function problemsOf(file) {
  const isPe = readFileSync(file).subarray(0, 2).toString() === 'MZ';
  const { exported, undefinedNames, needed, versions } = isPe ? readPe(file) : readElf(file);
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
      needed.filter((library) => !(isPe ? NEEDED_ON_WINDOWS : NEEDED).test(library)),
    ),
    ...list(
      'needs glibc',
      versions.filter(isNewer).map((parts) => parts.join('.')),
    ),
    ...(size > MOST_BYTES ? [`has ${size} bytes, more than ${MOST_BYTES}`] : []),
  ];
}

/** All of them, by folder. */
function prebuilds() {
  const folder = path.join(root, 'prebuilds');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.node'))
    .map((name) => path.join(folder, name))
    .sort();
}

if (process.argv[1] === import.meta.filename) {
  const files = process.argv.length > 2 ? process.argv.slice(2) : prebuilds();
  if (files.length === 0) throw new Error('there are no binaries in prebuilds');
  for (const file of files) {
    const problems = problemsOf(file);
    const name = path.relative(root, file);
    process.stdout.write(`${problems.length === 0 ? 'ok' : 'WRONG'}: ${name} (${statSync(file).size} bytes)\n`);
    for (const problem of problems) process.stdout.write(`  ${problem}\n`);
    if (problems.length > 0) process.exitCode = 1;
  }
}

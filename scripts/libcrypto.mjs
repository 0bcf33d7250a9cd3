// Prints the path of a static libcrypto.a (`lib`) or of its headers (`include`) for binding.gyp. Prints nothing where there is
// none, or with METAINFO_LIBCRYPTO=node: the addon then uses the symbols that Node exports.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

const run = (command, args) => {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
};

function* roots() {
  if (process.env.OPENSSL_ROOT_DIR) yield process.env.OPENSSL_ROOT_DIR;
  if (process.platform === 'darwin') yield run('brew', ['--prefix', 'openssl@3']);
}

function find() {
  for (const root of roots()) {
    const library = path.join(root, 'lib', 'libcrypto.a');
    if (root && existsSync(library)) return { library, include: path.join(root, 'include') };
  }
  // Compilers, also cross compilers, know their own library folders. They print an unknown name unchanged.
  const library = run(process.env.CXX || 'c++', ['-print-file-name=libcrypto.a']);
  return path.isAbsolute(library) && existsSync(library) ? { library, include: '' } : { library: '', include: '' };
}

const skip = process.platform === 'win32' || process.env.METAINFO_LIBCRYPTO === 'node';
const { library, include } = skip ? { library: '', include: '' } : find();
process.stdout.write(process.argv[2] === 'include' ? include : library);

// Prints the path of a static libcrypto.a, or nothing when there is none: the addon then uses the symbols that
// Node itself exports. Called by binding.gyp with `lib` or `include`. METAINFO_LIBCRYPTO=node asks for those symbols.
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
  // The compiler knows its own library folders, a cross compiler's too. Unknown names come back as they went in.
  const library = run(process.env.CXX || 'c++', ['-print-file-name=libcrypto.a']);
  return path.isAbsolute(library) && existsSync(library) ? { library, include: '' } : { library: '', include: '' };
}

const skip = process.platform === 'win32' || process.env.METAINFO_LIBCRYPTO === 'node';
const { library, include } = skip ? { library: '', include: '' } : find();
process.stdout.write(process.argv[2] === 'include' ? include : library);

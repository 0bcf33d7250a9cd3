// `npm run docs:licenses`: writes docs/licenses.md from package-lock.json. test/docs.test.ts checks the page.
import { readFileSync, writeFileSync } from 'node:fs';

/** A package that an installation may include, as package-lock.json describes it. */
export interface RuntimePackage {
  /** The folder of the package, such as `node_modules/superstruct`. */
  folder: string;
  name: string;
  version: string;
  license: string;
  optional: boolean;
}

interface Locked {
  version: string;
  license?: string;
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
}

/** Licences that require nothing but a copy of their text. */
export const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'];

/** Lists the dependencies and their dependencies, for every platform, without those for development only. */
export function runtimePackages(): RuntimePackage[] {
  const lock = new URL('../package-lock.json', import.meta.url);
  const { packages } = JSON.parse(readFileSync(lock, 'utf8')) as { packages: Record<string, Locked> };
  return Object.entries(packages).flatMap(([folder, { version, license = 'none', dev, optional, devOptional }]) => {
    if (folder === '' || dev) return [];
    const name = folder.replace(/^.*node_modules\//, '');
    return [{ folder, name, version, license, optional: Boolean(optional || devOptional) }];
  });
}

/** The whole page. */
export function licensesPage(): string {
  const rows = runtimePackages().map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`);
  const table = ['| package | version | licence |', '| --- | --- | --- |', ...rows].join('\n');
  return `# Licences

This package is under the MIT licence. Generated from package-lock.json by \`npm run docs:licenses\`: what an installation
brings besides, at the versions that are tested. All of it is permissive, which test/docs.test.ts asks for:
${PERMISSIVE.join(', ')}.

The command is bundled: the texts of what is in it are in \`dist/cli/licenses.txt\`. The prebuilt binaries hold
SHA-1 and SHA-256 of OpenSSL (Apache-2.0; those for Linux with glibc that of 1.1.1, under the OpenSSL and SSLeay licences), and that for
Windows the runtime of mingw-w64: the texts are in \`native/licenses.txt\`. An addon that is compiled links the OpenSSL whose
\`libcrypto.a\` is installed, else it uses Node's own. libtorrent (BSD-3-Clause) is used where somebody builds that engine.

## Dependencies

${table}
`;
}

if (process.argv[1]?.endsWith('docs-licenses.ts')) {
  writeFileSync(new URL('../docs/licenses.md', import.meta.url), licensesPage());
}

// `npm run generate` writes docs/licenses.md from package-lock.json. test/docs.test.ts checks the page.
import { readFileSync } from 'node:fs';

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
  /** Whether it is a package of this repository. */
  link?: boolean;
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
  return Object.entries(packages).flatMap(
    ([folder, { version, license = 'none', link, dev, optional, devOptional }]) => {
      // The others are the packages of this repository.
      if (!folder.includes('node_modules/') || link || dev) return [];
      const name = folder.replace(/^.*node_modules\//, '');
      return [{ folder, name, version, license, optional: Boolean(optional || devOptional) }];
    },
  );
}

/** The whole page. */
export function licensesPage(): string {
  const rows = runtimePackages().map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`);
  const table = ['| package | version | licence |', '| --- | --- | --- |', ...rows].join('\n');
  return `# Licences

<!-- \`npm run generate\` writes this page from package-lock.json. -->

metainfo and metainfo-bullmq are under the MIT licence. The table below lists the packages that an installation
of both includes, in the versions that are tested. Their licences are permissive, and a test checks that:
${PERMISSIVE.join(', ')}.

The command is one bundled file; the licence texts of its packages are in \`dist/cli/licenses.txt\`.
\`metainfo/browser\` includes superstruct (MIT): \`dist/browser/licenses.txt\`. The prebuilt binaries include SHA-1
and SHA-256 from OpenSSL (Apache-2.0; for Linux with glibc from OpenSSL 1.1.1, under the OpenSSL and SSLeay licences), and the binary for
Windows includes the runtime of mingw-w64. Their licence texts are in \`native/licenses.txt\`. If you compile the addon, it links the
installed \`libcrypto.a\` of OpenSSL, or else uses the OpenSSL in Node. If you build the libtorrent addon, it uses libtorrent
(BSD-3-Clause).

## Dependencies

${table}
`;
}

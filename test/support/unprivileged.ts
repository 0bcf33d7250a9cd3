/** Runs code as a user without privileges, for tests of permissions. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const NOBODY = 65534;

/** Tests of permissions run as root: root may read everything, and only root can become another user. */
export function notRoot(): string | false {
  if (process.getuid?.() === 0) return false;
  if (process.env['CI']) throw new Error('these tests run as root, and tests are not skipped in CI');
  return 'only root can become another user';
}

interface Failure {
  code?: string;
  path?: string;
  message?: string;
}

/** Generates a torrent of each of `roots` as an unprivileged user, in one process, and returns the errors. */
export function failuresAsNobody(roots: readonly string[], how: 'generate' | 'generateExt' = 'generate'): Failure[] {
  const source = (name: string) => JSON.stringify(new URL(`../../src/create/${name}.ts`, import.meta.url).href);
  const script = `
    import { TorrentCreate } from ${source('draft')};
    const failureOf = (pathRoot) =>
      new TorrentCreate({ pathRoot }).${how}().then(() => ({}), ({ code, path, message }) => ({ code, path, message }));
    const failures = [];
    for (const root of ${JSON.stringify(roots)}) failures.push(await failureOf(root));
    process.stdout.write(JSON.stringify(failures));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', './scripts/ts.mjs', '--input-type=module', '-e', script],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      encoding: 'utf8',
      uid: NOBODY,
      gid: NOBODY,
    },
  );
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Failure[];
}

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

/** Generates a torrent of `pathRoot` as an unprivileged user, and returns the error. */
export function failureAsNobody(
  pathRoot: string,
  how: 'generate' | 'generateExt' = 'generate',
): { code?: string; path?: string; message?: string } {
  const source = (name: string) => JSON.stringify(new URL(`../../src/create/${name}.ts`, import.meta.url).href);
  const script = `
    import { TorrentCreate } from ${source('draft')};
    const draft = new TorrentCreate({ pathRoot: ${JSON.stringify(pathRoot)} });
    const failure = await draft.${how}().then(() => ({}), ({ code, path, message }) => ({ code, path, message }));
    process.stdout.write(JSON.stringify(failure));`;
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
  return JSON.parse(stdout) as ReturnType<typeof failureAsNobody>;
}

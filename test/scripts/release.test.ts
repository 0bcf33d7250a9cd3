import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { finish, startProgram } from '../cli/run.ts';
import { temporaryFolder } from '../support/tree.ts';

// A script in plain JavaScript, which has no types.
const { notesOf } = (await import('../../scripts/release-notes.mjs' as string)) as {
  notesOf: (changelog: string, version: string) => string;
};
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (folder: string, name: string): string => readFileSync(path.join(folder, name), 'utf8');
const versionIn = (folder: string): string => JSON.parse(read(folder, 'package.json')).version;
const QUEUES = 'packages/metainfo-bullmq';

/** Copies the files that a release changes, and adds a changeset. */
async function copyWith(changeset: string, t: Parameters<typeof temporaryFolder>[0]): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const name of ['.changeset', 'CHANGELOG.md', 'package.json', 'package-lock.json', `${QUEUES}/package.json`])
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
  await writeFile(path.join(folder, '.changeset', 'one-more.md'), changeset);
  return folder;
}

const changesetVersion = (folder: string) =>
  finish(
    startProgram([process.execPath, path.join(ROOT, 'node_modules/@changesets/cli/bin.js'), 'version'], {
      cwd: folder,
    }),
  );

describe('a release', () => {
  it('gets its version and its changelog section from the changesets', async (t) => {
    const folder = await copyWith('---\nmetainfo: major\n---\n\n`verify` does what it did not.\n', t);
    const { code, stdout, stderr } = await changesetVersion(folder);
    assert.equal(code, 0, stdout + stderr);
    const [before, after] = [versionIn(ROOT), versionIn(folder)];
    assert.equal(after, `${Number(before.split('.')[0]) + 1}.0.0`);
    const changelog = read(folder, 'CHANGELOG.md');
    assert.match(notesOf(changelog, after), /^- `verify` does what it did not\.$/m);
    assert.equal(notesOf(changelog, before), notesOf(read(ROOT, 'CHANGELOG.md'), before));
  });

  it('gives both packages one version, and is no major one because they are peers', async (t) => {
    const folder = await copyWith('---\nmetainfo-bullmq: minor\n---\n\nText.\n', t);
    const { code, stdout, stderr } = await changesetVersion(folder);
    assert.equal(code, 0, stdout + stderr);
    const [major, minor] = versionIn(ROOT).split('.');
    const expected = `${major}.${Number(minor) + 1}.0`;
    assert.deepEqual([versionIn(folder), versionIn(path.join(folder, QUEUES))], [expected, expected]);
  });

  for (const [what, changeset] of [
    ['of another package', '---\nmetainfos: minor\n---\n\nText.\n'],
    ['without a beginning', 'Text.\n'],
  ] as const) {
    it(`is refused with a changeset ${what}`, async (t) => {
      const folder = await copyWith(changeset, t);
      assert.equal((await changesetVersion(folder)).code, 1);
      assert.equal(versionIn(folder), versionIn(ROOT));
    });
  }
});

describe('release-notes', () => {
  const run = (tag: string) =>
    finish(startProgram([process.execPath, path.join(ROOT, 'scripts/release-notes.mjs'), tag], { cwd: ROOT }));

  it('prints the section of the version', async () => {
    const { code, stdout } = await run(`v${versionIn(ROOT)}`);
    assert.equal(code, 0);
    assert.equal(stdout.trim(), notesOf(read(ROOT, 'CHANGELOG.md'), versionIn(ROOT)));
  });

  it('rejects a tag of another version', async () => {
    const { code, stdout, stderr } = await run('v999.0.0');
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /the tag is v999\.0\.0, but package\.json has version/);
  });

  it('finds only the section of exactly that version, and rejects an empty one', () => {
    const changelog = '# Changelog\n\n## 1.2.0\n\n### Minor Changes\n\n- a\n\n## 1.1.0\n\n## 1.0.0\n\n- b\n';
    assert.equal(notesOf(changelog, '1.2.0'), '### Minor Changes\n\n- a');
    assert.equal(notesOf(changelog, '1.0.0'), '- b');
    for (const version of ['1.1.0', '1.2', '1.2.0-beta'])
      assert.throws(() => notesOf(changelog, version), /nothing beneath/);
  });
});

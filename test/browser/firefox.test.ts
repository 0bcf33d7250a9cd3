// metainfo/browser as a page has it, in Debian's Firefox: a part of chromium.test.ts. Folders are lists of Files, because no driver of
// Firefox can choose or drop a folder.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import * as library from '../../src/index.ts';
import { firefoxMissing, hexed, openFirefoxPage, startFirefox, type TestFirefox } from '../support/firefox.ts';
import { tree, writeGenerated } from '../support/generated.ts';
import { temporaryFolder } from '../support/tree.ts';

// Plain JavaScript, because pages load it too.
const tasks = (await import('./tasks.mjs' as string)) as Record<string, (...args: unknown[]) => unknown>;

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const TREES = fc.sample(tree, { seed: 2, numRuns: 8 });
const FILES = [
  { path: 'one.bin', size: 100_000, seed: 1 },
  { path: 'two/\u00e9.bin', size: 5 * 2 ** 20, seed: 2 },
  { path: 'two/three/empty', size: 0, seed: 0 },
];

/** Runs a task with the library of Node. */
const inNode = async (task: string, ...args: unknown[]) => hexed(await tasks[task]?.(library, ...args));

describe('metainfo/browser in Firefox', { skip: firefoxMissing() }, () => {
  let browser: TestFirefox;
  before(async () => {
    browser = await startFirefox();
  });
  after(() => browser?.close());

  it('makes the same torrents as Node from Files, Blobs, bytes and streams', async () => {
    const { run, messages } = await openFirefoxPage(browser);
    assert.equal(await run('kernel'), 'WebCrypto');
    for (const one of TREES)
      for (const form of ['File', 'mixed'])
        assert.deepEqual(await run('createTree', one, form), await inNode('createTree', one, 'bytes'), form);
    assert.deepEqual(messages, []);
  });

  it('makes the same torrents in a page without WebCrypto', async () => {
    const { run } = await openFirefoxPage(browser, 'plain');
    assert.equal(await run('kernel'), 'JavaScript');
    for (const one of TREES)
      assert.deepEqual(await run('createTree', one, 'File'), await inNode('createTree', one, 'bytes'));
  });

  it('makes and verifies the torrent of a folder, as a list of Files or a handle', async (t) => {
    const root = path.join(await temporaryFolder(t), 'album');
    await writeGenerated(root, { single: false, files: FILES, pieceLength: 2 ** 14 });
    const { run, choose, messages } = await openFirefoxPage(browser);
    const paths = FILES.map((file) => path.join(root, file.path));
    await choose('#files', paths);
    await run(
      'setRelativePaths',
      'files',
      FILES.map((file) => `album/${file.path}`),
    );
    await run('writeDirectory', 'files');
    for (const version of VERSIONS) {
      const draft = new library.TorrentCreate({ pathRoot: root, info: { pieceLength: 2 ** 14 } });
      const torrent = await draft.generate({ version });
      for (const kind of ['files', 'directory'])
        assert.equal(await run('createGiven', kind, version), hexed(torrent.bencode()), `${kind}, ${version}`);
      const { ok, goodBytes } = (await run('verifyHexed', 'files', hexed(torrent.bencode()))) as library.VerifyReport;
      assert.deepEqual([ok, goodBytes], [true, torrent.totalSize]);
    }
    assert.deepEqual(messages, []);
  });
});

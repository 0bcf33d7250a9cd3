// metainfo/browser as a page has it, in Debian's Chromium: the bundle that is published, compared with the library in Node.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { appendFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import * as library from '../../src/index.ts';
import { chromiumMissing, openPage, startChromium, type TestBrowser, type TestPage } from '../support/chromium.ts';
import { content, type Tree, tree, writeGenerated } from '../support/generated.ts';
import { temporaryFolder } from '../support/tree.ts';

// Plain JavaScript, because pages load it too.
const tasks = (await import('./tasks.mjs' as string)) as Record<string, (...args: unknown[]) => unknown>;

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const TREES = fc.sample(tree, { seed: 1, numRuns: 20 });

/** Turns the Buffers in a result into Uint8Arrays. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}

/** Runs a task with the library of Node. */
const inNode = async (task: string, ...args: unknown[]): Promise<unknown> =>
  plain(await tasks[task]?.(library, ...args));

/** The torrents of a tree that the library of Node makes, by version. */
const treesInNode = new Map<Tree, Promise<unknown>>();
function treeInNode(one: Tree): Promise<unknown> {
  const made = treesInNode.get(one) ?? inNode('createTree', one, 'bytes');
  treesInNode.set(one, made);
  return made;
}

describe('metainfo/browser in Chromium', { skip: chromiumMissing() }, () => {
  let browser: TestBrowser;
  let secure: TestPage;
  before(async () => {
    browser = await startChromium();
    secure = await openPage(browser);
  });
  after(() => browser?.close());

  /** Asserts that a task gives the same in the page and in Node. */
  async function assertSame(task: string, ...args: unknown[]): Promise<unknown> {
    const inPage = await secure.run(task, ...args);
    assert.deepEqual(inPage, await inNode(task, ...args));
    return inPage;
  }

  it('makes the same torrents as Node from Files', async () => {
    for (const one of TREES) assert.deepEqual(await secure.run('createTree', one, 'File'), await treeInNode(one));
  });

  it('makes the same torrents as Node from Blobs, bytes and streams', async () => {
    for (const [i, one] of TREES.entries())
      for (const form of ['mixed', ['Blob', 'bytes', 'stream', 'generator'][i % 4]])
        assert.deepEqual(await secure.run('createTree', one, form), await treeInNode(one), form);
  });

  it('makes the same torrents of large Files, which are streams', async () => {
    for (const pieceLength of [2 ** 14, 2 ** 21]) {
      const files = [5 * 2 ** 20 + 1, 100, 9 * 2 ** 20].map((size, seed) => ({ path: `${seed}`, size, seed }));
      const large = { single: false, files, pieceLength };
      assert.deepEqual(await secure.run('createTree', large, 'File'), await treeInNode(large));
    }
  });

  it('makes the same torrents in a page without WebCrypto', async () => {
    const page = await openPage(browser, 'plain');
    assert.equal(await page.run('kernel'), 'JavaScript');
    assert.equal(await secure.run('kernel'), 'WebCrypto');
    for (const one of TREES) assert.deepEqual(await page.run('createTree', one, 'File'), await treeInNode(one));
    assert.deepEqual([page.requests, page.messages], [[], []]);
    await page.page.close();
  });

  /** A folder with names that are difficult, and the page in which a user has chosen it. */
  async function chooseFolder(t: { after(work: () => Promise<void>): void }) {
    const root = path.join(await temporaryFolder(t), 'album');
    const files = [
      { path: 'one.bin', size: 100_000, seed: 1 },
      { path: 'two/é.bin', size: 2 ** 14, seed: 2 },
      { path: 'two/three/\u{1f600}', size: 70_001, seed: 0 },
      { path: 'two/three/empty', size: 0, seed: 0 },
    ];
    // Chromium lists a hundred entries of a folder at a time.
    for (let i = 0; i < 250; i += 1) files.push({ path: `many/${i}`, size: i, seed: 1 });
    await writeGenerated(root, { single: false, files, pieceLength: 2 ** 14 });
    // No file of the torrent.
    await writeFile(path.join(root, 'two', 'Thumbs.db'), 'x');
    const page = await openPage(browser);
    t.after(() => page.page.close());
    const choose = () => page.page.setInputFiles('#folder', root);
    await choose();
    return { ...page, root, choose, paths: files.map((file) => file.path).sort() };
  }

  const inNodeFrom = async (root: string, version: library.TorrentVersion) => {
    const draft = new library.TorrentCreate({ pathRoot: root, info: { pieceLength: 2 ** 14 } });
    return plain((await draft.generate({ version })).bencode());
  };

  it('makes the torrent of a folder that was chosen, dropped or given as a handle', async (t) => {
    const { page, run, root, paths, requests, messages } = await chooseFolder(t);
    await run('writeDirectory');
    await run('expectDrop');
    const devTools = await page.context().newCDPSession(page);
    const data = { items: [], files: [root], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await devTools.send('Input.dispatchDragEvent', { type, x: 10, y: 100, data });
    for (const kind of ['folder', 'dropped', 'directory']) {
      assert.deepEqual(await run('pathsOf', kind), { name: 'album', paths }, kind);
      for (const version of VERSIONS)
        assert.deepEqual(
          await run('createGiven', kind, version),
          await inNodeFrom(root, version),
          `${kind}, ${version}`,
        );
    }
    assert.deepEqual([requests, messages], [[], []]);
  });

  it('makes the torrent of single files', async (t) => {
    const { page, run, root } = await chooseFolder(t);
    const one = path.join(root, 'one.bin');
    await page.setInputFiles('#files', one);
    assert.deepEqual(await run('createGiven', 'files', 'hybrid'), await inNodeFrom(one, 'hybrid'));
    await page.setInputFiles('#files', [one, path.join(root, 'two/é.bin')]);
    assert.deepEqual(await run('pathsOf', 'files'), { name: null, paths: ['one.bin', 'é.bin'] });
  });

  it('reports the same as Node about files that are good, corrupt, missing, short or extra', async (t) => {
    const { run, root, choose } = await chooseFolder(t);
    const reports = async () => {
      await choose();
      for (const [version, bytes] of torrents)
        for (const options of [{}, { fast: true }]) {
          const inPage = (await run('verifyGiven', 'folder', bytes, options)) as library.VerifyReport;
          const expected = await library.verify(library.Torrent.fromBytes(bytes), root, options);
          const without = (report: library.VerifyReport) => ({
            ...report,
            files: report.files.map(({ mtimeMs, ...file }) => ({ ...file, hasTime: mtimeMs !== undefined })),
          });
          assert.deepEqual(without(inPage), plain(without(expected)), version);
          statuses.push(...inPage.files.map(({ status }) => status), ...inPage.extraFiles);
        }
    };
    const statuses: string[] = [];
    const torrents: [string, Uint8Array][] = [];
    for (const version of VERSIONS) torrents.push([version, (await inNodeFrom(root, version)) as Uint8Array]);
    await reports();
    assert.deepEqual([...new Set(statuses)], ['complete', 'two/Thumbs.db']);
    await writeFile(path.join(root, 'one.bin'), Buffer.from(content(100_000, 1)).fill('x', 50_000, 50_001));
    await rm(path.join(root, 'many/100'));
    await appendFile(path.join(root, 'two/é.bin'), 'x');
    await writeFile(path.join(root, 'two/extra'), 'x');
    await reports();
    const found = new Set(statuses);
    assert.deepEqual([...found].sort(), ['complete', 'missing', 'partial', 'two/Thumbs.db', 'two/extra', 'wrong-size']);
  });

  it('says which file was changed after it was chosen', async (t) => {
    const { page, run, root } = await chooseFolder(t);
    const one = path.join(root, 'one.bin');
    for (const size of [100_000, 5 * 2 ** 20]) {
      await writeFile(one, content(size, 1));
      const bytes = await inNodeFrom(one, 'hybrid');
      await page.setInputFiles('#files', one);
      await appendFile(one, 'x');
      // Chromium compares whole seconds.
      await utimes(one, 1000, 1000);
      const error = (await run('createError', 'files')) as { code: string; message: string };
      assert.equal(error.code, 'ERR_READ');
      assert.match(error.message, /^one\.bin could not be read: it may have been changed, moved or deleted \(\w+Error/);
      const { ok, files } = (await run('verifyGiven', 'files', bytes)) as library.VerifyReport;
      assert.deepEqual([ok, files[0]?.status], [false, 'unreadable']);
    }
  });

  it('reports progress', async () => {
    const size = 3 * 2 ** 20;
    for (const job of ['generate', 'verify']) {
      // The progress bar of Node would begin after the fifth.
      const reports = await secure.run<{ bytes: number; totalBytes: number; file: string }[]>('progressOf', job, {
        size,
        reports: 8,
      });
      assert.ok(reports.length >= 8, job);
      const bytes = reports.map((report) => report.bytes);
      assert.deepEqual([bytes[0], bytes.at(-1)], [0, size], job);
      assert.deepEqual(
        bytes,
        bytes.toSorted((a, b) => a - b),
      );
      assert.deepEqual(
        [...new Set(reports.map((report) => `${report.file} ${report.totalBytes}`))],
        [`slow.bin ${size}`],
      );
    }
  });

  it('cancels a job, even if a read never ends', async () => {
    for (const job of ['generate', 'verify'])
      for (const early of [true, false]) {
        const { name, code, cause } = await secure.run<Record<string, string>>('cancel', job, { early });
        assert.deepEqual([name, code, cause], ['AbortError', 'ERR_ABORTED', 'the user left'], `${job}, ${early}`);
      }
  });

  it('refuses what needs a disk, and arguments of the wrong type', async () => {
    const [one] = TREES;
    const { hybrid } = (await treeInNode(one as Tree)) as Record<string, Uint8Array>;
    const errors = await secure.run<Record<string, { code: string } | null>>('refusals', hybrid);
    const codes = Object.fromEntries(Object.entries(errors).map(([name, error]) => [name, error?.code]));
    assert.deepEqual(
      codes,
      Object.fromEntries(Object.keys(errors).map((name) => [name, 'ERR_INVALID_ARGUMENT'])),
      JSON.stringify(errors),
    );
  });

  it('reads, inspects and edits torrents as Node does', async () => {
    for (const one of TREES.slice(0, 5))
      for (const bytes of Object.values((await treeInNode(one)) as Record<string, Uint8Array>)) {
        await assertSame('readFile', bytes);
        await assertSame('inspect', bytes);
        const changes = { addTrackers: ['udp://tracker.example:6969/announce'], comment: 'é', private: true };
        await assertSame('editTorrent', bytes, changes);
        // Anything may be wrong with it.
        const broken = new Uint8Array(bytes);
        broken.fill(0x39, broken.length >> 1, (broken.length >> 1) + 2);
        await assertSame('readBencode', broken);
      }
    const html = await secure.run<{ code: string; message: string }>('readError', '<!doctype html><p>not found');
    assert.deepEqual(html, await inNode('readError', '<!doctype html><p>not found'));
  });

  it('reads magnet links, bencode and Merkle trees as Node does', async () => {
    const infohash = createHash('sha1').update('x').digest('hex');
    const links = [
      `magnet:?xt=urn:btih:${infohash}&dn=%C3%A9+%3Cb%3E&tr=udp%3A%2F%2Ft.example%3A1&x.pe=[::1]:1`,
      `magnet:?xt=urn:btmh:1220${'ab'.repeat(32)}&dn=\u202egnp.exe`,
    ];
    for (const link of links) await assertSame('readMagnet', link);
    for (const text of [
      'd1:ai1e1:b2:\u00ff\u00fee',
      'i01e',
      'd1:bi1e1:ai1ee',
      'l',
      'i9007199254740993e',
      'le ',
      '3:ab',
    ])
      await assertSame('readBencode', new Uint8Array(Buffer.from(text, 'latin1')));
    await assertSame('merkleRoot', new Uint8Array(randomBytes(32 * 37)));
  });

  describe('a hostile torrent', () => {
    const names = [
      '<img src=x onerror=alert(1)>',
      '\u202egnp.exe',
      '&lt;b&gt;',
      'a\u0000b',
      '"><script>alert(1)</script>',
      '..',
    ];
    /** A v1 torrent with files of these names. */
    const torrentOf = (paths: readonly string[][]) =>
      library.encode({
        info: {
          name: names[0] as string,
          'piece length': 2 ** 14,
          files: paths.map((parts) => ({ length: 1, path: parts })),
          pieces: new Uint8Array(Math.ceil(paths.length / 2 ** 14) * 20),
        },
      });

    it('is refused with the same issues as in Node', async () => {
      await assertSame('inspect', new Uint8Array(torrentOf(names.map((name) => [name]))));
    });

    it('gives names that a page shows as text', async () => {
      const kept = names.filter((name) => name !== '..' && !name.includes('\0') && !name.includes('/'));
      const bytes = new Uint8Array(torrentOf(kept.map((name) => [name])));
      const shown = await secure.run('showFiles', bytes);
      assert.deepEqual(shown, { elements: kept.length, text: kept.join('') });
    });

    it('may have 100,000 files', async () => {
      const paths = Array.from({ length: 100_000 }, (_, i) => [`folder ${i % 10}`, `file ${i}`]);
      await assertSame('readFile', new Uint8Array(torrentOf(paths)));
    });
  });

  it('asks the network for nothing, and prints nothing', () => {
    assert.deepEqual([secure.requests, secure.messages], [[], []]);
  });
});

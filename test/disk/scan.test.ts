import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type ScanOptions, scan, scannedFiles } from '../../src/disk/scan.ts';
import type { MetainfoError } from '../../src/errors/errors.ts';
import { Limiter } from '../../src/hash/limiter.ts';
import { chooseEngine, ENGINES } from '../support/choose-engine.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { failuresAsNobody, notRoot } from '../support/unprivileged.ts';

interface Layout {
  files?: Record<string, number>;
  /** Target by name. */
  links?: Record<string, string>;
}

/** A folder `root` with files and links, in a folder of the test's own. */
async function rootWith(t: TestContext, { files = { a: 1 }, links = {} }: Layout): Promise<string> {
  const root = path.join(await temporaryFolder(t), 'root');
  await writeTree(root, files);
  for (const [name, target] of Object.entries(links)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await symlink(target, path.join(root, name));
  }
  return root;
}

/** The files that a scan finds. */
async function rows(...args: Parameters<typeof scan>): Promise<ReturnType<typeof scannedFiles>> {
  return scannedFiles(await scan(...args));
}

/** The paths that a scan finds, sorted, with `/`. */
async function found(root: string, entries: string[][] | null = null, options: ScanOptions = {}): Promise<string[]> {
  return (await rows(root, entries, options)).map((file) => file.path.join('/')).sort();
}

for (const engine of ENGINES)
  describe(`scan, ${engine} engine`, () => {
    let restore = () => {};
    before(() => {
      restore = chooseEngine(engine);
    });
    after(() => restore());

    it('finds all files, their sizes and dates', async (t) => {
      const root = await rootWith(t, { files: { a: 3, 'b/c/d': 5, 'b/empty': 0 } });
      const files = (await rows(root, null)).toSorted((a, b) => a.length - b.length);
      assert.deepEqual(
        files.map(({ path: parts, length, diskPath }) => [parts.join('/'), length, diskPath]),
        [
          ['b/empty', 0, path.join(root, 'b/empty')],
          ['a', 3, path.join(root, 'a')],
          ['b/c/d', 5, path.join(root, 'b/c/d')],
        ],
      );
      assert.ok(files.every(({ mtimeMs }) => Math.abs(mtimeMs - Date.now()) < 60_000));
    });

    it('finds more files than it looks up at once', async (t) => {
      const names = Array.from({ length: 1000 }, (_, i) => `f${i}`);
      const root = await rootWith(t, { files: Object.fromEntries(names.map((name) => [name, 0])) });
      assert.deepEqual(await found(root), names.sort());
    });

    it('accepts a file as the root', async (t) => {
      const root = await rootWith(t, {});
      const file = path.join(root, 'a');
      assert.deepEqual(
        (await rows(file, null)).map(({ path: parts, diskPath, length }) => ({ parts, diskPath, length })),
        [{ parts: [], diskPath: file, length: 1 }],
      );
      await assert.rejects(scan(file, [['b']]), { code: 'ERR_INVALID_ARGUMENT', path: file });
    });

    it('adds only the given entries, files and folders', async (t) => {
      const root = await rootWith(t, { files: { a: 1, b: 1, 'c/d': 1, 'c/e': 1 } });
      assert.deepEqual(await found(root, [['b'], ['c']]), ['b', 'c/d', 'c/e']);
    });

    it('adds a file once that is named together with its folder, in any order', async (t) => {
      const root = await rootWith(t, { files: { a: 1, 'd/b': 1, 'd/.DS_Store': 1, 'd/e/c': 1 } });
      const names = [['d'], ['d', 'b'], ['a'], ['d', 'e'], ['d', '.DS_Store'], ['d', 'e', 'c']];
      for (const entries of [names, names.toReversed()]) {
        const paths = (await rows(root, entries)).map(({ path: parts }) => parts.join('/')).sort();
        assert.deepEqual(paths, ['a', 'd/.DS_Store', 'd/b', 'd/e/c']);
      }
    });

    it('skips files of the operating system, unless they are named outright', async (t) => {
      const root = await rootWith(t, {
        files: { '.DS_Store': 1, 'a/Thumbs.db': 1, 'a/desktop.ini': 1, 'a/.metainfo-0a1z.tmp': 1, 'a/b': 1 },
      });
      assert.deepEqual(await found(root), ['a/b']);
      assert.deepEqual(await found(root, [['.DS_Store'], ['a', 'Thumbs.db']]), ['.DS_Store', 'a/Thumbs.db']);
    });

    it('includes files and excludes files and folders by their path', async (t) => {
      const root = await rootWith(t, { files: { 'a.txt': 1, 'a.nfo': 1, 'b/c.txt': 1, 'b/d/e.txt': 1 } });
      const include = (name: string) => name.endsWith('.txt');
      assert.deepEqual(await found(root, null, { include }), ['a.txt', 'b/c.txt', 'b/d/e.txt']);
      const asked: string[] = [];
      const exclude = (name: string) => asked.push(name) > 0 && (name === 'b/d' || name === 'a.nfo');
      assert.deepEqual(await found(root, null, { exclude }), ['a.txt', 'b/c.txt']);
      assert.ok(!asked.includes('b/d/e.txt'), 'looked into an excluded folder');
      assert.deepEqual(await found(root, [['a.nfo']], { exclude, include }), ['a.nfo'], 'named outright');
    });

    it('asks the filters about folders before it enters them, and about each path once', async (t) => {
      const root = await rootWith(t, {
        files: { a: 1, 'b/c': 1, 'b/d/e': 1, 'f/g': 1, 'f/.DS_Store': 1 },
        links: { link: 'b', 'b/broken': 'nowhere' },
      });
      const asked: string[] = [];
      const exclude = (name: string) => asked.push(`exclude ${name}`) < 0 || name === 'f' || name.endsWith('broken');
      const include = (name: string) => asked.push(`include ${name}`) > 0 && name !== 'b/c';
      assert.deepEqual(await found(root, null, { exclude, include }), ['a', 'b/d/e', 'link/c', 'link/d/e']);
      const names = [
        'a',
        'b',
        'b/broken',
        'b/c',
        'b/d',
        'b/d/e',
        'f',
        'link',
        'link/broken',
        'link/c',
        'link/d',
        'link/d/e',
      ];
      const isOut = (name: string) => name === 'f' || name.endsWith('broken');
      assert.deepEqual(asked.toSorted(), [
        ...names.map((name) => `exclude ${name}`),
        ...names.filter((name) => !isOut(name)).map((name) => `include ${name}`),
      ]);
      for (const name of names) {
        const [first, second] = [asked.indexOf(`exclude ${name}`), asked.indexOf(`include ${name}`)];
        if (!isOut(name)) assert.ok(first < second, `include was asked first about ${name}`);
        if (name.includes('/')) assert.ok(asked.indexOf(`exclude ${path.dirname(name)}`) < first, name);
      }
    });

    it('rejects a filter that returns a promise, or throws', async (t) => {
      const root = await rootWith(t, { files: { a: 1 } });
      const filter = (async () => false) as unknown as () => boolean;
      for (const options of [{ exclude: filter }, { include: filter }])
        await assert.rejects(scan(root, null, options), { code: 'ERR_INVALID_ARGUMENT', message: /not a promise/ });
      const error = new Error('of the caller');
      const thrower = () => {
        throw error;
      };
      await assert.rejects(scan(root, null, { include: thrower }), error);
    });

    it('filters more files than it filters at once', async (t) => {
      const names = Array.from({ length: 4200 }, (_, i) => `f${i}`);
      const root = await rootWith(t, { files: Object.fromEntries(names.map((name) => [name, 0])) });
      const wanted = names.filter((name) => name.endsWith('7'));
      assert.deepEqual(await found(root, null, { include: (name) => name.endsWith('7') }), wanted.sort());
    });

    it('adds nothing from an empty folder', async (t) => {
      const root = await temporaryFolder(t);
      assert.deepEqual(await found(root), []);
      assert.deepEqual(await found(root, []), []);
    });

    it('lets other jobs go first', async (t) => {
      const root = await rootWith(t, { files: { a: 1 } });
      for (let i = 0; i < 400; i += 1) await mkdir(path.join(root, `d${i}`));
      const limiter = new Limiter(1);
      const order: string[] = [];
      const exclude = () => false;
      await Promise.all([
        limiter.run(undefined, async (slot) => {
          // Each round is a step.
          for (let i = 0; i < 20; i += 1) await scan(root, null, { exclude, slot });
          order.push('scan');
        }),
        limiter.run(undefined, async () => order.push('other')),
      ]);
      assert.deepEqual(order, ['other', 'scan']);
    });

    it('stops when the signal has fired', async (t) => {
      const root = await rootWith(t, {});
      await assert.rejects(scan(root, null, { signal: AbortSignal.abort() }), { code: 'ERR_ABORTED' });
    });

    it('stops within a large folder when the signal fires', async (t) => {
      const files = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`f${i}`, 0]));
      const root = await rootWith(t, { files });
      const controller = new AbortController();
      let asked = 0;
      const exclude = () => {
        asked += 1;
        if (asked === 100) controller.abort();
        return false;
      };
      await assert.rejects(scan(root, null, { exclude, signal: controller.signal }), { code: 'ERR_ABORTED' });
      assert.ok(asked < 1000, `asked of ${asked} files`);
    });

    describe('rejects', () => {
      it('a path that does not exist', async (t) => {
        const root = await rootWith(t, {});
        const missing = path.join(root, 'missing');
        await assert.rejects(scan(missing, null), { code: 'ERR_NOT_FOUND', path: missing });
        await assert.rejects(scan(root, [['missing']]), { code: 'ERR_NOT_FOUND', path: missing });
        await assert.rejects(scan(root, [['a', 'b']]), { code: 'ERR_NOT_FOUND', path: path.join(root, 'a/b') });
      });

      it('a FIFO, at once', async (t) => {
        const root = await rootWith(t, {});
        const fifo = path.join(root, 'pipe');
        execFileSync('mkfifo', [fifo]);
        const refusal = { code: 'ERR_NOT_A_FILE', path: fifo, message: `${fifo} is a FIFO, not a file: leave it out.` };
        const hint = ' To leave out files and folders, use the option exclude.';
        await assert.rejects(scan(root, null), { ...refusal, message: refusal.message + hint });
        // No filter leaves out what is named.
        await assert.rejects(scan(root, [['pipe']]), refusal);
        await assert.rejects(scan(fifo, null), refusal);
        assert.deepEqual(await found(root, null, { exclude: (name) => name === 'pipe' }), ['a']);
      });

      it('all files with problems, in one error with a bounded list', async (t) => {
        const root = await rootWith(t, { files: { 'a/b': 1, c: 1 } });
        const fifo = path.join(root, 'a/pipe');
        execFileSync('mkfifo', [fifo]);
        await symlink('nowhere', path.join(root, 'broken'));
        await symlink('.', path.join(root, 'loop'));
        await symlink('/etc/hostname', path.join(root, 'out'));
        const failure = (await scan(root, null).catch((error: unknown) => error)) as MetainfoError;
        assert.match(
          failure.message,
          /^4 files or folders cannot be added: .+\. To leave out .+ use the option exclude\.$/,
        );
        for (const part of [
          /\/a\/pipe is a FIFO, not a file/,
          /\/broken is a broken link: its target does not exist;/,
          /\/loop links to a folder that contains it;/,
          /\/out links to .*, outside /,
        ])
          assert.match(failure.message, part);
        const errors = (failure.cause as AggregateError).errors as MetainfoError[];
        assert.equal(errors.length, 4);
        assert.deepEqual([failure.code, failure.path], [errors[0]?.code, errors[0]?.path]);
        assert.deepEqual(await found(root, null, { exclude: (name) => /pipe|broken|loop|out/.test(name) }), [
          'a/b',
          'c',
        ]);

        for (let i = 0; i < 20; i += 1) await symlink('nowhere', path.join(root, `broken${i}`));
        const many = (await scan(root, null).catch((error: unknown) => error)) as MetainfoError;
        assert.match(many.message, /^24 files or folders cannot be added: .+; and 14 more\. To leave/);
        assert.equal(many.message.split('; ').length, 11);

        await assert.rejects(scan(root, [['x'], ['c'], ['y']]), {
          code: 'ERR_NOT_FOUND',
          message: `2 files or folders cannot be added: ${root}/x: no such file or folder; ${root}/y: no such file or folder.`,
        });
      });

      it('all unreadable files, before any is hashed', { skip: notRoot() }, async (t) => {
        const top = await rootWith(t, {
          files: { 'two/a/b': 1, 'two/a/c': 1, 'two/d': 1, 'two/e': 1, 'one/a/b': 1, 'one/d': 1 },
        });
        await chmod(path.dirname(top), 0o755);
        for (const name of ['two/a/b', 'two/d', 'one/a/b']) await chmod(path.join(top, name), 0o600);
        const [two, one] = failuresAsNobody([path.join(top, 'two'), path.join(top, 'one')]);
        assert.equal(two?.code, 'ERR_UNREADABLE');
        assert.match(
          two.message ?? '',
          /^2 files or folders cannot be added: [^;]+d: no permission to read it; [^;]+a\/b: no per/,
        );
        assert.equal(one?.path, path.join(top, 'one/a/b'));
        assert.match(
          one.message ?? '',
          /a\/b: no permission to read it\. To leave out .+ use the option exclude\. To skip what is unreadable, use the option skipUnreadable\.$/,
        );
      });

      it('a socket', async (t) => {
        const root = await rootWith(t, {});
        const socket = path.join(root, 'socket');
        const server = createServer().listen(socket);
        await once(server, 'listening');
        t.after(() => server.close());
        await assert.rejects(scan(root, null), { code: 'ERR_NOT_A_FILE', path: socket, message: /is a socket/ });
      });

      it('a device', async () => {
        await assert.rejects(scan('/dev/null', null), {
          code: 'ERR_NOT_A_FILE',
          path: '/dev/null',
          message: /a device/,
        });
      });

      it('a name that is not UTF-8, and shows its bytes', async (t) => {
        const root = await rootWith(t, {});
        await writeFile(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9, 0x1b])]), 'x');
        const shown = path.join(root, 'caf\\xe9\\x1b');
        await assert.rejects(scan(root, null), { code: 'ERR_NAME', path: shown, message: /not UTF-8/ });
      });

      for (const name of ['a', 'd']) {
        it(`a path named twice: ${name}`, async (t) => {
          const root = await rootWith(t, { files: { a: 1, 'd/b': 1 } });
          const twice = path.join(root, name);
          await assert.rejects(scan(root, [[name], [name]]), {
            code: 'ERR_DUPLICATE_PATH',
            path: twice,
            message: `${twice} is given twice.`,
          });
        });
      }

      it('a folder that it may not read', { skip: notRoot() }, async (t) => {
        const root = await rootWith(t, {
          files: { 'open/a': 1, 'file/secret': 1, 'folder/secret/a': 1, 'list/names/a': 1 },
        });
        await chmod(path.dirname(root), 0o755);
        await chmod(path.join(root, 'file/secret'), 0o000);
        await chmod(path.join(root, 'folder/secret'), 0o000);
        await chmod(path.join(root, 'list/names'), 0o444);
        const roots = ['open', 'file', 'folder', 'list'].map((name) => path.join(root, name));
        const refused = ['file/secret', 'folder/secret', 'list/names/a'].map((name) => path.join(root, name));
        assert.deepEqual(
          failuresAsNobody(roots).map(({ message: _, ...failure }) => failure),
          [{}, ...refused.map((file) => ({ code: 'ERR_UNREADABLE', path: file }))],
        );
      });
    });

    describe('follows links', () => {
      it('to files and folders within the root', async (t) => {
        const root = await rootWith(t, { files: { 'a/b': 2 }, links: { file: 'a/b', folder: 'a', 'c/up': '../a' } });
        const files = await rows(root, null);
        assert.deepEqual(files.map((file) => file.path.join('/')).sort(), ['a/b', 'c/up/b', 'file', 'folder/b']);
        for (const file of files) {
          assert.deepEqual([file.length, file.diskPath], [2, path.join(root, 'a/b')], file.path.join('/'));
        }
      });

      it('that lead on to other links, with the paths on disk', async (t) => {
        const root = await rootWith(t, {
          files: { 'a/x': 1, 'd/y': 2, 'e/f/z': 3 },
          links: { c: 'a', 'a/b': '../d', 'd/file': '../e/f/z', up: 'e/f' },
        });
        const files = await rows(root, null);
        assert.deepEqual(
          files.map((file) => `${file.path.join('/')} ${path.relative(root, file.diskPath)} ${file.length}`).sort(),
          [
            'a/b/file e/f/z 3',
            'a/b/y d/y 2',
            'a/x a/x 1',
            'c/b/file e/f/z 3',
            'c/b/y d/y 2',
            'c/x a/x 1',
            'd/file e/f/z 3',
            'd/y d/y 2',
            'e/f/z e/f/z 3',
            'up/z e/f/z 3',
          ],
        );
      });

      it('to folders with odd names', async (t) => {
        const root = await rootWith(t, { files: { 'a\\b/c': 1, 'C:x/d': 1 }, links: { 'l\\m': 'a\\b' } });
        assert.deepEqual(await found(root), ['C:x/d', 'a\\b/c', 'l\\m/c']);
      });

      it('when the root itself is a link', async (t) => {
        const root = await rootWith(t, { links: { inner: 'a' } });
        await symlink(root, `${root}-link`);
        assert.deepEqual(await found(`${root}-link`), ['a', 'inner']);
        assert.deepEqual(await found(path.join(root, 'inner')), ['']);
      });

      it('but rejects links out of the root', async (t) => {
        const root = await rootWith(t, {
          links: { file: '../outside/a', folder: '../outside', sibling: '../root-b/a' },
        });
        await writeTree(path.dirname(root), { 'outside/a': 1, 'root-b/a': 1 });
        for (const name of ['file', 'folder', 'sibling']) {
          const link = path.join(root, name);
          await assert.rejects(scan(root, [[name]]), { code: 'ERR_LINK_OUTSIDE', path: link });
          const others = (other: string) => other !== name && other !== 'a';
          await assert.rejects(scan(root, null, { exclude: others }), { code: 'ERR_LINK_OUTSIDE', path: link });
        }
        await assert.rejects(scan(root, [['folder', 'a']]), { code: 'ERR_LINK_OUTSIDE' });
        assert.deepEqual(await found(root, null, { exclude: (name) => name !== 'a' }), ['a']);
      });

      it('but rejects broken links', async (t) => {
        const root = await rootWith(t, { links: { broken: 'missing' } });
        const link = path.join(root, 'broken');
        const refusal = { code: 'ERR_BROKEN_LINK', path: link };
        await assert.rejects(scan(root, null), refusal);
        await assert.rejects(scan(root, [['broken']]), refusal);
        await assert.rejects(scan(link, null), refusal);
        assert.deepEqual(await found(root, null, { exclude: (name) => name === 'broken' }), ['a']);
        assert.deepEqual(await found(root, null, { include: (name) => name === 'a' }), ['a']);
      });

      it('but rejects links through a file', async (t) => {
        const root = await rootWith(t, { links: { broken: 'a/b' } });
        await assert.rejects(scan(root, null), { code: 'ERR_BROKEN_LINK', path: path.join(root, 'broken') });
      });

      it('but rejects loops', async (t) => {
        const files = await rootWith(t, { links: { x: 'y', y: 'x' } });
        await assert.rejects(scan(files, null), { code: 'ERR_LINK_LOOP', path: /[xy]$/ });
        const ancestor = await rootWith(t, { files: { 'a/b/c': 1 }, links: { 'a/b/up': '..' } });
        await assert.rejects(scan(ancestor, null), { code: 'ERR_LINK_LOOP', path: path.join(ancestor, 'a/b/up') });
        const whole = await rootWith(t, { links: { self: '.' } });
        await assert.rejects(scan(whole, null), { code: 'ERR_LINK_LOOP', path: path.join(whole, 'self') });
        const mutual = await rootWith(t, { files: { 'a/x': 1, 'b/x': 1 }, links: { 'a/b': '../b', 'b/a': '../a' } });
        await assert.rejects(scan(mutual, null), { code: 'ERR_LINK_LOOP' });
        // The folder x/y contains the link that leads above it. From there, the way down leads to x/y again.
        const around = await rootWith(t, { files: { 'x/y/f': 1 }, links: { 'x/y/l': '../../x' } });
        await assert.rejects(scan(around, [['x', 'y']]), { code: 'ERR_LINK_LOOP', path: path.join(around, 'x/y/l/y') });
        assert.deepEqual(await found(around, [['x', 'y']], { exclude: (name) => name === 'x/y/l/y' }), ['x/y/f']);
      });
    });
  });

// The native listing, and scans with it and with Node's functions: both find the same files, links and problems.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { type ListedFolder, type Listing, type ListOptions, listNatively } from '../../src/disk/listing.ts';
import { type ScanOptions, scan, scannedFiles } from '../../src/disk/scan.ts';
import { addonOrNull } from '../../src/hash/addon.ts';
import { chooseEngine } from '../support/choose-engine.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const addon = addonOrNull();
const ROOT: ListedFolder = { path: '', disk: '' };
const pause = async () => {};

/** A listing as data that can be compared: sorted, with the numbers that do not depend on the listing. */
function comparable({ files, others }: Listing, root: string) {
  const rows = scannedFiles({ root, columns: files }).map((file) => [file.path.join('/'), file]);
  const rest = others.map(({ folder, disk, name, errno, status: { mode, size, mtimeMs } }) => {
    const type = mode & 0o170000;
    const isFile = type === 0o100000;
    return [`${folder}/${name?.toString('latin1')}`, disk, errno, type, isFile && [size, mtimeMs]];
  });
  return { files: rows.sort(byFirst), others: rest.sort(byFirst) };
}

const byFirst = ([a]: unknown[], [b]: unknown[]) => (String(a) < String(b) ? -1 : 1);

async function list(root: string, options: Partial<ListOptions> = {}, folders = [ROOT]) {
  const all = { root, isRecursive: true, readable: false, pause, ...options };
  const listing = await listNatively(addon as NonNullable<typeof addon>, folders, all);
  assert.ok(listing);
  return { listing, ...comparable(listing, root) };
}

/** The result of a scan as data that can be compared. */
async function scanned(root: string, options: ScanOptions) {
  const notes: unknown[][] = [];
  const found = await scan(root, null, {
    ...options,
    onProblem: ({ code, path: where, message }) => notes.push([where, code, message]),
    onLeftOut: (where, reason) => notes.push([where, reason]),
  });
  const files = scannedFiles(found).map((file) => [file.path.join('/'), file]);
  return { files: files.sort(byFirst), links: found.links.toSorted(byPath), notes: notes.sort(byFirst) };
}

const byPath = (a: { path: string[] }, b: { path: string[] }) => byFirst([a.path], [b.path]);

/** Names that need a closer look: as bytes, one character each. */
const ODD_NAMES = [
  '.DS_Store',
  'Icon\r',
  'Icon',
  'Thumbs.db',
  'desktop.ini',
  '.metainfo-0a1z.tmp',
  '.metainfo-',
  '.metainfo',
  'C:',
  'z:',
  'C:x',
  '1:',
  'a\\b',
  '\\',
  'caf\xe9',
  '\xff',
  '\xc0\xaf',
  '\xed\xa0\x80',
  '\xf4\x90\x80\x80',
  '\xe2\x82',
  // Valid UTF-8, with the character that stands for errors among them.
  'caf\xc3\xa9',
  '\xef\xbf\xbd',
  '\xf0\x9f\x98\x80',
  '\xf4\x8f\xbf\xbf',
  '\xed\x9f\xbf',
  ' ',
  '...',
  '..a',
  '\n',
  '%00',
];

const Name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c', 'longer name', 'x'.repeat(255)) },
  { weight: 2, arbitrary: fc.constantFrom(...ODD_NAMES) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map(toBytes) },
);

/** A name that every file system accepts. */
function toBytes(name: string): string {
  const bytes = Buffer.from(name.replaceAll(/[/\0]/g, '_')).toString('latin1').slice(0, 255);
  return /^\.{0,2}$/.test(bytes) ? 'dots' : bytes;
}

const Entry = fc.record({
  parents: fc.array(Name, { maxLength: 4 }),
  name: Name,
  type: fc.constantFrom('file', 'file', 'file', 'folder', 'link', 'fifo'),
  size: fc.nat(100_000),
  mode: fc.constantFrom(0o644, 0o644, 0o600, 0o000),
});

const latin1 = (...parts: string[]) => Buffer.from(parts.join('/'), 'latin1');

/** Makes an entry, unless its place is taken or it is too long. */
function make(
  root: string,
  { parents, name, type, size, mode }: typeof Entry extends fc.Arbitrary<infer T> ? T : never,
) {
  try {
    const base = Buffer.from(root).toString('latin1');
    mkdirSync(latin1(base, ...parents), { recursive: true });
    const target = latin1(base, ...parents, name);
    if (type === 'folder') mkdirSync(target);
    else if (type === 'link') symlinkSync(size % 2 === 0 ? 'a' : 'nowhere', target);
    else if (type === 'fifo') execFileSync('mkfifo', ['--', target.toString('latin1')], { stdio: 'ignore' });
    else {
      writeFileSync(target, Buffer.alloc(size), { flag: 'wx' });
      chmodSync(target, mode);
    }
  } catch {
    // Another entry has the place.
  }
}

describe('scans with both listings', { skip: !addon && 'there is no addon' }, () => {
  it('find the same in random trees', async (t) => {
    let count = 0;
    const outer = await temporaryFolder(t);
    const options = fc.record({
      readable: fc.boolean(),
      anyFiles: fc.boolean(),
      hidden: fc.boolean(),
      symlinks: fc.constantFrom('follow', 'skip', 'store', 'error'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(Entry, { maxLength: 60 }), options, async (entries, how) => {
        count += 1;
        const root = path.join(outer, String(count));
        mkdirSync(root);
        for (const entry of entries) make(root, entry);
        const native = await scanned(root, how);
        const restore = chooseEngine('node');
        const node = await scanned(root, how).finally(restore);
        assert.deepEqual(node, native);
      }),
      { numRuns: runs(150) },
    );
  });
});

describe('the native listing', { skip: !addon && 'there is no addon' }, () => {
  const pathsOf = ({ files }: Awaited<ReturnType<typeof list>>) => files.map(([file]) => file);

  async function rootWith(t: TestContext, files: Record<string, number>): Promise<string> {
    const root = path.join(await temporaryFolder(t), 'root');
    mkdirSync(root);
    await writeTree(root, files);
    return root;
  }

  it('gives the numbers of lstat', async (t) => {
    const root = await rootWith(t, { a: 3, 'b/c': 0, 'b/d/e': 70_000 });
    const { listing } = await list(root);
    const files = scannedFiles({ root, columns: listing.files });
    assert.equal(files.length, 3);
    for (const { diskPath, length, mtimeMs, ctimeMs } of files) {
      const status = lstatSync(diskPath);
      assert.deepEqual([length, mtimeMs, ctimeMs], [status.size, status.mtimeMs, status.ctimeMs]);
    }
  });

  it('enters folders only if it is asked to', async (t) => {
    const root = await rootWith(t, { a: 1, 'b/c': 1, 'b/d/e': 1, 'f/g': 1 });
    assert.deepEqual(pathsOf(await list(root)), ['a', 'b/c', 'b/d/e', 'f/g']);
    const one = await list(root, { isRecursive: false });
    assert.deepEqual([pathsOf(one), one.others.map(([other]) => other)], [['a'], ['/b', '/f']]);
    const two = await list(root, { isRecursive: false }, [
      { path: 'b', disk: 'b' },
      { path: 'f', disk: 'f' },
    ]);
    assert.deepEqual([pathsOf(two), two.others.map(([other]) => other)], [['b/c', 'f/g'], ['b/d']]);
  });

  it('gives both paths below a link', async (t) => {
    const root = await rootWith(t, { 'a/b': 1, 'c/d': 1 });
    const { listing } = await list(root, {}, [
      { path: 'x\0y', disk: 'a' },
      { path: 'c', disk: 'c' },
    ]);
    const rows = scannedFiles({ root, columns: listing.files });
    assert.deepEqual(rows.map((file) => [file.path.join('/'), path.relative(root, file.diskPath)]).sort(byFirst), [
      ['c/d', 'c/d'],
      ['x/y/b', 'a/b'],
    ]);
  });

  it('reports folders that it cannot list, and continues', async (t) => {
    const root = await rootWith(t, { a: 1, file: 1 });
    const { files, listing } = await list(root, {}, [
      ROOT,
      { path: 'missing', disk: 'missing' },
      { path: 'p\0q', disk: 'file' },
    ]);
    assert.equal(files.length, 2);
    const others = listing.others.map((other) => [other.folder, other.disk, other.name, other.errno]);
    assert.deepEqual(others.sort(byFirst), [
      ['missing', 'missing', null, constants.errno.ENOENT],
      ['p\0q', 'file', null, constants.errno.ENOTDIR],
    ]);
  });

  it('lists a folder of any size', async (t) => {
    for (const count of [0, 1, 1023, 1024, 1025, 5000]) {
      const root = await rootWith(t, {});
      for (let i = 0; i < count; i += 1) writeFileSync(path.join(root, `f${i}`), '');
      const { files } = await list(root);
      assert.equal(new Set(files.map(([file]) => file)).size, count);
    }
  });

  it('lists 5,000 nested folders up to the path limit', async (t) => {
    const root = deepRoot(t);
    makeDeepFolder(root, 5000);
    const { files, others } = await list(root);
    assert.deepEqual(files, []);
    assert.deepEqual(
      others.map(([, disk, errno]) => [String(disk).split('\0').length, errno]),
      [[Math.ceil((4096 - root.length) / 2), constants.errno.ENAMETOOLONG]],
    );
  });

  it('refuses files whose paths the system does not take', async (t) => {
    const root = deepRoot(t);
    // The longest path has 4095 bytes. Twelve are for the file.
    const left = () => 4095 - 12 - folder.length;
    let folder = root;
    while (left() > 255) folder += `/${'x'.repeat(200)}`;
    folder += `/${'y'.repeat(left())}`;
    mkdirSync(folder, { recursive: true });
    // Without the sanitizer that is preloaded: it does not start in so deep a folder.
    const env = { PATH: process.env['PATH'] };
    execFileSync('sh', ['-c', 'cd "$1" && : >0123456789 && : >0123456789a', '-', folder], { env });
    const { files, others } = await list(root);
    assert.deepEqual(
      [files.length, others.map(([entry, , errno]) => [String(entry).slice(-12), errno])],
      [1, [['/0123456789a', constants.errno.ENAMETOOLONG]]],
    );
  });

  it('does not follow a link in place of a folder', async (t) => {
    const root = await rootWith(t, { 'a/b': 1 });
    symlinkSync('a', path.join(root, 'link'));
    const { files, others } = await list(root, {}, [
      { path: 'link', disk: 'link' },
      { path: 'link\0x', disk: 'link\0x' },
    ]);
    assert.deepEqual([files, others.map(([, , errno]) => errno)], [[], [constants.errno.ELOOP, constants.errno.ELOOP]]);
  });

  it('ends with the error that pause throws', async (t) => {
    const root = await rootWith(t, { a: 1 });
    const stop = new Error('stop');
    const folders = Array<ListedFolder>(30_000).fill(ROOT);
    await assert.rejects(list(root, { pause: () => Promise.reject(stop) }, folders), stop);
    // Nothing is left that could fail later.
    assert.equal((await list(root)).files.length, 1);
  });
});

/** A folder whose paths may become longer than Node's functions can remove. */
function deepRoot(t: TestContext): string {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'metainfo-deep-')));
  t.after(() => execFileSync('rm', ['-rf', root]));
  return root;
}

/** Makes folders in folders, deeper than the system takes paths. */
function makeDeepFolder(root: string, depth: number): void {
  const [inner, outer] = [path.join(root, 'inner'), path.join(root, 'outer')];
  mkdirSync(inner);
  const step = 1000;
  for (let made = 1; made < depth; made += step) {
    const chain = outer + '/d'.repeat(step - 1);
    mkdirSync(chain, { recursive: true });
    renameSync(inner, `${chain}/d`);
    renameSync(outer, inner);
  }
  renameSync(inner, path.join(root, 'd'));
}

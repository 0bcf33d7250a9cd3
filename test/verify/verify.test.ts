import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { encode } from '../../src/bencode/encode.ts';
import type { BencodeMap } from '../../src/bencode/value.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { MetainfoError } from '../../src/errors/errors.ts';
import { defaultEngine } from '../../src/hash/default-engine.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import type { FileItem } from '../../src/model/file-item.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { verify } from '../../src/verify/verify.ts';
import { noise, v1Pieces } from '../hash/reference.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const KIB = 1024;
const PIECE = 16 * KIB;
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

/** A way to damage a file: gives the content on disk afterwards, or null for no file. */
type Damage = { name: string; apply: (content: Buffer) => Buffer | null };
const DAMAGES: Damage[] = [
  { name: 'none', apply: (content) => content },
  { name: 'missing', apply: () => null },
  { name: 'empty', apply: () => Buffer.alloc(0) },
  { name: 'first byte wrong', apply: (content) => flipped(content, 0) },
  { name: 'middle byte wrong', apply: (content) => flipped(content, content.length >> 1) },
  { name: 'last byte wrong', apply: (content) => flipped(content, content.length - 1) },
  { name: 'one byte short', apply: (content) => content.subarray(0, Math.max(0, content.length - 1)) },
  { name: 'half', apply: (content) => content.subarray(0, content.length >> 1) },
  {
    name: 'half, in whole pieces',
    apply: (content) => content.subarray(0, Math.floor(content.length / 2 / PIECE) * PIECE),
  },
  { name: 'longer', apply: (content) => Buffer.concat([content, Buffer.from('more')]) },
];

function flipped(content: Buffer, at: number): Buffer {
  const copy = Buffer.from(content);
  if (copy.length > 0) copy[at] = (copy[at] as number) ^ 1;
  return copy;
}

interface Case {
  /** `onDisk` is the content after the damage; null for a missing file. */
  files: { path: string; content: Buffer; onDisk: Buffer | null }[];
}

/**
 * The expected results, by comparing the bytes of each piece.
 *
 * @param selected The paths of the files that are verified; null for all.
 */
function expected(torrent: Torrent, { files }: Case, verified: 'v1' | 'v2' | null, selected: string[] | null = null) {
  const version = verified ?? torrent.torrentVersion;
  const P = torrent.info.pieceLength;
  const byPath = new Map(files.map((file) => [file.path, file]));
  // The files and pad files in the order of their pieces.
  const items: { file: Case['files'][number] | null; length: number; start: number }[] = [];
  let at = 0;
  const list =
    version === 'v2'
      ? torrent.files.map((file) => ({ path: file.path, length: file.length, pad: false }))
      : (torrent.info as { files: readonly FileItem[] }).files.map((file) => ({
          path: file.path.join('/'),
          length: file.length,
          pad: file.attr === 'p',
        }));
  for (const entry of list) {
    items.push({ file: entry.pad ? null : (byPath.get(entry.path) ?? null), length: entry.length, start: at });
    at += version === 'v2' ? Math.ceil(entry.length / P) * P : entry.length;
  }
  const pieces = Math.ceil(at / P);
  const isSelected = (name: string) => selected?.includes(name) ?? true;
  const states = Array.from({ length: pieces }, (_, piece) => {
    const within = items.flatMap(({ file, length, start }) => {
      const [from, to] = [Math.max(start, piece * P) - start, Math.min(start + length, (piece + 1) * P) - start];
      return to <= from || !file ? [] : [{ file, from, to }];
    });
    const own = within.filter(({ file }) => isSelected(file.path));
    if (own.length === 0) return 'other';
    if (own.some(({ file, to }) => (file.onDisk?.length ?? 0) < to)) return 'bad';
    if (own.length < within.length) return 'unchecked';
    const isGood = own.every(({ file, from, to }) =>
      file.onDisk?.subarray(from, to).equals(file.content.subarray(from, to)),
    );
    return isGood ? 'good' : 'bad';
  });
  return {
    good: states.map((state) => state === 'good'),
    states,
    files: torrent.files
      .filter(({ path: name }) => isSelected(name))
      .map(({ path: name, length }) => {
        const { onDisk } = byPath.get(name) as Case['files'][number];
        const { start } = items.find(({ file }) => file?.path === name) as (typeof items)[number];
        const bytes = { good: 0, bad: 0, unchecked: 0, other: 0 };
        for (let piece = Math.floor(start / P); piece * P < start + length; piece += 1)
          bytes[states[piece] as keyof typeof bytes] +=
            Math.min(start + length, (piece + 1) * P) - Math.max(start, piece * P);
        const { good: goodBytes, unchecked } = bytes;
        const status =
          onDisk === null
            ? 'missing'
            : onDisk.length !== length
              ? 'wrong-size'
              : goodBytes + unchecked !== length
                ? 'partial'
                : length > 0 && unchecked === length
                  ? 'unchecked'
                  : 'complete';
        return { path: name, length, goodBytes, status, ...(unchecked > 0 && { uncheckedBytes: unchecked }) };
      }),
  };
}

/** The state of each piece. */
function statesOf({ bitfield, badPieces, uncheckedPieces }: VerifyReport, count: number): string[] {
  const within = (ranges: [number, number][], piece: number) =>
    ranges.some(([first, last]) => first <= piece && piece <= last);
  return Array.from({ length: count }, (_, piece) => {
    const isGood = ((bitfield[piece >> 3] as number) & (0x80 >> (piece & 7))) !== 0;
    const found = [isGood && 'good', within(badPieces, piece) && 'bad', within(uncheckedPieces, piece) && 'unchecked'];
    const states = found.filter((state) => state !== false);
    assert.ok(states.length < 2, `${piece} is ${states}`);
    return states[0] ?? 'other';
  });
}

const size = fc.oneof(
  fc.constantFrom(0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 7, 4 * PIECE),
  fc.nat(5 * PIECE),
);
const spec = fc
  .array(fc.tuple(size, fc.constantFrom(...DAMAGES.map(({ name }) => name))), { minLength: 2, maxLength: 6 })
  .filter((files) => files.some(([length]) => length > 0));

describe('verify', () => {
  for (const version of VERSIONS) {
    it(`reports exactly the damaged pieces and files of a ${version} torrent`, async (t) => {
      const root = await temporaryFolder(t);
      let count = 0;
      const options = fc.record({
        threads: fc.constantFrom(1, 2),
        pieceLength: fc.constantFrom(PIECE, 2 * PIECE),
        engine: fc.constantFrom(undefined, nodeEngine()),
        // The bits of the files that are selected; 0 for all.
        selection: fc.nat(63),
      });
      const verifiedVersion =
        version === 'hybrid' ? fc.constantFrom(null, 'v1' as const, 'v2' as const) : fc.constant(null);
      await fc.assert(
        fc.asyncProperty(spec, options, verifiedVersion, async (given, { selection, ...others }, verified) => {
          const { pieceLength, ...rest } = others;
          count += 1;
          const folder = path.join(root, String(count));
          const files = given.map(([length, name], i) => {
            const content = noise(length, i + 1);
            const damage = DAMAGES.find((candidate) => candidate.name === name) as Damage;
            return { path: i % 2 === 0 ? `f${i}` : `d/f${i}`, content, onDisk: damage.apply(content) };
          });
          await mkdir(folder);
          await writeTree(folder, Object.fromEntries(files.map((file) => [file.path, file.content])));
          const torrent = await new TorrentCreate({ pathRoot: folder, pieceLength }).generate({ version });
          for (const { path: name, onDisk } of files) {
            if (onDisk === null) await rm(path.join(folder, name));
            else await writeFile(path.join(folder, name), onDisk);
          }
          const some = files.flatMap((file, i) => (selection & (1 << i) ? [file.path] : []));
          const selected = some.length > 0 ? some : null;
          const report = await verify(torrent, folder, { ...rest, version: verified, files: selected });
          const { states, files: expectedFiles } = expected(torrent, { files }, verified, selected);
          assert.deepEqual(statesOf(report, states.length), states);
          assert.deepEqual(
            report.files,
            await Promise.all(
              expectedFiles.map(async (file) =>
                file.status === 'missing'
                  ? file
                  : { ...file, mtimeMs: (await stat(path.join(folder, file.path))).mtimeMs },
              ),
            ),
          );
          assert.equal(
            report.ok,
            expectedFiles.every(({ status }) => status === 'complete' || status === 'unchecked'),
          );
          assert.equal(
            report.goodBytes,
            expectedFiles.reduce((sum, { goodBytes }) => sum + goodBytes, 0),
          );
          assert.deepEqual(report.extraFiles, []);
          assert.equal(
            report.totalSize,
            expectedFiles.reduce((sum, { length }) => sum + length, 0),
          );
          await rm(folder, { recursive: true });
        }),
        { numRuns: runs(120) },
      );
    });
  }

  it('accepts the file of a single-file torrent, or the folder that holds it', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { 'a.bin': noise(50_000), other: 'x' });
    for (const version of VERSIONS) {
      const torrent = await new TorrentCreate({ pathRoot: path.join(folder, 'a.bin') }).generate({ version });
      for (const [given, extra] of [
        [path.join(folder, 'a.bin'), []],
        [folder, ['other']],
        [path.join(folder, 'other'), []],
      ] as const) {
        const report = await verify(torrent, given);
        assert.deepEqual([report.ok, report.extraFiles], [!given.endsWith('other'), extra], given);
      }
    }
  });

  it('reports swapped files of equal size, and extra files', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: noise(3 * PIECE, 1), b: noise(3 * PIECE, 2), c: noise(5, 3) });
    const torrent = await new TorrentCreate({ pathRoot: folder, pieceLength: PIECE }).generate();
    await rename(path.join(folder, 'a'), path.join(folder, 'x'));
    await rename(path.join(folder, 'b'), path.join(folder, 'a'));
    await rename(path.join(folder, 'x'), path.join(folder, 'b'));
    await writeTree(folder, { 'new/one': 'x', two: '' });
    const { files, extraFiles, badPieces } = await verify(torrent, folder);
    assert.deepEqual(
      files.map(({ status, goodBytes }) => [status, goodBytes]),
      [
        ['partial', 0],
        ['partial', 0],
        ['complete', 5],
      ],
    );
    assert.deepEqual([extraFiles, badPieces], [['new/one', 'two'], [[0, 5]]]);
  });

  it('finds more files than one stat job takes', async (t) => {
    const folder = await temporaryFolder(t);
    const names = Array.from({ length: 2600 }, (_, i) => `${i % 3}/${i % 7}/${i}`);
    await writeTree(folder, Object.fromEntries(names.map((name, i) => [name, noise(1 + (i % 5), i)])));
    for (const version of VERSIONS) {
      const torrent = await new TorrentCreate({ pathRoot: folder, pieceLength: PIECE }).generate({ version });
      assert.ok((await verify(torrent, folder)).ok);
      await truncate(path.join(folder, names[1234] as string), 0);
      await rename(path.join(folder, names[2599] as string), path.join(folder, 'away'));
      const { files, extraFiles } = await verify(torrent, folder);
      // In v1 a damaged file makes its neighbours partial, because they share a piece.
      const damaged = files.filter(({ status }) => status !== 'complete' && (version !== 'v1' || status !== 'partial'));
      assert.deepEqual(Object.fromEntries(damaged.map((file) => [file.path, file.status])), {
        [names[1234] as string]: 'wrong-size',
        [names[2599] as string]: 'missing',
      });
      assert.deepEqual(extraFiles, ['away']);
      await rename(path.join(folder, 'away'), path.join(folder, names[2599] as string));
      await writeTree(folder, { [names[1234] as string]: noise(1 + (1234 % 5), 1234) });
    }
  });

  it('follows links out of the folder only with followOutside', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { 'outside/a': 40_000, 'outside/sub/b': 5, 'root/c': 7 });
    const folder = path.join(root, 'root');
    await symlink('../outside/a', path.join(folder, 'a'));
    await symlink(path.join(root, 'outside/sub'), path.join(folder, 'sub'));
    for (const version of VERSIONS) {
      const torrent = await new TorrentCreate({ pathRoot: folder, followOutside: true }).generate({ version });
      const statuses = ({ files }: VerifyReport) => files.map((file) => [file.path, file.status]);
      assert.deepEqual(statuses(await verify(torrent, folder)), [
        ['a', 'unreadable'],
        ['c', version === 'v1' ? 'partial' : 'complete'],
        ['sub/b', 'unreadable'],
      ]);
      const report = await verify(torrent, folder, { followOutside: true });
      assert.deepEqual([report.ok, report.extraFiles], [true, []]);
    }
  });

  it('opens no FIFO and nothing outside the folder', async (t) => {
    const root = await temporaryFolder(t);
    const folder = path.join(root, 'data');
    await mkdir(folder);
    const content = noise(40_000);
    await writeTree(folder, { file: content, 'sub/inner': content, pipe: content, loop: content, within: content });
    const torrent = await new TorrentCreate({ pathRoot: folder }).generate();
    // These files have the right bytes but are outside the folder.
    await writeTree(root, { 'outside/file': content, 'outside/inner': content });
    await rm(path.join(folder, 'file'));
    await symlink('../outside/file', path.join(folder, 'file'));
    await rm(path.join(folder, 'sub'), { recursive: true });
    await symlink('../outside', path.join(folder, 'sub'));
    await rm(path.join(folder, 'pipe'));
    execFileSync('mkfifo', [path.join(folder, 'pipe')]);
    await rm(path.join(folder, 'loop'));
    await symlink('loop', path.join(folder, 'loop'));
    await rename(path.join(folder, 'within'), path.join(folder, 'target'));
    await symlink('target', path.join(folder, 'within'));
    const opened: (string | null)[] = [];
    const real = defaultEngine();
    const engine = {
      ...real,
      start: (plan: Parameters<typeof real.start>[0]) => {
        opened.push(...[...plan.files].map((file) => file.path as string | null));
        return real.start(plan);
      },
    };
    const report = await verify(torrent, folder, { engine });
    assert.deepEqual(
      report.files.map(({ path: name, status }) => [name, status]),
      [
        ['file', 'unreadable'],
        ['loop', 'unreadable'],
        ['pipe', 'unreadable'],
        ['sub/inner', 'unreadable'],
        ['within', 'complete'],
      ],
    );
    assert.deepEqual(
      opened.filter((name) => name !== null),
      [path.join(folder, 'target')],
    );
    assert.deepEqual(report.extraFiles, ['target']);
    for (const at of [0, 3]) assert.match(report.files[at]?.problem ?? '', /leads out/);
  });

  it('verifies the other files when one cannot be read', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: noise(PIECE), b: noise(PIECE, 2) });
    const torrent = await new TorrentCreate({ pathRoot: folder, pieceLength: PIECE }).generate();
    const real = defaultEngine();
    const engine = {
      ...real,
      start: (plan: Parameters<typeof real.start>[0]) => {
        const bad = [...plan.files].find((file) => file.path === path.join(folder, 'a'));
        if (!bad) return real.start(plan);
        const error = new MetainfoError('ERR_READ', 'a bad sector', { path: bad.path as string });
        const progress = () => ({ bytes: 0, fileIndex: 0, queued: 0 });
        return { done: Promise.reject(error), progress, cancel: () => {} };
      },
    };
    const { ok, files, badPieces, unreadPieces } = await verify(torrent, folder, { engine });
    assert.deepEqual(
      files.map(({ status, problem }) => [status, problem]),
      [
        ['unreadable', 'a bad sector'],
        ['complete', undefined],
      ],
    );
    // Unreadable is not bad.
    assert.deepEqual([ok, badPieces, unreadPieces], [false, [], [[0, 0]]]);
  });

  it('calls a piece that an unreadable file shares bad only if no byte of it is unread', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: noise(PIECE + 1), b: noise(PIECE, 2), c: noise(2 * PIECE, 3) });
    const draft = new TorrentCreate({ pathRoot: folder, pieceLength: PIECE });
    const torrent = await draft.generate({ version: 'v1' });
    await rm(path.join(folder, 'a'));
    await symlink('/etc/hosts', path.join(folder, 'a'));
    assert.deepEqual((await verify(torrent, folder, { files: ['a'] })).unreadPieces, [[0, 1]]);
    await rm(path.join(folder, 'c'));
    // Pieces: a, a and b, b and c, c, c.
    const all = await verify(torrent, folder);
    assert.deepEqual([all.unreadPieces, all.badPieces], [[[0, 1]], [[2, 4]]]);
    const some = await verify(torrent, folder, { files: ['b', 'c'] });
    assert.deepEqual([some.unreadPieces, some.badPieces, some.uncheckedPieces], [[], [[2, 4]], [[1, 1]]]);
    // Nothing can be read behind a link to nothing.
    await rm(path.join(folder, 'a'));
    await symlink('nowhere', path.join(folder, 'a'));
    const gone = await verify(torrent, folder);
    assert.deepEqual([gone.unreadPieces, gone.badPieces], [[], [[0, 4]]]);
  });

  it('keeps a symbolic link of the torrent complete when another file cannot be read', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: noise(PIECE), link: '' });
    const made = await new TorrentCreate({ pathRoot: folder, pieceLength: PIECE }).generate({ version: 'v1' });
    const decoded = made.modelDumpTorrent({ mode: 'binary' });
    const [a, link] = (decoded.get('info') as BencodeMap).get('files') as BencodeMap[];
    assert.ok(a && link);
    link.set('attr', Buffer.from('l')).set('symlink path', [Buffer.from('a')]);
    const torrent = Torrent.fromDecoded(decoded);
    const real = defaultEngine();
    const engine = {
      ...real,
      start: () => {
        const error = new MetainfoError('ERR_READ', 'a bad sector', { path: path.join(folder, 'a') });
        const progress = () => ({ bytes: 0, fileIndex: 0, queued: 0 });
        return { done: Promise.reject(error), progress, cancel: () => {} };
      },
    };
    const { files } = await verify(torrent, folder, { engine });
    assert.deepEqual(
      files.map(({ path: name, status }) => [name, status]),
      [
        ['a', 'unreadable'],
        ['link', 'complete'],
      ],
    );
  });

  it('verifies the other files when one changes while it is read', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: noise(PIECE), b: noise(PIECE, 2) });
    const torrent = await new TorrentCreate({ pathRoot: folder, pieceLength: PIECE }).generate();
    const real = defaultEngine();
    let starts = 0;
    const engine = {
      ...real,
      start: (plan: Parameters<typeof real.start>[0]) => {
        starts += 1;
        const files = [...plan.files].map((file) =>
          typeof file.path === 'string' && file.path.endsWith('/a') ? { ...file, mtimeMs: 1 } : file,
        );
        return real.start({ ...plan, files });
      },
    };
    const { files } = await verify(torrent, folder, { engine });
    assert.deepEqual(
      files.map(({ status }) => status),
      ['unreadable', 'complete'],
    );
    assert.equal(starts, 2);
  });

  it('finds files with unusual names', async (t) => {
    const folder = await temporaryFolder(t);
    const names = [
      'README',
      'readme',
      'Src/x',
      'src/y',
      '\u{1f468}\u200d\u{1f469}.jpg',
      'a\\b',
      `${'n'.repeat(251)}.txt`,
      'x\u0001',
    ];
    await writeTree(folder, Object.fromEntries(names.map((name, i) => [name, noise(20_000, i + 1)])));
    for (const version of VERSIONS) {
      const torrent = await new TorrentCreate({ pathRoot: folder }).generate({ version });
      const { ok, extraFiles } = await verify(torrent, folder);
      assert.deepEqual([ok, extraFiles], [true, []]);
    }
  });

  it('follows links in nested folders only where a file is expected', async (t) => {
    const folder = await temporaryFolder(t);
    for (let i = 0; i < 24; i += 1) {
      await mkdir(path.join(folder, `d${i}`));
      if (i === 0) continue;
      await symlink(`../d${i}`, path.join(folder, `d${i - 1}`, 'a'));
      await symlink(`../d${i}`, path.join(folder, `d${i - 1}`, 'b'));
    }
    await writeTree(folder, { 'd23/file': noise(9), 'd0/own': noise(5) });
    const sources = [
      { path: 'd0/own', data: noise(5) },
      { path: 'd22/b/file', data: noise(9) },
    ];
    const torrent = await new TorrentCreate({ info: { name: 'x' }, sources }).generate();
    const { ok, extraFiles } = await verify(torrent, folder);
    assert.equal(ok, true);
    assert.equal(extraFiles.length, 2 * 23 - 1 + 1);
  });

  it('verifies whole files when the torrent has no piece layers', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: noise(50_000), b: noise(50_000, 2) });
    for (const version of ['v2', 'hybrid'] as const) {
      const made = await new TorrentCreate({ pathRoot: folder, pieceLength: PIECE }).generate({ version });
      const top = made.modelDumpTorrent({ mode: 'binary' });
      top.delete('piece layers');
      const torrent = Torrent.fromBytes(encode(top), { context: { profile: 'compat' } });
      assert.equal((await verify(torrent, folder)).ok, true);
      await writeTree(folder, { b: flipped(noise(50_000, 2), 40_000) });
      const { files } = await verify(torrent, folder);
      assert.deepEqual(
        files.map(({ status }) => status),
        ['complete', 'partial'],
      );
      await writeTree(folder, { b: noise(50_000, 2) });
    }
  });

  it('verifies both versions of a hybrid without pad files', async (t) => {
    const folder = await temporaryFolder(t);
    const content = { a: noise(20_000), b: noise(10_000, 2) };
    await writeTree(folder, content);
    const made = await new TorrentCreate({ pathRoot: folder, pieceLength: PIECE }).generate();
    const top = made.modelDumpTorrent({ mode: 'binary' });
    const info = top.get('info') as BencodeMap;
    const stream = Buffer.concat(Object.values(content));
    info.set(
      'files',
      (info.get('files') as BencodeMap[]).filter((file) => !file.has('attr')),
    );
    info.set('pieces', Buffer.concat(v1Pieces(stream, PIECE)));
    const context = { padding: 'ignore' } as const;
    const read = () => Torrent.inspect(encode(top), { context }).torrent;
    const torrent = read();
    assert.ok(torrent);
    assert.equal((await verify(torrent, folder)).ok, true);
    const leaf = ((info.get('file tree') as BencodeMap).get('b') as BencodeMap).get('') as BencodeMap;
    leaf.set('pieces root', Buffer.alloc(32, 1));
    const wrong = read();
    assert.ok(wrong);
    assert.equal((await verify(wrong, folder)).ok, false);
  });

  it('rejects with ERR_ABORTED when its signal has fired, even if there is nothing to read', async (t) => {
    const folder = await temporaryFolder(t);
    const torrent = await new TorrentCreate({ sources: [{ path: 'a', data: noise(10) }] }).generate();
    await assert.rejects(verify(torrent, folder, { signal: AbortSignal.abort() }), { code: 'ERR_ABORTED' });
  });

  it('checks sizes and a sample of pieces with fast', async (t) => {
    const folder = await temporaryFolder(t);
    const large = noise(1000 * PIECE + 5);
    await writeTree(folder, { large, small: noise(3 * PIECE, 2), tiny: noise(7, 3) });
    for (const version of VERSIONS) {
      const torrent = await new TorrentCreate({ pathRoot: folder, pieceLength: PIECE }).generate({ version });
      const good = await verify(torrent, folder, { fast: true });
      assert.deepEqual([good.ok, good.badPieces], [true, []]);
      assert.ok((good.sampledPieces ?? 0) >= 90 && (good.sampledPieces ?? 0) <= 110, `${good.sampledPieces}`);
      assert.ok(
        (good.sampledBytes ?? 0) > 85 * PIECE && (good.sampledBytes ?? 0) < 110 * PIECE,
        `${good.sampledBytes}`,
      );
      // The sample always holds the ends of files, and missing bytes are never good.
      await writeFile(path.join(folder, 'tiny'), 'another');
      await writeFile(path.join(folder, 'small'), flipped(noise(3 * PIECE, 2), 3 * PIECE - 1));
      await truncate(path.join(folder, 'large'), 600 * PIECE);
      const { files, ok } = await verify(torrent, folder, { fast: true });
      assert.equal(ok, false);
      assert.deepEqual(
        files.map(({ status }) => status),
        ['wrong-size', 'partial', 'partial'],
      );
      assert.equal(files[0]?.goodBytes, 600 * PIECE);
      await writeTree(folder, { large, small: noise(3 * PIECE, 2), tiny: noise(7, 3) });
    }
    const torrent = await new TorrentCreate({ pathRoot: folder, pieceLength: PIECE }).generate();
    const { sampledPieces, sampledBytes } = await verify(torrent, folder);
    assert.deepEqual([sampledPieces, sampledBytes], [null, null]);
  });

  it('rejects invalid arguments, and reports an empty file as wrong-size', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: noise(10), b: noise(5) });
    const v1 = await new TorrentCreate({ pathRoot: folder }).generate({ version: 'v1' });
    await assert.rejects(verify(v1, path.join(folder, 'absent')), { code: 'ERR_NOT_FOUND' });
    await assert.rejects(verify(v1, path.join(folder, 'a')), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(verify(v1, folder, { version: 'v2' }), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(verify(v1, folder, { version: 'v3' as never }), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(verify(v1, folder, { signal: AbortSignal.abort() }), { code: 'ERR_ABORTED' });
    await truncate(path.join(folder, 'a'), 0);
    const report = await verify(v1, folder);
    assert.deepEqual(
      report.files.map(({ status, goodBytes }) => [status, goodBytes]),
      [
        ['wrong-size', 0],
        ['partial', 0],
      ],
    );
    assert.deepEqual([...report.bitfield], [0]);
  });
});

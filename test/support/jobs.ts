/** Kinds of jobs to run many at once, in tests and benches: each fails if its result is not that of the same job alone. */
import { equal, rejects, throws } from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { VERSIONS, type Version } from '../../bench/support/measure.ts';
import { below, pick } from '../../fuzz/engine/random.ts';
import { edit, MetainfoError, Torrent, TorrentCreate, update, upgrade, verify } from '../../src/index.ts';

export type Jobs = Awaited<ReturnType<typeof prepareJobs>>;

/** A folder, and the torrents that one job alone makes of it. */
interface Tree {
  folder: string;
  files: string[];
  torrents: Record<Version, Torrent>;
}

export const hashOf = ({ infohashV1, infohashV2 }: Torrent): string => `${infohashV1} ${infohashV2}`;

const hasCode =
  (...codes: string[]) =>
  (error: unknown) =>
    error instanceof MetainfoError && codes.includes(error.code);

async function makeTree(folder: string, index: number, mostBytes: number): Promise<Tree> {
  const names = ['a', 'inner/b', 'inner/c', 'z'].slice(0, 1 + (index % 4));
  for (const [j, name] of names.entries()) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, Buffer.alloc(1 + ((index * 7919 + j * 104729) % mostBytes), `${index}/${j}`));
  }
  const make = (version: Version) => new TorrentCreate({ pathRoot: folder }).generate({ version });
  const torrents = { v1: await make('v1'), v2: await make('v2'), hybrid: await make('hybrid') };
  for (const version of VERSIONS) await torrents[version].write(`${folder} ${version}.torrent`);
  return { folder, files: names, torrents };
}

/** Makes a sparse file, and the torrent that one job alone makes of it. */
export async function makeLarge(file: string, bytes: number) {
  await writeFile(file, '');
  await truncate(file, bytes);
  const expected = hashOf(await new TorrentCreate({ pathRoot: file }).generate());
  const create = async (options: object = {}) => {
    equal(hashOf(await new TorrentCreate({ pathRoot: file }).generate(options)), expected);
  };
  return { file, expected, create };
}

/** Makes small folders of up to four files, at most so long, and returns the kinds of jobs. */
export async function prepareJobs(scratch: string, count: number, mostBytes: number) {
  await mkdir(scratch, { recursive: true });
  const trees: Tree[] = [];
  for (let i = 0; i < count; i += 1) trees.push(await makeTree(path.join(scratch, `tree ${i}`), i, mostBytes));
  const large = await makeLarge(path.join(scratch, 'large'), 2 ** 28 + 5);
  let made = 0;
  const another = () => {
    made += 1;
    return path.join(scratch, `made ${made}`);
  };
  const settings = () => ({
    threads: pick([1, 1, 2, null]),
    ...(below(3) === 0 && { cache: path.join(scratch, 'cache') }),
  });
  const anyTorrent = () => pick(trees).torrents[pick(VERSIONS)];

  return {
    async create() {
      const [{ folder, torrents }, version] = [pick(trees), pick(VERSIONS)];
      const torrent = await new TorrentCreate({ pathRoot: folder }).generate({ version, ...settings() });
      equal(hashOf(torrent), hashOf(torrents[version]));
    },
    createLarge: () => large.create(settings()),
    async createStreams() {
      const [{ folder, files, torrents }, version] = [pick(trees), pick(['v2', 'hybrid'] as const)];
      const { pieceLength } = torrents[version].info;
      const sources = files.map((name) => ({ path: name, data: createReadStream(path.join(folder, name)) }));
      // The name makes it a torrent of a folder, even with a single source.
      const info = { name: path.basename(folder) };
      const torrent = await new TorrentCreate({ sources, info, pieceLength }).generate({ version, tailPad: true });
      equal(hashOf(torrent), hashOf(torrents[version]));
    },
    async verify() {
      const { folder, torrents } = pick(trees);
      const { ok } = await verify(torrents[pick(VERSIONS)], folder, { threads: pick([1, null]) });
      equal(ok, true);
    },
    async verifyAnother() {
      const [one, other] = [below(count), below(count)];
      const { ok } = await verify((trees[one] as Tree).torrents[pick(VERSIONS)], (trees[other] as Tree).folder);
      equal(ok, one === other);
    },
    async read() {
      const [{ folder, torrents }, version] = [pick(trees), pick(VERSIONS)];
      equal(hashOf(await Torrent.read(`${folder} ${version}.torrent`)), hashOf(torrents[version]));
    },
    async decode() {
      await nextRound();
      const torrent = anyTorrent();
      equal(hashOf(Torrent.fromBytes(torrent.bencode())), hashOf(torrent));
    },
    async write() {
      const [torrent, file] = [anyTorrent(), another()];
      await torrent.write(file);
      await rejects(torrent.write(file), hasCode('ERR_OUTPUT_EXISTS'));
      equal(hashOf(await Torrent.read(file)), hashOf(torrent));
      await rm(file);
    },
    async edit() {
      const torrent = anyTorrent();
      equal(hashOf(edit(torrent, { comment: `number ${below(1000)}` })), hashOf(torrent));
      const renamed = edit(torrent, { name: 'another' });
      equal(hashOf(renamed) === hashOf(torrent), false);
      equal(hashOf(edit(renamed, { name: torrent.info.name })), hashOf(torrent));
    },
    async update() {
      const folder = another();
      await mkdir(folder);
      await writeFile(path.join(folder, 'one'), Buffer.alloc(1 + below(200_000), 1));
      const version = pick(['v2', 'hybrid'] as const);
      const { torrent: before, fileTimes } = await new TorrentCreate({ pathRoot: folder }).generateWithTimes({
        version,
      });
      await writeFile(path.join(folder, 'two'), Buffer.alloc(1 + below(200_000), 2));
      const { torrent, added } = await update(before, folder, { fileTimes });
      equal(added.join(), 'two');
      const { pieceLength } = before.info;
      const anew = await new TorrentCreate({ pathRoot: folder, pieceLength }).generate({ version });
      equal(hashOf(torrent), hashOf(anew));
      await rm(folder, { recursive: true });
    },
    async upgrade() {
      const { folder, torrents } = pick(trees);
      const { torrent } = await upgrade(torrents.v1, folder);
      const { ok } = await verify(torrent, folder);
      equal(ok, true);
    },
    /** Cancels a job before it starts, or a moment later. Returns whether that was in time. */
    async cancel(signal = AbortSignal.timeout(below(30))) {
      const { folder, torrents } = pick(trees);
      const isLarge = below(2) === 0;
      if (below(3) === 0) signal = AbortSignal.abort();
      const options = { signal, ...settings() };
      const work = new TorrentCreate({ pathRoot: isLarge ? large.file : folder }).generate(options);
      const found = await work.then(hashOf, (error: unknown) => error);
      if (typeof found === 'string') equal(found, isLarge ? large.expected : hashOf(torrents.hybrid));
      else if (!hasCode('ERR_ABORTED')(found)) throw found;
      return typeof found !== 'string';
    },
    async failMissing() {
      const nowhere = path.join(scratch, 'nowhere');
      await rejects(new TorrentCreate({ pathRoot: nowhere }).generate(), hasCode('ERR_NOT_FOUND'));
      await rejects(verify(pick(trees).torrents.v2, nowhere), hasCode('ERR_NOT_FOUND'));
      await rejects(Torrent.read(nowhere), hasCode('ERR_NOT_FOUND'));
    },
    async failStream() {
      const data = async function* () {
        yield Buffer.alloc(50_000);
        throw new Error('on purpose');
      };
      const draft = new TorrentCreate({ sources: [{ path: 'broken', data: data() }] });
      await rejects(draft.generate(), (error: Error) => /on purpose/.test(`${error} ${error.cause}`));
    },
    async failTorrent() {
      const bytes = Buffer.from(anyTorrent().bencode());
      throws(() => Torrent.fromBytes(bytes.subarray(0, below(bytes.length))), hasCode('ERR_BENCODE', 'ERR_VALIDATION'));
    },
  };
}

/** Every function and option that takes a path takes a relative one and a `file:` URL too. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  cacheStats,
  clearCache,
  create,
  findMoved,
  folderStore,
  HybridHasher,
  hashPart,
  iterBlocks,
  joinParts,
  partsEngine,
  planParts,
  resumeData,
  Torrent,
  TorrentCreate,
  update,
  upgrade,
  V1Hasher,
  V2Hasher,
  verify,
} from '../src/index.ts';
import { ROOT } from './support/pages.ts';
import { writeTree } from './support/tree.ts';

/** Characters that URLs encode: a URL that is taken for a path would lead elsewhere. */
const NAME = 'an album %2F #1?&é';

let base = '';
let album = '';
let file = '';
let torrents: Record<'v1' | 'v2' | 'hybrid', Torrent>;

before(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'metainfo-paths %20-'));
  album = path.join(base, NAME);
  file = path.join(album, 'sub dir', 'b.bin');
  await writeTree(album, { 'a.txt': 'hello', 'sub dir/b.bin': 70_000 });
  const [v1, v2, hybrid] = await Promise.all([
    create(album, { version: 'v1' }),
    create(album, { version: 'v2' }),
    create(album),
  ]);
  torrents = { v1, v2, hybrid };
  await v2.write(path.join(base, 'v2 %.torrent'));
});
after(() => rm(base, { recursive: true, force: true }));

let targets = 0;
/** A path for an output that does not exist yet, in the form of another path. */
async function newTarget(like: string | URL): Promise<string | URL> {
  const isPath = like instanceof URL ? like.pathname.startsWith(pathToFileURL(album).pathname) : /an album/.test(like);
  if (!isPath) return like;
  targets += 1;
  const target = path.join(base, `out %20 ${targets}`, 'x.torrent');
  await mkdir(path.dirname(target));
  if (like instanceof URL) return pathToFileURL(target);
  return path.isAbsolute(like) ? target : path.relative('', target);
}

const plan = () => planParts(new TorrentCreate({ pathRoot: album }));
const part = async () => hashPart(await plan(), 0);
/** The code of the error; of a result, the first of the codes in it. */
const code = (work: Promise<unknown>) =>
  work.then(
    (result) => ([result].flat()[0] ?? 'done') as string,
    (error) => error.code as string,
  );
const outcome = (work: Promise<unknown>) => code(work.then(() => 'done'));

interface Door {
  /** The declaration of the path: the file below src, and the name of the parameter or field. */
  declared: string;
  /** Gives a path to the function. The result is the same for each form of the path. */
  use: (given: string | URL) => unknown;
  /** The path. */
  path?: () => string;
  /** Whether null stands for no path. */
  takesNull?: boolean;
  /** The code of the error for what is no path. */
  refused?: string;
}

const DOORS: Record<string, Door> = {
  create: { declared: 'create/create.ts content', use: async (at) => (await create(at)).infohashV2 },
  'TorrentCreate pathRoot': {
    declared: 'create/draft-input.ts pathRoot',
    use: async (pathRoot) => (await new TorrentCreate({ pathRoot }).generate()).infohashV2,
    refused: 'ERR_VALIDATION',
  },
  'TorrentCreate paths': {
    declared: 'create/draft-input.ts paths',
    // Relative paths begin at the path root.
    use: (at) => {
      const relative = typeof at === 'string' && !path.isAbsolute(at) ? `sub dir/${path.basename(at)}` : at;
      return outcome(new TorrentCreate({ pathRoot: album, paths: [relative] }).generate());
    },
    path: () => file,
    refused: 'ERR_VALIDATION',
  },
  'sources saveTo': {
    declared: 'sources/sources.ts saveTo',
    takesNull: true,
    use: async (at) => {
      const saveTo = await newTarget(at);
      return outcome(create([{ path: 'a', data: Buffer.from('a'), saveTo }]));
    },
    refused: 'ERR_VALIDATION',
  },
  'generate outputPath': {
    declared: 'create/options.ts outputPath',
    takesNull: true,
    use: (outputPath) => outcome(new TorrentCreate({ pathRoot: album }).generate({ outputPath })),
    path: () => file,
  },
  'generate beneath': {
    declared: 'disk/held-folder.ts beneath',
    use: async (beneath) => [
      await outcome(new TorrentCreate({ pathRoot: album }).generate({ beneath })),
      await outcome(new TorrentCreate({ pathRoot: base }).generate({ beneath })),
    ],
  },
  'generate cache': {
    declared: 'create/options.ts CacheChoice',
    use: async (cache) => {
      await create(album, { cache });
      return (await cacheStats(cache)).folder;
    },
    path: () => path.join(base, 'cache %20'),
  },
  'generate reuse': {
    declared: 'create/known/known.ts reuse',
    use: async (one) => {
      const found: number[] = [];
      const onReuse = (report: { torrents: number }) => void found.push(report.torrents);
      return [await outcome(create(album, { reuse: [one], onReuse })), found];
    },
    path: () => path.join(base, 'v2 %.torrent'),
  },
  cacheStats: {
    declared: 'create/known/cache.ts folder',
    use: async (at) => (await cacheStats(at)).folder,
    path: () => path.join(base, 'no cache %20'),
  },
  clearCache: {
    declared: 'create/known/cache.ts folder',
    use: (at) => outcome(clearCache(at)),
    path: () => path.join(base, 'no cache %20'),
  },
  'generateExt output': {
    declared: 'create/libtorrent.ts output',
    takesNull: true,
    // The addon of libtorrent is optional.
    use: async (at) => {
      const output = await newTarget(at);
      const made = await outcome(new TorrentCreate({ pathRoot: album }).generateExt({ output }));
      return made === 'ERR_MAKER_UNAVAILABLE' ? 'done' : made;
    },
  },
  'Torrent.read': {
    declared: 'model/torrent/torrent.ts file',
    use: async (at) => (await Torrent.read(at)).infohashV2,
    path: () => path.join(base, 'v2 %.torrent'),
  },
  'Torrent.read beneath': {
    declared: 'disk/held-folder.ts beneath',
    use: (beneath) => outcome(Torrent.read(path.join(base, 'v2 %.torrent'), { beneath })),
    path: () => base,
  },
  'torrent.write': {
    declared: 'model/torrent/torrent-base.ts target',
    use: async (at) => {
      const target = await newTarget(at);
      await torrents.v2.write(target);
      return (await Torrent.read(target)).infohashV2;
    },
  },
  'torrent.write beneath': {
    declared: 'disk/held-folder.ts beneath',
    use: async (beneath) => outcome(torrents.v2.write(await newTarget(album), { beneath })),
    path: () => base,
  },
  verify: { declared: 'verify/verify.ts content', use: async (at) => (await verify(torrents.v1, at)).ok },
  'verify beneath': {
    declared: 'disk/held-folder.ts beneath',
    use: async (beneath) => (await verify(torrents.v1, album, { beneath })).ok,
    path: () => base,
  },
  update: {
    declared: 'edit/update.ts pathRoot',
    use: async (at) => (await update(torrents.v2, at)).torrent.infohashV2,
  },
  'update outputPath': {
    declared: 'create/options.ts outputPath',
    takesNull: true,
    use: (outputPath) => outcome(update(torrents.v2, album, { outputPath })),
    path: () => file,
  },
  upgrade: {
    declared: 'edit/upgrade.ts path',
    use: async (at) => (await upgrade(torrents.v1, at)).torrent.infohashV2,
  },
  'upgrade outputPath': {
    declared: 'create/options.ts outputPath',
    takesNull: true,
    use: (outputPath) => outcome(upgrade(torrents.v1, album, { outputPath })),
    path: () => file,
  },
  findMoved: {
    declared: 'verify/moved/find-moved.ts content',
    use: async (at) => (await findMoved(torrents.v2, at, [])).report.ok,
  },
  'findMoved folders': {
    declared: 'verify/moved/find-moved.ts searched',
    use: async (at) => (await findMoved(torrents.v2, path.join(base, 'absent'), [at])).moved.map(({ from }) => from),
  },
  'resumeData path': {
    declared: 'verify/resume/place.ts path',
    use: async (at) => {
      const report = await verify(torrents.v1, album);
      const options = { client: 'libtorrent', path: at, time: new Date(0) } as const;
      return (await resumeData(torrents.v1, report, options)).map(({ bytes }) => Buffer.from(bytes).toString('hex'));
    },
  },
  'planParts outputPath': {
    declared: 'create/options.ts outputPath',
    takesNull: true,
    use: (outputPath) => outcome(planParts(new TorrentCreate({ pathRoot: album }), { outputPath })),
    path: () => file,
  },
  'hashPart root': {
    declared: 'parts/hash-part.ts root',
    use: async (root) => outcome(hashPart(await plan(), 0, { root })),
  },
  'hashPart beneath': {
    declared: 'disk/held-folder.ts beneath',
    use: async (beneath) => outcome(hashPart(await plan(), 0, { beneath })),
  },
  'joinParts root': {
    declared: 'parts/join-parts.ts root',
    use: async (root) => (await joinParts(await plan(), part, { root })).infohashV2,
  },
  'joinParts outputPath': {
    declared: 'parts/join-parts.ts outputPath',
    use: async (outputPath) => outcome(joinParts(await plan(), part, { outputPath })),
    path: () => file,
  },
  'partsEngine root': {
    declared: 'parts/parts-engine.ts root',
    use: async (root) => {
      const engine = partsEngine({ root, run: (given, index) => hashPart(given, index, { root }) });
      return (await create(album, { engine })).infohashV2;
    },
    path: () => base,
  },
  folderStore: { declared: 'parts/store.ts folder', use: (at) => folderStore(at).folder },
  iterBlocks: {
    declared: 'hashers/records.ts file',
    use: async (at) => (await iterBlocks(at).next()).value?.chunk.length,
    path: () => file,
  },
  hashFile: {
    declared: 'hashers/v2-hasher.ts file',
    use: async (at) => (await V2Hasher.hashFile(at, 16_384)).rootHash?.toString(),
    path: () => file,
  },
  ...Object.fromEntries(
    [V1Hasher, V2Hasher, HybridHasher].map((Hasher) => [
      Hasher.name,
      {
        declared: 'model/primitives.ts RootPath',
        use: async (pathRoot: string | URL) => {
          const hasher = new Hasher({ pathRoot, paths: ['sub dir/b.bin'], pieceLength: 16_384 });
          return [
            hasher.pathRoot,
            hasher.complete(await hasher.process()).map(({ hash }) => Buffer.from(hash).toString('hex')),
          ];
        },
        refused: 'ERR_VALIDATION',
      } satisfies Door,
    ]),
  ),
};

describe('a path', () => {
  for (const [name, door] of Object.entries(DOORS)) {
    it(`of ${name} may be relative or a file: URL`, async () => {
      const given = door.path?.() ?? album;
      const expected = await door.use(given);
      assert.notEqual(expected, undefined);
      assert.deepEqual(await door.use(path.relative('', given)), expected, 'relative');
      assert.deepEqual(await door.use(pathToFileURL(given)), expected, 'a URL');
      const withQuery = new URL(`${pathToFileURL(given)}?query#fragment`);
      assert.deepEqual(await door.use(withQuery), expected, 'with a query');
    });

    it(`of ${name} may not be another URL, or anything else`, async () => {
      const wrong = ['https://example.com/a', 'file:///a%2Fb', 'file:///a%00b', 'data:,x'].map((one) => new URL(one));
      for (const value of [...wrong, 5, null, { href: 'file:///a' }, 'a\0b']) {
        // The function may throw before it returns a promise.
        const found = await code((async () => door.use(value as string))());
        const isNone = value === null && door.takesNull;
        if (!isNone) assert.equal(found, door.refused ?? 'ERR_INVALID_ARGUMENT', String(value));
      }
    });
  }

  it('is listed here for every declaration of one', () => {
    const declared = new Set(
      readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .flatMap((name) => {
          const text = readFileSync(path.join(ROOT, 'src', name), 'utf8');
          const found = text.matchAll(
            /(\w+)(?:\?:|:| =) (?:Readonly<Record<string, |readonly \((?:Torrent \| )?|'auto' \| )?(?:string|\(string & \{\}\)) \| URL\b|(RootPath) = /g,
          );
          return [...found].map(([, one, other]) => `${name.replaceAll(path.sep, '/')} ${one ?? other}`);
        }),
    );
    // Options of these doors, declared once more where they are checked.
    const again = ['disk/save-target.ts saveTo', 'parts/planned-files.ts root'];
    // The URL of a web store is no path.
    const noPath = 'parts/object-stores.ts url';
    const listed = new Set([...Object.values(DOORS).map((door) => door.declared), ...again, noPath]);
    assert.deepEqual([...declared].sort(), [...listed].sort());
  });
});

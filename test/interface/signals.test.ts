// Every function that waits takes a signal: the exports are enumerated, so that a new one cannot be forgotten.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import {
  cacheStats,
  clearCache,
  create,
  findMoved,
  folderStore,
  hashPart,
  iterBlocks,
  joinParts,
  type PartStore,
  placeMoved,
  planParts,
  resumeData,
  s3File,
  storePart,
  Torrent,
  TorrentCreate,
  type TorrentPlan,
  update,
  upgrade,
  V2Hasher,
  verify,
  webFile,
} from '../../src/index.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

/** Functions that take no signal, and why. */
const WITHOUT_SIGNAL: Record<string, string> = {
  'HasherBase.update': 'a chunk takes milliseconds; the promises are those of the pool',
  'HashPool.hash': 'a chunk takes milliseconds; `close` ends the pool',
  parsePlan: 'it waits for nothing',
};

/** The same of src/bullmq/index.ts. */
const QUEUES_WITHOUT_SIGNAL: Record<string, string> = {
  'QueueEngine.discard': 'each question to the server has a limit; `close` of the queue ends it',
  'TorrentQueue.close': 'it has a limit of its own',
  'Workers.check': 'the server has two seconds to answer',
  'Workers.close': 'its option `grace` limits it',
  'Workers.ready': 'it waits for a server that may come later; `close` ends it',
};

/** A function that a caller waits for, and whether an option of it is a signal. */
interface Waiting {
  name: string;
  takesSignal: boolean;
}

/**
 * The functions and methods of a module whose promises or iterators a caller waits for. An inherited method is that of its base.
 *
 * @param interfaces Whether to look at interfaces too: those of src/index.ts are called by it.
 */
function waitingExports(file: string, { interfaces = false } = {}): Waiting[] {
  const index = fileURLToPath(new URL(`../../src/${file}`, import.meta.url));
  const config = fileURLToPath(new URL('../../tsconfig.json', import.meta.url));
  const given = ts.readConfigFile(config, ts.sys.readFile).config.compilerOptions;
  const program = ts.createProgram([index], ts.convertCompilerOptionsFromJson(given, '.').options);
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(index) as ts.SourceFile) as ts.Symbol;
  /** By their declaration. */
  const found = new Map<ts.Declaration | undefined, Waiting>();
  const add = (name: string, symbol: ts.Symbol) => {
    const [declaration] = symbol.declarations ?? [];
    const isOurs = declaration && !declaration.getSourceFile().fileName.includes('node_modules');
    if (!isOurs || symbol.name.includes('#') || ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Protected)
      return;
    // Symbol.asyncDispose is the same as close.
    if (symbol.name.startsWith('__@')) return;
    const signatures = checker.getTypeOfSymbol(symbol).getCallSignatures();
    const answers = signatures.map((one) => checker.typeToString(one.getReturnType()));
    const parameters = signatures.flatMap((one) => one.getParameters()).map((one) => checker.getTypeOfSymbol(one));
    const takesSignal = parameters.some((type) => checker.getNonNullableType(type).getProperty('signal'));
    if (answers.some((answer) => /^(Promise|AsyncGenerator|AsyncIterable)</.test(answer)) && !found.has(declaration))
      found.set(declaration, { name, takesSignal });
  };
  const exports = checker
    .getExportsOfModule(module)
    .map((symbol): [string, ts.Symbol] => [
      symbol.name,
      symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    ]);
  // Bases first.
  exports.sort(([one], [other]) => Number(other.endsWith('Base')) - Number(one.endsWith('Base')));
  for (const [name, symbol] of exports) {
    if (!symbol.valueDeclaration && !interfaces) continue;
    add(name, symbol);
    for (const type of [checker.getDeclaredTypeOfSymbol(symbol), checker.getTypeOfSymbol(symbol)])
      for (const member of type.getProperties()) add(`${name}.${member.name}`, member);
  }
  return [...found.values()];
}

describe('signals', () => {
  let folder: string;
  let album: string;
  let draft: TorrentCreate;
  let torrent: Torrent;
  let v1: Torrent;
  let plan: TorrentPlan;

  const cleanups: (() => Promise<void>)[] = [];
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  before(async () => {
    folder = await temporaryFolder({ after: (cleanup) => void cleanups.push(cleanup) });
    album = path.join(folder, 'album');
    await writeTree(album, { a: 100_000, b: 50_000 });
    await writeTree(path.join(folder, 'moved'), { other: 100_000, b: 50_000 });
    draft = new TorrentCreate({ pathRoot: album });
    torrent = await draft.generate();
    v1 = await draft.generate({ version: 'v1' });
    plan = await planParts(draft);
  });

  /** A call of each function. */
  const CALLS: Record<string, (signal: AbortSignal) => Promise<unknown>> = {
    cacheStats: (signal) => cacheStats(folder, { signal }),
    clearCache: (signal) => clearCache(folder, { signal }),
    create: (signal) => create(album, { signal }),
    findMoved: (signal) => findMoved(torrent, album, [], { signal }),
    hashPart: (signal) => hashPart(plan, 0, { signal }),
    'HasherBase.process': (signal) =>
      new V2Hasher({ paths: ['a'], pathRoot: album, pieceLength: 16_384 }).process({ signal }),
    iterBlocks: (signal) => iterBlocks(path.join(album, 'a'), { signal } as never).next(),
    joinParts: (signal) => joinParts(plan, () => null, { signal }),
    placeMoved: async (signal) =>
      placeMoved(await findMoved(torrent, path.join(folder, 'moved'), []), 'rename', { signal }),
    planParts: (signal) => planParts(draft, { signal }),
    resumeData: async (signal) =>
      resumeData(torrent, await verify(torrent, album), { client: 'qbittorrent', path: album, signal }),
    s3File: (signal) => {
      const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
      return s3File('s3://films/x', { endpoint: 'http://127.0.0.1:1', credentials, signal });
    },
    storePart: (signal) => storePart(plan, 0, folderStore(path.join(folder, 'store')), { signal }),
    'Torrent.read': (signal) => Torrent.read(path.join(album, 'a'), { signal }),
    'TorrentBase.write': (signal) => torrent.write(path.join(folder, 'x.torrent'), { signal }),
    'TorrentCreate.generate': (signal) => draft.generate({ signal }),
    'TorrentCreate.generateExt': async (signal) => {
      // The addon of libtorrent may not be built.
      signal.throwIfAborted();
    },
    'TorrentCreate.generateWithTimes': (signal) => draft.generateWithTimes({ signal }),
    'TorrentCreate.getPaths': (signal) => draft.getPaths({ signal }),
    'TorrentCreate.plan': (signal) => draft.plan({ signal }),
    update: (signal) => update(torrent, album, { signal }),
    upgrade: (signal) => upgrade(v1, album, { signal }),
    verify: (signal) => verify(torrent, album, { signal }),
    webFile: (signal) => webFile('http://127.0.0.1:1/x', { signal }),
  };

  it('are taken by every function that waits', () => {
    const names = new Set(waitingExports('index.ts').map(({ name }) => name));
    assert.deepEqual([...Object.keys(CALLS), ...Object.keys(WITHOUT_SIGNAL)].sort(), [...names].sort());
  });

  it('are taken by every function of queues that waits', () => {
    const all = waitingExports('bullmq/index.ts', { interfaces: true });
    assert.ok(all.some(({ name, takesSignal }) => name === 'TorrentQueue.addTorrent' && takesSignal));
    const without = all.filter(({ takesSignal }) => !takesSignal).map(({ name }) => name);
    assert.deepEqual(without.sort(), Object.keys(QUEUES_WITHOUT_SIGNAL));
  });

  for (const [name, call] of Object.entries(CALLS)) {
    if (name === 'TorrentCreate.generateExt') continue;
    it(`${name} rejects with ERR_ABORTED for a signal that has fired, with its reason`, async () => {
      await assert.rejects(call(AbortSignal.abort('gone')), { name: 'AbortError', code: 'ERR_ABORTED', cause: 'gone' });
    });
    it(`${name} refuses a signal that is none`, async () => {
      await assert.rejects(call('stop' as never), { code: 'ERR_INVALID_ARGUMENT' });
    });
  }

  it('a store that never answers keeps nobody once the signal has fired', async () => {
    const never = new Promise<never>(() => {});
    for (const silent of ['get', 'put'] as const) {
      const stop = new AbortController();
      const hangs = () => {
        stop.abort('gone');
        return never;
      };
      const store: PartStore = { get: async () => null, put: async () => {}, [silent]: hangs };
      const stored = storePart(plan, 0, store, { signal: stop.signal });
      await assert.rejects(stored, { code: 'ERR_ABORTED', cause: 'gone' });
    }
  });

  it('a folder of a cache is measured and cleared with a signal that does not fire', async () => {
    const { signal } = new AbortController();
    const cache = path.join(folder, 'cache');
    await mkdir(cache);
    await new TorrentCreate({ pathRoot: album }).generate({ cache });
    assert.equal((await cacheStats(cache, { signal })).folder, cache);
    assert.equal(await clearCache(cache, { signal }), cache);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import vm from 'node:vm';
import { is } from 'superstruct';
import { shown } from '../../src/errors/errors.ts';
import { bytesOf, checkOptions, expected, suggestName } from '../../src/errors/guard.ts';
import {
  addPadfiles,
  choosePieceLength,
  decode,
  differences,
  type Encodable,
  edit,
  encode,
  FileTree,
  HashList,
  HashPool,
  isPadFile,
  iterBlocks,
  pprint,
  processLimits,
  RawBencode,
  sortV1,
  sortV2,
  Torrent,
  TorrentCreate,
  update,
  upgrade,
  verify,
} from '../../src/index.ts';
import fixtures from '../fixtures/v1.ts';

const v1 = fixtures['v1-single'].bytes;
const torrent = Torrent.fromBytes(v1);
const Numbers = { threads: expected<number>('a number', (value) => typeof value === 'number') };
const refused = (message: RegExp) => ({ name: 'MetainfoError', code: 'ERR_INVALID_ARGUMENT', message });

describe('checkOptions', () => {
  it('copies the options and reads each of them once', () => {
    let reads = 0;
    const given = {
      get threads() {
        reads += 1;
        return reads === 1 ? 2 : 'x';
      },
    };
    assert.deepEqual(checkOptions(given as { threads: number }, Numbers), { threads: 2 });
    assert.equal(reads, 1);
  });

  it('accepts inherited options and undefined ones', () => {
    assert.deepEqual(checkOptions(Object.create({ threads: 2 }) as { threads?: number }, Numbers), { threads: 2 });
    assert.deepEqual(
      checkOptions({ threads: undefined, other: undefined } as { threads?: number | undefined }, Numbers),
      {},
    );
    assert.deepEqual(checkOptions(undefined, Numbers), {});
  });

  it('rejects options that cannot be read, with the error as cause, and values that are no object', () => {
    const reason = new Error('no');
    const throwing = {
      get threads(): number {
        throw reason;
      },
    };
    assert.throws(() => checkOptions(throwing, Numbers), {
      ...refused(/^options cannot be read: no\.$/),
      cause: reason,
    });
    const proxy = new Proxy({} as { threads: number }, {
      ownKeys: () => {
        throw reason;
      },
    });
    assert.throws(() => checkOptions(proxy, Numbers), { ...refused(/^options cannot be read: no\.$/), cause: reason });
    for (const value of [null, 1, 'v1', true, [], new Map(), () => {}])
      assert.throws(
        () => checkOptions(value as unknown as { threads?: number }, Numbers),
        refused(/^options must be an object such as \{ threads: 2 \}, not /),
      );
  });
});

describe('suggestName', () => {
  it('finds the option behind a Python name, another letter case or a typo', () => {
    const names: [given: string, meant: string][] = [
      ['path_root', 'pathRoot'],
      ['n_processes', 'threads'],
      ['nProcesses', 'threads'],
      ['v1_order', 'v1Order'],
      ['pathroot', 'pathRoot'],
      ['PathRoot', 'pathRoot'],
      ['thread', 'threads'],
      ['trheads', 'threads'],
    ];
    for (const [given, meant] of names)
      assert.equal(suggestName(given, ['pathRoot', 'threads', 'v1Order']), meant, given);
    assert.equal(suggestName('other', ['pathRoot', 'threads']), undefined);
  });
});

describe('every exported function', () => {
  const draft = new TorrentCreate({ pathRoot: '/nowhere/album' });
  const calls: [name: string, call: () => unknown, message: RegExp][] = [
    [
      "generate('v1')",
      () => draft.generate('v1' as never),
      /^options must be an object such as \{ version: 'v1' \}, not "v1"\.$/,
    ],
    [
      'generate',
      () => draft.generate({ n_processes: 2 } as never),
      /^unknown option "n_processes": did you mean threads\?$/,
    ],
    ['generate', () => draft.generate({ progress: 1 } as never), /^progress must be true or false, not 1\.$/],
    ['generate', () => draft.generate({ signal: {} } as never), /^signal must be an AbortSignal, not /],
    [
      'generate',
      () => draft.generate({ engine: 'native' } as never),
      /^engine must be an engine, such as nodeEngine\(\), not "native"\.$/,
    ],
    ['generate', () => draft.generate({ threads: Object.create(null) } as never), /^threads must be 1 to 1024/],
    ['generateExt', () => draft.generateExt({ bencoded: true } as never), /"bencoded": did you mean bencode\?$/],
    ['getPaths', () => draft.getPaths({ v1_order: true } as never), /"v1_order": did you mean v1Order\?$/],
    ['pprint', () => pprint(torrent, 1 as never), /^options must be an object such as \{ verbose: 1 \}, not 1\.$/],
    [
      'pprint',
      () => pprint(torrent, { verbose: -1 } as never),
      /^verbose must be a whole number from 0 to 2\^53 - 1, not -1\.$/,
    ],
    ['pprint', () => pprint(null as never), /^torrent must be a torrent, such as Torrent\.read\(\) gives, not null\.$/],
    ['pprint', () => pprint(new Proxy(torrent, {})), /^torrent must be a torrent, .*, not a proxy\.$/],
    [
      'iterBlocks',
      () => iterBlocks('x', 65536 as never).next(),
      /^options must be an object such as \{ readSize: 65536 \}/,
    ],
    ['iterBlocks', () => iterBlocks('x', { read_size: 5 } as never).next(), /"read_size": did you mean readSize\?$/],
    [
      'modelDumpTorrent',
      () => torrent.modelDumpTorrent({ mode: 'text' } as never),
      /^mode must be str or binary, not "text"\.$/,
    ],
    ['verify', () => verify(torrent, 'x', { n_processes: 1 } as never), /did you mean threads\?$/],
    ['verify', () => verify({} as never, 'x'), /^torrent must be a torrent/],
    ['update', () => update(null as never, '/x'), /^torrent must be a torrent/],
    ['upgrade', () => upgrade(torrent, '/x', { read_size: 1 } as never), /^unknown option "read_size"/],
    [
      'edit',
      () => edit(torrent, { trackres: [] } as never),
      /^unknown key "trackres" in changes: did you mean trackers\?$/,
    ],
    ['edit', () => edit(torrent, undefined as never), /^changes must be given/],
    ['edit', () => edit(null as never, {}), /^torrent must be a torrent/],
    ['differences', () => differences(torrent, {} as never), /^after must be a torrent/],
    ['write', () => torrent.write('/nowhere/x', { froce: true } as never), /did you mean force\?$/],
    ['magnet', () => torrent.magnet({ display_name: 'x' } as never), /did you mean displayName\?$/],
    [
      'fromBytes',
      () => Torrent.fromBytes(v1, { profile: 'strict' } as never),
      /^unknown option "profile": expected one of context, limits, signal, beneath\.$/,
    ],
    [
      'fromBytes',
      () => Torrent.fromBytes(v1, { context: { profil: 'strict' } } as never),
      /"profil" in context: did you mean profile\?$/,
    ],
    ['inspect', () => Torrent.inspect(v1, { limits: { item: 1 } } as never), /"item" in limits: did you mean items\?$/],
    ['fromDecoded', () => Torrent.fromDecoded({}, 5 as never), /^options must be an object/],
    ['processLimits', () => processLimits({ n_threads: 1 } as never), /^unknown key "n_threads" in change/],
    ['HashPool', () => new HashPool({ n_processes: 2 } as never), /did you mean threads\?$/],
    [
      'addPadfiles',
      () => addPadfiles([], 16384, false as never),
      /^options must be an object such as \{ tailPad: false \}/,
    ],
  ];
  for (const [name, call, message] of calls) {
    it(`rejects invalid arguments: ${name}: ${message.source.slice(0, 40)}`, async () => {
      await assert.rejects(async () => call(), refused(message));
    });
  }
});

describe('a Uint8Array of another realm', () => {
  const foreign = (bytes: Uint8Array): Uint8Array =>
    (vm.runInNewContext('(list) => new Uint8Array(list)') as (list: number[]) => Uint8Array)([...bytes]);

  it('is accepted as bytes', () => {
    const bytes = foreign(Uint8Array.of(1, 2));
    assert.ok(!(bytes instanceof Uint8Array));
    assert.ok(bytesOf('x', bytes) instanceof Uint8Array);
    assert.deepEqual([...bytesOf('x', bytes)], [1, 2]);
    assert.equal(shown(bytes), '2 bytes');
  });

  it('is shown without control characters, as is any text', () => {
    assert.equal(shown('\x1b[1m\x9b\u202e'), '"\\u001b[1m\\x9b\\u202e"');
    assert.equal(shown({ toString: () => '\x9b' }), '\\x9b');
  });

  it('is read as a torrent', () => {
    const read = Torrent.fromBytes(foreign(v1));
    assert.equal(read.infohashV1, torrent.infohashV1);
    assert.deepEqual(Buffer.from(read.bencode()), v1);
    assert.equal(Torrent.inspect(foreign(v1)).infohash.v1, torrent.infohashV1);
    assert.deepEqual(decode(foreign(v1)), decode(new Uint8Array(v1)));
  });

  it('is accepted in dictionaries and drafts, with objects, Maps and dates of that realm', () => {
    const script = `({
      info: { name: 'a', length: 5, 'piece length': 16384, pieces: new Uint8Array(20) },
      'creation date': new Date(1000),
      x: new Map([['y', new Uint8Array([1])]]),
    })`;
    const there = vm.runInNewContext(script) as object;
    const here = vm.runInThisContext(script) as object;
    assert.deepEqual(
      Buffer.from(Torrent.fromDecoded(there).bencode()),
      Buffer.from(Torrent.fromDecoded(here).bencode()),
    );
    const draft = new TorrentCreate(
      vm.runInNewContext('({ similar: [new Uint8Array(20)], info: { name: "x" } })') as object,
    );
    assert.deepEqual([draft.info.name, draft.fields.similar?.length], ['x', 1]);
  });

  it('is rejected if it only inherits from Uint8Array', () => {
    const fake = Object.create(Uint8Array.prototype) as Uint8Array;
    assert.throws(() => Torrent.fromBytes(fake), refused(/^bytes must be bytes \(a Uint8Array\), not /));
    assert.equal(shown(fake), 'object');
  });
});

describe('a value that contains itself', () => {
  const map = new Map<string, unknown>();
  map.set('a', map).set('b', map);
  const list: unknown[] = [];
  list.push(list, list);

  it('is rejected by encode, which accepts very deep values', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 5000; i += 1) deep = [deep];
    assert.equal(encode(deep as Encodable).length, 10_003);
    for (const value of [map, list, [1, [map]], new Map([['x', list]])])
      assert.throws(() => encode(value as Encodable), refused(/^A list or dictionary contains itself\.$/));
  });

  it('is rejected by FileTree.flatten', () => {
    assert.throws(() => FileTree.flatten(map as FileTree), refused(/expected at most 1000 levels of folders/));
    assert.equal(is(map, FileTree), false);
  });

  it('is rejected by TorrentCreate and Torrent.fromDecoded', async () => {
    for (const fields of [{ info: { fileTree: map } }, { trackers: list }, { paths: list }, { nodes: list }])
      assert.throws(() => new TorrentCreate({ pathRoot: '/a', ...fields } as never), { code: 'ERR_VALIDATION' });
    assert.throws(() => Torrent.fromDecoded(map), { name: 'ValidationError' });
  });

  it('is rejected among the unknown keys of a draft, and so is an object that only looks like a Map', () => {
    for (const value of [map, list, Object.create(Map.prototype), new Proxy(new Map(), {})]) {
      const extra = new Map([['x', value as never]]);
      const make = () => new TorrentCreate({ sources: [{ path: 'x', data: Buffer.from('x') }], extra });
      assert.throws(make, { code: 'ERR_VALIDATION', message: /x: expected a value that bencode can represent/ });
    }
  });
});

describe('every exported function on plain values', () => {
  const calls: [name: string, call: () => unknown, message: RegExp][] = [
    ['encode', () => encode(new Map([[Symbol('x'), 1]]) as never), /^The key Symbol\(x\) is not a latin1 string/],
    ['encode', () => encode(new Proxy([], {}) as never), /^A value of type proxy cannot be encoded/],
    ['RawBencode', () => new RawBencode('x' as never), /^bytes must be bytes/],
    ['FileTree.flatten', () => FileTree.flatten(null as never), /^tree must be a file tree: a Map, not null\.$/],
    [
      'FileTree.flatten',
      () => FileTree.flatten(new Map([['a', 1]]) as never),
      /^tree: \/a: expected a folder or a file, got 1\.$/,
    ],
    [
      'FileTree.flatten',
      () =>
        FileTree.flatten(
          new Map<string, unknown>([
            ['a', new Map([['b', 1]])],
            ['c', 2],
          ]) as never,
        ),
      /^tree: \/a\/b: expected a folder or a file, got 1\.$/,
    ],
    [
      'FileTree.flatten',
      () => FileTree.flatten(new Map([['', { length: 0 }]]) as never),
      /^tree: expected a name at the root of the tree, got an empty one\.$/,
    ],
    [
      'FileTree.unflatten',
      () => FileTree.unflatten([{ length: 1, path: 'abc' }] as never),
      /^files: item 0: expected a path/,
    ],
    ['FileTree.unflatten', () => FileTree.unflatten([null] as never), /^files: item 0/],
    ['isPadFile', () => isPadFile(null as never), /^file must be a file/],
    ['isPadFile', () => isPadFile({ attr: 5 } as never), /^file must be a file/],
    ['addPadfiles', () => addPadfiles(null as never, 16384), /^files must be a list of files/],
    ['addPadfiles', () => addPadfiles([{ length: -1, path: ['a'] }], 16384), /^files must be a list of files/],
    ['sortV1', () => sortV1([{ path: [1] }] as never), /^files must be a list of paths/],
    ['sortV2', () => sortV2([null] as never), /^files must be a list of paths/],
    ['choosePieceLength', () => choosePieceLength(Number.NaN), /^totalSize must be a whole number/],
    ['HashList', () => new HashList(null as never, 20), /^hashes must be a list, not null\.$/],
    ['HashList', () => new HashList(new Uint8Array(20), 5 as never), /^hashSize must be 20 or 32, not 5\.$/],
  ];
  for (const [name, call, message] of calls)
    it(`rejects invalid arguments: ${name}: ${message.source.slice(0, 40)}`, () =>
      assert.throws(call, refused(message)));

  it('addPadfiles rejects an invalid piece length', () => {
    const files = [
      { length: 5, path: ['a'] },
      { length: 5, path: ['b'] },
    ];
    for (const pieceLength of [0, Number.NaN, -16384, 3, 2.5])
      assert.throws(() => addPadfiles(files, pieceLength), { code: 'ERR_PIECE_LENGTH' }, String(pieceLength));
    assert.equal(addPadfiles(files, 16384).length, 4);
  });
});

// Compiled by `npm run check`, never run: code that must compile, and code that must not.
import {
  type DumpedDictionary,
  type DumpedValue,
  type FileTreeItem,
  type GenerateOptions,
  type HashList,
  type InfoDictV2,
  type PieceLayers,
  Torrent,
  type TorrentBase,
  TorrentCreate,
  type TorrentJson,
} from '../../src/index.ts';

declare const bytes: Uint8Array;
const torrent = Torrent.fromBytes(bytes);

// Before the version is known, only the fields of all versions are available.
export const name: string = torrent.info.name;
// @ts-expect-error: a v2 torrent has no pieces
export const early: HashList = torrent.info.pieces;

switch (torrent.torrentVersion) {
  case 'v1': {
    const pieces: HashList = torrent.info.pieces;
    // @ts-expect-error: a v1 infodict has no file tree
    const tree = torrent.info.fileTree;
    const none: [null, null, null] = [torrent.flatFiles, torrent.pieceLayers, torrent.infohashV2];
    const infohash: string = torrent.infohashV1;
    void [pieces, tree, none, infohash];
    break;
  }
  case 'v2': {
    const info: InfoDictV2 = torrent.info;
    // @ts-expect-error: a v2 infodict has no pieces
    const pieces = torrent.info.pieces;
    const none: null = torrent.infohashV1;
    const infohash: string = torrent.infohashV2;
    const files: ReadonlyMap<string, FileTreeItem> = torrent.flatFiles;
    const layers: PieceLayers = torrent.pieceLayers;
    void [info, pieces, none, infohash, files, layers];
    break;
  }
  case 'hybrid': {
    const pieces: HashList = torrent.info.pieces;
    const tree: InfoDictV2['fileTree'] = torrent.info.fileTree;
    const infohashes: [string, string] = [torrent.infohashV1, torrent.infohashV2];
    void [pieces, tree, infohashes];
    break;
  }
  default: {
    // The cases above cover all versions.
    const never: never = torrent;
    void never;
  }
}

// @ts-expect-error: a torrent never changes
torrent.comment = 'x';
declare const missing: string | undefined;
// @ts-expect-error: a missing folder must not mean the current one (with exactOptionalPropertyTypes; else an error at run time)
new TorrentCreate({ pathRoot: missing });
// @ts-expect-error: no such version
new TorrentCreate().generate({ version: 'v3' });
// @ts-expect-error: no such mode
torrent.modelDumpTorrent({ mode: 'text' });
// @ts-expect-error: no such profile
Torrent.fromBytes(bytes, { context: { profile: 'lax' } });

declare const options: GenerateOptions;
declare const flag: boolean;
const draft = new TorrentCreate({ pathRoot: '/srv', 'announce-list': [['http://t/']], extra: { 'x-unknown': 1 } });
export const v1: Promise<TorrentBase<'v1'>> = draft.generate({ version: 'v1' });
export const hybrid: Promise<TorrentBase<'hybrid'>> = draft.generate();
export const some: Promise<Torrent> = draft.generate(options);
// @ts-expect-error: it may have any version
export const tooNarrow: Promise<TorrentBase<'v1'>> = draft.generate(options);
export const either: Promise<Uint8Array | DumpedDictionary> = draft.generateExt({ bencode: flag });
export const dumped: DumpedValue | undefined = torrent.modelDumpTorrent()['info'];
export const json: TorrentJson = torrent.toJSON();

new TorrentCreate(new Map<string | Uint8Array, unknown>([[Buffer.from('comment'), 'c']]));
new TorrentCreate({
  info: { 'piece length': 2 ** 14, 'file tree': { a: { '': { length: 1, 'pieces root': bytes } } } },
});
new TorrentCreate({ info: { pieces: [bytes], files: [{ length: 1, path: ['a'], 'symlink path': ['b'] }] } });
// @ts-expect-error: a path is a string
new TorrentCreate({ pathRoot: 5 });
// @ts-expect-error: unknown keys go into extra
new TorrentCreate({ 'x-unknown': 1 });
// @ts-expect-error: a length of bytes is a number
new TorrentCreate({ info: { 'piece length': '16384' } });

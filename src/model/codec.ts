/** The codec between models and bencode: the fields of an info dictionary and of a torrent, by property. */
import { type BencodeMap, keyBytes } from '../bencode/value.ts';
import { toHex } from '../errors/errors.ts';
import { hexBytes, latin1Text } from '../platform/node.ts';
import type { Field } from './field.ts';
import { fileList, fileTree } from './files-codec.ts';
import { HashList } from './hash-list.ts';
import { layersOf } from './input.ts';
import type { Issues } from './issues.ts';
import { IN_INFO, TOP } from './keys.ts';
import type { PieceLayers } from './piece-layers.ts';
import { decodeHashes, decodeMap, hashes, integer, shownText, size, text, tiers } from './value-fields.ts';

/** libtorrent ignores a value that is not a dictionary, but refuses a layer that is invalid, except in v1, where it reads none. */
const pieceLayers = (isRead: boolean) =>
  ({
    key: 'piece layers',
    lenient: true,
    decode: (value, issues) => {
      const { severity, lenient } = issues;
      const map = decodeMap(value, issues);
      if (isRead) Object.assign(issues, { severity: 'error', lenient: false });
      const layers = map && decodeLayers(map, issues);
      Object.assign(issues, { severity, lenient });
      return layers;
    },
    encode: (value) => new Map([...value].map(([key, layer]) => [latin1Text(hexBytes(key)), HashList.viewOf(layer)])),
    coerce: layersOf,
  }) satisfies Field<PieceLayers>;

function decodeLayers(map: BencodeMap, issues: Issues): PieceLayers {
  const layers = new Map<string, HashList>();
  for (const [key, layer] of map) {
    issues.path.push(key);
    if (key.length !== 32) issues.add('layers_key', [], () => `expected a key of 32 bytes, got ${key.length}`);
    const list = decodeHashes(layer, 32, issues);
    if (list) layers.set(toHex(keyBytes(key)), list);
    issues.path.pop();
  }
  return layers;
}

const { name, ...otherKeys } = IN_INFO;

/** The fields of the info dictionaries of all versions. */
export const INFO = {
  name,
  nameUtf8: text('name.utf-8'),
  ...otherKeys,
  pieceLength: integer('piece length'),
  pieces: hashes('pieces', 20),
  length: size('length'),
  files: fileList,
  metaVersion: integer('meta version', { lenient: true }),
  fileTree,
};

/** The same where `name.utf-8` has the name: an invalid `name` is then only a warning. */
export const INFO_UTF8 = { ...INFO, name: text('name') };

/** The fields of a torrent beside `info`. */
export const TORRENT = {
  announce: shownText('announce'),
  announceList: tiers('announce-list'),
  ...TOP,
  pieceLayers: pieceLayers(true),
  similar: IN_INFO.similar,
  collections: IN_INFO.collections,
};

/** The same in a v1 torrent. */
export const TORRENT_V1 = { ...TORRENT, pieceLayers: pieceLayers(false) };

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decode } from '../../../src/bencode/decode.ts';
import type { BencodeMap } from '../../../src/bencode/value.ts';
import { createdTorrent, type EncodedTorrent, type LazyPath } from '../../../src/model/lazy/created-torrent.ts';
import { Torrent } from '../../../src/model/torrent/torrent.ts';
import { type Plain, reference } from '../../bencode/reference.ts';
import { noise } from '../../hash/reference.ts';
import { runs } from '../../support/runs.ts';
import { build, type Content, PIECE } from '../build.ts';
import { READERS } from '../readers.ts';

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const CONTENTS: Readonly<Record<string, Content>> = {
  'a file': noise(2 * PIECE + 5),
  'a file of one block': noise(9),
  'a folder of one file': { x: noise(PIECE + 1) },
  // In the order of a tree.
  'a folder': { 'a/x': noise(PIECE + 1, 2), 'a-b': noise(PIECE, 3), empty: Buffer.alloc(0), é: noise(3 * PIECE, 4) },
};

/** Makes the input of createdTorrent from the bytes and the content of a torrent. */
function encodedOf(version: EncodedTorrent['version'], bytes: Buffer, content: Content): EncodedTorrent {
  const map = decode(bytes).value as BencodeMap;
  const info = map.get('info') as BencodeMap;
  const encoded = new Map<LazyPath, number>();
  for (const key of ['files', 'file tree'] as const)
    if (info.has(key)) encoded.set(`info/${key}`, reference(info.get(key) as Plain).length);
  if (map.has('piece layers')) encoded.set('piece layers', reference(map.get('piece layers') as Plain).length);
  const lengths = Object.values(content instanceof Buffer ? { content } : content).map(({ length }) => length);
  const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);
  const pieces = sum(lengths.map((length) => Math.ceil(length / (info.get('piece length') as number))));
  return { version, bytes, encoded, totals: { files: lengths.length, bytes: sum(lengths), pieces } };
}

describe('createdTorrent', () => {
  for (const [title, content] of Object.entries(CONTENTS)) {
    for (const version of VERSIONS) {
      const { bytes } = build({
        version,
        content,
        info: { private: 1 },
        top: { announce: 'http://t/', nodes: [['a', 1]] },
      });
      const created = () => createdTorrent(encodedOf(version, bytes, content));

      it(`gives the torrent that fromBytes gives, whatever is read first: ${version} of ${title}`, () => {
        for (const [name, read] of Object.entries(READERS))
          assert.deepEqual(read(created()), read(Torrent.fromBytes(bytes)), name);
        const [torrent, expected] = [created(), Torrent.fromBytes(bytes)];
        for (const [name, read] of Object.entries(READERS)) assert.deepEqual(read(torrent), read(expected), name);
      });

      it(`decodes no list of files before somebody reads it: ${version} of ${title}`, () => {
        const known = encodedOf(version, bytes, content);
        const expected = Torrent.fromBytes(bytes);
        // Bytes that no decoder accepts, in place of the lists.
        const broken = Buffer.from(bytes);
        const map = decode(bytes).value as BencodeMap;
        const info = map.get('info') as BencodeMap;
        const lists = {
          files: info.get('files'),
          'file tree': info.get('file tree'),
          'piece layers': map.get('piece layers'),
        };
        for (const [key, list] of Object.entries(lists)) {
          if (!list) continue;
          const start = broken.indexOf(reference(key)) + reference(key).length;
          broken.fill('x', start + 1, start + reference(list as Plain).length);
        }
        const torrent = createdTorrent({ ...known, bytes: broken });
        const { name, nFiles, totalSize, fileSize, nPieces, flatTrackers, webseeds } = torrent;
        const actual = { name, nFiles, totalSize, fileSize, nPieces, flatTrackers, webseeds };
        for (const [key, value] of Object.entries(actual)) assert.deepEqual(value, expected[key as 'name'], key);
        assert.deepEqual(torrent.bencode(), broken);
        assert.match(torrent.magnet(), /^magnet:\?xt=urn:bt/);
      });
    }
  }

  it('gives what fromBytes gives for any other keys', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 8 });
    const value = fc.oneof(text, fc.maxSafeInteger(), fc.array(text, { maxLength: 2 }), fc.constant({}));
    const top = fc.dictionary(
      fc.constantFrom(
        ...['announce', 'announce-list', 'comment', 'created by', 'creation date', 'url-list', 'httpseeds', 'nodes'],
        ...['similar', 'collections', 'coment', 'extra', 'files', 'piece layers', 'é'],
      ),
      value,
      { maxKeys: 3 },
    );
    const info = fc.dictionary(
      fc.constantFrom(
        ...['name', 'name.utf-8', 'source', 'private', 'similar', 'collections', 'update-url', 'x', 'sourc'],
        ...['length', 'files', 'file tree', 'meta version', 'pieces', 'piece length', 'symlink path'],
      ),
      fc.oneof(value, fc.constantFrom(0, 1, 2, 3, PIECE, 2 ** 30)),
      { maxKeys: 2 },
    );
    const contents = fc.constantFrom(...Object.values(CONTENTS));
    const seen = { valid: 0, invalid: 0, warned: 0 };
    fc.assert(
      fc.property(fc.constantFrom(...VERSIONS), contents, top, info, (version, content, topKeys, infoKeys) => {
        const { bytes: own } = build({ version, content });
        const known = encodedOf(version, own, content);
        // A creation writes its own keys over those of a draft.
        const torrent = decode(own).value as BencodeMap;
        const others = (keys: Record<string, Plain>, map: BencodeMap) =>
          Object.fromEntries(Object.entries(keys).filter(([key]) => !map.has(key)));
        const { bytes } = build({
          version,
          content,
          top: others(topKeys, torrent),
          info: others(infoKeys, torrent.get('info') as BencodeMap),
        });
        const expected = outcome(() => ({ ...Torrent.fromBytes(bytes) }));
        assert.deepEqual(
          outcome(() => ({ ...createdTorrent({ ...known, bytes }) })),
          expected,
        );
        if (expected instanceof Error) seen.invalid += 1;
        else if ((expected as Torrent).warnings.length > 0) seen.warned += 1;
        else seen.valid += 1;
      }),
      { numRuns: runs(1000) },
    );
    for (const [kind, count] of Object.entries(seen)) assert.ok(count > 0, `no torrent was ${kind}`);
  });
});

/** Calls a function: gives its result, or the error that it throws. */
function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

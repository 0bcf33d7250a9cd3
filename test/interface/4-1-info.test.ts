// Section 4.1 of the interface: what an info dictionary tells without its torrent.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, it } from 'node:test';
import bencodePackage from 'bencode';
import { create } from 'superstruct';
import { decode, InfoDict, summarizeInfo, Torrent, TorrentCreate, TorrentVersion } from '../../src/index.ts';
import { single, torrent as torrentOf } from '../support/build.ts';
import { content } from '../support/generated.ts';

const hash = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('hex');
const draft = () =>
  new TorrentCreate({
    name: 'album',
    pieceLength: 16_384,
    sources: [
      { path: 'large', data: content(100_000, 1) },
      { path: 'small', data: content(100, 2) },
    ],
  });

for (const version of Object.values(TorrentVersion))
  describe(`4.1 the info dictionary of a ${version} torrent`, () => {
    let torrent: Torrent;
    before(async () => {
      torrent = await draft().generate({ version });
    });

    const forms: Record<string, (torrent: Torrent) => object> = {
      'the model of a torrent': ({ info }) => info,
      'a copy of the model': ({ info }) => ({ ...info }),
      'a validated copy': ({ info }) => create(info, InfoDict) as object,
      'a structured clone': ({ info }) => structuredClone(info),
      'a decoded dictionary': (given) => (decode(given.bencode()).value as Map<string, object>).get('info') as object,
      'a dictionary of another decoder': (given) =>
        (bencodePackage.decode(Buffer.from(given.bencode())) as { info: object }).info,
      'raw bytes': ({ infoBytes }) => infoBytes,
    };
    for (const [form, infoOf] of Object.entries(forms))
      it(`has infohashes, size and number of files, from ${form}`, () => {
        const { infoBytes } = torrent;
        assert.deepEqual(summarizeInfo(infoOf(torrent)), {
          torrentVersion: version,
          infohashV1: version === 'v2' ? null : hash('sha1', infoBytes),
          infohashV2: version === 'v1' ? null : hash('sha256', infoBytes),
          totalSize: 100_100,
          nFiles: 2,
        });
      });
  });

describe('4.1 the info dictionary of a draft', () => {
  it('has no infohash, but the plan has the size and the number of files', async () => {
    const expected = { code: 'ERR_INVALID_ARGUMENT', message: /^info must have pieces.*generate\(\).*plan\(\)/ };
    for (const info of [draft(), draft().info]) assert.throws(() => summarizeInfo(info), expected);
    const { totalSize, files } = await draft().plan();
    assert.deepEqual([totalSize, files], [100_100, 2]);
  });

  it('is refused if it is not an info dictionary, or breaks a rule', () => {
    for (const wrong of [null, undefined, 5, 'x', [], {}, Torrent.fromBytes(torrentOf(single))])
      assert.throws(() => summarizeInfo(wrong as never), { code: 'ERR_INVALID_ARGUMENT' });
    assert.throws(() => summarizeInfo({ ...single, length: 'x' }), { code: 'ERR_VALIDATION' });
    assert.throws(() => summarizeInfo(Buffer.from('de')), { code: 'ERR_VALIDATION' });
    assert.throws(() => summarizeInfo(Buffer.from('d')), { code: 'ERR_BENCODE' });
  });
});

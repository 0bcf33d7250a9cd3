import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { BencodeError } from '../../src/bencode/bencode-error.ts';
import { decode } from '../../src/bencode/decode.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

const OTHERS: Readonly<Record<string, readonly [Buffer, message: RegExp]>> = {
  'web page': [latin1('\n<!DOCTYPE html><html>'), /web page/],
  JSON: [latin1('{"error":"x"}'), /JSON/],
  'magnet link': [latin1('magnet:?xt=urn:btih:'), /magnet link/],
  URL: [latin1('https://a.example/x.torrent'), /URL/],
  compressed: [gzipSync('d8:announce1:xe'), /gzip/],
  'UTF-16': [Buffer.from('\ufeffd4:infodee', 'utf16le'), /UTF-16/],
  content: [latin1('\0\0\0\x20ftypisom\0\0'), /video/],
};

function errorOf(bytes: Uint8Array, read: (bytes: Uint8Array) => unknown): BencodeError {
  try {
    read(bytes);
  } catch (error) {
    assert.ok(error instanceof BencodeError, String(error));
    return error;
  }
  return assert.fail('it was accepted');
}

describe('data of another format', () => {
  it('is named by its first bytes', () => {
    for (const [format, [bytes, message]] of Object.entries(OTHERS))
      for (const read of [(all: Uint8Array) => decode(all), (all: Uint8Array) => Torrent.fromBytes(all)]) {
        const error = errorOf(bytes, read);
        assert.deepEqual([error.format, error.bencodeCode, error.offset], [format, 'bad_character', 0]);
        assert.match(error.message, message);
      }
  });

  it('is named when it is larger than the limit', () => {
    const read = (all: Uint8Array) => Torrent.fromBytes(all, { limits: { bytes: 10 } });
    assert.equal(errorOf(Buffer.concat([latin1('\x1aE\xdf\xa3'), Buffer.alloc(99)]), read).format, 'content');
    assert.throws(() => read(latin1('d4:infod4:name5:albumee')), { code: 'ERR_LIMIT' });
  });

  it('has no name where the first bytes do not tell', () => {
    for (const bytes of [latin1('hello'), latin1('1x'), deflateRawSync('hello'), latin1('7up')])
      assert.equal(errorOf(bytes, (all) => decode(all)).format, null);
    assert.equal(errorOf(latin1('d1:a<e'), (all) => decode(all)).format, null);
  });
});

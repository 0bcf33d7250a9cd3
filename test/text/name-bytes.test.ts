import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { systemPath } from '../../src/hash/system-path.ts';
import { decoderOf, nameBytes, nameText } from '../../src/text/name-bytes.ts';
import { printable } from '../../src/text/printable.ts';
import { runs } from '../support/runs.ts';

describe('nameText', () => {
  it('keeps UTF-8 as it is, and every other byte as a surrogate', () => {
    assert.equal(nameText(Buffer.from('é/😀')), 'é/😀');
    assert.equal(nameText(Buffer.from('caf\xe9.txt', 'latin1')), 'caf\udce9.txt');
    // A truncated and an overlong character, and a surrogate in UTF-8, between valid ones.
    const bytes = Buffer.from('61e282c3a9c080eda0806f', 'hex');
    assert.equal(nameText(bytes), 'a\udce2\udc82é\udcc0\udc80\udced\udca0\udc80o');
  });

  it('gives back all bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        assert.deepEqual(nameBytes(nameText(bytes)), Buffer.from(bytes));
      }),
      { numRuns: runs(500) },
    );
  });

  it('prints each byte as \\xNN', () => {
    assert.equal(printable(nameText(Buffer.from('caf\xe9.txt', 'latin1'))), 'caf\\xe9.txt');
  });
});

describe('systemPath', () => {
  it('is bytes only where the path is not UTF-8', () => {
    assert.equal(systemPath('/é'), '/é');
    assert.deepEqual(systemPath('/\udce9'), Buffer.from('/\xe9', 'latin1'));
  });
});

describe('decoderOf', () => {
  it('knows the encodings of old torrents, and no others', () => {
    assert.equal(decoderOf('GBK')?.decode(Buffer.from('d6d0', 'hex')), '中');
    assert.equal(decoderOf('klingon'), null);
  });
});

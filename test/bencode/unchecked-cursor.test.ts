import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Cursor, template } from '../../src/bencode/unchecked-cursor.ts';
import { unsafeComponent } from '../../src/layout/safe-path.ts';
import { runs } from '../support/runs.ts';
import { bencodeValue, latin1, reference } from './reference.ts';

const cursorOver = (text: string) => new Cursor(latin1(text));

describe('Cursor.skip', () => {
  it('skips one value of any type', () => {
    fc.assert(
      fc.property(fc.array(bencodeValue, { minLength: 1, maxLength: 4 }), (values) => {
        const cursor = new Cursor(Buffer.concat(values.map(reference)));
        let end = 0;
        for (const value of values) {
          cursor.skip();
          end += reference(value).length;
          assert.equal(cursor.at, end);
        }
      }),
    );
  });
});

describe('Cursor.skipExpected', () => {
  it('skips the expected bytes, and does not move otherwise', () => {
    const cursor = cursorOver('d1:ae');
    assert.ok(!cursor.skipExpected(template('d1:b')));
    assert.equal(cursor.at, 0);
    assert.ok(cursor.skipExpected(template('d1:a')));
    assert.deepEqual([cursor.at, cursor.atEnd], [4, true]);
    assert.ok(!cursor.skipExpected(template('ee')), 'only one is left');
  });
});

describe('Cursor.digits', () => {
  it('reads integers of up to 15 digits, and returns -1 for others', () => {
    const cases: [text: string, expected: number][] = [
      ['0', 0],
      ['7', 7],
      ['999999999999999', 999_999_999_999_999],
      ['1000000000000000', -1],
      ['9'.repeat(400), -1],
      ['-1', -1],
      ['-0', -1],
    ];
    for (const [text, expected] of cases) {
      const cursor = cursorOver(`i${text}ex`);
      cursor.at = 1;
      assert.equal(cursor.digits(), expected, text);
      assert.equal(String.fromCharCode(cursor.next), 'x', `${text} is passed over`);
    }
  });
});

describe('Cursor.text, .latin1 and .skipString', () => {
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 12 }), fc.string({ unit: 'grapheme' }).map(Buffer.from));

  it('read a string and stop after it', () => {
    fc.assert(
      fc.property(bytes, (given) => {
        const encoded = Buffer.concat([latin1('l'), reference(given), latin1('e')]);
        const fresh = () => Object.assign(new Cursor(encoded), { at: 1 });
        const [text, chars, place] = [fresh(), fresh(), fresh()];

        const decoded = Buffer.from(given).toString();
        assert.equal(text.text(), Buffer.from(decoded).equals(given) ? decoded : null);
        assert.equal(chars.latin1(), Buffer.from(given).toString('latin1'));
        assert.deepEqual(encoded.subarray(place.skipString(), place.at), Buffer.from(given));
        for (const cursor of [text, chars, place]) assert.ok(cursor.atEnd);
      }),
      { numRuns: runs(500) },
    );
  });

  it('keep a byte order mark', () => {
    assert.equal(new Cursor(reference('\ufeffa')).text(), '\ufeffa');
  });

  it('read views of larger buffers', () => {
    const cursor = new Cursor(latin1('xx3:abcxx').subarray(2, 7));
    assert.equal(cursor.text(), 'abc');
  });
});

describe('Cursor.suspicious', () => {
  const suspicious = (name: string) => {
    const cursor = new Cursor(reference(name));
    cursor.text();
    return cursor.suspicious;
  };

  it('is true for every name that cannot be a path component', () => {
    const part = fc.constantFrom('', '.', '/', '\\', ':', '\0', 'C', 'a', 'é', '\ufffd');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        const name = parts.join('');
        if (unsafeComponent(name) !== null) assert.ok(suspicious(name), JSON.stringify(name));
      }),
      { numRuns: runs(2000) },
    );
  });

  it('is true for replacement characters, and false for plain names', () => {
    assert.ok(suspicious('a\ufffd'));
    for (const name of ['a', 'a.txt', '...', '.hidden', '_ -']) assert.ok(!suspicious(name), name);
  });

  it('is reset by every text', () => {
    const cursor = cursorOver('2:..1:a');
    cursor.text();
    assert.ok(cursor.suspicious);
    cursor.text();
    assert.ok(!cursor.suspicious);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storedUrl, urlKey } from '../../src/text/urls.ts';

describe('urlKey', () => {
  it('ignores the case of the scheme and host, the default port, a missing slash and whitespace', () => {
    const groups = [
      ['http://a.example', 'HTTP://A.example:80/', ' http://a.example/\n'],
      ['https://user@a.example/x', 'https://user@A.example:443/x'],
      ['udp://a.example:80/x', 'UDP://A.Example:80/x'],
      ['wss://a.example', 'wss://a.example:443/'],
      ['udp://[2001:DB8::1]:1', 'udp://[2001:db8:0::1]:1/'],
      ['https://bücher.example/', 'https://xn--bcher-kva.example'],
      ['no url', ' no url '],
    ];
    const keys = groups.map((urls) => new Set(urls.map(urlKey)));
    for (const set of keys) assert.equal(set.size, 1, [...set].join(' '));
    assert.equal(new Set(keys.flatMap((set) => [...set])).size, groups.length);
  });

  it('tells other URLs apart', () => {
    const urls = [
      'http://a/x',
      'https://a/x',
      'udp://a/x',
      'http://a/X',
      'http://a:81/x',
      'http://b@a/x',
      'http://a/x?',
      '',
    ];
    assert.equal(new Set(urls.map(urlKey)).size, urls.length);
  });
});

describe('storedUrl', () => {
  it('trims, and writes blanks as %20, but leaves several URLs alone', () => {
    assert.equal(storedUrl('\t http://a/b c  d\r\n'), 'http://a/b%20c%20%20d');
    assert.equal(storedUrl('http://a/ http://b/'), 'http://a/ http://b/');
  });
});

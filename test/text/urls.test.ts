import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  hasPersonalKey,
  hasSecret,
  hostKey,
  hostKeysOf,
  parseUrl,
  shownUrl,
  storedUrl,
  urlBelow,
  urlKey,
  withoutSecrets,
} from '../../src/text/urls.ts';
import { withinCpu } from '../support/timing.ts';

describe('hostKey and hostKeysOf', () => {
  it('give one form to the hosts of trackers, with a port and without', () => {
    for (const [url, host, port] of [
      ['udp://Old.Example.:6969/x', 'OLD.example', '6969'],
      ['https://u:p@bücher.example/x', 'bücher.example', '443'],
      ['udp://old.example', 'old.example.', '080'],
      ['udp://[2001:DB8:0::1]:1', '[2001:db8::1]', '1'],
    ] as const)
      assert.deepEqual(hostKeysOf(url), [hostKey(`${host}:${port}`), hostKey(host)]);
    assert.deepEqual(hostKeysOf('old.example'), []);
    for (const text of ['', 'udp://a', 'a/b', 'a b', 'a:', 'a:65536', 'user@a', '::1'])
      assert.equal(hostKey(text), null, text);
    assert.equal(hostKey('a:65535'), 'a:65535');
  });
});

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

  it('takes other letters than ASCII however often it is called', () => {
    // URL.canParse of Node 20 refuses them after 8,000 calls.
    for (let i = 0; i < 20_000; i += 1) urlKey('https://a.example/');
    assert.equal(urlKey('https://b\u00fccher.example/'), 'https https://xn--bcher-kva.example/');
    for (let i = 0; i < 20_000; i += 1) parseUrl('x', 'https://a.example/');
    assert.equal(parseUrl('x', 'https://b\u00fccher.example/')?.href, 'https://xn--bcher-kva.example/x');
    for (let i = 0; i < 20_000; i += 1) urlBelow('https://a.example/', []);
    assert.equal(urlBelow('https://b\u00fccher.example/', ['x']), 'https://b\u00fccher.example/x');
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

describe('withoutSecrets', () => {
  const HIDDEN = [
    ['https://u:S3CRET@127.0.0.1:9/f', 'https://***@127.0.0.1:9/f'],
    ['https://S3CRET@h/f', 'https://***@h/f'],
    ['HTTPS://u:S3CRET@h', 'HTTPS://***@h'],
    ['https:/u:S3CRET@127.0.0.1:99999/f', 'https:/***@127.0.0.1:99999/f'],
    ['https:u:S3CRET@h/f', 'https:***@h/f'],
    ['https:\\\\u:S3CRET@h\\f', 'https:\\\\***@h\\f'],
    ['https://u:S3/CRET@h/f', 'https://***@h/f'],
    ['https://u:S3#CRET@h/f', 'https://***@h/f'],
    ['https://u:S3?CRET@h/f', 'https://***@h/f'],
    ['https://u:S3@CRET@h/f', 'https://***@h/f'],
    ["https://u:S3'CRET@h/f", 'https://***@h/f'],
    ['https://u:12%2FS3CRET@h/f', 'https://***@h/f'],
    ['redis://:S3CRET@h/1', 'redis://***@h/1'],
    ['postgres://u:S3CRET@h/d?password=S3CRET', 'postgres://***@h/d?password=***'],
    ['https://a/,https://u:S3CRET@b/', 'https://a/,https://***@b/'],
    ['https://h/f?X-Amz-Signature=S3CRET&a=1', 'https://h/f?X-Amz-Signature=***&a=1'],
    ['https://h/f?a=1;sig=S3%2FCRET%3D', 'https://h/f?a=1;sig=***'],
    ['https://h:x/f#access_token=S3CRET', 'https://h:x/f#access_token=***'],
    [
      'magnet:?xt=1&tr=https%3A%2F%2Fu%3AS3CRET%40h%2Fa%3Fpasskey%3DS3CRET',
      'magnet:?xt=1&tr=https%3A%2F%2F***%40h%2Fa%3Fpasskey%3D***',
    ],
  ] as const;

  it('hides users, passwords and secret parameters of URLs, also of malformed ones', () => {
    for (const [url, shown] of HIDDEN) {
      assert.equal(withoutSecrets(url, /$/), shown);
      assert.equal(withoutSecrets(`cannot read ${url}: no such file.`), `cannot read ${shown}: no such file.`);
      assert.equal(withoutSecrets(withoutSecrets(url)), withoutSecrets(url), 'twice');
    }
    assert.equal(withoutSecrets('https://u:S3 CRET@h/f', /$/), 'https://***@h/f');
  });

  it('leaves other texts alone', () => {
    for (const text of [
      '',
      'a@b.example',
      'C:\\u:p@x',
      'https://h:80/p@1.0/x',
      'https://[::1]:9/x@y',
      'mailto:a@b',
      'a=1&b=2',
      'https://h/?page=1',
    ])
      assert.equal(withoutSecrets(text), text);
  });

  it('takes linear time', () => {
    withinCpu(2, () => {
      for (const text of ['http://', '?token', '@http:', 'a@', '%40', 'a']) withoutSecrets(`${text.repeat(100_000)}@=`);
    });
  });
});

describe('shownUrl', () => {
  it('also hides personal keys in paths of URLs', () => {
    const key = '0123456789abcdef0123456789abcdef';
    assert.equal(shownUrl(`https://t.example/${key}/announce`), 'https://t.example/***/announce');
    assert.equal(shownUrl(`udp://t.example/?k=${key}`), 'udp://t.example/?k=***');
    assert.equal(shownUrl(`films/${key}/a`), `films/${key}/a`);
  });
});

describe('hasSecret', () => {
  it('tells URLs with passwords, signatures and tokens from others', () => {
    const secret = [
      'https://u:p@h/',
      'ftp://u@h/',
      'https://h/?X-Amz-Signature=a',
      'https://h/?a=1&token=x',
      'https://h/?SIG=x',
      'https://h/?key=12345678',
    ];
    for (const url of secret) assert.ok(hasSecret(url), url);
    for (const url of [
      'https://h/',
      'https://h/?key=en',
      'https://h/?token=',
      'https://h/?page=7',
      'no URL',
      'token=1',
    ])
      assert.ok(!hasSecret(url), url);
    assert.ok(hasPersonalKey('https://h/0123456789abcdef0123456789abcdef/announce'));
  });
});

describe('urlBelow', () => {
  it('appends encoded names to a path', () => {
    for (const base of ['https://h/a', 'https://h/a/'])
      assert.equal(urlBelow(base, ['b c', '1#2?3%4', 'é']), 'https://h/a/b%20c/1%232%3F3%254/%C3%A9');
    assert.equal(urlBelow('http://u:p@h', ['x']), 'http://u:p@h/x');
  });

  it('gives null for a base that no path can be appended to', () => {
    const bases = [
      'https://h/a#b',
      'https://h/a?b',
      'https://h/?',
      'https://h/#',
      'https:///a',
      'https://',
      'data:,x',
      'mailto:a@b',
      'https:h/a',
      '//h/a',
      'h/a',
      'https://h:x/',
      '',
    ];
    for (const base of bases) assert.equal(urlBelow(base, ['x']), null, base);
  });
});

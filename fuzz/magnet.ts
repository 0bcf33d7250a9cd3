// Fuzzes magnet links: every link that is read can be written and read again.
import assert from 'node:assert/strict';
import { ISSUE_CODES } from '../src/errors/codes.ts';
import { ValidationError } from '../src/errors/errors.ts';
import { formatMagnet, parseMagnet } from '../src/magnet/magnet.ts';
import { latin1 } from '../test/support/build.ts';
import type { Target } from './engine/target.ts';

const V1 = '39fe2490c2f99dfc67e946a77a1b3242c1ff632e';
const V2 = '663e53b47c945ca3a66f41889fcc99f85f99ebb6136a071c586681c6bc2c022c';

export const check: Target['check'] = (input) => {
  const link = input.toString('utf8').trim();
  let magnet: ReturnType<typeof parseMagnet>;
  try {
    magnet = parseMagnet(link);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    assert.ok(error.issues.length > 0);
    for (const { code, offset = -1, message, path } of error.issues) {
      assert.ok(Object.hasOwn(ISSUE_CODES, code) && code.startsWith('magnet'), code);
      assert.ok(offset >= 0 && offset <= link.length, `${code} at ${offset}`);
      assert.ok(message.length < 400, message);
      // The position where a parameter begins.
      if (path.length > 0) assert.match(link[offset - 1] ?? '', /[?&]/);
    }
    return;
  }
  assert.match(magnet.infohashV1 ?? V1, /^[0-9a-f]{40}$/);
  assert.match(magnet.infohashV2 ?? V2, /^[0-9a-f]{64}$/);
  const written = formatMagnet(magnet);
  assert.match(written, /^magnet:\?[!-~]+$/);
  assert.deepEqual(parseMagnet(written), { ...magnet, warnings: [] });
  assert.equal(formatMagnet(parseMagnet(written)), written);
};

export const seeds: Target['seeds'] = async () =>
  [
    `magnet:?xt=urn:btih:${V1}`,
    `magnet:?xt=urn:btih:HH7CJEGC7GO7YZ7JI2TXUGZSILA76YZO&dn=a+b%20%C3%A9`,
    `MAGNET:?xt.1=urn:btmh:1220${V2}&xt.2=urn:btih:${V1}&tr.1=udp%3A%2F%2Fa&ws=http://b/&so=0,2-4&xl=5`,
    `magnet:?xt=urn:btih:${V1}&x.pe=[::1]:6881&x.pe=h:1&as=http://c&xs=http://d&kt=x&xt=urn:sha1:ABC&=x&flag`,
    `magnet:?dn=%zz&xl=-1&so=3-1&x.pe=h&xt=urn:btih:abc`,
  ].map(latin1);

export const words = [
  ...[
    'magnet:?',
    '&',
    '=',
    'xt',
    'xt=urn:btih:',
    'xt.1=urn:btmh:1220',
    'xt=urn:btpk:',
    'urn:btih:',
    'dn',
    'tr',
    'tr.1',
    'ws',
  ],
  ...[
    'as',
    'xs',
    'xl',
    'xl=9007199254740991',
    'x.pe',
    'x.pe=[::1]:1',
    'x.pe=a:65535',
    'so',
    'so=0,2-4',
    '-',
    ',',
    '+',
    '%',
  ],
  ...[
    '%20',
    '%00',
    '%26',
    '%3D',
    '%c3%a9',
    '%ed%a0%80',
    '%F0%9F%98%80',
    '\xc3\xa9',
    '.1',
    '[',
    ']',
    '%25eth0',
    V1,
    V2,
    'X.PE=',
  ],
];

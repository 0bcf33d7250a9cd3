import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TorrentCreate } from '../../../src/create/draft.ts';
import type { TorrentCreateFields } from '../../../src/create/draft-fields.ts';
import { trackerFindings } from '../../../src/create/findings/tracker-findings.ts';

const draftOf = (fields: TorrentCreateFields) =>
  new TorrentCreate({ ...fields, sources: [{ path: 'a', data: Buffer.from('x') }] });

/** The findings as `code: message`, without the advice. */
const found = (fields: TorrentCreateFields) =>
  trackerFindings(draftOf(fields)).map(({ code, message }) => `${code}: ${message}`);

const tracker = (url: string) => found({ trackers: [url] });
const webseed = (url: string) => found({ urlList: [url] });

describe('trackerFindings', () => {
  it('finds nothing wrong with URLs that work', () => {
    const trackers = [
      'http://tracker.example/announce',
      'https://tracker.example:8443/announce?passkey=a,b&next=http://other.example/',
      'udp://tracker.example:80/announce',
      'UDP://tracker.example:80',
      'udp://[2001:db8::1]:6969',
      'ws://tracker.example',
      'wss://user:word@tracker.example/',
      'http://x.i2p/a',
    ];
    for (const url of trackers) assert.deepEqual(tracker(url), [], url);
    for (const url of [
      'http://a.example/Hello,%20World.mkv',
      'https://a.example/?u=http://b.example',
      'ftp://a.example/x/',
    ])
      assert.deepEqual(webseed(url), [], url);
    assert.deepEqual(found({ httpseeds: ['http://a.example/seed.php'] }), []);
    assert.deepEqual(found({}), []);
  });

  it('says why a tracker cannot work', () => {
    const cases: [url: string, problem: string][] = [
      ['tracker.example:80/announce', 'has no scheme'],
      ['localhost:6969/announce', 'has no scheme'],
      ['htp://tracker.example/announce', 'has the unknown scheme htp'],
      ['ftp://tracker.example/announce', 'has the unknown scheme ftp'],
      ['magnet:?xt=urn:btih:x', 'has the unknown scheme magnet'],
      ['udp://a.example:1/x,udp://b.example:2/x', 'is more than one URL'],
      ['http://a.example/x http://b.example/x', 'is more than one URL'],
      ['http://a.example/x\nhttp://b.example/x', 'is more than one URL'],
      ['http://a.example/announcehttp://b.example/announce', 'is more than one URL'],
      ['udp://a.example:1/x, b.example:2/x', 'is more than one URL'],
      ['http:///announce', 'has no host'],
      ['udp:///announce', 'has no host'],
      ['udp:tracker.example:80', 'has no host'],
      ['udp://tracker.example/announce', 'has no port, and UDP trackers have no default port'],
      ['udp://[2001:db8::1]/announce', 'has no port, and UDP trackers have no default port'],
      ['udp://user:80@tracker.example', 'has no port, and UDP trackers have no default port'],
      ['http://tracker.example:0/announce', 'has port 0'],
      [' http://tracker.example/announce', 'has whitespace around it'],
      ['http://tracker.example/announce\n', 'has whitespace around it'],
    ];
    for (const [url, problem] of cases) {
      const shown = JSON.stringify(url).replace('user:80@', '***@');
      assert.deepEqual(tracker(url), [`tracker_url: The tracker ${shown} ${problem}.`]);
      const [finding] = trackerFindings(draftOf({ announce: url }));
      assert.deepEqual([finding?.path, finding?.severity], [url.replace('user:80@', '***@'), 'warning']);
      assert.match(finding?.advice ?? '', /\.$/);
    }
  });

  it('proposes a URL only for a text that has no scheme', async () => {
    const sources = [{ path: 'a', data: Buffer.from('x') }];
    for (const [announce, advice] of [
      ['//h/x', 'Write it as http://h/x.'],
      ['localhost:6969/announce', 'Write it as http://localhost:6969/announce.'],
      ['magnet:?xt=1', 'Use one of these: http, https, udp, ws, wss.'],
    ] as const) {
      const { findings } = await TorrentCreate.plan({ sources, announce });
      assert.equal(findings.find(({ path }) => path === announce)?.advice, advice);
    }
  });

  it('says why a webseed or HTTP seed cannot work', () => {
    assert.deepEqual(webseed('udp://a.example:1/x'), [
      'webseed_url: The webseed "udp://a.example:1/x" has the unknown scheme udp.',
    ]);
    assert.deepEqual(webseed('http://a.example/x,http://b.example/x'), [
      'webseed_url: The webseed "http://a.example/x,http://b.example/x" is more than one URL.',
    ]);
    assert.deepEqual(found({ httpseeds: ['ftp://a.example/x'] }), [
      'webseed_url: The HTTP seed "ftp://a.example/x" has the unknown scheme ftp.',
    ]);
    assert.deepEqual(webseed('http://a.example/my file'), [
      'webseed_url: The webseed "http://a.example/my file" has blanks.',
    ]);
    const twice = ['http://a.example/x', 'HTTP://A.EXAMPLE/x', 'http://a.example/X'];
    assert.deepEqual(found({ urlList: twice }), ['webseed_url: The webseed "HTTP://A.EXAMPLE/x" is given twice.']);
  });

  it('says why an update URL cannot work', () => {
    assert.deepEqual(found({ info: { updateUrl: 'ftp://a.example/x' } }), [
      'update_url: The update URL "ftp://a.example/x" has the unknown scheme ftp.',
    ]);
    assert.deepEqual(found({ info: { updateUrl: 'https://a.example/x' } }), []);
  });

  it('makes an error of each text that is no URL, and of nothing else', async () => {
    const sources = [{ path: 'a', data: Buffer.from('x') }];
    const { findings } = await TorrentCreate.plan({
      sources,
      trackers: [['foo', 'http://'], ['', 'http://a.example:65536/x'], ['http://b.example/x']],
      urlList: ['x'],
      httpseeds: ['y'],
      info: { updateUrl: 'z', private: true },
    });
    const errors = findings.filter(({ severity }) => severity === 'error');
    assert.deepEqual(
      errors.map(({ code, path, message }) => [code, path, message]),
      [
        ['ERR_VALIDATION', 'foo', 'The tracker "foo" has no scheme.'],
        ['ERR_VALIDATION', 'http://', 'The tracker "http://" has no host.'],
        ['ERR_VALIDATION', '', 'The tracker "" is empty.'],
        ['ERR_VALIDATION', 'http://a.example:65536/x', 'The tracker "http://a.example:65536/x" is not a URL.'],
        ['ERR_VALIDATION', 'x', 'The webseed "x" has no scheme.'],
        ['ERR_VALIDATION', 'y', 'The HTTP seed "y" has no scheme.'],
        ['ERR_VALIDATION', 'z', 'The update URL "z" has no scheme.'],
      ],
    );
    assert.ok(errors.every(({ advice }) => advice.endsWith('.')));
    const others = TorrentCreate.plan({ sources, trackers: ['foo'], similar: ['x'] });
    await assert.rejects(others, { code: 'ERR_VALIDATION', message: /similar/ });
  });

  it('leaves to the draft what no draft may have', () => {
    for (const url of ['', 'tracker', 'http://', 'http://a.example:65536/', 'udp://a.example:99999/x', 'http://a b/'])
      assert.throws(() => draftOf({ trackers: [url] }), { code: 'ERR_VALIDATION' }, url);
    assert.throws(() => draftOf({ nodes: [['a.example', 0]] }), { code: 'ERR_VALIDATION' });
  });

  it('finds trackers that are listed twice, in any tier', () => {
    assert.equal(found({ trackers: ['https://A.example/x', 'HTTPS://a.example:443/x'] }).length, 1);
    assert.deepEqual(found({ trackers: ['https://user@a.example/x', 'https://USER@a.example/x'] }), []);
    const url = 'udp://a.example:1/x';
    const twice = [`duplicate_tracker: The tracker "${url}" is given twice.`];
    assert.deepEqual(found({ trackers: [[url], ['udp://b.example:1/x', url]] }), twice);
    assert.deepEqual(found({ trackers: [url, url] }), twice);
    assert.deepEqual(found({ announce: url, announceList: [[url]] }), []);
    assert.deepEqual(found({ trackers: [url, 'udp://a.example:1/X'] }), []);
  });

  it('finds what a private torrent cannot use', () => {
    const codes = (fields: TorrentCreateFields) =>
      trackerFindings(draftOf({ ...fields, info: { private: true } })).map(({ code }) => code);
    assert.deepEqual(codes({}), ['private_without_tracker']);
    assert.deepEqual(codes({ trackers: [[]] }), ['private_without_tracker']);
    assert.deepEqual(codes({ announce: 'http://a.example/x' }), []);
    assert.deepEqual(codes({ announceList: [['http://a.example/x']] }), []);
    assert.deepEqual(codes({ nodes: [['a.example', 6881]] }), ['private_without_tracker', 'private_with_nodes']);
    assert.deepEqual(codes({ trackers: ['http://a.example/x'], nodes: [] }), []);
    assert.deepEqual(found({ nodes: [['a.example', 6881]], info: { private: false } }), []);
  });
});

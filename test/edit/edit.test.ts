import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { decode } from '../../src/bencode/decode.ts';
import type { BencodeMap, Encodable } from '../../src/bencode/value.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { trackerFindings } from '../../src/create/findings/tracker-findings.ts';
import type { TorrentChanges } from '../../src/edit/changes.ts';
import { differences } from '../../src/edit/differences.ts';
import { edit } from '../../src/edit/edit.ts';
import { entriesOf } from '../../src/edit/replace-fields.ts';
import { ValidationError } from '../../src/errors/errors.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { latin1, reference } from '../bencode/reference.ts';
import { noise } from '../hash/reference.ts';
import { text } from '../model/arbitraries.ts';
import { libtorrentMissing } from '../support/external.ts';
import { LibtorrentOracle } from '../support/libtorrent.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/tree.ts';

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

async function generated(version: (typeof VERSIONS)[number], single: boolean, fields: object = {}): Promise<Torrent> {
  const sources = single
    ? [{ path: 'a.bin', data: noise(40_000) }]
    : [
        { path: 'a.bin', data: noise(40_000) },
        { path: 'b/c', data: noise(7) },
      ];
  const extra = new Map<string, Encodable>([
    ['zz custom', 'kept'],
    ['a first', 7],
  ]);
  const own = { ...(!single && { info: { name: 'folder' } }), sources, extra, ...fields };
  return new TorrentCreate(own as Record<string, unknown>).generate({ version });
}

const topOf = (torrent: Torrent) => decode(torrent.bencode()).value as BencodeMap;
const infoOf = (torrent: Torrent) => decode(torrent.infoBytes).value as BencodeMap;

const URLS = ['udp://a.example:1/x', 'http://b.example/announce?k=v', 'https://c.example/', 'wss://d.example'];
const url = fc.constantFrom(...URLS);
const urls = fc.uniqueArray(url, { minLength: 1, maxLength: 3 });
const TOP: Record<string, fc.Arbitrary<unknown>> = {
  trackers: fc.oneof(
    urls,
    urls.map((list) => [list]),
    fc.constant(null),
  ),
  addTrackers: urls,
  removeTrackers: urls,
  urlList: fc.option(urls),
  addWebseeds: urls,
  removeWebseeds: urls,
  httpseeds: fc.option(urls),
  nodes: fc.option(fc.array(fc.tuple(fc.constantFrom('a.example', '::1'), fc.integer({ min: 1, max: 65_535 })))),
  comment: fc.option(text),
  createdBy: fc.option(text),
  creationDate: fc.option(fc.integer({ min: 0, max: 2 ** 31 }).map((seconds) => new Date(seconds * 1000))),
  extra: fc.constantFrom({ 'zz custom': null }, { new: 'x' }, { 'a first': 8, ü: [1, 2] }),
};
const INFO: Record<string, fc.Arbitrary<unknown>> = {
  name: fc.constantFrom('other', 'ä', 'z.bin'),
  private: fc.constantFrom(true, false, null),
  source: fc.option(text),
  similar: fc.option(fc.array(fc.uint8Array({ minLength: 20, maxLength: 20 }), { minLength: 1, maxLength: 2 })),
  collections: fc.option(fc.array(text, { minLength: 1, maxLength: 2 })),
  updateUrl: fc.option(url),
  infoExtra: fc.constantFrom({ 'x-key': 1 }, { a: 'first' }, { 'x-key': null }),
};
const changesOf = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(fields, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<TorrentChanges>;

describe('edit', () => {
  for (const version of VERSIONS) {
    for (const single of [true, false]) {
      it(`changes only the given fields of a ${version} torrent of ${single ? 'a file' : 'a folder'}`, async () => {
        const torrents = [
          await generated(version, single),
          await generated(version, single, {
            trackers: [['udp://a.example:1/x', 'udp://old.example'], ['https://c.example/']],
            urlList: [URLS[2]],
            httpseeds: [URLS[1]],
            nodes: [['old.example', 1]],
            comment: 'old',
          }),
        ];
        fc.assert(
          fc.property(fc.constantFrom(...torrents), changesOf(TOP), changesOf(INFO), (torrent, top, info) => {
            const edited = edit(torrent, { ...top, ...info });
            // All other keys keep their bytes and their order.
            const touched = new Set(differences(torrent, edited).map(({ key }) => key));
            const named = new Set(
              Object.entries({
                announce: ['trackers', 'addTrackers', 'removeTrackers'],
                'announce-list': ['trackers', 'addTrackers', 'removeTrackers'],
                'url-list': ['urlList', 'addWebseeds', 'removeWebseeds'],
                httpseeds: ['httpseeds'],
                nodes: ['nodes'],
                comment: ['comment'],
                'created by': ['createdBy'],
                'creation date': ['creationDate'],
                'info.name': ['name'],
                'info.file tree': single && version !== 'v1' ? ['name'] : [],
                'info.private': ['private'],
                'info.source': ['source'],
                'info.similar': ['similar'],
                'info.collections': ['collections'],
                'info.update-url': ['updateUrl'],
                ...Object.fromEntries(['zz custom', 'new', 'a first', 'Ã¼'].map((key) => [key, ['extra']])),
                ...Object.fromEntries(['x-key', 'a'].map((key) => [`info.${key}`, ['infoExtra']])),
              }).flatMap(([key, by]) => (by.some((one) => one in top || one in info) ? [key] : [])),
            );
            for (const key of touched) assert.ok(named.has(key), key);
            assert.deepEqual(Buffer.from(edited.bencode()), reference(topOf(edited) as never), 'canonical');
            if (Object.keys(info).length === 0) assert.deepEqual(edited.infoBytes, torrent.infoBytes);
            assert.deepEqual(
              edited.files.map((file) => file.piecesRoot),
              torrent.files.map((file) => file.piecesRoot),
            );
            // An empty text removes its field.
            if ('comment' in top) assert.equal(edited.comment, top.comment || null);
            if ('httpseeds' in top) assert.deepEqual(edited.httpseeds, top.httpseeds);
            if ('nodes' in top) assert.deepEqual(edited.nodes, top.nodes?.length ? top.nodes : null);
            if ('similar' in info)
              assert.deepEqual(edited.info.similar ?? null, info.similar?.map((one) => Buffer.from(one)) ?? null);
            if ('collections' in info) {
              const names = info.collections?.filter((name) => name !== '') ?? [];
              assert.deepEqual(edited.info.collections ?? null, names.length > 0 ? names : null);
            }
            if ('updateUrl' in info) assert.equal(edited.info.updateUrl ?? null, info.updateUrl);
            if ('createdBy' in top) assert.equal(edited.createdBy, top.createdBy || null);
            if ('creationDate' in top) assert.deepEqual(edited.creationDate, top.creationDate);
            if ('name' in info) assert.equal(edited.name, info.name);
            if ('source' in info) assert.equal(edited.info.source ?? null, info.source || null);
            if ('private' in info) assert.equal(edited.info.private ?? false, info.private ?? false);
            const removed = 'addTrackers' in top ? [] : (top.removeTrackers ?? []);
            for (const tracker of removed) assert.ok(!edited.flatTrackers.includes(tracker));
            for (const added of top.addTrackers ?? []) assert.ok(edited.flatTrackers.includes(added as string));
            // A second edit with the same changes keeps the infohash.
            const again = edit(edited, { ...top, ...info, removeTrackers: [], removeWebseeds: [] });
            if (!('trackers' in top || 'urlList' in top)) assert.equal(again.infohashV1, edited.infohashV1);
          }),
          { numRuns: runs(150) },
        );
      });
    }
  }

  it('removes all trackers and webseeds of a host, or of a host and port', async () => {
    const trackers = [
      ['udp://Old.example:1/x', 'udp://b.example:1'],
      ['https://old.example/y?old.example'],
      ['http://old.example.org'],
    ];
    const torrent = await generated('v1', true, { trackers, urlList: ['http://old.example/a', 'http://b.example/a'] });
    const without = (...removeTrackers: string[]) => edit(torrent, { removeTrackers }).announceList;
    assert.deepEqual(without('OLD.example'), [['udp://b.example:1'], ['http://old.example.org']]);
    assert.deepEqual(without('old.example:1'), [['udp://b.example:1'], ...trackers.slice(1)]);
    assert.deepEqual(without('old.example:443', 'b.example:2'), [trackers[0], trackers[2]]);
    const none = edit(torrent, { removeTrackers: ['old.example', 'b.example', 'old.example.org'] });
    assert.deepEqual([none.announce, none.announceList], [null, null]);
    assert.deepEqual(edit(torrent, { removeWebseeds: ['old.example'] }).webseeds, ['http://b.example/a']);
    const warnings: string[] = [];
    const removeTrackers = ['example', 'old.example:2', 'b.example'];
    edit(
      torrent,
      { removeTrackers, removeWebseeds: ['c.example'] },
      { onWarning: ({ message }) => warnings.push(message) },
    );
    assert.deepEqual(warnings, [
      'The torrent does not have a tracker of the host "example".',
      'The torrent does not have a tracker of the host "old.example:2".',
      'The torrent does not have a webseed of the host "c.example".',
    ]);
  });

  it('replaces texts in trackers and webseeds', async () => {
    const trackers = [['udp://old.example:1/x', 'udp://b.example:1'], ['udp://new.example:1/x']];
    const torrent = await generated('v1', true, {
      trackers,
      urlList: ['http://old.example/'],
      httpseeds: ['http://old.example/'],
    });
    const replaceTrackers = [{ from: 'old.example', to: 'new.example' }];
    const edited = edit(torrent, { replaceTrackers, replaceWebseeds: [{ from: '//old.', to: '//$&.' }] });
    assert.deepEqual(edited.announceList, [['udp://new.example:1/x', 'udp://b.example:1']]);
    assert.equal(edited.announce, 'udp://new.example:1/x');
    assert.deepEqual([edited.webseeds, edited.httpseeds], [['http://$&.example/'], ['http://old.example/']]);
    assert.equal(edited.infohashV1, torrent.infohashV1);
    const single = await generated('v1', true, { trackers: ['udp://old.example:1/x'] });
    const chain = [...replaceTrackers, { from: 'new.', to: 'last.' }];
    const codes: string[] = [];
    const onWarning = ({ code, path }: { code: string; path: string | null }) => codes.push(`${code} ${path}`);
    const last = edit(single, { replaceTrackers: chain }, { onWarning }).flatTrackers;
    assert.deepEqual([last, codes], [['udp://last.example:1/x'], []]);
    assert.deepEqual(
      edit(torrent, { replaceTrackers: [{ from: 'none', to: '' }] }, { onWarning }).bencode(),
      torrent.bencode(),
    );
    assert.deepEqual(codes, ['not_in_torrent none']);
    const broken = { replaceTrackers: [{ from: 'udp:', to: '' }], replaceWebseeds: [{ from: 'http:', to: '' }] };
    assert.throws(
      () => edit(torrent, broken),
      (error) => {
        assert.ok(error instanceof ValidationError);
        return new Set(error.issues.map(({ path }) => path[0])).size === 2;
      },
    );
    assert.throws(() => edit(torrent, { replaceTrackers: [{ from: '', to: 'x' }] }), /expected text/);
    for (const wrong of [[{ from: '', to: 'x' }], [{ from: 'x' }], 'x', [['a', 'b']]])
      assert.throws(() => edit(torrent, { replaceTrackers: wrong } as TorrentChanges), ValidationError);
  });

  it('sets a random key with entropy', async () => {
    const torrent = await generated('hybrid', false);
    const [one, other] = [edit(torrent, { entropy: true }), edit(torrent, { entropy: true })];
    assert.notEqual(one.infohashV2, other.infohashV2);
    assert.equal((one.info.extra?.get('entropy') as Uint8Array | undefined)?.length, 32);
    assert.deepEqual(edit(torrent, { entropy: false }).bencode(), torrent.bencode());
    assert.throws(() => edit(torrent, { entropy: true }, { keepInfohash: true }), /entropy would change the infohash/);
    assert.notEqual(edit(torrent, { entropy: true, infoExtra: { entropy: 1 } }).info.extra?.get('entropy'), 1);
  });

  it('returns the same bytes for no changes, even of a torrent that is not canonical', async () => {
    for (const version of VERSIONS) {
      const torrent = await generated(version, false);
      assert.deepEqual(Buffer.from(edit(torrent, {}).bencode()), Buffer.from(torrent.bencode()));
    }
    // Keys out of order and twice, leading zeros, and bytes after the end.
    const pieces = Buffer.alloc(20, 1).toString('latin1');
    const info = `d6:lengthi07e4:name1:a12:piece lengthi16384e6:pieces20:${pieces}e`;
    const odd = latin1(`d4:info${info}7:comment1:x8:announce9:udp://a:17:comment1:ye trailing`);
    const context = { profile: 'compat' as const };
    const torrent = Torrent.fromBytes(odd, { context });
    assert.deepEqual(Buffer.from(edit(torrent, {}, { context }).bencode()), odd);
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
    assert.equal(
      text(edit(torrent, { comment: 'new' }, { context }).bencode()),
      `d4:info${info}7:comment3:new8:announce9:udp://a:1e trailing`,
    );
    assert.equal(
      text(edit(torrent, { comment: null }, { context }).bencode()),
      `d4:info${info}8:announce9:udp://a:1e trailing`,
    );
    assert.equal(edit(torrent, { comment: 'new' }, { context }).infohashV1, torrent.infohashV1);
  });

  it('keeps the tiers of trackers, appends new trackers, and removes trackers', async () => {
    const torrent = await generated('v1', true, { trackers: [['udp://a', 'udp://b'], ['udp://c']] });
    const tiers = (changes: TorrentChanges) => {
      const { announce, announceList } = edit(torrent, changes);
      return [announce, announceList];
    };
    assert.deepEqual(tiers({ addTrackers: ['udp://b', 'udp://d'] }), [
      'udp://a',
      [['udp://a', 'udp://b'], ['udp://c'], ['udp://d']],
    ]);
    assert.deepEqual(tiers({ addTrackers: [['udp://d', 'udp://e']] })[1], [
      ['udp://a', 'udp://b'],
      ['udp://c'],
      ['udp://d', 'udp://e'],
    ]);
    assert.deepEqual(tiers({ removeTrackers: ['udp://a'] }), ['udp://b', [['udp://b'], ['udp://c']]]);
    assert.deepEqual(tiers({ removeTrackers: ['udp://a', 'udp://b'] }), ['udp://c', null]);
    assert.deepEqual(tiers({ trackers: null }), [null, null]);
    assert.deepEqual(tiers({ trackers: ['udp://x'] }), ['udp://x', null]);
    assert.deepEqual(tiers({ trackers: [['udp://x', 'udp://y']], removeTrackers: ['udp://x'] }), ['udp://y', null]);
  });

  it('keeps all bytes when the trackers and webseeds stay the same', () => {
    const info = reference({ length: 7, name: 'a', 'piece length': 16384, pieces: Buffer.alloc(20, 1) }).toString(
      'latin1',
    );
    const cases = [
      '8:announce8:udp://a113:announce-listll8:udp://a1ee4:info',
      '8:announce8:udp://a113:announce-listll8:udp://b1ee4:info',
      '8:announce8:udp://a113:announce-listlle l8:udp://b1ee4:info'.replace(' ', ''),
    ];
    for (const top of cases) {
      const bytes = latin1(`d${top}${info}8:url-list8:http://wee`.replace(/ee$/, 'e'));
      const torrent = Torrent.fromBytes(bytes);
      const same = (changes: TorrentChanges) =>
        assert.deepEqual(Buffer.from(edit(torrent, changes).bencode()), bytes, top);
      same({ removeTrackers: ['udp://zz'] });
      same({ removeWebseeds: ['http://zz'] });
      same({ addWebseeds: ['http://w'] });
    }
    const replaced = Torrent.fromBytes(latin1(`d${cases[1]}${info}e`));
    const added = edit(replaced, { addTrackers: ['udp://c1'] });
    assert.deepEqual([added.announce, added.announceList], ['udp://a1', [['udp://b1'], ['udp://c1']]]);
    const removed = edit(replaced, { removeTrackers: ['udp://a1'] });
    assert.deepEqual([removed.announce, removed.announceList], ['udp://b1', null]);
  });

  it('keeps the bytes of a second info', () => {
    const info = 'd6:lengthi5e4:name1:a12:piece lengthi16384e6:pieces20:xxxxxxxxxxxxxxxxxxxxe';
    const bytes = latin1(`d4:info${info}4:infodee`);
    const torrent = Torrent.fromBytes(bytes);
    assert.deepEqual(Buffer.from(edit(torrent, {}).bencode()), Buffer.from(bytes));
    const edited = edit(torrent, { comment: 'x' });
    assert.equal(Buffer.from(edited.bencode()).toString('latin1'), `d7:comment1:x4:info${info}4:infodee`);
  });

  it('reads comment.utf-8 and created by.utf-8 before the others, and comment alone in strict', () => {
    const info = 'd6:lengthi5e4:name1:a12:piece lengthi16384e6:pieces20:xxxxxxxxxxxxxxxxxxxxe';
    const bytes = (comment: string, by: string) =>
      latin1(
        `d7:comment${comment}13:comment.utf-83:\xe6\x96\xb010:created by${by}16:created by.utf-83:\xc3\xa9x4:info${info}e`,
      );
    const old = Torrent.fromBytes(bytes('2:\xbe\xc9', '2:\xe9x'));
    assert.deepEqual([old.comment, old.createdBy, old.warnings], ['新', 'éx', []]);
    assert.equal(Torrent.fromBytes(bytes('1:x', '1:y')).comment, '新');
    assert.equal(Torrent.fromBytes(bytes('1:x', '1:y'), { context: { profile: 'strict' } }).comment, 'x');
  });

  it('removes comment.utf-8 with comment, and compares the first of two equal keys', () => {
    const info = reference({ length: 7, name: 'a', 'piece length': 16384, pieces: Buffer.alloc(20, 1) }).toString(
      'latin1',
    );
    const old = Torrent.fromBytes(latin1(`d7:comment1:a13:comment.utf-81:b4:info${info}e`));
    assert.equal(edit(old, { comment: 'new' }).extra.size, 0);
    const twice = Torrent.fromBytes(latin1(`d7:comment1:a7:comment1:b4:info${info}e`));
    assert.deepEqual(
      differences(twice, edit(twice, { comment: 'b' })).map(({ key }) => key),
      ['comment'],
    );
  });

  it('edits a torrent that was read with higher limits', () => {
    const info = reference({ length: 7, name: 'a', 'piece length': 16384, pieces: Buffer.alloc(20, 1) }).toString(
      'latin1',
    );
    const deep = latin1(`d4:info${info}1:z${'l'.repeat(600)}${'e'.repeat(600)}e`);
    const torrent = Torrent.fromBytes(deep, { limits: { depth: 1000 } });
    assert.equal(edit(torrent, { comment: 'x' }).comment, 'x');
  });

  it('rejects every change of the infohash with keepInfohash', async () => {
    for (const version of VERSIONS) {
      const torrent = await generated(version, false, { info: { name: 'folder', source: 'S' } });
      const keep = { keepInfohash: true };
      assert.equal(edit(torrent, { comment: 'x', trackers: ['udp://a'] }, keep).infohashV2, torrent.infohashV2);
      // Values that `info` holds already change nothing.
      assert.equal(edit(torrent, { source: 'S', name: 'folder', private: null }, keep).infohashV1, torrent.infohashV1);
      for (const changes of [{ name: 'x' }, { source: null }, { private: true }, { infoExtra: { x: 1 } }])
        assert.throws(() => edit(torrent, changes, keep), { code: 'ERR_INFOHASH' });
    }
  });

  it('rejects invalid values', async () => {
    const torrent = await generated('hybrid', false);
    const wrong: object[] = [
      { name: '..' },
      { name: 'a/b' },
      { name: '\ud800' },
      { name: 7 },
      { trackers: ['no url'] },
      { addTrackers: [['no url']] },
      { trackers: 5 },
      { trackers: [5] },
      { addTrackers: 'udp://a' },
      { removeTrackers: [5] },
      { urlList: 'http://a/' },
      { removeWebseeds: 'http://a/' },
      { addWebseeds: [7] },
      { comment: 7 },
      { creationDate: new Date(Number.NaN) },
      { creationDate: '2020-01-01' },
      { creationDate: '' },
      { creationDate: 0 },
      { similar: ['xyz'] },
      { collections: [7] },
      { httpseeds: ['no url'] },
      { httpseeds: [undefined] },
      { nodes: 5 },
      { httpseeds: 'http://a/' },
      { similar: 5 },
      { collections: 'a' },
      { private: 'no' },
      { private: 1 },
      { collections: [null] },
      { nodes: [null] },
      { nodes: [['[::1]', 1]] },
      { nodes: [[Symbol('a'), 1]] },
      { nodes: [['a']] },
      { nodes: [['', 1]] },
      { nodes: [['a', 0]] },
      { nodes: [['a', 65_536]] },
      { nodes: [['a', 1.5]] },
      { nodes: [['\ud800', 1]] },
      { updateUrl: 'no url' },
      { updateUrl: '' },
    ];
    for (const changes of wrong) {
      const check = (error: unknown) => {
        assert.ok(error instanceof ValidationError, inspect(changes));
        assert.deepEqual([error.code, error.subject], ['ERR_VALIDATION', 'edit']);
        // The name of the field is the caller's own.
        assert.deepEqual(new Set(error.issues.map(({ path: [field] }) => field)), new Set(Object.keys(changes)));
        return true;
      };
      assert.throws(() => edit(torrent, changes as TorrentChanges), check, inspect(changes));
    }
    for (const value of [true, 1.5, new Date(), [null]])
      for (const field of ['extra', 'infoExtra'])
        assert.throws(
          () => edit(torrent, { [field]: { x: value } } as TorrentChanges),
          (error: ValidationError) => error.issues[0]?.path.join('.') === `${field}.x`,
        );
    const misused: object[] = [
      { unknown: 1 },
      { extra: null },
      { extra: 'x' },
      { extra: ['x'] },
      { extra: new Map([['x', 1]]) },
      { infoExtra: null },
      { extra: { nodes: null } },
      { extra: { httpseeds: ['http://a/'] } },
      { infoExtra: { 'update-url': 'http://a/' } },
      { extra: { info: new Map() } },
      { extra: { 'piece layers': null } },
      { extra: { announce: 'udp://x' } },
      { infoExtra: { name: 'x' } },
      { infoExtra: { source: 'x' } },
      { infoExtra: { pieces: null } },
      { infoExtra: { 'piece length': 1 } },
    ];
    for (const changes of misused)
      assert.throws(() => edit(torrent, changes as TorrentChanges), { code: 'ERR_INVALID_ARGUMENT' }, inspect(changes));
  });

  it('fails for a bad value as a draft does, and lists the issues of all values', async () => {
    const torrent = await generated('v1', true);
    const issuesOf = (make: () => unknown) => {
      try {
        make();
      } catch (error) {
        assert.ok(error instanceof ValidationError);
        return error.issues.toSorted((a, b) => (`${a.path}` < `${b.path}` ? -1 : 1));
      }
      return assert.fail('no error');
    };
    const bad = {
      trackers: ['nope'],
      httpseeds: [7],
      nodes: [['a', 0]],
      comment: 7,
      creationDate: new Date(Number.NaN),
      similar: ['x'],
      collections: 'a',
    };
    const ours = issuesOf(() => edit(torrent, bad as never));
    assert.deepEqual(
      ours,
      issuesOf(() => new TorrentCreate(bad as never)),
    );
    assert.deepEqual(
      issuesOf(() => edit(torrent, { addTrackers: ['nope'], removeTrackers: [5 as never] })).map(({ code, path }) => [
        code,
        path,
      ]),
      [
        ['url', ['addTrackers']],
        ['type', ['removeTrackers', 0]],
      ],
    );
  });

  it('refuses a creation date in milliseconds, as a draft does', async () => {
    const torrent = await generated('v1', true);
    // The date of 1,449,000,000,000 seconds.
    const creationDate = new Date(1_449_000_000_000_000);
    const expected = {
      code: 'ERR_VALIDATION',
      message: /creationDate: expected a date up to the year 9999, .*not milli/,
    };
    assert.throws(() => edit(torrent, { creationDate }), expected);
    assert.throws(() => new TorrentCreate({ creationDate: 1_449_000_000_000 as never }), expected);
    const last = new Date('9999-12-31T23:59:59Z');
    assert.deepEqual(edit(torrent, { creationDate: last }).creationDate, last);
  });

  it('compares trackers and webseeds as URLs', async () => {
    const trackers = ['https://Tracker.example/announce', 'UDP://Other.example:80/X'];
    const torrent = await generated('v1', true, { trackers, urlList: ['http://Web.example:80/a'] });
    const same = [
      'https://tracker.example/announce',
      'HTTPS://tracker.EXAMPLE:443/announce',
      ' https://tracker.example/announce\n',
      'udp://other.example:80/X',
    ];
    assert.equal(edit(torrent, { addTrackers: same }).bencode().length, torrent.fileSize);
    for (const url of same) assert.equal(edit(torrent, { removeTrackers: [url] }).flatTrackers.length, 1, url);
    const others = ['http://tracker.example/announce', 'https://tracker.example/Announce', 'udp://other.example:81/X'];
    assert.deepEqual(edit(torrent, { addTrackers: others }).flatTrackers, [...trackers, ...others]);
    assert.equal(edit(torrent, { removeTrackers: others }).flatTrackers.length, 2);
    const web = 'HTTP://web.example/a';
    assert.equal(edit(torrent, { addWebseeds: [web] }).webseeds.length, 1);
    assert.deepEqual(edit(torrent, { removeWebseeds: [web] }).webseeds, []);
  });

  it('stores URLs without whitespace around them, and with %20 for a blank, as a draft does', async () => {
    const torrent = await generated('v1', true);
    const urls = {
      trackers: [' http://a.example/x\n'],
      urlList: ['http://b.example/my file.iso'],
      httpseeds: ['http://c/d e '],
    };
    const edited = edit(torrent, { ...urls, updateUrl: ' http://d/e f' });
    for (const one of [edited, await generated('v1', true, { ...urls, info: { updateUrl: ' http://d/e f' } })]) {
      assert.equal(one.announce, 'http://a.example/x');
      assert.deepEqual([one.urlList, one.httpseeds], [['http://b.example/my%20file.iso'], ['http://c/d%20e']]);
      assert.equal(one.info.updateUrl, 'http://d/e%20f');
    }
  });

  it('tells onWarning of URLs that cannot work, contradictions and absent trackers', async () => {
    const torrent = await generated('v1', true, { trackers: ['udp://old.example/'], urlList: ['http://w/'] });
    const warned = (changes: TorrentChanges) => {
      const messages: string[] = [];
      edit(torrent, changes, { onWarning: ({ code, message }) => messages.push(`${code}: ${message}`) });
      return messages;
    };
    const draft = (fields: object) =>
      trackerFindings(new TorrentCreate({ name: 'a', ...fields })).map(({ code, message }) => `${code}: ${message}`);
    // Nothing about what was there before.
    assert.deepEqual(warned({ comment: 'x', addTrackers: ['udp://a.example:1/'] }), []);
    const trackers = ['udp://x.example/announce', 'http://a/b c', 'http://d/', 'HTTP://D:80/'];
    assert.deepEqual(warned({ addTrackers: trackers }), draft({ trackers }));
    assert.equal(draft({ trackers }).length, 3);
    assert.deepEqual(warned({ private: true, trackers: null }), draft({ info: { private: true } }));
    assert.deepEqual(
      warned({ private: true, nodes: [['a', 1]], trackers: ['http://a/'] }),
      draft({ trackers: ['http://a/'], nodes: [['a', 1]], info: { private: true } }),
    );
    assert.deepEqual(warned({ removeTrackers: ['udp://OLD.example', 'udp://no/'], removeWebseeds: ['http://v/'] }), [
      'not_in_torrent: The torrent does not have the tracker "udp://no/".',
      'not_in_torrent: The torrent does not have the webseed "http://v/".',
    ]);
  });

  it('tells onWarning of absent keys, and of a name that clients change', async () => {
    const torrent = await generated('v1', true, {});
    const warned = (changes: TorrentChanges) => {
      const messages: string[] = [];
      edit(torrent, changes, { onWarning: ({ code, path }) => messages.push(`${code}: ${path}`) });
      return messages;
    };
    assert.deepEqual(warned({ extra: { nothing: null, 'zz custom': null }, infoExtra: { none: null, new: 1 } }), [
      'not_in_torrent: nothing',
      'not_in_torrent: none',
    ]);
    // Keys are no URLs, whose case and blanks do not count.
    assert.deepEqual(warned({ extra: { 'zz custom ': null } }), ['not_in_torrent: zz custom ']);
    assert.deepEqual(warned({ name: 'a\u200eb' }), ['client_name: a\u200eb']);
    assert.deepEqual(warned({ name: 'n'.repeat(245) }), [`client_name: ${'n'.repeat(245)}`]);
    assert.deepEqual(warned({ name: 'a' }), []);
  });

  it('keeps the infohash where a change of info means the same', () => {
    const info = { length: 7, name: 'a', 'piece length': 16384, pieces: Buffer.alloc(20, 1), private: 0, similar: [] };
    const torrent = Torrent.fromBytes(reference({ info: { ...info, collections: [] } }));
    const same = { private: false, similar: null, collections: null };
    assert.equal(edit(torrent, same, { keepInfohash: true }).infohashV1, torrent.infohashV1);
    // Null removes the key.
    assert.notEqual(edit(torrent, { private: null }).infohashV1, torrent.infohashV1);
    const closed = edit(torrent, { private: true });
    assert.deepEqual([closed.info.private, edit(closed, { private: false }).info.private ?? null], [true, null]);
  });

  it('removes a field by an empty text', async () => {
    const bare = await generated('hybrid', true, { createdBy: null });
    const full = await generated('hybrid', true, { createdBy: 'me', comment: 'c', source: 's', collections: ['x'] });
    const none = { createdBy: '', comment: '', source: '', collections: [''] };
    assert.deepEqual(edit(full, none).bencode(), bare.bencode());
    assert.deepEqual(edit(bare, none, { keepInfohash: true }).bencode(), bare.bencode());
    // A key that is empty already is removed as well.
    const odd = Torrent.fromBytes(
      reference({
        comment: '',
        'piece layers': topOf(bare).get('piece layers') ?? {},
        info: { ...Object.fromEntries(infoOf(bare)), source: '' },
      }),
    );
    const tidy = edit(odd, { source: '', comment: '' });
    assert.deepEqual([tidy.infohashV2, tidy.comment], [bare.infohashV2, null]);
  });

  it('keeps the infohash when similar and collections stand beside info (BEP 38)', async () => {
    const torrent = await generated('hybrid', true, { collections: ['inside'] });
    const extra = { similar: [Buffer.alloc(20, 1)], collections: ['outside'] };
    const edited = edit(torrent, { extra }, { keepInfohash: true });
    assert.deepEqual(edited.similar, extra.similar);
    assert.deepEqual(edited.collections, ['inside', 'outside']);
    assert.deepEqual(edit(edited, { extra: { collections: null } }).collections, ['inside']);
    assert.throws(() => edit(torrent, { extra: { similar: 'x' } }), { code: 'ERR_VALIDATION' });
  });

  it('makes torrents that libtorrent loads with the same infohashes', {
    skip: libtorrentMissing(),
  }, async (t) => {
    const oracle = new LibtorrentOracle();
    const folder = await temporaryFolder(t);
    try {
      for (const version of VERSIONS) {
        for (const single of [true, false]) {
          const torrent = await generated(version, single);
          const changes: TorrentChanges = {
            name: 'renamed',
            private: true,
            source: 'S',
            comment: null,
            addTrackers: ['udp://a'],
            extra: { x: 1 },
          };
          const edited = edit(torrent, changes);
          const file = path.join(folder, 'edited.torrent');
          await writeFile(file, edited.bencode());
          const { v1, v2, files } = await oracle.load(file);
          assert.deepEqual([v1, v2], [edited.infohashV1, edited.infohashV2]);
          assert.notEqual(edited.infohashV1 ?? edited.infohashV2, torrent.infohashV1 ?? torrent.infohashV2);
          assert.ok(files >= edited.nFiles);
        }
      }
    } finally {
      await oracle.close();
    }
  });

  it('renames the file of a single-file torrent in its tree, but no folder of the same name', async () => {
    const file = edit(await generated('v2', true), { name: 'new.bin' });
    assert.deepEqual(
      file.files.map((one) => one.path),
      ['new.bin'],
    );
    const sources = [{ path: 'folder/a', data: noise(10) }];
    const folder = await new TorrentCreate({ info: { name: 'folder' }, sources }).generate({ version: 'v2' });
    assert.deepEqual(
      edit(folder, { name: 'other' }).files.map((one) => one.path),
      ['folder/a'],
    );
    const one = await new TorrentCreate({
      info: { name: 'folder' },
      sources: [{ path: 'a', data: noise(10) }],
    }).generate({ version: 'v2' });
    assert.throws(() => edit(one, { name: 'a' }), { code: 'ERR_VALIDATION' });
    assert.equal(infoOf(edit(folder, { name: 'other' })).size, infoOf(folder).size);
    assert.equal(entriesOf(folder.bencode(), folder.infoBytes).end, folder.fileSize);
  });
});

import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { decode, TorrentCreate } from '../../src/index.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const sources = [{ path: 'a', data: Buffer.alloc(5, 1) }];
const key = (text: string) => Buffer.from(text);
/** The raw info dictionary of a draft's torrent. */
async function infoOf(fields: object, version: 'v1' | 'v2' | 'hybrid' = 'hybrid') {
  const torrent = await new TorrentCreate(fields).generate({ version });
  return decode(torrent.infoBytes).value as Map<string, unknown>;
}

async function files(t: TestContext): Promise<string> {
  const pathRoot = path.join(await temporaryFolder(t), 'r');
  await writeTree(pathRoot, { a: 5 });
  return pathRoot;
}

describe('the fields of a draft', () => {
  it('keep the unknown keys of a leaf in the file tree', async (t) => {
    const pathRoot = await files(t);
    const leaf = new Map([['', { length: 5, extra: new Map([['x-leaf', 7]]) }]]);
    const tree = (await infoOf({ pathRoot, info: { name: 'r', fileTree: new Map([['a', leaf]]) } })).get('file tree');
    const read = (tree as Map<string, Map<string, Map<string, unknown>>>).get('a')?.get('');
    assert.equal(read?.get('x-leaf'), 7);
    assert.equal(read?.get('length'), 5);
  });

  it('keep the unknown keys of a file in the file list', async (t) => {
    const pathRoot = await files(t);
    const info = { name: 'r', files: [{ length: 5, path: ['a'], 'x-file': 7 }] };
    const list = (await infoOf({ pathRoot, info }, 'v1')).get('files') as Map<string, unknown>[];
    assert.equal(list[0]?.get('x-file'), 7);
  });

  it('accept the on-disk key of a pieces root, and compare it with the files', async (t) => {
    const pathRoot = await files(t);
    const draft = (root: Buffer) =>
      new TorrentCreate({ pathRoot, info: { name: 'r', fileTree: { a: { '': { length: 5, 'pieces root': root } } } } });
    assert.throws(() => draft(Buffer.alloc(31)), { code: 'ERR_VALIDATION' });
    await assert.rejects(draft(Buffer.alloc(32, 1)).generate(), { code: 'ERR_HASH_MISMATCH' });
    const right = (await new TorrentCreate({ pathRoot }).generate()).flatFiles?.get('a')?.piecesRoot as Buffer;
    assert.equal((await draft(right).generate()).flatFiles?.get('a')?.length, 5);
  });

  it('accept Maps like plain objects, with keys of text or bytes', async () => {
    const info = new Map<unknown, unknown>([
      [key('name'), 'n'],
      [key('x-info'), 3],
    ]);
    const draft = new TorrentCreate(
      new Map<unknown, unknown>([
        ['sources', sources],
        [key('comment'), 'c'],
        ['created by', null],
        [key('\u00e9'), 1],
        ['info', info],
      ]) as never,
    );
    const torrent = await draft.generate();
    assert.deepEqual([torrent.comment, torrent.createdBy, torrent.name], ['c', null, 'n']);
    assert.deepEqual([...torrent.extra], [['\u00c3\u00a9', 1]]);
    assert.equal(torrent.info.extra?.get('x-info'), 3);
  });

  it('copy arrays, so that later changes by the caller have no effect', async () => {
    const trackers = ['http://a.example/'];
    const tiers = [['http://a.example/']];
    const parts = ['a'];
    const files = [{ length: 5, path: parts }];
    const draft = new TorrentCreate({ trackers, info: { name: 'n', files } });
    const tiered = new TorrentCreate({ announceList: tiers });
    trackers.push('not a url');
    tiers[0]?.push('not a url');
    parts.push('b');
    assert.deepEqual(draft.getTrackers(), { announce: 'http://a.example/' });
    assert.deepEqual(tiered.getTrackers(), { 'announce-list': [['http://a.example/']] });
    assert.deepEqual(draft.info.files, [{ attr: null, length: 5, path: ['a'] }]);
  });

  it('reject a torrent, a copy of a torrent and a draft', async () => {
    const draft = new TorrentCreate({ sources });
    const torrent = await draft.generate();
    for (const fields of [torrent, { ...torrent }, draft]) {
      assert.throws(() => new TorrentCreate(fields as never), {
        code: 'ERR_INVALID_ARGUMENT',
        message: /plain object/,
      });
    }
  });

  it('reject an extra that repeats a field, or is not a Map', () => {
    const code = (fields: object) => {
      try {
        new TorrentCreate(fields);
      } catch (error) {
        return (error as { issues: { code: string; path: unknown[] }[] }).issues.map(({ code, path }) => [
          code,
          ...path,
        ]);
      }
      return [];
    };
    assert.deepEqual(code({ comment: 'c', extra: new Map([['comment', Buffer.from('d')]]) }), [
      ['alias', 'extra', 'comment'],
    ]);
    assert.deepEqual(code({ extra: 5 }), [['type', 'extra']]);
  });

  it('reject paths outside the path root when the draft is made', () => {
    for (const paths of [['../a'], ['/etc/passwd'], ['a/../../b']]) {
      assert.throws(() => new TorrentCreate({ pathRoot: '/srv', paths }), {
        code: 'ERR_VALIDATION',
        message: /beneath \/srv/,
      });
    }
    new TorrentCreate({ pathRoot: '/srv', paths: ['/srv/a', 'b/../c', '..c'] });
  });
});

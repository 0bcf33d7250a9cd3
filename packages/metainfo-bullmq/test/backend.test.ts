import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { folderStore, MetainfoError } from 'metainfo';
import { backendOf } from '../src/backend.ts';
import { createWorkers, TorrentQueue } from '../src/index.ts';

const SECRET = 'pass-word';

describe('backendOf', () => {
  it('chooses the server by the scheme of a URL, and never one on this machine by default', () => {
    const redis = (url: string) => Object(backendOf({ connection: url }).options.connection).url;
    assert.equal(redis('redis://10.0.0.5'), 'redis://10.0.0.5');
    assert.equal(redis('rediss://u:p@10.0.0.5:1/2'), 'rediss://u:p@10.0.0.5:1/2');
    assert.equal(redis('valkey://10.0.0.5:7'), 'redis://10.0.0.5:7');
    for (const url of ['postgres://10.0.0.5/jobs', 'postgresql://10.0.0.5/jobs'])
      assert.deepEqual(backendOf({ connection: url, prefix: 'x' }).options.connection, {
        schema: 'x',
        migrate: true,
        connectionTimeoutMillis: 5000,
        connectionString: url,
      });
    assert.equal(redis(new URL('redis://10.0.0.5:7') as never), 'redis://10.0.0.5:7');
    const options = { host: '10.0.0.5', port: 1 };
    assert.equal(backendOf({ connection: options }).options.connection, options);
    assert.deepEqual(backendOf({ connection: options, backend: 'postgres' }).options.connection, {
      schema: 'metainfo',
      migrate: true,
      connectionTimeoutMillis: 5000,
      ...options,
    });
    assert.equal(backendOf({ connection: 'redis://a' }).options.prefix, 'metainfo');
  });

  const BAD: [what: string, options: object][] = [
    ['no connection', {}],
    ['null', { connection: null }],
    ['options without a server', { connection: {} }],
    ['options without a server, with a backend', { connection: {}, backend: 'redis' }],
    ['a list', { connection: ['redis://a'] }],
    ['options of PostgreSQL without a backend', { connection: { connectionString: `postgres://u:${SECRET}@host` } }],
    ['text that is no URL', { connection: `${SECRET}@host` }],
    ['another scheme', { connection: `http://u:${SECRET}@host` }],
    ['a backend that the URL contradicts', { connection: `redis://:${SECRET}@host`, backend: 'postgres' }],
    ['an unknown backend', { connection: { host: 'x' }, backend: 'kafka' }],
    ['a prefix with other characters', { connection: 'redis://a', prefix: 'a:b' }],
    ['a prefix that is SQL', { connection: 'postgres://a', prefix: '"; drop' }],
  ];
  for (const [what, options] of BAD)
    it(`refuses ${what}, without showing credentials`, () => {
      const store = folderStore('parts');
      for (const make of [
        () => backendOf(options as never),
        () => new TorrentQueue({ ...options, store } as never),
        () => createWorkers({ ...options, store, roots: { a: '.' } } as never),
      ])
        assert.throws(make, (error) => {
          assert.ok(error instanceof MetainfoError);
          return error.code === 'ERR_INVALID_ARGUMENT' && !error.message.includes(SECRET);
        });
    });
});

describe('createWorkers', () => {
  it('refuses roots, stores and numbers that are none', () => {
    const good = { connection: 'redis://127.0.0.1:1', store: folderStore('parts'), roots: { a: '.' } };
    for (const bad of [
      { roots: {} },
      { roots: null },
      { roots: ['a'] },
      { roots: { 'a/b': '.' } },
      { roots: { '': '.' } },
      { roots: { a: '' } },
      { roots: { a: 5 } },
      { store: null },
      { store: {} },
      { concurrency: 0 },
      { concurrency: 1.5 },
      { thread: 1 },
      { onJob: 'x' },
    ])
      assert.throws(
        () => createWorkers({ ...good, ...bad } as never),
        { code: 'ERR_INVALID_ARGUMENT' },
        JSON.stringify(bad),
      );
    for (const options of [undefined, null, 5, { ...good, store: null }, good] as never[])
      assert.throws(() => new TorrentQueue(options), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('refuses a grace time that is none', async () => {
    const options = { connection: 'redis://127.0.0.1:1', store: folderStore('parts'), roots: { a: '.' } };
    const workers = createWorkers({ ...options, onError: () => {} });
    for (const given of [null, { grace: -5 }, { grace: 'x' }, { grace: Number.NaN }, { graceTime: 5 }] as never[])
      await assert.rejects(workers.close(given), { code: 'ERR_INVALID_ARGUMENT' });
    await workers.close();
  });
});

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { s3Store } from '../../src/index.ts';
import { storedPlans } from '../../src/parts/store.ts';
import { cpuSeconds, slowness } from '../support/timing.ts';

const ID = 'ab'.repeat(32);
const MAX_PAGE = 2 ** 22;

/** Lists a bucket whose pages a test makes, by their numbers from 0. No request leaves the process. */
async function listed(t: TestContext, page: (index: number) => string) {
  let requests = 0;
  const answer = async () => {
    requests += 1;
    return new Response(page(requests - 1));
  };
  const { mock } = t.mock.method(globalThis, 'fetch', answer);
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const store = s3Store('s3://jobs', { endpoint: 'http://127.0.0.1:9', credentials, retries: 0 });
  const plans = await storedPlans(store.list as NonNullable<typeof store.list>).catch((error: Error) => error);
  mock.restore();
  return { plans, requests, error: plans instanceof Error ? plans : null };
}

const entry = (key: string) =>
  `<Contents><Key>${key}</Key><LastModified>2026-01-31T00:00:00.000Z</LastModified><Size>5</Size></Contents>`;
const pageOf = (keys: string[], next: string | null) =>
  `<ListBucketResult>${keys.map(entry).join('')}${next === null ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`}</ListBucketResult>`;
const part = (index: number) => `${ID}/${index}.part`;

describe('a listing of a bucket', () => {
  it('is read in linear time, whatever a page has', async (t) => {
    const most = MAX_PAGE - 1000;
    const filled = (text: string, around = ['', '']) =>
      `<ListBucketResult>${around[0]}${text.repeat(Math.floor(most / text.length))}${around[1]}</ListBucketResult>`;
    const contents = ['<Contents>', '</Contents>'];
    const pages = [
      filled('<Contents>'),
      filled('</Contents>'),
      filled('<Contents>', ['', '</Contents>']),
      filled('<Contents></Contents>'),
      filled('<Contents><Key></Contents>'),
      filled('<Key>', contents),
      filled('<Key>&amp;', contents),
      filled('&amp;&#x41;', ['<Contents><Key>', '</Key></Contents>']),
      filled('<Size>', contents),
      filled('9', ['<Contents><Key>a</Key><Size>', '</Size></Contents>']),
      filled('1 ', ['<Contents><Key>a</Key><LastModified>', '</LastModified></Contents>']),
      filled('('.repeat(1000), ['<Contents><Key>a</Key><LastModified>', '</LastModified></Contents>']),
      filled('<NextContinuationToken>'),
    ];
    for (const [i, page] of pages.entries()) {
      const before = cpuSeconds();
      assert.deepEqual((await listed(t, () => page)).plans, [], `page ${i}`);
      const used = cpuSeconds() - before;
      assert.ok(used < 10 * slowness, `page ${i} took ${used} s of processor time`);
    }
  });

  it('ends with an error if tokens or pages come again, in a cycle of any length', async (t) => {
    for (const length of [1, 2, 3, 7]) {
      const pages = {
        tokens: (index: number) => pageOf([part(index)], `token ${index % length}`),
        keys: (index: number) => pageOf([part(index % length), 'x'], `token ${index}`),
        'both, after others': (index: number) =>
          pageOf([part(index < 5 ? index : 5 + (index % length))], `token ${index < 5 ? index : 5 + (index % length)}`),
        'tokens of pages without objects': (index: number) => pageOf([], `token ${index % length}`),
      };
      for (const [name, page] of Object.entries(pages)) {
        const { error, requests } = await listed(t, page);
        assert.match(
          String(error),
          /^MetainfoError: s3:\/\/jobs: the store lists the same objects again and again/,
          name,
        );
        assert.equal((error as { code?: string } | null)?.code, 'ERR_HTTP', name);
        assert.ok(requests < 30, `${name}, ${length}: ${requests} requests`);
      }
    }
  });

  it('ends with an error if page after page has no objects, or next to none', async (t) => {
    for (const count of [0, 1]) {
      const keys = (index: number) => Array.from({ length: count }, (_, i) => part(index * count + i));
      const { error, requests } = await listed(t, (index) => pageOf(keys(index), `token ${index}`));
      assert.match(String(error), /the store lists only \d+ objects on \d+ pages, and does not come to an end/);
      assert.ok(requests < 1200, `${requests} requests`);
    }
  });

  it('may have empty pages, and ends with the page that has no token', async (t) => {
    const { plans, requests } = await listed(t, (index) => {
      const keys = index < 300 ? [] : [part(index), 'of others'];
      return pageOf(keys, index === 310 ? null : `token ${index}`);
    });
    assert.ok(Array.isArray(plans));
    assert.deepEqual([requests, plans[0]?.objects.length, plans[0]?.size], [311, 11, 55]);
  });

  it('has pages of at most 4 MiB', async (t) => {
    const { error } = await listed(t, () => `<ListBucketResult>${' '.repeat(MAX_PAGE)}</ListBucketResult>`);
    assert.match(String(error), /^MetainfoError: s3:\/\/jobs: the store sends a page of more than 4194304 bytes\.$/);
  });

  it('keeps only so many objects in memory', async () => {
    async function* list() {
      for (let name = 0; ; name += 1) yield { planId: ID, name, size: 1, mtimeMs: name };
    }
    await assert.rejects(storedPlans(list, 3), { code: 'ERR_LIMIT', message: /^The store lists more than 3 objects/ });
  });
});

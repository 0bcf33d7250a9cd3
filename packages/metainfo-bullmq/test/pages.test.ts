import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  examplesOf,
  pageText,
  parsePage,
  requireTypes,
  runPage,
  sourcesWithExamples,
} from '../../../test/support/pages.ts';
import { temporaryFolder } from '../../../test/support/tree.ts';
import { redisMissing, redisServer } from './support/redis.ts';

const PAGES = ['packages/metainfo-bullmq/README.md', 'docs/guides/queues.md'];
const SOURCES = sourcesWithExamples('packages/metainfo-bullmq/src');

describe('code on pages about queues', { skip: redisMissing() }, () => {
  for (const name of PAGES) {
    it(`${name}: every block runs and prints what the page shows`, async (t) => {
      const env = { QUEUE_URL: (await redisServer(t)).url };
      await runPage(parsePage(pageText(name)), await temporaryFolder(t), { env });
    });
  }

  for (const name of SOURCES) {
    it(`${name}: the examples of its docstrings run`, async (t) => {
      const page = parsePage(examplesOf(pageText(name)));
      assert.ok(page.steps.length > 0);
      const env = { QUEUE_URL: (await redisServer(t)).url };
      await runPage(page, await temporaryFolder(t), { torrents: true, env });
    });
  }

  it('has no type errors', async (t) => {
    await requireTypes(await temporaryFolder(t), [
      ...PAGES.map((name) => [name, pageText(name)] as const),
      ...SOURCES.map((name) => [name, examplesOf(pageText(name))] as const),
    ]);
  });

  it('has no blocks that are not run', () => {
    assert.deepEqual(
      PAGES.flatMap((name) => parsePage(pageText(name)).notRun),
      [],
    );
  });
});

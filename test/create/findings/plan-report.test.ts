import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../../src/create/draft.ts';
import type { PlanReport } from '../../../src/create/findings/plan-report.ts';
import type { Engine } from '../../../src/hash/engine.ts';
import { nodeEngine } from '../../../src/hash/node.ts';
import { isPadFile } from '../../../src/layout/padding.ts';
import { tree, writeGenerated } from '../../support/generated.ts';
import { runs } from '../../support/runs.ts';
import { temporaryFolder, writeTree } from '../../support/tree.ts';

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

describe('plan of a draft', () => {
  it('agrees with the torrent that generate makes', async (t) => {
    const cwd = await temporaryFolder(t);
    let count = 0;
    const property = fc.asyncProperty(tree, fc.constantFrom(...VERSIONS), async (generated, version) => {
      const pathRoot = path.join(cwd, `tree${count++}`);
      // Equal files share a piece layer, which the plan cannot know.
      const files = generated.files.map((file, seed) => ({ ...file, seed }));
      await writeGenerated(pathRoot, { ...generated, files });
      const draft = new TorrentCreate({ pathRoot, comment: 'x', info: { private: true } });
      const plan = await draft.plan({ version });
      const torrent = await draft.generate({ version });
      const pads = ('files' in torrent.info ? (torrent.info.files ?? []) : []).filter(isPadFile);
      assert.deepEqual(
        [plan.version, plan.name, plan.files, plan.totalSize, plan.pieceLength, plan.pieces, plan.padFiles],
        [
          ...[torrent.torrentVersion, torrent.info.name, torrent.nFiles, torrent.totalSize],
          ...[torrent.info.pieceLength, torrent.nPieces, pads.length],
        ],
      );
      assert.equal(
        plan.padBytes,
        pads.reduce((sum, { length }) => sum + length, 0),
      );
      const size = torrent.bencode().length;
      assert.ok((plan.torrentSize as number) >= size && (plan.torrentSize as number) <= size * 1.01 + 1);
    });
    await fc.assert(property, { numRuns: runs(30) });
  });

  it('reads no content', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { 'a.txt': 10 });
    const stream = (async function* () {
      assert.fail('the stream is read');
      yield Buffer.from('x');
    })();
    const draft = new TorrentCreate({
      pathRoot,
      paths: ['a.txt'],
      sources: [{ path: 'b', data: stream }],
      info: { name: 'n' },
    });
    const { files, pieces, torrentSize, pieceLength } = await draft.plan();
    assert.deepEqual([files, pieces, torrentSize, pieceLength], [2, null, null, 2 ** 20]);
  });

  it('measures the rate of the engine that will hash', async () => {
    const draft = new TorrentCreate({ sources: [{ path: 'a', data: Buffer.alloc(1000) }] });
    const started: string[] = [];
    const node = nodeEngine();
    const engine: Engine = {
      ...node,
      start: (plan) => {
        started.push(plan.version);
        return node.start(plan);
      },
    };
    const { bytesPerSecond, seconds } = await draft.plan({ engine, version: 'v1' });
    assert.deepEqual([...new Set(started)], ['v1']);
    assert.ok((bytesPerSecond as number) > 0);
    assert.equal(seconds, 1000 / (bytesPerSecond as number));
  });

  it('is plain data', async () => {
    const draft = new TorrentCreate({ sources: [{ path: 'a', data: Buffer.alloc(1000) }] });
    const plan = await draft.plan();
    assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
  });

  it('throws for wrong options, and when its signal fires', async () => {
    const draft = new TorrentCreate({ pathRoot: '/does/not/exist' });
    await assert.rejects(draft.plan({ version: 'v3' as 'v1' }), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(draft.plan({ signal: AbortSignal.abort() }), { code: 'ERR_ABORTED' });
    const { findings, pieceLength } = await draft.plan();
    assert.deepEqual([findings.map(({ code }) => code), pieceLength], [['ERR_NOT_FOUND'], null]);
  });
});

describe('onPlan of a generation', () => {
  const draftOf = () => new TorrentCreate({ sources: [{ path: 'a', data: Buffer.alloc(100_000) }] });

  /** An engine that fails the test. */
  const unused: Engine = { name: 'unused', kernel: 'none', start: () => assert.fail('something is hashed') };

  it('is called once with the plan, before anything is hashed', async () => {
    const plans: PlanReport[] = [];
    const torrent = await draftOf().generate({ onPlan: (plan) => plans.push(plan) });
    assert.deepEqual([plans.length, plans[0]?.pieces, plans[0]?.bytesPerSecond], [1, torrent.nPieces, null]);
  });

  it('fails the job if it throws or rejects', async () => {
    const refusals = [
      () => {
        throw new Error('no');
      },
      async () => {
        throw new Error('no');
      },
    ];
    for (const onPlan of refusals)
      await assert.rejects(draftOf().generate({ onPlan, engine: unused }), { message: 'no' });
  });

  it('gets the errors with which the job then fails', async () => {
    const draft = new TorrentCreate({ pathRoot: '/does/not/exist' });
    const codes: string[] = [];
    const onPlan = ({ findings }: PlanReport) => codes.push(...findings.map(({ code }) => code));
    await assert.rejects(draft.generate({ onPlan, engine: unused }), { code: 'ERR_NOT_FOUND' });
    assert.deepEqual(codes, ['ERR_NOT_FOUND']);
  });
});

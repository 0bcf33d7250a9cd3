import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadAddon } from '../../src/hash/addon.ts';
import { metainfo, metainfoProcess, workFolder } from './run.ts';

interface KernelList {
  active: { sha1: string; sha256: string };
  kernels: { name: string; chosenFor: string[]; bytesPerSecond?: Record<string, number> }[];
}

describe('metainfo kernels', () => {
  it('lists the kernels of this CPU, fastest first, and the active ones', async (t) => {
    const cwd = await workFolder(t);
    const { code, stdout, stderr } = await metainfo(['kernels'], { cwd });
    assert.deepEqual([code, stderr], [0, '']);
    const { kernels, active } = loadAddon();
    const lines = stdout.split('\n').slice(1, 1 + kernels.length);
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      kernels,
    );
    assert.match(lines.find((line) => line.startsWith(`${active.sha1} `)) as string, / SHA-1/);
    assert.match(lines.find((line) => line.startsWith(`${active.sha256} `)) as string, / SHA-256/);
    assert.match(stdout, /METAINFO_KERNEL=NAME/);
  });

  it('prints JSON with --json, and respects METAINFO_KERNEL', async (t) => {
    const cwd = await workFolder(t);
    for (const kernel of loadAddon().kernels) {
      const { stdout } = await metainfoProcess(['kernels', '--json'], { cwd, env: { METAINFO_KERNEL: kernel } });
      const { active, kernels } = JSON.parse(stdout) as KernelList;
      assert.equal(active.sha1, kernel);
      assert.deepEqual(
        kernels.map(({ name }) => name),
        loadAddon().kernels,
      );
      for (const { name, chosenFor, bytesPerSecond } of kernels) {
        assert.deepEqual(
          chosenFor,
          (['sha1', 'sha256'] as const).filter((algorithm) => active[algorithm] === name),
        );
        assert.equal(bytesPerSecond, undefined);
      }
    }
  });

  it('measures every kernel with --bench', async (t) => {
    const cwd = await workFolder(t);
    const { stdout } = await metainfo(['kernels', '--bench', '--json'], { cwd });
    for (const { name, bytesPerSecond } of (JSON.parse(stdout) as KernelList).kernels) {
      const { sha1, sha1Zeros, sha256, sha256Nodes } = bytesPerSecond as Record<string, number>;
      assert.ok((sha1 as number) > 1e6 && (sha1Zeros as number) > 1e6, name);
      // avx512-x8 has no SHA-256: the next kernel does it.
      const least = name === 'avx512-x8' ? 0 : 1e6;
      assert.ok((sha256 as number) >= least && (sha256Nodes as number) >= least, name);
    }
    const { stdout: text } = await metainfo(['kernels', '--bench'], { cwd });
    assert.match(text, /^kernel .* SHA-1 .* SHA-256 .* Merkle node\n/);
    assert.match(text, /\nopenssl .* GB\/s .* ns\n/);
  });

  it('lists the available kernels when METAINFO_KERNEL names another', async (t) => {
    const cwd = await workFolder(t);
    const { code, stderr } = await metainfoProcess(['kernels'], { cwd, env: { METAINFO_KERNEL: 'sha-ce-x5' } });
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`sha-ce-x5 .*expected one of: ${loadAddon().kernels.join(', ')}`));
  });
});

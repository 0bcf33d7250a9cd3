import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { afterEach, describe, it } from 'node:test';
import { defaultEngine } from '../../src/hash/default-engine.ts';

const before = process.env['METAINFO_ENGINE'];
afterEach(() => {
  if (before === undefined) delete process.env['METAINFO_ENGINE'];
  else process.env['METAINFO_ENGINE'] = before;
});

describe('the default engine', () => {
  it('is the engine that METAINFO_ENGINE names, else the native engine', () => {
    for (const [name, engine] of [
      ['', 'native'],
      ['native', 'native'],
      ['node', 'node'],
    ] as const) {
      process.env['METAINFO_ENGINE'] = name;
      assert.equal(defaultEngine().name, engine);
    }
    delete process.env['METAINFO_ENGINE'];
    assert.equal(defaultEngine().name, 'native');
  });

  it('rejects an unknown METAINFO_ENGINE', () => {
    for (const name of ['Node', 'native ', 'openssl']) {
      process.env['METAINFO_ENGINE'] = name;
      assert.throws(defaultEngine, {
        code: 'ERR_INVALID_ARGUMENT',
        message: `METAINFO_ENGINE=${name} is not an engine; expected one of: native, node.`,
      });
    }
  });
});

/** The output of a process that uses all of the library and finds no addon. */
function withoutAddon(engine: string) {
  const script = `
    process.on('warning', ({ name, code }) => console.log('warning', name, code));
    const { HashPool, nativeEngine, processLimits, TorrentCreate, upgrade, V1Hasher, verify } = await import('./src/index.ts');
    const folder = process.cwd() + '/src/hash';
    try {
      const draft = new TorrentCreate({ pathRoot: folder });
      const torrent = await draft.generate({ version: 'v1' });
      console.log((await verify(torrent, folder)).ok, (await upgrade(torrent, folder)).torrent.torrentVersion);
      const sources = [{ path: 'a', data: (async function* () { yield Buffer.from('abc'); })() }];
      const { infohashV1 } = await new TorrentCreate({ sources, info: { name: 'a' } }).generate({ version: 'v1' });
      console.log(infohashV1.length);
      const hasher = new V1Hasher({ paths: ['node.ts'], pathRoot: folder, pieceLength: 1 });
      const [hash] = hasher.update({ path: 'node.ts', chunk: Buffer.from('abc'), idx: 0 }, new HashPool());
      console.log(Buffer.from((await hash).hash).toString('hex'));
      console.log(processLimits({ threads: 3 }).threads, processLimits().threads);
    } catch (error) { console.log(error.code); }
    try { nativeEngine(); } catch (error) { console.log(error.code); }`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', './scripts/ts.mjs', '--no-warnings', '--input-type=module', '-e', script],
    // Where node-gyp-build looks instead: there is no addon there.
    { encoding: 'utf8', env: { ...process.env, METAINFO_PREBUILD: tmpdir(), METAINFO_ENGINE: engine } },
  );
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  return stdout.trim().split('\n');
}

describe('without an addon', () => {
  const results = ['true hybrid', '40', '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8', '3 3', 'ERR_NATIVE_UNAVAILABLE'];

  it('hashes everything with node:crypto and warns once', () => {
    assert.deepEqual(withoutAddon(''), ['warning MetainfoWarning ERR_NATIVE_UNAVAILABLE', ...results]);
  });

  it('does not warn when METAINFO_ENGINE is node', () => assert.deepEqual(withoutAddon('node'), results));

  it('fails when METAINFO_ENGINE is native', () => {
    assert.deepEqual(withoutAddon('native'), ['ERR_NATIVE_UNAVAILABLE', 'ERR_NATIVE_UNAVAILABLE']);
  });
});

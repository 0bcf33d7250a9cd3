// `create --each` writes its torrents in groups. It is killed, loses power, or gets an error at each call that writes. Each torrent is then
// whole, or it is the old one, and every torrent that was reported as done is there. test/support/faults/shim.c simulates the power cut.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { metainfoProcess, type Result } from '../cli/run.ts';
import { noise } from '../hash/reference.ts';
import { buildShim, type Call, type Fault, Faults, faultsEnv, shimMissing } from '../support/faults.ts';
import { temporaryFolder } from '../support/tree.ts';

const FILES = process.env['METAINFO_FAULTS'] === 'all' ? 12 : 4;
const WRITING: readonly Call[] = ['create', 'write', 'attribute', 'sync', 'link', 'rename', 'unlink', 'close'];
const CREATE = ['create', '--each', 'work/in', '-o', 'work/out', '--json'];
const NODE = { METAINFO_ENGINE: 'node' };
const OLD = Buffer.from('old');

/** A folder where the command runs. The shim watches `work` in it. */
class Place {
  readonly #cwd: string;
  readonly #out: string;
  readonly #faults: Faults;
  readonly #env: Record<string, string>;
  readonly #isForced: boolean;
  readonly #whole = new Map<string, Buffer>();

  private constructor(
    cwd: string,
    shim: string,
    { isForced, env }: { isForced: boolean; env: Record<string, string> },
  ) {
    this.#cwd = cwd;
    this.#out = path.join(cwd, 'work/out');
    this.#isForced = isForced;
    const control = path.join(cwd, 'control');
    this.#faults = Faults.create(control);
    this.#env = { ...env, ...faultsEnv({ shim, control, folder: path.join(cwd, 'work') }) };
    mkdirSync(path.join(cwd, 'work/in'), { recursive: true });
    for (let i = 0; i < FILES; i += 1) writeFileSync(path.join(cwd, `work/in/f${i}`), noise(1000, i + 1));
  }

  static async of(t: TestContext, shim: string, { isForced = false, env = {} } = {}): Promise<Place> {
    const place = new Place(await temporaryFolder(t), shim, { isForced, env });
    t.after(() => place.#faults.close());
    place.#clear();
    assert.equal((await place.run()).code, 0);
    for (const name of place.names()) place.#whole.set(name, readFileSync(path.join(place.#out, name)));
    assert.equal(place.#whole.size, FILES);
    return place;
  }

  #clear(): void {
    rmSync(this.#out, { recursive: true, force: true });
    mkdirSync(this.#out);
    if (!this.#isForced) return;
    for (let i = 0; i < FILES; i += 1) writeFileSync(path.join(this.#out, `f${i}.torrent`), OLD);
  }

  names = (): string[] => readdirSync(this.#out);

  run(env: Record<string, string> = {}): Promise<Result> {
    return metainfoProcess([...CREATE, ...(this.#isForced ? ['--force'] : [])], { cwd: this.#cwd, env });
  }

  async runWith(fault: Fault): Promise<Result & { fired: number }> {
    this.#clear();
    this.#faults.arm(fault);
    const result = await this.run(this.#env);
    return { ...result, fired: this.#faults.counts().fired };
  }

  /** The calls of a run without a fault. */
  async calls(): Promise<Record<Call, number>> {
    assert.equal((await this.runWith({ call: 'write', action: 'kill', first: 2 ** 40 })).code, 0);
    return this.#faults.counts().calls;
  }

  /** Checks that each torrent is the new one, or what was there before, and returns the names of other files. */
  check({ stdout }: Result, what: string): string[] {
    const events = stdout.split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as Event] : []));
    const done = new Set(events.flatMap(({ event, torrent }) => (event === 'done' ? [path.basename(torrent)] : [])));
    const names = this.names();
    for (const [name, whole] of this.#whole) {
      const found = names.includes(name) ? readFileSync(path.join(this.#out, name)) : null;
      if (found?.equals(whole)) continue;
      assert.ok(!done.has(name), `${what}: ${name} was done`);
      assert.deepEqual(found, this.#isForced ? OLD : null, `${what}: ${name}`);
    }
    return names.filter((name) => !this.#whole.has(name));
  }
}

interface Event {
  event: string;
  torrent: string;
  error?: { code: string; message: string; path: string };
}

describe('create --each', { skip: shimMissing(), concurrency: 2 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-shim-'));
  let shim = '';
  after(() => rmSync(folder, { recursive: true }));
  before(() => {
    shim = buildShim(folder);
  });

  const WAYS = {
    'new torrents': { isForced: false, env: {}, left: /^$/ },
    'replaced torrents': { isForced: true, env: {}, left: /^\.metainfo-replace-\w+\.tmp$/ },
    'new torrents, with temporary names': { isForced: false, env: NODE, left: /^\.metainfo-\w+\.tmp$/ },
  };
  for (const [name, { left, ...way }] of Object.entries(WAYS)) {
    it(`leaves whole torrents when it ends at any call: ${name}`, async (t) => {
      const place = await Place.of(t, shim, way);
      const calls = await place.calls();
      let cases = 0;
      for (const call of WRITING)
        for (const action of ['kill', 'cut', 'cut-names'] as const)
          for (let first = 1; first <= calls[call]; first += 1) {
            const what = `${action} at ${call} ${first}`;
            const result = await place.runWith({ call, action, first, match: 'work/out' });
            // Groups of other sizes need other numbers of calls.
            if (result.fired > 0) assert.equal(result.signal, 'SIGKILL', what);
            const others = place.check(result, what);
            for (const other of others) assert.match(other, left, what);
            // Only between two calls does a torrent that replaces another have a temporary name.
            if (way.isForced) assert.ok(others.length <= 1 && (others.length === 0 || call === 'rename'), what);
            cases += result.fired;
            if (others.length === 0 || !way.isForced) continue;
            assert.equal((await place.run()).code, 0);
            assert.deepEqual(place.check(await place.run(), what), [], 'the next run removes it');
          }
      assert.ok(cases > 10 * FILES, `${cases} cases`);
      t.diagnostic(`${cases} cases`);
    });
  }

  for (const isForced of [false, true])
    it(`names the file of an error and leaves nothing: ${isForced ? 'replaced' : 'new'} torrents`, async (t) => {
      const place = await Place.of(t, shim, { isForced });
      const calls = await place.calls();
      let failed = 0;
      for (const call of WRITING)
        for (const action of ['EIO', 'ENOSPC', 'EROFS', 'EOPNOTSUPP'] as const)
          for (let first = 1; first <= calls[call]; first += 1) {
            const what = `${action} at ${call} ${first}`;
            const result = await place.runWith({ call, action, first, match: 'work/out' });
            assert.deepEqual(place.check(result, what), [], what);
            const events = result.stdout.split('\n').map((line) => (line ? (JSON.parse(line) as Event) : null));
            const failures = events.filter((event) => event?.event === 'failed') as Event[];
            assert.equal(result.code, failures.length > 0 ? 1 : 0, what);
            // Another way of writing does without what is not supported.
            if (action === 'EOPNOTSUPP') assert.deepEqual(failures, [], what);
            for (const { torrent, error } of failures) {
              assert.equal(path.resolve(error?.path as string), path.resolve(torrent), what);
              assert.match(error?.message as string, /work\/out\/f\d+\.torrent/, what);
              if (!isForced) assert.ok(!place.names().includes(path.basename(torrent)), what);
            }
            failed += failures.length;
          }
      assert.ok(failed > FILES, `${failed} failures`);
      t.diagnostic(`${failed} failures`);
    });
});

// The command is killed at each call that writes, and at random moments. The disk then has the old or the new file, never a part, and
// caches stay usable and correct. Other tests check its messages after system faults.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { finish, metainfoProcess, type Result, start } from '../cli/run.ts';
import { noise } from '../hash/reference.ts';
import { buildShim, type Call, type Fault, Faults, faultsEnv, shimMissing } from '../support/faults.ts';
import { temporaryFolder } from '../support/tree.ts';

/** Whether to run more commands and more rounds. */
const isLong = process.env['METAINFO_FAULTS'] === 'all';

const PIECE = 16_384;
const TORRENT = 'work/out/a.torrent';
/** Calls that change the disk. */
const WRITING: readonly Call[] = [
  ...(['create', 'write', 'sync', 'truncate', 'attribute', 'close', 'rename', 'link', 'unlink', 'mkdir'] as const),
];
const CREATE = ['create', 'work/data', '--piece-length', '16KiB', '-o', TORRENT, '-q'];
const CACHE = ['--cache-dir', 'work/cache'];

interface Command {
  /** The output before the command: none, or the torrent of the old files. */
  old?: boolean;
  args: readonly string[];
}

const COMMANDS: Record<string, Command> = {
  create: { args: CREATE },
  'create --force': { old: true, args: [...CREATE, '--force'] },
  edit: { old: true, args: ['edit', TORRENT, '--comment', 'other'] },
  update: { old: true, args: ['update', TORRENT, 'work/data', '--since', '@0', '-q'] },
  upgrade: { old: true, args: ['upgrade', TORRENT, 'work/data', '-q', '--force'] },
  'create with a new cache': { args: [...CREATE, ...CACHE] },
};

/** The folder where commands run. The shim watches `work` in it. */
class Place {
  readonly cwd: string;
  readonly faults: Faults;
  readonly #env: Record<string, string>;
  readonly #command: Command;
  #old: Buffer | null = null;
  #fresh: Buffer | null = null;

  constructor(cwd: string, shim: string, command: Command) {
    this.cwd = cwd;
    this.#command = command;
    const control = path.join(cwd, 'control');
    this.faults = Faults.create(control);
    this.#env = faultsEnv({ shim, control, folder: path.join(cwd, 'work') });
    mkdirSync(path.join(cwd, 'work/data/b'), { recursive: true });
    for (const [i, name] of ['a', 'b/c', 'b/d'].entries()) {
      const file = path.join(cwd, 'work/data', name);
      writeFileSync(file, noise(i * 600_000 + 100, i + 1));
      utimesSync(file, 1e9, 1e9);
    }
  }

  /** Runs the command without faults and returns the expected output. */
  async begin(): Promise<void> {
    const { args, old = false } = this.#command;
    if (old) {
      // `upgrade` needs a v1 torrent; others get a torrent of files that have changed since.
      const version = args[0] === 'upgrade' ? ['--torrent-version', 'v1'] : [];
      this.clear();
      assert.equal((await this.run([...CREATE, ...version])).code, 0);
      this.#old = this.torrent();
      if (args[0] !== 'upgrade') writeFileSync(path.join(this.cwd, 'work/data/b/new'), noise(3 * PIECE, 6));
    }
    // A cache does not keep files that were written just now.
    await sleep(50);
    this.clear();
    const { code, stderr } = await this.run(args);
    assert.deepEqual([code, stderr], [0, '']);
    this.#fresh = this.torrent();
  }

  clear(): void {
    for (const name of ['out', 'cache']) rmSync(path.join(this.cwd, 'work', name), { recursive: true, force: true });
    mkdirSync(path.join(this.cwd, 'work/out'));
    if (this.#old) writeFileSync(path.join(this.cwd, TORRENT), this.#old);
  }

  torrent(): Buffer | null {
    return readdirSync(path.join(this.cwd, 'work/out')).includes('a.torrent')
      ? readFileSync(path.join(this.cwd, TORRENT))
      : null;
  }

  run(args: readonly string[] = this.#command.args): Promise<Result> {
    return metainfoProcess(args, { cwd: this.cwd });
  }

  runWith(fault: Fault): Promise<Result> {
    this.clear();
    this.faults.arm(fault);
    return metainfoProcess(this.#command.args, { cwd: this.cwd, env: this.#env });
  }

  /** Runs the command and kills it after a delay. */
  async killAfter(milliseconds: number): Promise<Result> {
    this.clear();
    const child = start(this.#command.args, { cwd: this.cwd });
    const ended = finish(child);
    await sleep(milliseconds);
    child.kill('SIGKILL');
    return ended;
  }

  /** Checks that the folder has the old or the new torrent, and otherwise at most the name that one has before it replaces another. */
  check(what: string): void {
    const now = this.torrent();
    const isOld = now === null ? this.#old === null : this.#old?.equals(now);
    assert.ok(isOld || (now && this.#fresh?.equals(now)), `${what}: half of the output`);
    for (const name of this.beside()) assert.match(name, /^\.metainfo-replace-\w+\.tmp$/, what);
  }

  /** Whether the folder has the new torrent. */
  isNew(): boolean {
    return this.#fresh !== null && this.torrent()?.equals(this.#fresh) === true;
  }

  beside(): string[] {
    return readdirSync(path.join(this.cwd, 'work/out')).filter((name) => name !== 'a.torrent');
  }

  /** Checks that the next run succeeds, also with a cache that was being written. */
  async checkNext(what: string): Promise<void> {
    const { args } = this.#command;
    const isNew = args[0] === 'create' && !args.includes('--force');
    // An upgraded torrent is not v1, so it cannot be upgraded again.
    if (this.#old) writeFileSync(path.join(this.cwd, TORRENT), this.#old);
    const { code, stderr } = await this.run(isNew ? [...args, '--force'] : args);
    assert.deepEqual([code, stderr], [0, ''], what);
    assert.deepEqual(this.torrent(), this.#fresh, what);
  }
}

describe('the command', { skip: shimMissing(), concurrency: 2 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-shim-'));
  let shim = '';
  after(() => rmSync(folder, { recursive: true }));
  before(() => {
    shim = buildShim(folder);
  });

  async function placeOf(t: TestContext, command: Command): Promise<Place> {
    const place = new Place(await temporaryFolder(t), shim, command);
    await place.begin();
    t.after(() => place.faults.close());
    return place;
  }

  for (const [name, command] of Object.entries(COMMANDS)) {
    // These write in the same way as `create --force`.
    if (!isLong && (name === 'update' || name === 'upgrade')) continue;
    it(`leaves the old or the new torrent when killed at any call that writes: ${name}`, async (t) => {
      const place = await placeOf(t, command);
      // This fault never occurs and only counts the calls.
      assert.equal((await place.runWith({ call: 'write', action: 'kill', first: 2 ** 40 })).code, 0);
      const { calls } = place.faults.counts();
      let cases = 0;
      let left = 0;
      for (const call of WRITING) {
        for (const action of call === 'write' ? (['kill', 'tear'] as const) : (['kill'] as const)) {
          for (let first = 1; first <= calls[call]; first += 1) {
            const what = `${action} at ${call} ${first}`;
            const { signal } = await place.runWith({ call, action, first });
            // The order in which threads close files varies.
            if (place.faults.counts().fired > 0) assert.equal(signal, 'SIGKILL', what);
            place.check(what);
            left += place.beside().length;
            cases += 1;
            if (command.args.includes('--cache-dir') || first === calls[call]) await place.checkNext(what);
          }
        }
      }
      assert.ok(cases >= 8 && left === (command.old ? 1 : 0), `${cases} cases, of which ${left} left a file`);
      t.diagnostic(`${cases} cases, of which ${left} left a temporary file`);
    });
  }

  for (const name of ['create --force', 'create with a new cache']) {
    it(`leaves the old or the new torrent when killed at any moment: ${name}`, async (t) => {
      const place = await placeOf(t, COMMANDS[name] as Command);
      const started = performance.now();
      place.clear();
      await place.run();
      const most = performance.now() - started;
      let killed = 0;
      const rounds = isLong ? 60 : 8;
      for (let round = 0; round < rounds; round += 1) {
        // Node takes most of the time to start.
        const { signal } = await place.killAfter(most * (0.4 + Math.random() * 0.6));
        killed += signal === 'SIGKILL' ? 1 : 0;
        place.check(`round ${round}`);
        if (round % 4 === 3) await place.checkNext(`round ${round}`);
      }
      assert.ok(killed > 0, 'it was never killed');
      t.diagnostic(`killed ${killed} times`);
    });
  }

  const LOOKING: readonly Call[] = ['stat', 'resolve', 'open', 'list', 'sync'];

  for (const name of ['create --force', 'edit', ...(isLong ? ['update', 'upgrade'] : [])]) {
    it(`names the file of a system fault: ${name}`, async (t) => {
      const place = await placeOf(t, COMMANDS[name] as Command);
      assert.equal((await place.runWith({ call: 'write', action: 'EIO', first: 2 ** 40 })).code, 0);
      const { calls } = place.faults.counts();
      let told = 0;
      let inPlace = 0;
      for (const call of LOOKING) {
        for (let first = 1; first <= calls[call]; first += 1) {
          const { code, stderr } = await place.runWith({ call, action: 'EIO', first });
          place.check(`${call} ${first}`);
          assert.deepEqual(place.beside(), []);
          // A replaced file is not given back when only its folder could not be flushed.
          assert.equal(
            /the new content is in place/.test(stderr),
            code !== 0 && place.isNew(),
            `${call} ${first}: ${stderr}`,
          );
          if (code === 0) continue;
          told += 1;
          inPlace += place.isNew() ? 1 : 0;
          assert.match(stderr, /^error: .*work\/.* \[ERR_(READ|WRITE|HASH_MISMATCH)\]\n$/, `${call} ${first}`);
        }
      }
      assert.ok(told >= 3 && inPlace > 0, `${told} errors, of which ${inPlace} with the new content`);
      t.diagnostic(`${told} errors`);
    });
  }
});

// Small torrents that claim huge content, and large torrents. Every entry point takes time and memory in proportion to the input and
// the limits, and ends with a result or a typed error.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { finish, MAIN, startProgram } from '../cli/run.ts';
import { BOMBS, LARGE } from '../support/bombs.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import type { BombAnswer } from './bombs-child.ts';
import { procMissing, runScript } from './run-child.ts';

/** Runs the torrents of a table in one process. A process that dies has no answer for the torrent that killed it. */
async function explode(kind: 'bombs' | 'large'): Promise<Map<string, BombAnswer>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'metainfo-bombs-'));
  // glibc keeps freed memory, and more of it with more threads. With this threshold, it returns the memory.
  const heap = { NODE_OPTIONS: '--max-old-space-size=2048', MALLOC_MMAP_THRESHOLD_: `${2 ** 17}` };
  const { told } = await runScript<BombAnswer>('bombs-child.ts', [kind, folder], heap);
  await rm(folder, { recursive: true });
  return new Map(told.map((answer) => [answer.name, answer]));
}

/** The most memory that earlier torrents may leave: less than what a missing bound would take. */
const MOST_LEFT = 192 * 2 ** 20;

/** Checks the costs of a torrent against its bounds. */
function checkCosts(t: TestContext, answer: BombAnswer | undefined, seconds: number, memory: (size: number) => number) {
  assert.ok(answer, 'the process ended before it answered');
  const size = (value: number) => `${(value / 2 ** 20).toFixed(0)} MiB`;
  t.diagnostic(
    `${size(answer.size)}: ${answer.seconds.toFixed(2)} s, ${size(answer.memory)} beside ${size(answer.left)}`,
  );
  assert.ok(answer.seconds < seconds, `took ${answer.seconds} s of processor time`);
  assert.ok(answer.memory < memory(answer.size), `took ${answer.memory} bytes, more than ${memory(answer.size)}`);
  assert.ok(answer.left < MOST_LEFT, `${answer.left} bytes were left before it`);
  return answer.outcomes;
}

/** Memory for each value and key, as docs/validation.md states it. */
const BYTES_PER_ITEM = 200;
/** Memory for each folder above each file, because each file has its whole path. */
const BYTES_PER_LEVEL = 24;
/** Memory for the input, as a multiple of its size. */
const INPUT_FACTOR = 10;
/** Tolerance for memory that is not collected yet, and for noise. */
const SLACK = 96 * 2 ** 20;

describe('reading a large torrent', { skip: procMissing }, () => {
  let answers: Map<string, BombAnswer>;
  before(async () => {
    answers = await explode('large');
  });
  for (const [name, { items, levels = 0, outcome }] of Object.entries(LARGE)) {
    it(`takes bounded time and memory: ${name}`, (t) => {
      const bound = BYTES_PER_ITEM * items + BYTES_PER_LEVEL * levels + SLACK;
      const { read } = checkCosts(t, answers.get(name), 10, (size) => bound + INPUT_FACTOR * size);
      assert.equal(read, outcome);
    });
  }
});

/** Memory beyond the multiple of the input: for 3 million values and for garbage that is not collected yet. */
const MOST_MEMORY = 3_000_000 * 200 + 256 * 2 ** 20;
const MULTIPLE = 14;

describe('a torrent that claims huge content', { skip: procMissing }, () => {
  let answers: Map<string, BombAnswer>;
  before(async () => {
    answers = await explode('bombs');
  });
  for (const [name, { ends }] of Object.entries(BOMBS)) {
    it(`is bounded at every entry point: ${name}`, (t) => {
      const outcomes = checkCosts(t, answers.get(name), 120, (size) => MOST_MEMORY + MULTIPLE * size);
      for (const [entry, outcome] of Object.entries(outcomes)) {
        assert.doesNotMatch(outcome ?? '', /^untyped|ERR_INTERNAL/, entry);
        // The longest key that is part of the entry point's name.
        const [key] = Object.keys(ends)
          .filter((one) => entry.includes(one))
          .sort((a, b) => b.length - a.length);
        if (key !== undefined) assert.equal(outcome, ends[key], entry);
      }
    });
  }
});

const OF_COMMANDS = [
  'a million nested lists',
  '10 million empty lists',
  'a pad of 2^50 bytes',
  'a piece of 2^52 bytes',
];
/** Commands that read all torrents in one process, and those that read one. */
const COMMANDS: Record<string, string[]> = {
  show: ['show', '-vvv'],
  'show --json': ['show', '--json', '--compat'],
  validate: ['validate'],
  'validate --json': ['validate', '--json', '--strict'],
  magnet: ['magnet'],
  // It reads all torrents before it edits one, and ends at the first that it cannot read.
  edit: ['edit', 'FILE', '--dry-run', '--comment', 'x'],
  verify: ['verify', 'FILE', 'data'],
  update: ['update', 'FILE', 'data', '--dry-run'],
  upgrade: ['upgrade', 'FILE', 'data', '-o', 'new.torrent'],
};

describe('the command with a torrent that claims huge content', () => {
  for (const [name, args] of Object.entries(COMMANDS)) {
    it(`exits with a code and prints no stack: ${name}`, { timeout: 600_000 }, async (t) => {
      const cwd = await temporaryFolder(t);
      await writeTree(cwd, { 'data/a': 5 });
      const files = OF_COMMANDS.map((what) => `${what}.torrent`);
      for (const [at, what] of OF_COMMANDS.entries())
        await writeFile(path.join(cwd, files[at] as string), BOMBS[what]?.bytes() as Buffer);
      const lines = args.includes('FILE')
        ? files.map((file) => args.map((word) => (word === 'FILE' ? file : word)))
        : [[...args, ...files]];
      let reported = '';
      for (const line of lines) {
        const command: [string, ...string[]] = [process.execPath, '--max-old-space-size=1024', MAIN, ...line];
        const { code, signal, stdout, stderr } = await finish(startProgram(command, { cwd }));
        assert.ok(signal === null && (code === 0 || code === 1 || code === 2), `${line}: ${code} ${signal} ${stderr}`);
        assert.doesNotMatch(stderr, /\n {4}at /, `${line}`);
        assert.ok(stdout.length < 100_000, `${line}`);
        reported += stdout + stderr;
      }
      assert.match(reported, /10 million empty lists\.torrent.*ERR_LIMIT/s);
    });
  }
});

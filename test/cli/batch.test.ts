import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { HUGE, sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';
import { command, entries, metainfo, metainfoProcess } from './run.ts';

interface Event {
  event: string;
  job?: number;
  torrent?: string | null;
  line?: number;
  jobs?: number;
  done?: number;
  failed?: number;
  error?: { code: string; message: string };
}

/** The command with a pipe as standard input, and its events as they come. */
class Streamed {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly events: Event[] = [];
  readonly #closed: Promise<unknown[]>;

  constructor(cwd: string, ...args: string[]) {
    const [program, ...rest] = command(['create', '--batch', '-', '--json', ...args]);
    this.child = spawn(program, rest, { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#closed = once(this.child, 'close');
    let text = '';
    this.child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop() as string;
      this.events.push(...lines.map((line) => JSON.parse(line) as Event));
    });
  }

  write(...jobs: unknown[]): void {
    this.child.stdin.write(jobs.map((job) => `${typeof job === 'string' ? job : JSON.stringify(job)}\n`).join(''));
  }

  /** Waits until an event of this name was read. */
  async until(name: string): Promise<void> {
    while (!this.events.some(({ event }) => event === name)) await once(this.child.stdout, 'data');
  }

  async end(): Promise<number> {
    this.child.stdin.end();
    const [code] = await this.#closed;
    return code as number;
  }
}

const named = (events: readonly Event[], name: string) => events.filter(({ event }) => event === name);

async function library(t: TestContext): Promise<string> {
  const cwd = await temporaryFolder(t);
  await writeTree(cwd, { 'lib/a': 1000, 'lib/b': 2000, 'lib/c': 3000 });
  return cwd;
}

describe('metainfo create --batch -', () => {
  it('starts the first job while the pipe stays open, and reports a broken line by its number', async (t) => {
    const cwd = await library(t);
    const run = new Streamed(cwd);
    run.write('', { path: 'lib/a' });
    await run.until('done');
    assert.deepEqual(await entries(cwd), ['a.torrent', 'lib']);
    run.write('nonsense', { path: 'lib/b', 'piece-lenght': 1 }, { path: '-', name: 'x' }, `"${'x'.repeat(2 ** 20)}"`);
    run.write({ path: 'lib/c' });
    assert.equal(await run.end(), 1);
    const failed = named(run.events, 'failed');
    assert.deepEqual(
      failed.map(({ line, job, torrent }) => [line, job, torrent]),
      [
        [3, 1, null],
        [4, 2, null],
        [5, 3, null],
        [6, 4, null],
      ],
    );
    assert.match(failed[1]?.error?.message ?? '', /unknown key "piece-lenght": did you mean "piece-length"\?/);
    assert.match(failed[2]?.error?.message ?? '', /Standard input \(-\) cannot be the content/);
    assert.match(failed[3]?.error?.message ?? '', /more than 1 MiB/);
    const { jobs, done, failed: count } = run.events.at(-1) as Event;
    assert.deepEqual([jobs, done, count], [6, 2, 4]);
    assert.deepEqual(await entries(cwd), ['a.torrent', 'c.torrent', 'lib']);
  });

  it('suggests a key whatever the value, and says what a switch takes', async (t) => {
    const cwd = await library(t);
    const jobs = [
      { outptu: 'b.torrent' },
      { trackers: ['http://a.example/'] },
      { pieceLength: 16384 },
      { private: 'yes' },
    ];
    const lines = [...jobs, { threads: 0 }].map((job) => JSON.stringify({ path: 'lib/a', ...job }));
    await writeFile(path.join(cwd, 'jobs'), lines.join('\n'));
    const { stderr } = await metainfo(['create', '--batch', 'jobs'], { cwd });
    for (const meant of [
      'outptu": did you mean "output',
      'trackers": did you mean "tracker',
      'pieceLength": did you mean "piece-length',
    ])
      assert.ok(stderr.includes(`unknown key "${meant}"? [ERR_INVALID_ARGUMENT]`), stderr);
    assert.match(stderr, /expected true or false for private\. \[/);
    assert.match(stderr, /from 1 to 1024\. \[/);
  });

  it('names the line for people too', async (t) => {
    const cwd = await library(t);
    await writeFile(path.join(cwd, 'jobs'), '{"path":"lib/a"}\nnonsense\n');
    const [program, ...args] = command(['create', '--batch', '-']);
    const child = spawn('sh', ['-c', 'cat jobs | "$0" "$@"', program, ...args], { cwd });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 1);
    assert.match(stderr, /^line 2:\nerror: .*JSON.*\[ERR_INVALID_ARGUMENT\]\n$/);
  });

  it('is ended by Ctrl-C while it waits for the next line', async (t) => {
    const cwd = await library(t);
    const run = new Streamed(cwd);
    run.write({ path: 'lib/a' });
    await run.until('done');
    run.child.kill('SIGINT');
    const [code] = await once(run.child, 'close');
    assert.equal(code, 130);
    assert.equal(run.events.at(-1)?.event, 'summary');
  });

  it('tells with Ctrl-C which jobs were not done', async (t) => {
    const cwd = await library(t);
    await sparseFile(path.join(cwd, 'lib'), 'huge', HUGE);
    const jobs = ['a', 'huge', 'b', 'c'].map((name) => ({ path: `lib/${name}` }));
    await writeFile(path.join(cwd, 'jobs.json'), JSON.stringify(jobs));
    const [program, ...args] = command(['create', '--batch', 'jobs.json', '--json', '--jobs', '1']);
    const child = spawn(program, args, { cwd });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (!child.killed && text.includes('"start","job":1')) child.kill('SIGINT');
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 130);
    const events = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Event);
    assert.deepEqual(
      named(events, 'cancelled').map(({ job, torrent }) => [job, torrent]),
      [
        [1, 'huge.torrent'],
        [2, 'b.torrent'],
        [3, 'c.torrent'],
      ],
    );
    assert.deepEqual(await entries(cwd), ['a.torrent', 'jobs.json', 'lib']);
  });

  it('takes an array from a pipe, checked as a whole', async (t) => {
    const cwd = await library(t);
    const run = new Streamed(cwd);
    run.write('[{"path":"lib/a"},', '{"path":"lib/b","nonsense":1}]');
    assert.equal(await run.end(), 2);
    assert.deepEqual(await entries(cwd), ['lib']);
  });

  it('refuses an empty pipe', async (t) => {
    const cwd = await library(t);
    for (const text of ['', '\n \n']) {
      const run = new Streamed(cwd);
      run.child.stdin.write(text);
      assert.notEqual(await run.end(), 0);
    }
  });
});

describe('a file of jobs', () => {
  it('is read line by line, also beyond 64 MiB, with bounded memory', async (t) => {
    const cwd = await library(t);
    const padding = ' '.repeat(900_000);
    const lines = Array.from({ length: 80 }, () => `nonsense${padding}`);
    await writeFile(path.join(cwd, 'jobs'), [...lines, '{"path":"lib/a"}', '{"path":"lib/a"}'].join('\n'));
    // A heap that could not hold the list.
    const env = { NODE_OPTIONS: '--max-old-space-size=64' };
    const { code, stdout } = await metainfoProcess(['create', '--batch', 'jobs', '--json', '--jobs', '1'], {
      cwd,
      env,
    });
    assert.equal(code, 1);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Event);
    assert.match(events.at(-2)?.error?.message ?? '', /^output file exists: a\.torrent \(use --force/);
    const { jobs, done, failed } = events.at(-1) as Event;
    assert.deepEqual([jobs, done, failed], [82, 1, 81]);
    assert.deepEqual(await entries(cwd), ['a.torrent', 'jobs', 'lib']);
  });

  it('may not have two jobs with one file for the link', async (t) => {
    const cwd = await library(t);
    for (const args of [
      ['--each', 'lib', '--link-file', 'links'],
      ['--batch', 'jobs', '--link-file', 'links'],
    ]) {
      await writeFile(path.join(cwd, 'jobs'), '[{"path":"lib/a"},{"path":"lib/b"}]');
      const { code, stderr } = await metainfo(['create', ...args], { cwd });
      assert.equal(code, 2);
      assert.match(stderr, /would both be written to links:/);
    }
    assert.deepEqual(await entries(cwd), ['jobs', 'lib']);
  });
});

describe('metainfo create --each', () => {
  it('advises for a URL and for standard input', async (t) => {
    const cwd = await library(t);
    const url = await metainfo(['create', '--each', 'https://host.example/x'], { cwd });
    assert.equal(url.code, 2);
    assert.match(url.stderr, /is a URL: omit --each, or list several URLs with --batch\./);
    const stdin = await metainfo(['create', '--each', '-'], { cwd });
    assert.equal(stdin.code, 2);
    assert.match(stdin.stderr, /use --batch - for a list of jobs/);
  });

  it('prints only the links with -q --magnet, those of skipped torrents too', async (t) => {
    const cwd = await library(t);
    const args = ['create', '--each', 'lib', '--magnet', '-q', '--jobs', '1'];
    const first = await metainfo(args, { cwd });
    assert.match(first.stdout, /^(magnet:\?xt=[^\n]*\n){3}$/);
    const again = await metainfo([...args, '--resume'], { cwd });
    assert.deepEqual([again.code, again.stdout, again.stderr], [0, first.stdout, '']);
    const json = await metainfo([...args, '--resume', '--json'], { cwd });
    const links = json.stdout.split('\n').flatMap((line) => /"magnet":"([^"]*)"/.exec(line)?.[1] ?? []);
    assert.deepEqual(links, first.stdout.trimEnd().split('\n'));
  });
});

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_LIMITS } from '../../src/bencode/limits.ts';
import { readWithin } from '../../src/disk/read-file.ts';
import {
  type Dictionary,
  file,
  folder,
  hybrid,
  leaf,
  PIECE,
  pad,
  single,
  torrent,
  withLayers,
} from '../support/build.ts';
import { sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';
import { command, entries, finish, metainfo, start, startProgram } from './run.ts';

/**
 * Every character that a terminal acts on or that disguises text: C0, DEL and C1, a CSI and an OSC 8 sequence, direction
 * overrides, zero-width characters, line separators, and a line that looks like output of the command.
 */
const CONTROLS = Array.from({ length: 0xa0 }, (_, i) => String.fromCharCode(i)).filter((char) =>
  /[\p{Cc}]/u.test(char),
);
const HIDDEN = '\u00ad\u061c\u180e\u200b\u200d\u200e\u202a\u202e\u2028\u2029\u2066\u2069\ufeff\u3164\u{e0041}\ufff9';
const EVIL = `${CONTROLS.join('')}\u001b[2J\u001b]8;;http://x\u0007\u009b31m${HIDDEN}\nFORGED: complete`;
/** The same text as a file name, without NUL and slashes. */
const NAME = EVIL.replaceAll(/[\0/]/g, '').slice(0, 90);
/** Matches any of these characters that was printed without being escaped. */
const RAW = new RegExp(`[${[...CONTROLS, ...HIDDEN].filter((char) => char !== '\n').join('')}]|^FORGED`, 'mu');

const url = `http://${EVIL}/`;
const TOP: Dictionary = {
  announce: url,
  'announce-list': [[url], [EVIL]],
  comment: EVIL,
  'created by': EVIL,
  'url-list': [url],
  httpseeds: [url],
  nodes: [[EVIL, 1]],
  collections: [EVIL],
  [EVIL]: { [EVIL]: [EVIL] },
};
const OF_INFO: Dictionary = { source: EVIL, collections: [EVIL], 'update-url': url, [EVIL]: EVIL };
const ITEM: Dictionary = { [EVIL]: EVIL, attr: 'x\u001b[2J' };

const TORRENTS: Record<string, Buffer> = {
  'v1 file': torrent({ ...single, ...OF_INFO, name: NAME, length: 5 }, TOP),
  'v1 folder': torrent(folder([{ ...file(5, NAME, NAME), ...ITEM }, file(6, 'b')], { ...OF_INFO, name: NAME }), TOP),
  hybrid: withLayers(
    hybrid(
      [file(5, NAME), pad(PIECE - 5), file(6, `${NAME}2`)],
      { [NAME]: leaf(5), [`${NAME}2`]: leaf(6) },
      { ...OF_INFO, name: NAME },
    ),
    {},
    TOP,
  ),
  'an invalid torrent': torrent(
    { ...folder([file(-1, EVIL, '..', NAME), { length: EVIL, path: EVIL }]), name: EVIL, 'piece length': EVIL },
    { announce: [EVIL], 'announce-list': EVIL, nodes: [[EVIL, EVIL]], 'creation date': EVIL, commen: EVIL },
  ),
  'a file that is not bencode': Buffer.from(`d4:info${EVIL}`),
};

const COMMANDS: string[][] = [
  ['show', '-vvv'],
  ['show', '--json'],
  ['show', '--compat', '-v'],
  ['validate', '--strict'],
  ['validate', '--compat', '--json'],
  ['magnet'],
  ['magnet', '--json', '--compat'],
  [
    'edit',
    'FILE',
    '--dry-run',
    '--comment',
    EVIL.replaceAll('\0', ''),
    '--unset',
    EVIL.replaceAll('\0', ''),
    '--no-source',
  ],
  ['edit', 'FILE', '--dry-run', '--json', '--compat', '--no-trackers', '--no-comment'],
  ['verify', 'FILE', 'data'],
  ['verify', '--json', '--compat', 'FILE', 'data'],
  ['update', '--dry-run', 'FILE', 'data'],
  ['update', '--dry-run', '--json', 'FILE', 'data'],
  ['upgrade', '-o', 'new.torrent', 'FILE', 'data'],
  ['upgrade', '-o', 'new.torrent', '--json', '--compat', 'FILE', 'data'],
];

describe('untrusted text', () => {
  for (const args of COMMANDS) {
    it(`is escaped: metainfo ${args.filter((arg) => !arg.includes(EVIL.slice(1))).join(' ')}`, {
      timeout: 120_000,
    }, async (t) => {
      const cwd = await temporaryFolder(t);
      const files = Object.keys(TORRENTS).map((_, i) => `${NAME}${i}.torrent`);
      for (const [i, bytes] of Object.values(TORRENTS).entries())
        await writeFile(path.join(cwd, files[i] as string), bytes);
      await writeTree(cwd, { [`data/${NAME}`]: 6, [`data/x${NAME}/y`]: 1 });
      let shown = '';
      // A command that reads many torrents reads them in one process.
      const lines = args.includes('FILE')
        ? files.map((file) => args.map((word) => (word === 'FILE' ? file : word)))
        : [[...args, ...files]];
      for (const line of lines) {
        const { stdout, stderr } = await metainfo(line, { cwd });
        const text = stdout + stderr;
        assert.doesNotMatch(text, RAW, `${line}: ${JSON.stringify(text.slice(0, 2000))}`);
        assert.ok(text.length > 0, `${line} printed nothing`);
        shown += text;
        // JSON must stay parseable.
        if (args.includes('--json')) for (const json of stdout.trim().split('\n')) JSON.parse(json);
      }
      assert.match(shown, /\\x1b|\\u001b|%1B/, 'the command showed none of it');
    });
  }

  it('is escaped in file names, magnet links, options and missing paths', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { [`${NAME}/${NAME}`]: 5 });
    const evil = EVIL.replaceAll('\0', '');
    const commands = [
      ['create', NAME],
      ['create', NAME, '--json', '-o', 'x.torrent'],
      ['create', NAME],
      ['create', evil],
      ['show', evil],
      ['show', evil, '--json'],
      ['show', `--${evil}`],
      ['show', 'a', evil],
      [evil],
      ['create', NAME, '--piece-length', evil],
      ['create', NAME, '--tracker', evil],
      ['create', NAME, '--cache-dir', `${NAME}/${NAME}/${evil}`],
      ['show', '--limit', evil, 'x.torrent'],
      ['completion', evil],
      ['edit', 'x.torrent', '--set', evil],
      [
        'magnet',
        `magnet:?xt=urn:btih:${'a'.repeat(40)}&dn=${encodeURIComponent(EVIL)}&tr=${encodeURIComponent(EVIL)}&x=${evil}`,
      ],
      ['magnet', `magnet:?xt=${evil}&x.pe=${evil}&so=${evil}&dn=%ff${evil}`],
    ];
    for (const args of commands) {
      const { stdout, stderr, code } = await metainfo(args, { cwd });
      const text = stdout + stderr;
      assert.doesNotMatch(text, RAW, `${args}: ${JSON.stringify(text.slice(0, 2000))}`);
      assert.ok(text.length > 0 && code !== null, `${args}`);
    }
  });
});

describe('--limit', () => {
  it('limits what every command reads, and the error tells how to raise the limit', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(path.join(cwd, 'x.torrent'), torrent(folder([file(5, 'a'), file(6, 'b')])));
    await writeTree(cwd, { 'data/a': 5 });
    for (const args of [
      ['show'],
      ['validate'],
      ['magnet'],
      ['edit', '--dry-run'],
      ['verify', '+'],
      ['update', '+'],
      ['upgrade', '+'],
    ]) {
      const rest = args.flatMap((word) => (word === '+' ? ['x.torrent', 'data'] : [word]));
      const whole = args.includes('+') ? rest : [...rest, 'x.torrent'];
      const { code, stdout, stderr } = await metainfo([...whole, '--limit', 'files=1', '--limit', 'bytes=1KiB'], {
        cwd,
      });
      assert.equal(code, 1, `${args}`);
      assert.match(
        stdout + stderr,
        /x\.torrent: .*limit of 1 files exceeded: raise it .*--limit files=N.*ERR_LIMIT/s,
        `${args}`,
      );
    }
    const json = await metainfo(['validate', '--json', '--limit', 'items=2', 'x.torrent'], { cwd });
    const [issue] = JSON.parse(json.stdout).issues;
    assert.deepEqual([issue.code, issue.limit, issue.offset], ['ERR_LIMIT', 'items', 7]);
    for (const wrong of ['files', 'files=', 'files=-1', 'file=1', 'toString=1', 'files=x', 'files=1e3'])
      assert.equal((await metainfo(['show', 'x.torrent', '--limit', wrong], { cwd })).code, 2, wrong);
    // A wrong option is not a problem of the torrent.
    const { code, stdout, stderr } = await metainfo(['validate', 'x.torrent', '--limit', 'depth=1001'], { cwd });
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /ERR_INVALID_ARGUMENT/);
  });

  it('stops reading endless input: a device, a pipe, standard input', async (t) => {
    const cwd = await temporaryFolder(t);
    const limit = ['--limit', 'bytes=1MiB'];
    const device = await metainfo(['show', '/dev/zero', ...limit], { cwd });
    assert.match(device.stderr, /\/dev\/zero: .*limit of 1048576 bytes.*\[ERR_LIMIT\]/);
    const endless = `cat /dev/zero | "$@"; true`;
    const [program, ...args] = ['sh', '-c', endless, 'sh', ...command(['show', '/dev/stdin', ...limit])];
    const piped = await finish(startProgram([program as string, ...args], { cwd }));
    assert.match(piped.stderr, /\/dev\/stdin: .*\[ERR_LIMIT\]/);
    const fifo = path.join(cwd, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const reading = metainfo(['show', 'fifo'], { cwd });
    const writing = await open(fifo, 'w');
    await writing.writeFile(torrent(single));
    await writing.close();
    assert.match((await reading).stdout, /^name +a\n/);
  });

  it('lets a signal end the process while it waits for a pipe', async (t) => {
    const cwd = await temporaryFolder(t);
    execFileSync('mkfifo', [path.join(cwd, 'fifo')]);
    for (const name of ['show', 'verify', 'update', 'upgrade']) {
      const child = start(name === 'show' ? [name, 'fifo'] : [name, 'fifo', '.'], { cwd });
      const ended = finish(child);
      // Wait until the process has opened the pipe.
      await delay(1000);
      child.kill('SIGTERM');
      const killed = setTimeout(() => child.kill('SIGKILL'), 10_000);
      assert.equal((await ended).signal, 'SIGTERM', name);
      clearTimeout(killed);
    }
  });

  it('lets Ctrl-C end create while its list of jobs or its configuration is a silent pipe', async (t) => {
    const cwd = await temporaryFolder(t);
    execFileSync('mkfifo', [path.join(cwd, 'fifo')]);
    await writeTree(cwd, { album: 10 });
    // The shell becomes the command, so it gets the signal.
    const piped = `exec 3< <(exec sleep 20 2> /dev/null); exec "$@"`;
    const lists: [string, ...string[]][] = [
      command(['create', '--batch', 'fifo']),
      command(['create', 'album', '--config', 'fifo']),
      command(['plan', 'album', '--config', 'fifo']),
      ['bash', '-c', piped, 'bash', ...command(['create', '--batch', '/dev/fd/3'])],
    ];
    const ends = lists.map(async (line) => {
      const child = startProgram(line, { cwd });
      const ended = finish(child);
      await delay(2000);
      child.kill('SIGINT');
      const killed = setTimeout(() => child.kill('SIGKILL'), 30_000);
      assert.equal((await ended).signal, 'SIGINT', line.join(' '));
      clearTimeout(killed);
    });
    await Promise.all(ends);
    assert.deepEqual(await entries(cwd), ['album', 'fifo']);
  });

  it('rejects a larger file before reading it', async (t) => {
    const target = await sparseFile(await temporaryFolder(t), 'x.torrent', 64 * 2 ** 30);
    const before = process.memoryUsage().rss;
    const refused = { code: 'ERR_LIMIT', limit: 'bytes', most: DEFAULT_LIMITS.bytes, path: target };
    for (let i = 0; i < 20; i += 1) await assert.rejects(readWithin(target, DEFAULT_LIMITS.bytes), refused);
    const taken = process.memoryUsage().rss - before;
    assert.ok(taken < 2 ** 26, `${taken} bytes of memory were used`);
  });
});

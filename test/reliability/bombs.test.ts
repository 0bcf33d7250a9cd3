// Small torrents that claim huge content. Every entry point takes time and memory in proportion to the input and the limits, and
// ends with a result or a typed error.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { finish, MAIN, startProgram } from '../cli/run.ts';
import type { BombAnswer } from '../support/bombs.ts';
import {
  bencode,
  type Dictionary,
  file,
  folder,
  H20,
  LAYER,
  latin1,
  layers,
  leaf,
  pad,
  ROOT,
  raw,
  single,
  torrent,
  v2,
  withLayers,
} from '../support/build.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { procMissing } from './run-child.ts';

interface Bomb {
  bytes: () => Buffer;
  /** The expected results, by a part of the entry point's name; null for success. */
  ends: Record<string, string | null>;
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
const many = (part: string, count: number) => raw(`l${part.repeat(count)}e`);
const ofFiles = (files: Parameters<typeof folder>[0], changes: Dictionary = {}) => torrent(folder(files, changes));
/** For every entry point. */
const all = (code: string) => ({ '': code });
const limit = (name: string) => all(`limit: ${name}`);
/** For every way of reading. */
const read = (code: string | null) => ({ inspect: null, read: code, decode: null });

const BOMBS: Record<string, Bomb> = {
  'a million nested lists': { bytes: () => latin1('l'.repeat(1e6)), ends: limit('depth') },
  'a million nested dictionaries': { bytes: () => latin1('d1:a'.repeat(1e6)), ends: limit('depth') },
  'a tree of a million nested folders': {
    bytes: () => withLayers(v2(raw('d1:a'.repeat(1e6) + 'e'.repeat(1e6)))),
    ends: limit('depth'),
  },
  'a folder of 2 MB above 2,000 files': {
    bytes: () =>
      withLayers(v2({ ['a'.repeat(2_000_000)]: Object.fromEntries(numbers(2000).map((i) => [`${i}`, leaf(5)])) })),
    ends: { ...limit('paths'), decode: null },
  },
  'a key of 17 MB': { bytes: () => torrent(single, { ['a'.repeat(17_000_000)]: 1 }), ends: limit('text') },
  'a comment of 17 MB': {
    bytes: () => torrent(single, { comment: Buffer.alloc(17_000_000) }),
    ends: { ...limit('text'), decode: null },
  },
  'a comment and a source of 16 MB that are all escapes': {
    bytes: () => torrent({ ...single, source: Buffer.alloc(2 ** 24) }, { comment: Buffer.alloc(2 ** 24) }),
    ends: { read: null, show: null, magnet: null, edit: null },
  },
  '100 MB of i0e': { bytes: () => bencode(many('i0e', 33_333_333)), ends: limit('items') },
  '10 million empty lists': { bytes: () => torrent(single, { x: many('le', 10_000_000) }), ends: limit('items') },
  '1.6 million keys': {
    bytes: () =>
      latin1(
        `d${numbers(1_600_000)
          .map((i) => `7:${String(i).padStart(7, '0')}le`)
          .join('')}e`,
      ),
    ends: limit('items'),
  },
  'a string of 10^20 bytes': { bytes: () => latin1('d4:info99999999999999999999:'), ends: all('ERR_BENCODE') },
  'a string of all that there is and one byte': { bytes: () => latin1('7:abcdef'), ends: all('ERR_BENCODE') },
  'a string whose length has 30 MB of zeros before it': {
    bytes: () => latin1(`d4:info${'0'.repeat(30_000_000)}1:ae`),
    ends: { ...all('ERR_BENCODE'), fromDecoded: 'type', inspect: 'ERR_BENCODE' },
  },
  'files of 2^62 bytes': {
    bytes: () => ofFiles([file(2n ** 62n, 'a'), file(2n ** 62n, 'b'), file(2n ** 62n, 'c')]),
    ends: read('too_large'),
  },
  'files that together are more than 2^53 bytes': {
    bytes: () => ofFiles(numbers(1000).map((i) => file(2 ** 53 - 1, `${i}`))),
    ends: read('too_large'),
  },
  '100,000 files of less than no bytes': {
    bytes: () => torrent({ ...single, length: undefined, files: many('d6:lengthi-1e4:pathl1:aee', 100_000) }),
    ends: read('negative'),
  },
  '100,000 files of one name': {
    bytes: () => ofFiles(numbers(100_000).map(() => file(1, 'x'))),
    ends: {
      'read default': 'duplicate_path',
      'read strict': 'duplicate_path',
      'read compat': 'duplicate_path',
    },
  },
  '100,000 files of names that file systems take for one': {
    bytes: () =>
      ofFiles(numbers(100_000).map((i) => file(1, `${['\u00e9', 'e\u0301', '\u00c9', 'E\u0301'][i % 4]}${i >> 2}`))),
    ends: { read: null, show: null, look: null, verify: null },
  },
  'a path of 100,000 folders': {
    bytes: () => ofFiles([file(5, ...numbers(100_000).map(() => 'a'))]),
    ends: { read: null, show: null, look: null, verify: null, magnet: null, edit: null },
  },
  'a million files of short paths': {
    bytes: () => ofFiles([file(5, 'a')], { files: many('d6:lengthi1e4:pathl1:aee', 1_000_000) }),
    ends: limit('items'),
  },
  'pieces of 1 byte': {
    bytes: () => torrent({ ...single, 'piece length': 1, length: 1_000_000, pieces: Buffer.alloc(20_000_000) }),
    ends: { read: null, show: null, verify: null, upgrade: 'ERR_PIECE_LENGTH' },
  },
  'a piece of 2^52 bytes': {
    bytes: () => torrent({ ...single, 'piece length': 2 ** 52 }),
    ends: {
      'read default': null,
      'read strict': 'piece_length',
      'read compat': 'piece_length',
      verify: null,
      upgrade: 'ERR_PIECE_LENGTH',
    },
  },
  'a piece of 2^29 bytes': {
    bytes: () => torrent({ ...single, 'piece length': 2 ** 29 }),
    ends: {
      'read default': null,
      'read strict': 'piece_length',
      'read compat': 'piece_length',
      verify: null,
      upgrade: 'ERR_HASH_MISMATCH',
    },
  },
  'a piece of 2^60 bytes': { bytes: () => torrent({ ...single, 'piece length': 2n ** 60n }), ends: read('too_large') },
  '5 million pieces for 5 bytes': {
    bytes: () => torrent({ ...single, pieces: Buffer.alloc(100_000_000) }),
    ends: { ...read('expected_n_pieces'), 'read compat': 'too_large' },
  },
  'two hashes for 2^50 bytes': {
    bytes: () => withLayers(v2({ a: leaf(2 ** 50, { 'pieces root': ROOT }) }), layers([ROOT, LAYER])),
    ends: {
      inspect: null,
      'read default': 'pieces_layers_correct',
      'read strict': 'pieces_layers_correct',
      'read compat': 'too_large',
    },
  },
  'no hashes for 2^43 bytes': {
    bytes: () => torrent(v2({ a: leaf(2 ** 43) }, { 'piece length': 2 ** 25 })),
    ends: { 'read default': 'piece_layers_if_v2', compat: null, 'upgrade compat': 'ERR_INVALID_ARGUMENT' },
  },
  'a pad of 2^50 bytes': {
    bytes: () => ofFiles([file(5, 'a'), pad(2 ** 50 - 5)], { 'piece length': 2 ** 50, pieces: H20 }),
    ends: { decode: null, inspect: 'limit: padding', read: 'limit: padding', fromDecoded: 'limit: padding' },
  },
  'a million empty tiers': {
    bytes: () => torrent(single, { 'announce-list': many('le', 1_000_000) }),
    ends: { read: null, show: null, magnet: null, edit: null },
  },
  '200,000 tiers of one tracker': {
    bytes: () =>
      torrent(single, {
        'announce-list': raw(
          `l${numbers(200_000)
            .map((i) => `l13:http://${String(i).padStart(6, '0')}e`)
            .join('')}e`,
        ),
      }),
    ends: { read: null, show: null, magnet: null, edit: null },
  },
  '200,000 webseeds': {
    bytes: () =>
      torrent(single, {
        'url-list': raw(
          `l${numbers(200_000)
            .map((i) => `13:http://${String(i).padStart(6, '0')}`)
            .join('')}e`,
        ),
      }),
    ends: { read: null, show: null, magnet: null, edit: null },
  },
  'symbolic links in a circle': {
    bytes: () => {
      const link = (from: string, to: string) => ({ attr: 'l', length: 0, path: [from], 'symlink path': [to] });
      return ofFiles([file(5, 'a'), link('b', 'c'), link('c', 'b'), link('d', 'd')]);
    },
    ends: { 'read default': null, 'read compat': null, show: null, look: null, verify: null },
  },
};

/** Memory beyond ten times the input: for 3 million values and for garbage that is not collected yet. */
const MOST_MEMORY = 3_000_000 * 200 + 256 * 2 ** 20;
const MULTIPLE = 14;
/** Seconds of processor time for all entry points together. */
const MOST_SECONDS = 120;

describe('a torrent that claims huge content', { skip: procMissing }, () => {
  for (const [what, { bytes: make, ends }] of Object.entries(BOMBS)) {
    it(`is bounded at every entry point: ${what}`, { timeout: 600_000 }, async (t) => {
      const cwd = await temporaryFolder(t);
      const bytes = make();
      const [target, data] = [path.join(cwd, 'bomb.torrent'), path.join(cwd, 'data')];
      await mkdir(data);
      await writeTree(data, { a: 5, x: 1 });
      await writeFile(target, bytes);
      const { outcomes, seconds, memory } = await explode(target, data);
      const size = (value: number) => `${(value / 2 ** 20).toFixed(0)} MiB`;
      t.diagnostic(`${size(bytes.length)}: ${seconds.toFixed(2)} s, ${size(memory)}`);
      for (const [entry, outcome] of Object.entries(outcomes)) {
        assert.doesNotMatch(outcome ?? '', /^untyped|ERR_INTERNAL/, entry);
        // The longest key that is part of the entry point's name.
        const [key] = Object.keys(ends)
          .filter((one) => entry.includes(one))
          .sort((a, b) => b.length - a.length);
        if (key !== undefined) assert.equal(outcome, ends[key], entry);
      }
      assert.ok(seconds < MOST_SECONDS, `took ${seconds} s`);
      assert.ok(memory < MOST_MEMORY + MULTIPLE * bytes.length, `took ${memory} bytes`);
    });
  }
});

async function explode(target: string, data: string): Promise<BombAnswer> {
  const script = fileURLToPath(new URL('../support/bombs.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--max-old-space-size=2048', '--import', './scripts/ts.mjs', script, target, data],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 590_000,
    },
  );
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
  return JSON.parse(text) as BombAnswer;
}

const COMMANDS: Record<string, string[]> = {
  show: ['show', '-vvv', 'bomb.torrent'],
  'show --json': ['show', '--json', '--compat', 'bomb.torrent'],
  validate: ['validate', 'bomb.torrent'],
  'validate --json': ['validate', '--json', '--strict', 'bomb.torrent'],
  verify: ['verify', 'bomb.torrent', 'data'],
  edit: ['edit', 'bomb.torrent', '--dry-run', '--comment', 'x'],
  update: ['update', 'bomb.torrent', 'data', '--dry-run'],
  upgrade: ['upgrade', 'bomb.torrent', 'data', '-o', 'new.torrent'],
  magnet: ['magnet', 'bomb.torrent'],
};

describe('the command with a torrent that claims huge content', () => {
  for (const [name, args] of Object.entries(COMMANDS)) {
    it(`exits with a code and prints no stack: ${name}`, { timeout: 600_000 }, async (t) => {
      const cwd = await temporaryFolder(t);
      await writeTree(cwd, { 'data/a': 5 });
      for (const what of [
        'a million nested lists',
        '10 million empty lists',
        'a pad of 2^50 bytes',
        'a piece of 2^52 bytes',
      ]) {
        await writeFile(path.join(cwd, 'bomb.torrent'), BOMBS[what]?.bytes() as Buffer);
        const command: [string, ...string[]] = [process.execPath, '--max-old-space-size=1024', MAIN, ...args];
        const { code, signal, stdout, stderr } = await finish(startProgram(command, { cwd }));
        assert.ok(signal === null && (code === 0 || code === 1 || code === 2), `${what}: ${code} ${signal} ${stderr}`);
        assert.doesNotMatch(stderr, /\n {4}at /, what);
        assert.ok(stdout.length < 100_000, what);
        if (what.startsWith('10 million')) assert.match(stdout + stderr, /ERR_LIMIT/);
      }
    });
  }
});

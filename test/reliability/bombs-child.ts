/**
 * Runs hostile torrents through the functions that read one, and reports results and costs, a line for each torrent.
 * bombs.test.ts starts it as a process of its own: `bombs-child.ts bombs|large FOLDER`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BencodeError } from '../../src/bencode/bencode-error.ts';
import { decode } from '../../src/bencode/decode.ts';
import { LimitError } from '../../src/bencode/limits.ts';
import { differences } from '../../src/edit/differences.ts';
import { edit } from '../../src/edit/edit.ts';
import { update } from '../../src/edit/update.ts';
import { upgrade } from '../../src/edit/upgrade.ts';
import { MetainfoError, ValidationError } from '../../src/errors/errors.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { formatTorrent } from '../../src/print/print-torrent.ts';
import { verify } from '../../src/verify/verify.ts';
import { BOMBS, LARGE } from '../support/bombs.ts';
import { peak, resetPeak } from '../support/proc.ts';
import { writeTree } from '../support/tree.ts';

export interface BombAnswer {
  name: string;
  /** The size of the torrent in bytes. */
  size: number;
  /** Results by entry point and profile: null for success, the name of a limit, the first issue or the code of another error. */
  outcomes: Record<string, string | null>;
  /** Seconds of processor time. */
  seconds: number;
  /** Peak memory of the costliest entry point, in bytes above the memory with the torrent alone. */
  memory: number;
  /** Memory that earlier torrents left behind, in bytes: it could hide memory that this one takes. */
  left: number;
}

function codeOf(error: unknown): string {
  if (error instanceof LimitError) return `limit: ${error.limit}`;
  if (error instanceof BencodeError) return error.bencodeCode;
  if (error instanceof ValidationError) {
    if (error.issues.length > 2002) return `${error.issues.length} issues`;
    // A server would log or send these.
    if (error.message.length > 100_000) return `a message of ${error.message.length} characters`;
    if (JSON.stringify(error.issues).length > 10_000_000) return 'issues of more than 10 MB';
    return error.issues[0]?.code ?? 'no issue';
  }
  return error instanceof MetainfoError ? error.code : `untyped: ${(error as Error).stack}`;
}

/** Uses everything that a user would look at. */
function look(torrent: Torrent): void {
  void [torrent.files, torrent.safePaths, torrent.flatFiles, torrent.totalSize, torrent.flatTrackers, torrent.webseeds];
  void [torrent.name, torrent.nPieces, torrent.infohashV1, torrent.infohashV2];
}

type Through = (entry: string, work: () => unknown) => Promise<void>;

/** Calls the entry points with a torrent, and reports results and costs. */
async function measure(name: string, make: () => Buffer, callAll: (bytes: Buffer, through: Through) => Promise<void>) {
  const start = process.cpuUsage();
  const bytes = make();
  await resetPeak();
  const before = peak();
  const left = Math.max(0, before - bytes.length - LEAST);
  const answer: BombAnswer = { name, size: bytes.length, outcomes: {}, seconds: 0, memory: 0, left };
  await callAll(bytes, async (entry, work) => {
    globalThis.gc?.();
    answer.outcomes[entry] = await (async () => work())().then(() => null, codeOf);
    answer.memory = Math.max(answer.memory, peak() - before);
  });
  const { user, system } = process.cpuUsage(start);
  answer.seconds = (user + system) / 1e6;
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

const [kind, folder] = process.argv.slice(2) as ['bombs' | 'large', string];
await resetPeak();
/** The memory before the first torrent. */
const LEAST = peak();

if (kind === 'large') {
  for (const [name, { bytes, profile = 'default' }] of Object.entries(LARGE)) {
    await measure(name, bytes, (input, through) =>
      through('read', () => look(Torrent.fromBytes(input, { context: { profile } }))),
    );
  }
} else {
  const [file, data] = [path.join(folder, 'bomb.torrent'), path.join(folder, 'data')];
  await mkdir(data);
  await writeTree(data, { a: 5, x: 1 });
  for (const [name, { bytes: make }] of Object.entries(BOMBS)) {
    await measure(name, make, async (bytes, through) => {
      await writeFile(file, bytes);
      await through('decode', () => decode(bytes));
      await through('fromDecoded', () => Torrent.fromDecoded(decode(bytes, { tolerant: true }).value));
      for (const profile of ['default', 'strict', 'compat'] as const) {
        const context = { profile };
        const found: Torrent[] = [];
        if (profile === 'default') await through('inspect', () => Torrent.inspect(bytes, { context }));
        await through(`read ${profile}`, async () => {
          found.push(await Torrent.read(file, { context }));
        });
        const [read] = found;
        if (!read) continue;
        await through(`show ${profile}`, () => {
          let length = 0;
          for (const line of formatTorrent(read, { verbose: 3 })) length += line.length;
          return length;
        });
        await through(`look ${profile}`, () => [read.safePaths, read.flatFiles, read.nPieces, read.modelDumpTorrent()]);
        await through(`magnet ${profile}`, () => read.magnet());
        await through(`edit ${profile}`, () =>
          differences(read, edit(read, { comment: 'x', source: 'y' }, { context })),
        );
        await through(`verify ${profile}`, () => verify(read, data));
        await through(`update ${profile}`, () => update(read, data, { context }));
        await through(`upgrade ${profile}`, () => upgrade(read, data, { context }));
      }
    });
  }
}

/**
 * Runs a hostile torrent through every function that reads one, in every profile, and reports results and costs. bombs.test.ts
 * starts it as a process of its own.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { decode } from '../../src/bencode/decode.ts';
import { LimitError } from '../../src/bencode/limits.ts';
import { differences } from '../../src/edit/differences.ts';
import { edit } from '../../src/edit/edit.ts';
import { update } from '../../src/edit/update.ts';
import { upgrade } from '../../src/edit/upgrade.ts';
import { MetainfoError, ValidationError } from '../../src/errors/errors.ts';
import { formatTorrent } from '../../src/model/pprint.ts';
import { Torrent } from '../../src/model/torrent.ts';
import { verify } from '../../src/verify/verify.ts';

export interface BombAnswer {
  /** Results by entry point and profile: null for success, the name of a limit, the first issue or the code of another error. */
  outcomes: Record<string, string | null>;
  /** Seconds of processor time, including the start of the process. */
  seconds: number;
  /** Peak memory of the costliest entry point, in bytes above the memory after reading the input. */
  memory: number;
}

/** Returns the peak resident memory in bytes. */
const peak = () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;

function codeOf(error: unknown): string {
  if (error instanceof LimitError) return `limit: ${error.limit}`;
  if (error instanceof ValidationError) {
    if (error.issues.length > 2002) return `${error.issues.length} issues`;
    return error.issues[0]?.code ?? 'no issue';
  }
  return error instanceof MetainfoError ? error.code : `untyped: ${(error as Error).stack}`;
}

const [file, folder] = process.argv.slice(2) as [string, string];
const bytes = readFileSync(file);
/** Collects garbage and resets the peak. */
function settle(): void {
  globalThis.gc?.();
  writeFileSync('/proc/self/clear_refs', '5');
}
settle();
const before = peak();
let memory = 0;
const outcomes: BombAnswer['outcomes'] = {};
const through = async (entry: string, work: () => unknown) => {
  settle();
  outcomes[entry] = await (async () => work())().then(() => null, codeOf);
  memory = Math.max(memory, peak() - before);
};

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
  await through(`edit ${profile}`, () => differences(read, edit(read, { comment: 'x', source: 'y' }, { context })));
  await through(`verify ${profile}`, () => verify(read, folder));
  await through(`update ${profile}`, () => update(read, folder, { context }));
  await through(`upgrade ${profile}`, () => upgrade(read, folder, { context }));
}
const { user, system } = process.cpuUsage();
const seconds = (user + system) / 1e6;
process.stdout.write(JSON.stringify({ outcomes, seconds, memory } satisfies BombAnswer));

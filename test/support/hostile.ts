/** Reads a hostile torrent and reports the result and its cost. damage.test.ts starts it as a process of its own. */
import { readFileSync, writeFileSync } from 'node:fs';
import { BencodeError } from '../../src/bencode/bencode-error.ts';
import { LimitError } from '../../src/bencode/limits.ts';
import { ValidationError } from '../../src/errors/errors.ts';
import type { Profile } from '../../src/model/issues.ts';
import { Torrent } from '../../src/model/torrent.ts';

export interface HostileAnswer {
  /** Null for success, a bencode code, the name of a limit, the code of the first issue, or the name of an unexpected error. */
  outcome: string | null;
  /** The time in seconds. */
  seconds: number;
  /** Peak memory in bytes above the memory after reading the input. */
  memory: number;
}

/** Returns the peak resident memory in bytes. */
const peak = () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;

/** Uses everything that a user would look at. */
function look(torrent: Torrent): void {
  void [torrent.files, torrent.safePaths, torrent.flatFiles, torrent.totalSize, torrent.flatTrackers, torrent.webseeds];
  void [torrent.name, torrent.nPieces, torrent.infohashV1, torrent.infohashV2];
}

function outcomeOf(bytes: Uint8Array, profile: Profile): string | null {
  try {
    look(Torrent.fromBytes(bytes, { context: { profile } }));
    return null;
  } catch (error) {
    if (error instanceof LimitError) return `limit: ${error.limit}`;
    if (error instanceof BencodeError) return error.bencodeCode;
    if (!(error instanceof ValidationError)) return `untyped: ${error}`;
    // A server would log or send these.
    if (error.message.length > 100_000) return `a message of ${error.message.length} characters`;
    if (JSON.stringify(error.issues).length > 10_000_000) return 'issues of more than 10 MB';
    return error.issues[0]?.code ?? 'no issue';
  }
}

const [file, profile] = process.argv.slice(2) as [string, Profile];
const bytes = readFileSync(file);
globalThis.gc?.();
// Reset the peak.
writeFileSync('/proc/self/clear_refs', '5');
const before = peak();
const started = performance.now();
const outcome = outcomeOf(bytes, profile);
const seconds = (performance.now() - started) / 1000;
const answer: HostileAnswer = { outcome, seconds, memory: peak() - before };
process.stdout.write(JSON.stringify(answer));

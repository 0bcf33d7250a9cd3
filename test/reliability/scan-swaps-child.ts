/**
 * Changes entries while a scan is stalled in a system call on them. scan-swaps.test.ts starts it as a process of its own, with the shim
 * of test/support/faults preloaded.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { scan, scannedFiles } from '../../src/disk/scan.ts';
import type { MetainfoError } from '../../src/errors/errors.ts';
import { type Call, Faults } from '../support/faults.ts';

/** The result of a scan: the files with their paths on disk and lengths, or the code and path of its error. */
export type SwapOutcome = Record<string, string> | { code: string; path: string };

const work = process.env['METAINFO_FAULT_FOLDER'] as string;
const faults = Faults.open(process.env['METAINFO_FAULT_CONTROL'] as string);
const [data, outside] = [path.join(work, 'data'), path.join(work, 'outside')];

function setUp(): void {
  rmSync(data, { recursive: true, force: true });
  for (const folder of ['sub', 'kept']) mkdirSync(path.join(data, folder), { recursive: true });
  for (const file of ['sub/file', 'kept/file']) writeFileSync(path.join(data, file), 'x');
}

const CHANGES: Record<string, (place: string) => void> = {
  vanishes: () => {},
  'becomes a FIFO': (place) => void execFileSync('mkfifo', [place]),
  'becomes a file': (place) => writeFileSync(place, 'longer'),
  'becomes a folder'(place) {
    mkdirSync(place);
    writeFileSync(path.join(place, 'inner'), 'x');
  },
  'becomes a link out of the root': (place) => symlinkSync(outside, place),
  'becomes a link within the root': (place) => symlinkSync(path.join(data, 'kept'), place),
};

/** Scans, and changes an entry when the scan is about to make a call on it. */
async function outcomeOf(call: Call, place: string, change: (place: string) => void): Promise<SwapOutcome | null> {
  setUp();
  // Only one call matches: those on entries below the place come later.
  faults.arm({ call, action: 'stall', match: place });
  let ended = false;
  const running = scan(data, null, { readable: true })
    .then(
      (scanned): SwapOutcome =>
        Object.fromEntries(
          scannedFiles(scanned)
            .map((file) => [file.path.join('/'), `${path.relative(data, file.diskPath)}: ${file.length}`])
            .sort(),
        ),
      ({ code, path: named = '' }: MetainfoError): SwapOutcome => ({ code, path: path.relative(data, named) }),
    )
    .finally(() => {
      ended = true;
    });
  while (!ended && faults.counts().fired === 0) await sleep(1);
  const isStalled = !ended;
  rmSync(place, { recursive: true });
  change(place);
  faults.go();
  const outcome = await running;
  return isStalled ? outcome : null;
}

mkdirSync(outside);
writeFileSync(path.join(outside, 'secret'), 'x');
const outcomes: Record<string, SwapOutcome | null> = {};
for (const [call, name] of [
  ['stat', 'sub/file'],
  ['list', 'sub'],
] as const)
  for (const [what, change] of Object.entries(CHANGES))
    outcomes[`${name} ${what}`] = await outcomeOf(call, path.join(data, name), change);
writeSync(1, `${JSON.stringify(outcomes)}\n`);

/** `metainfo kernels`: lists the hash kernels, and measures their speed. */
import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import { type Addon, type KernelSpeed, loadAddon } from '../../hash/addon.ts';
import { defaultEngine } from '../../hash/default-engine.ts';
import { BLOCK_SIZE } from '../../layout/piece-length.ts';
import { writeLines } from '../terminal/output.ts';

interface KernelsOptions {
  bench?: boolean;
  json?: boolean;
}

const NOTE = `
Kernels are listed fastest first. A batch too small for one kernel goes to the
next. For SHA-256, a race of 2 ms chooses between two of them.
METAINFO_KERNEL=NAME tries that kernel first. METAINFO_ENGINE=node hashes with
node:crypto instead.`;

/** The time for each function of a kernel. The best of many rounds counts, so more time changes little. */
const MILLISECONDS = 40;

const EXAMPLES = `
Examples:
  metainfo kernels
  metainfo kernels --bench --json

--json prints { active, kernels: [{ name, chosenFor, bytesPerSecond }] }.`;

export function addKernels(program: Command): void {
  program
    .command('kernels')
    .description('list the hash kernels that this CPU supports, and the active ones')
    .option('--bench', 'measure the speed of each kernel on one thread')
    .option('--json', 'print one JSON object')
    .addHelpText('after', `${EXAMPLES}\n${NOTE}`)
    .action(kernels);
}

async function kernels({ bench, json }: KernelsOptions): Promise<void> {
  const isNative = defaultEngine().name === 'native';
  // The first large job of a process does this too.
  if (isNative) loadAddon().raceKernels();
  const { kernels: names, active, measureKernel } = isNative ? loadAddon() : NODE;
  const entries = names.map((name, index) => ({
    name,
    chosenFor: (['sha1', 'sha256'] as const).filter((algorithm) => active[algorithm] === name),
    measure: () => (bench ? { bytesPerSecond: measureKernel(index, MILLISECONDS) } : {}),
  }));
  if (json) {
    const measured = entries.map(({ name, chosenFor, measure }) => ({ name, chosenFor, ...measure() }));
    return writeLines([JSON.stringify({ active, kernels: measured })]);
  }
  await writeLines([tableLine('kernel', 'active for', bench ? SPEED_TITLES : [])]);
  // Each line is printed when its measurement is done, because measuring takes a moment.
  for (const { name, chosenFor, measure } of entries) {
    const { bytesPerSecond } = measure();
    const uses = chosenFor.map((algorithm) => TITLES[algorithm]).join(', ');
    await writeLines([tableLine(name, uses, bytesPerSecond ? speeds(bytesPerSecond) : [])]);
  }
  if (isNative) await writeLines([NOTE]);
}

/** The fallback `node:crypto`, presented like a kernel. */
const NODE: Pick<Addon, 'kernels' | 'active' | 'measureKernel'> = {
  kernels: ['node:crypto'],
  active: { sha1: 'node:crypto', sha256: 'node:crypto' },
  measureKernel: (_, milliseconds) => {
    const speed = (algorithm: string, size: number) => bytesPerSecond(algorithm, Buffer.alloc(size), milliseconds);
    const sha1 = speed('sha1', 2 ** 20);
    return { sha1, sha1Zeros: sha1, sha256: speed('sha256', BLOCK_SIZE), sha256Nodes: speed('sha256', 64) };
  },
};

/** The speed of `node:crypto`, in bytes per second: the best of many rounds. */
function bytesPerSecond(algorithm: string, message: Uint8Array, milliseconds: number): number {
  const rounds = Math.ceil(2 ** 20 / message.length);
  const end = performance.now() + milliseconds;
  let best = Number.POSITIVE_INFINITY;
  while (performance.now() < end) {
    const start = performance.now();
    for (let i = 0; i < rounds; i += 1) createHash(algorithm).update(message).digest();
    best = Math.min(best, performance.now() - start);
  }
  return Math.round((rounds * message.length * 1000) / best);
}

const TITLES = { sha1: 'SHA-1', sha256: 'SHA-256' };
const SPEED_TITLES = ['SHA-1', 'of zeros', 'SHA-256', 'Merkle node'];

function speeds({ sha1, sha1Zeros, sha256, sha256Nodes }: KernelSpeed): string[] {
  const rate = (bytes: number) => (bytes === 0 ? '-' : `${(bytes / 1e9).toFixed(2)} GB/s`);
  return [...[sha1, sha1Zeros, sha256].map(rate), sha256Nodes === 0 ? '-' : `${(64e9 / sha256Nodes).toFixed(1)} ns`];
}

function tableLine(name: string, uses: string, figures: readonly string[]): string {
  return [name.padEnd(12), uses.padEnd(14), ...figures.map((figure) => figure.padStart(11))].join('  ').trimEnd();
}

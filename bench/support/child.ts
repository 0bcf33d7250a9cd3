// Runs one task in a process of its own and prints its sample: child.ts MODULE TASK INPUT, see `inProcess` in measure.ts.
import { peak, resetPeak } from '../../test/support/proc.ts';
import type { Work } from './measure.ts';

const [url = '', name = '', input = ''] = process.argv.slice(2);
const { tasks } = (await import(url)) as { tasks: Record<string, (input: unknown) => Work | Promise<Work>> };
// Preparations are not measured.
const work = await tasks[name]?.(JSON.parse(input));
await resetPeak();
const idle = peak();
const started = performance.now();
const own = (await work?.()) as object | undefined;
const seconds = (performance.now() - started) / 1000;
// The system's page counters lag behind a little.
const peakBytes = Math.max(0, peak() - idle);
console.log(JSON.stringify({ seconds, peakBytes, ...own }));

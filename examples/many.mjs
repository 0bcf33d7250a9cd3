// Creates a thousand torrents, sixteen at a time. All jobs share the cores and memory of the process anyway; this limit bounds
// only the JavaScript objects of waiting jobs.
//
//   node examples/many.mjs
import { processLimits, TorrentCreate } from 'metainfo';

const COUNT = 1000;
const AT_ONCE = 16;

// Leave one core free, if there is more than one.
const { threads } = processLimits();
processLimits({ threads: Math.max(1, threads - 1) });

const contents = Array.from({ length: COUNT }, (_, i) => Buffer.alloc(10_000 + i, i));
const infohashes = new Array(COUNT);

/** Creates torrents until no number is left. */
const numbers = contents.keys();
async function worker() {
  for (const i of numbers) {
    const draft = new TorrentCreate({ sources: [{ path: `file ${i}`, data: contents[i] }] });
    infohashes[i] = (await draft.generate()).infohashV2;
  }
}
const started = performance.now();
await Promise.all(Array.from({ length: AT_ONCE }, worker));

const different = new Set(infohashes).size;
if (different !== COUNT) throw new Error(`${different} infohashes`);
console.log(`${different} torrents in ${((performance.now() - started) / 1000).toFixed(1)} s`);

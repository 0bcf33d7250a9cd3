// Plans a folder in parts, and joins parts with random digests, in a process of its own: bench/distributed.ts.
import { randomFillSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { folderStore, joinParts, planParts, TorrentCreate, type TorrentPlan } from '../../src/index.ts';
import { payloadBytes } from '../../src/parts/part-payload.ts';
import { checkedPlan } from '../../src/parts/read-plan.ts';
import { seal } from '../../src/parts/sealed-part.ts';
import { type Version, watchMemory } from '../support/measure.ts';

export interface JoinTask {
  folder: string;
  store: string;
  version: Version;
  /** Bytes; null for the library's choice. */
  pieceLength: number | null;
  /** Bytes of a part; null for the library's choice. */
  partSize: number | null;
  /** Whether to join, or only to plan. */
  join: boolean;
}

export interface JoinReport {
  parts: number;
  planSeconds: number;
  /** Bytes of the JSON text. */
  planBytes: number;
  readSeconds: number;
  digestBytes: number;
  joinSeconds: number;
  /** Peak resident memory of the join beyond what the process had before. */
  peakBytes: number;
}

const {
  folder,
  store: storeFolder,
  version,
  pieceLength,
  partSize,
  join,
}: JoinTask = JSON.parse(process.argv[2] ?? '');
const seconds = (from: number) => (performance.now() - from) / 1000;

const draft = new TorrentCreate({ pathRoot: folder, pieceLength });
let started = performance.now();
const plan = await planParts(draft, { version, partSize: partSize ?? undefined, onWarning: () => {} });
const planSeconds = seconds(started);
const file = `${folder}.plan.json`;
const text = Buffer.from(JSON.stringify(plan));
writeFileSync(file, text);

started = performance.now();
const read = JSON.parse(readFileSync(file, 'utf8')) as TorrentPlan;
const checked = await checkedPlan(read);
const readSeconds = seconds(started);

const store = folderStore(storeFolder);
let digestBytes = 0;
let [joinSeconds, peakBytes] = [0, 0];
if (join) {
  for (let index = 0; index < plan.parts; index += 1) {
    const payload = randomFillSync(Buffer.alloc(payloadBytes(checked, index)));
    digestBytes += payload.length;
    await store.put(plan.id, index, seal({ id: plan.id, index }, payload));
  }
  const peak = await watchMemory();
  started = performance.now();
  await joinParts(read, (index) => store.get(plan.id, index));
  joinSeconds = seconds(started);
  peakBytes = peak();
}
const report: JoinReport = {
  parts: plan.parts,
  planSeconds,
  planBytes: text.length,
  readSeconds,
  digestBytes,
  joinSeconds,
  peakBytes,
};
console.log(JSON.stringify(report));

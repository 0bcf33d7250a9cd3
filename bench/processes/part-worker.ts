// Hashes parts that the parent names, with one thread: the workers of bench/distributed.ts.
import { folderStore, hashPart, type PartStore, processLimits, type TorrentPlan } from '../../src/index.ts';

// Two parts may be under way, so that the thread hashes while the other part is written.
processLimits({ threads: 1 });

let plan: TorrentPlan | null = null;
let store: PartStore | null = null;

process.on('message', async (message: { plan: TorrentPlan; store: string } | { index: number }) => {
  if ('plan' in message) {
    plan = message.plan;
    store = folderStore(message.store);
    return;
  }
  const [given, target] = [plan as TorrentPlan, store as PartStore];
  await target.put(given.id, message.index, await hashPart(given, message.index, { threads: 1 }));
  process.send?.({ done: message.index });
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

// Hashes parts that the parent names, with one thread: the workers of bench/distributed.ts.
import { folderStore, hashPart, type PartStore, type TorrentPlan } from '../../src/index.ts';

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
  process.send?.('done');
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

// Makes a torrent with a cache; with a third argument repeatedly, after changing the times of its files.
import { readdirSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { TorrentCreate } from '../../../src/create/draft.ts';

const [root = '', cache = '', forever] = process.argv.slice(2);
const make = () => new TorrentCreate({ pathRoot: root, pieceLength: 16_384, createdBy: null }).generate({ cache });
await make();
process.send?.('made');
while (forever !== undefined) {
  for (const name of readdirSync(root)) utimesSync(path.join(root, name), new Date(), new Date());
  await make();
}
process.disconnect?.();

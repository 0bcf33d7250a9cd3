// Does one thing with the library and says how long that took: `runChild('after', ...)`. Every core hashes, as in the
// command.
import { edit, Torrent, TorrentCreate, verify } from '../../src/index.ts';
import type { Version } from '../support/measure.ts';

export type AfterTask =
  | { way: 'generate'; version: Version; content: string }
  | { way: 'verify'; torrent: string; content: string }
  | { way: 'Torrent.read'; torrent: string }
  | { way: 'edit'; torrent: string };

export interface AfterReport {
  seconds: number;
}

const task = JSON.parse(process.argv[2] ?? '') as AfterTask;

/** What is measured; a torrent that it needs has been read before. */
async function prepare(): Promise<() => unknown> {
  if (task.way === 'generate') {
    const { version, content } = task;
    return () => new TorrentCreate({ pathRoot: content }).generate({ version, threads: null });
  }
  if (task.way === 'Torrent.read') return () => Torrent.read(task.torrent);
  const torrent = await Torrent.read(task.torrent);
  if (task.way !== 'verify') return () => edit(torrent, { comment: 'another' });
  const { content } = task;
  return async () => {
    const { ok } = await verify(torrent, content, { threads: null });
    if (!ok) throw new Error(`${content} is not what it was`);
  };
}

const run = await prepare();
const started = performance.now();
await run();
const report: AfterReport = { seconds: (performance.now() - started) / 1000 };
console.log(JSON.stringify(report));

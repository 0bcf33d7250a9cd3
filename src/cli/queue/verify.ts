/** `metainfo verify --queue`: lets the workers of a queue hash the content. */
import type { Engine } from '../../hash/engine.ts';
import { folderStore } from '../../parts/store.ts';
import { loadQueue, type QueueTarget } from './options.ts';
import { placeWithin, realPath, realRoots } from './places.ts';

/** An engine whose parts the workers hash, and how to close it. */
export interface QueueEngine {
  engine: Engine;
  close(): Promise<void>;
}

/**
 * The engine of a queue. All content must be below one of the named folders.
 *
 * @param content The path of the content.
 */
export async function queueEngine(
  { connection, folder, roots }: QueueTarget,
  content: string,
  partSize: number | undefined,
): Promise<QueueEngine> {
  const { TorrentQueue } = await loadQueue();
  const real = await realRoots(roots);
  const [name = ''] = placeWithin(real, await realPath(content)).split('/');
  const queue = new TorrentQueue({ connection, store: folderStore(folder) });
  const engine = queue.engine({ root: real[name] as string, remoteRoot: name, partSize });
  return { engine, close: () => queue.close() };
}

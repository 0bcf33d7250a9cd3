/** `metainfo verify --queue`: lets the workers of a queue hash the content. */
import { realpath } from 'node:fs/promises';
import { throwSystemError } from '../../errors/errors.ts';
import type { Engine } from '../../hash/engine.ts';
import { folderStore } from '../../parts/store.ts';
import { realRoots } from './create.ts';
import { loadQueue } from './load.ts';
import type { QueueTarget } from './options.ts';

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
  const { bullmq, names } = await loadQueue();
  const real = await realRoots(roots);
  const found = await realpath(content).catch(throwSystemError(content, 'read'));
  const [name = ''] = names.placeWithin(real, found).split('/');
  const queue = new bullmq.TorrentQueue({ connection, store: folderStore(folder) });
  const engine = queue.engine({ root: real[name] as string, remoteRoot: name, partSize });
  return { engine, close: () => queue.close() };
}

/** `metainfo verify --queue`: lets the workers of a queue hash the content. */
import { AbortError } from '../../errors/cancel.ts';
import type { Engine } from '../../hash/engine.ts';
import { storeOf } from '../parts/store-of.ts';
import { interrupted } from './interrupted.ts';
import { waitNotices } from './notices.ts';
import { loadQueue, type QueueTarget } from './options.ts';
import { nameOfConnection, placeWithin, realPath, realRoots } from './places.ts';

/**
 * Verifies with the engine of a queue. All content must be below one of the named folders. After Ctrl-C, asks what becomes of the parts.
 *
 * @param content The path of the content.
 */
export async function verifyByWorkers(
  { connection, folder, roots }: QueueTarget,
  content: string,
  { partSize, json }: { partSize?: number | 'auto' | undefined; json?: boolean | undefined },
  verify: (engine: Engine) => Promise<void>,
): Promise<void> {
  const { TorrentQueue } = await loadQueue();
  const real = await realRoots(roots);
  const [name = ''] = placeWithin(real, await realPath(content)).split('/');
  const queue = new TorrentQueue({ connection, store: storeOf(folder) });
  const notices = waitNotices(queue, { root: name, server: nameOfConnection(connection), json });
  const { onNoWorker } = notices;
  const engine = queue.engine({ root: real[name] as string, remoteRoot: name, partSize, onNoWorker, attach: true });
  const cancel = async () => {
    await engine.discard();
    return 'cancelled';
  };
  try {
    await verify(engine);
  } catch (error) {
    if (error instanceof AbortError) await interrupted(error, { what: 'verification', json, cancel });
    throw error;
  } finally {
    notices.close();
    await queue.close();
  }
}

/** `metainfo verify --queue`: lets the workers of a queue hash the content. */
import { AbortError, type Engine, type PartStore } from 'metainfo';
import { TorrentQueue } from '../torrent-queue.ts';
import { interrupted } from './interrupted.ts';
import { waitNotices } from './notices.ts';
import { nameOfConnection } from './server-name.ts';
import type { PrintOptions } from './terminal.ts';

interface VerifyOptions extends PrintOptions {
  connection: string;
  store: PartStore;
  /** The folder with the content, and its name on the workers. */
  root: string;
  remoteRoot: string;
  partSize: number | 'auto' | undefined;
}

/** Verifies with the engine of a queue. After Ctrl-C, asks what becomes of the parts. */
export async function verifyByWorkers(
  { connection, store, root, remoteRoot, partSize, json, terminal }: VerifyOptions,
  verify: (engine: Engine) => Promise<void>,
): Promise<void> {
  const queue = new TorrentQueue({ connection, store });
  const notices = waitNotices(queue, { root: remoteRoot, server: nameOfConnection(connection), json, terminal });
  const { onNoWorker } = notices;
  const engine = queue.engine({ root, remoteRoot, partSize, onNoWorker, attach: true });
  const cancel = async () => {
    await engine.discard();
    return 'cancelled';
  };
  try {
    await verify(engine);
  } catch (error) {
    if (error instanceof AbortError) await interrupted(error, { what: 'verification', json, terminal, cancel });
    throw error;
  } finally {
    notices.close();
    await queue.close();
  }
}

/** Loads the code of queues, which needs a package that the user installs. */
import { MetainfoError } from '../../errors/errors.ts';

/** @throws {MetainfoError} `ERR_QUEUE` if bullmq is not installed */
export async function loadQueue(): Promise<typeof import('../../bullmq/index.ts')> {
  try {
    return await import('../../bullmq/index.ts');
  } catch (cause) {
    if (!/Cannot find (module|package) '(bullmq|ioredis|pg)'/.test((cause as Error).message)) throw cause;
    const message =
      'Queues need packages that are not installed: npm install bullmq ioredis (or pg for PostgreSQL), beside metainfo.';
    throw new MetainfoError('ERR_QUEUE', message, { cause });
  }
}

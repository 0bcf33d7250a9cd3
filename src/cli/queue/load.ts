/** Loads the code of queues, which needs a package that the user installs. */
import { MetainfoError } from '../../errors/errors.ts';

/** The code of `metainfo/bullmq`, and the functions beside it that only the command uses. */
export interface QueueModules {
  bullmq: typeof import('../../bullmq/index.ts');
  names: Pick<typeof import('../../bullmq/backend.ts'), 'nameOfConnection'> &
    Pick<typeof import('../../bullmq/roots.ts'), 'placeWithin'>;
}

/** @throws {MetainfoError} `ERR_QUEUE` if bullmq is not installed */
export async function loadQueue(): Promise<QueueModules> {
  try {
    const bullmq = await import('../../bullmq/index.ts');
    const { nameOfConnection } = await import('../../bullmq/backend.ts');
    const { placeWithin } = await import('../../bullmq/roots.ts');
    return { bullmq, names: { nameOfConnection, placeWithin } };
  } catch (cause) {
    if (!/Cannot find (module|package) '(bullmq|ioredis|pg)'/.test((cause as Error).message)) throw cause;
    const message =
      'Queues need packages that are not installed: npm install bullmq ioredis (or pg for PostgreSQL), beside metainfo.';
    throw new MetainfoError('ERR_QUEUE', message, { cause });
  }
}

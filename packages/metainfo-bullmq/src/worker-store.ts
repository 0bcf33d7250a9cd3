/** The part store of a worker: jobs that it refuses go to other workers, because its credentials or its mount may be wrong here only. */
import { isPermanent, MetainfoError, type PartStore } from 'metainfo';
import { OtherWorkerError, textOf } from './failures.ts';

/** A store refuses a worker. */
export class StoreRefusedError extends OtherWorkerError {
  /** If it refuses everybody, the job fails after some minutes. */
  override readonly passes = 60;
}

/** A store whose refusals are told from other failures. */
export function storeOfWorker(store: PartStore): PartStore {
  const refused = (error: unknown): never => {
    if (!isRefusal(error)) throw error;
    const code = error instanceof MetainfoError ? error.code : 'ERR_UNREADABLE';
    const message = error instanceof MetainfoError ? error.message : `The part store refuses access: ${textOf(error)}`;
    throw new StoreRefusedError(code, message, { cause: error });
  };
  const remove = store.delete?.bind(store);
  return {
    ...(store.folder !== undefined && { folder: store.folder }),
    get: (...object) => store.get(...object).catch(refused),
    put: (...object) => store.put(...object).catch(refused),
    ...(remove && { delete: (...object) => remove(...object).catch(refused) }),
  };
}

/** Whether a store lacks permissions: of the disk, or as status 401 or 403 of a web server. */
function isRefusal(error: unknown): boolean {
  const { code, message = '', statusCode, $metadata } = Object(error) as Record<string, unknown>;
  if (code === 'ERR_UNREADABLE') return true;
  if (code === 'ERR_READ' || code === 'ERR_WRITE')
    return isPermanent(error) && !/ENAMETOOLONG|EISDIR/.test(String(message));
  const status = statusCode ?? Object($metadata).httpStatusCode ?? /\bstatus (\d+)/.exec(String(message))?.[1];
  return status !== undefined && [401, 403].includes(Number(status));
}

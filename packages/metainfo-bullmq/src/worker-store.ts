/** The part store of a worker: its failures go to other workers, because its credentials, its mount or its network may be wrong here only. */
import { isPermanent, MetainfoError, PartError, type PartStore } from 'metainfo';
import { SickWorkerError, textOf, UnseenError } from './failures.ts';
import { withDeadline } from './with-deadline.ts';

/** A store whose failures are those of the worker, also that it is silent for some milliseconds. */
export function storeOfWorker(store: PartStore, ms: number): PartStore {
  const asked = async <T>(answer: Promise<T>): Promise<T> => {
    const silence = () => {
      throw new MetainfoError('ERR_READ', 'The part store does not answer.');
    };
    try {
      return (await withDeadline(ms, answer, silence)) as T;
    } catch (cause) {
      // Hashing the part again replaces it.
      if (cause instanceof PartError) throw cause;
      const { code, message } =
        cause instanceof MetainfoError
          ? cause
          : ({ code: 'ERR_READ', message: `The part store fails: ${textOf(cause)}` } as const);
      // An object that is damaged is damaged for all.
      const isObject = isPermanent(cause) && code !== 'ERR_UNREADABLE';
      throw new (isObject ? UnseenError : SickWorkerError)(code, message, { cause });
    }
  };
  const remove = store.delete?.bind(store);
  return {
    ...(store.folder !== undefined && { folder: store.folder }),
    get: (...object) => asked(store.get(...object)),
    put: (...object) => asked(store.put(...object)),
    ...(remove && { delete: (...object) => asked(remove(...object)) }),
  };
}

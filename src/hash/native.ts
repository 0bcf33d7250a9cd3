import { hashingCancelled } from '../errors/cancel.ts';
import { errnoName, fromSystemError, MetainfoError } from '../errors/errors.ts';
import { readSafely } from '../errors/guard.ts';
import { type Binding, binding, throwIfKernel } from './addon.ts';
import type { Engine } from './engine.ts';
import { checkedPlan, type HashJob, type HashPlan, requireHashesFit, tooManyHashes } from './plan.ts';
import { withPrivateData } from './private-buffer.ts';

/** What native/binding/errors.cc makes of a failure. */
interface NativeFailure extends Error {
  code: 'open' | 'read' | 'changed' | 'not-a-file' | 'no-memory' | 'no-thread' | 'aborted' | 'internal';
  errno: number;
  path: Buffer;
}

/** The engine of the native addon: threads of its own, off the event loop. */
export function nativeEngine(addon: Binding = binding()): Engine {
  const { sha1, sha256 } = addon.active;
  return {
    name: 'native',
    kernel: sha1 === sha256 ? sha1 : `${sha1}, ${sha256}`,
    start: (plan) => startNative(addon, plan),
  };
}

function startNative(addon: Binding, plan: HashPlan): HashJob {
  // The caller's stack: what native code rejects with has none.
  const called = new Error('hashing was started here');
  let job: HashJob;
  try {
    job = create(addon, checkedPlan(plan), called);
  } catch (error) {
    if ((error as Partial<MetainfoError>).code !== 'ERR_TOO_LARGE') throw error;
    const progress = { bytes: 0, fileIndex: 0, queued: 0 };
    return { done: Promise.reject(error), progress: () => progress, cancel: () => {} };
  }
  return {
    done: job.done.catch((failure: NativeFailure) => {
      throw translate(failure, called);
    }),
    progress: () => job.progress(),
    cancel: () => job.cancel(),
  };
}

/** Its files are checked as the addon reads them. */
function create({ HashJob }: Binding, plan: HashPlan, called: Error): HashJob {
  return readSafely('plan.files', () => {
    requireHashesFit(plan);
    try {
      return new HashJob(withPrivateData(plan));
    } catch (error) {
      throwIfKernel(error);
      const isFailure = error instanceof Error && 'errno' in error && 'path' in error;
      // Nothing but its hashes has taken any.
      if (isFailure && (error as NativeFailure).code === 'no-memory') throw tooManyHashes(plan, error);
      throw isFailure ? translate(error as NativeFailure, called) : error;
    }
  });
}

function translate(failure: NativeFailure, called: Error): MetainfoError {
  const path = failure.path.toString();
  const cause = Object.assign(called, { code: errnoName(failure.errno), errno: -failure.errno, path });
  switch (failure.code) {
    case 'open':
    case 'read':
      return fromSystemError(cause, path, 'read');
    case 'changed':
      return new MetainfoError('ERR_FILE_CHANGED', `${path} changed while it was hashed: ${failure.message}.`, {
        path,
        cause,
      });
    case 'not-a-file':
      return new MetainfoError('ERR_NOT_A_FILE', `${path} is not a regular file.`, { path, cause });
    case 'no-memory':
      return new MetainfoError('ERR_NO_MEMORY', 'There is not enough memory: lower memoryLimit or threads.', { cause });
    case 'no-thread': {
      const message = 'The system has no thread to give: stop other work, or raise its limit (ulimit -u, pids.max).';
      return new MetainfoError('ERR_NO_MEMORY', message, { cause });
    }
    case 'aborted':
      return hashingCancelled(cause);
    case 'internal':
      return new MetainfoError('ERR_INTERNAL', `Hashing failed: ${failure.message}.`, { cause });
  }
}

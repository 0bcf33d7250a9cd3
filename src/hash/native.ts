/** The native engine: hashes plans with the addon, on threads of its own. */
import { hashingCancelled } from '../errors/cancel.ts';
import { errnoName, fromSystemError, MetainfoError } from '../errors/errors.ts';
import { readSafely } from '../errors/guard.ts';
import { type Addon, loadAddon, throwIfKernelError } from './addon.ts';
import type { Engine } from './engine.ts';
import { checkedPlan, type HashJob, type HashPlan, requireHashesFit, tooManyHashes } from './plan.ts';
import { withPrivateData } from './private-buffer.ts';

/** A failure of native code: see native/binding/errors.cc. */
interface NativeFailure extends Error {
  code: 'open' | 'read' | 'changed' | 'not-a-file' | 'no-memory' | 'no-thread' | 'aborted' | 'internal';
  errno: number;
  path: Buffer;
}

/**
 * The engine of the native addon. It hashes on threads of its own, off the event loop, with the fastest kernel of this CPU.
 *
 * @throws {MetainfoError} `ERR_NATIVE_UNAVAILABLE` if the addon does not load; `ERR_KERNEL`
 * @example
 * ```ts
 * import path from 'node:path';
 * import { nativeEngine, TorrentCreate } from 'metainfo';
 *
 * // Fails where the addon does not load, instead of falling back to node:crypto.
 * const draft = new TorrentCreate({ pathRoot: path.resolve('album') });
 * const torrent = await draft.generate({ engine: nativeEngine() });
 * console.log(torrent.torrentVersion);
 * ```
 * ```text
 * hybrid
 * ```
 */
export function nativeEngine(addon: Addon = loadAddon()): Engine {
  const { sha1, sha256 } = addon.active;
  return {
    name: 'native',
    kernel: sha1 === sha256 ? sha1 : `${sha1}, ${sha256}`,
    start: (plan) => startNativeJob(addon, plan),
  };
}

function startNativeJob(addon: Addon, plan: HashPlan): HashJob {
  // Errors of native code have no stack: this one shows who started the job.
  const called = new Error('hashing was started here');
  let job: HashJob;
  try {
    job = createHashJob(addon, checkedPlan(plan), called);
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

/** The addon checks the files of the plan while it copies them. */
function createHashJob({ HashJob }: Addon, plan: HashPlan, called: Error): HashJob {
  return readSafely('plan.files', () => {
    requireHashesFit(plan);
    try {
      return new HashJob(withPrivateData(plan));
    } catch (error) {
      throwIfKernelError(error);
      const isFailure = error instanceof Error && 'errno' in error && 'path' in error;
      // So far, memory was allocated for the hashes only.
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
      return new MetainfoError('ERR_NO_MEMORY', 'Out of memory: lower memoryLimit or threads.', { cause });
    case 'no-thread': {
      const message =
        'The system refused to start a thread: stop other programs, or raise its limit (ulimit -u, pids.max).';
      return new MetainfoError('ERR_NO_MEMORY', message, { cause });
    }
    case 'aborted':
      return hashingCancelled(cause);
    case 'internal':
      return new MetainfoError('ERR_INTERNAL', `Hashing failed: ${failure.message}.`, { cause });
  }
}

/** The native engine: hashes requests with the addon, on threads of its own; small ones synchronously, on the JavaScript thread. */
import { isSharedArrayBuffer } from 'node:util/types';
import { hashingCancelled } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import { readSafely } from '../errors/guard.ts';
import { fromSystemError } from '../errors/system-error.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import { errnoName } from '../platform/node.ts';
import { nameText } from '../text/name-bytes.ts';
import { type Addon, loadAddon, type NativeHashRequest, throwIfKernelError } from './addon.ts';
import { type Engine, hashedHere, MAX_SHORT, ownEngine, type ShortEngine } from './engine.ts';
import {
  type Digests,
  type HashJob,
  type HashRequest,
  isPad,
  type JobProgress,
  type RequestedFile,
  requireHashesFit,
  tooManyHashes,
} from './hash-request.ts';
import { bytesToPieceEnd, RequestedTable } from './make-requested-files.ts';
import { changed, notAFile } from './open-without-links.ts';
import { withPrivateData } from './private-buffer.ts';
import { inSteps } from './steps.ts';

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
export function nativeEngine(): Engine {
  const addon = loadAddon();
  return ownEngine({
    name: 'native',
    // A large job may choose another one.
    get kernel() {
      const { sha1, sha256 } = addon.active;
      return sha1 === sha256 ? sha1 : `${sha1}, ${sha256}`;
    },
    start: inSteps((request) => startNativeJob(addon, request)),
    short: shortEngine(addon),
  });
}

const MAX_FILES_NOW = 64;

/**
 * A request that is small enough to be hashed synchronously, with buffers of its size; null for any other. Measured on two cores
 * with AVX-512: jobs of 64 KiB, one after the other, take 0.5 to 0.8 times as long as on a thread; 64 at once take about as long.
 */
function smallRequest(request: HashRequest): HashRequest | null {
  const { files, pieceLength, paddedFiles = 0 } = request;
  if (files.length > MAX_FILES_NOW || pieceLength < BLOCK_SIZE || files instanceof RequestedTable) return null;
  let total = 0;
  for (const [i, { path, data, length }] of [...files].entries()) {
    total += length + (i < paddedFiles ? bytesToPieceEnd(length, pieceLength) : 0);
    // Shared memory must be copied: it may change between the v1 and the v2 hash of a piece.
    if (path !== null || total > MAX_SHORT || isSharedArrayBuffer(data?.buffer)) return null;
  }
  const buffers = Math.max(1, Math.ceil(total / BLOCK_SIZE)) * BLOCK_SIZE;
  return { ...request, threads: 1, readSize: buffers, memoryLimit: buffers };
}

function shortEngine(addon: Addon): ShortEngine {
  return {
    hash(data, version, pieceLength) {
      const [, , size] = offsetsOf(version, data.length, pieceLength);
      const out = Buffer.allocUnsafe(size);
      withKernelError(() => addon.hashBytes(data, version, pieceLength, out));
      hashedHere.bytes += data.length;
      return unpacked(out, version, data.length, pieceLength);
    },
  };
}

/** Where the hashes of a short file begin: its v1 pieces at 0, then the pieces root, the piece layer, and the end. */
function offsetsOf(version: HashRequest['version'], length: number, pieceLength: number): [number, number, number] {
  const pieces = Math.ceil(length / pieceLength);
  const root = version === 'v2' ? 0 : pieces * 20;
  const layer = version === 'v1' ? root : root + 32;
  return [root, layer, version === 'v1' || pieces === 1 ? layer : layer + pieces * 32];
}

function unpacked(hashes: Uint8Array, version: HashRequest['version'], length: number, pieceLength: number): Digests {
  const [root, layer] = offsetsOf(version, length, pieceLength);
  const v1 = hashes.subarray(0, root);
  if (version === 'v1') return { v1, missing: [] };
  const v2 = { roots: hashes.subarray(root, layer), layers: hashes.subarray(layer) };
  return version === 'v2' ? { v2, missing: [] } : { v1, v2, missing: [] };
}

function withKernelError<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throwIfKernelError(error);
    throw error;
  }
}

function startNativeJob(addon: Addon, request: HashRequest): HashJob {
  const small = smallRequest(request);
  if (small) {
    const bytes = [...small.files].reduce((sum, file) => sum + (isPad(file) ? 0 : file.length), 0);
    const fileIndex = Math.max(0, small.files.length - 1);
    const digests = translated(small, () => addon.hashNow(small));
    return endedJob(Promise.resolve(digests), { bytes, fileIndex, queued: 0 });
  }
  // Errors of native threads have no stack: this one shows who started the job.
  const called = startedHere();
  let job: HashJob;
  try {
    requireHashesFit(request);
    const given = nativeRequest(withPrivateData(request));
    job = translated(request, () => new addon.HashJob(given));
  } catch (error) {
    if ((error as Partial<MetainfoError>).code !== 'ERR_TOO_LARGE') throw error;
    return endedJob(Promise.reject(error), { bytes: 0, fileIndex: 0, queued: 0 });
  }
  return {
    done: job.done.catch((failure: NativeFailure) => {
      throw translate(failure, called);
    }),
    progress: () => job.progress(),
    cancel: () => job.cancel(),
  };
}

function endedJob(done: Promise<Digests>, progress: JobProgress): HashJob {
  return { done, progress: () => ({ ...progress }), cancel: () => {} };
}

/** Calls the addon, which checks the files of a request while it copies them, and translates the error that it throws. */
function translated<T>(request: HashRequest, call: () => T): T {
  return readSafely('request.files', () => {
    try {
      return call();
    } catch (error) {
      throwIfKernelError(error);
      const isFailure = error instanceof Error && 'errno' in error && 'path' in error;
      // So far, memory was allocated for the hashes only.
      if (isFailure && (error as NativeFailure).code === 'no-memory') throw tooManyHashes(request, error);
      throw isFailure ? translate(error as NativeFailure, startedHere()) : error;
    }
  });
}

function startedHere(): Error {
  return new Error('hashing was started here');
}

function nativeRequest({ files, ...request }: HashRequest): NativeHashRequest {
  return { ...request, files: files instanceof RequestedTable ? files.native : (files as readonly RequestedFile[]) };
}

function translate(failure: NativeFailure, called: Error): MetainfoError {
  const path = nameText(failure.path);
  const cause = Object.assign(called, { code: errnoName(failure.errno), errno: -failure.errno, path });
  switch (failure.code) {
    case 'open':
    case 'read':
      return fromSystemError(cause, path, 'read');
    case 'changed':
      return changed(path, failure.message, cause);
    case 'not-a-file':
      return notAFile(path, cause);
    case 'no-memory':
      return new MetainfoError('ERR_NO_MEMORY', 'Out of memory: lower memoryLimit or threads.', {
        cause,
        option: { memoryLimit: null, threads: null },
      });
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

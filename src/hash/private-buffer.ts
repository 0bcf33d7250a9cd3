/** Buffers that no caller holds, so that nobody can transfer, resize or write them while an engine hashes them. */
import { newBytes } from '../platform/node.ts';
import type { HashRequest, RequestedFile } from './engine.ts';
import { RequestedTable } from './make-requested-files.ts';

const privateBuffers = new WeakSet<ArrayBufferLike>();

/** Allocates a private buffer. Never hand it to a caller. */
export function allocPrivate(size: number): Uint8Array {
  const buffer = newBytes(size);
  privateBuffers.add(buffer.buffer);
  return buffer;
}

/** Private buffers that nobody uses. Allocating a buffer takes several times as long as copying into one. */
const spare: Uint8Array[] = [];
const MAX_SPARE = 64;

/** Returns the bytes themselves if they are private, else a private copy. */
export function privateCopy(bytes: Uint8Array): Uint8Array {
  if (privateBuffers.has(bytes.buffer)) return bytes;
  const { length } = bytes;
  const last = spare.at(-1)?.length ?? -1;
  const buffer = last >= length && last <= 2 * length ? (spare.pop() as Uint8Array) : allocPrivate(length);
  buffer.set(bytes);
  return buffer.subarray(0, length);
}

/** Takes a private copy back that nobody reads any more. */
export function reusePrivate({ buffer }: Uint8Array): void {
  if (privateBuffers.has(buffer) && spare.length < MAX_SPARE) spare.push(new Uint8Array(buffer));
}

/**
 * Returns the request with private copies of its data. Node-API cannot prevent a buffer from being detached (a reference only
 * prevents its collection), and native threads would go on reading at the old address.
 */
export function withPrivateData(request: HashRequest): HashRequest {
  if (request.files instanceof RequestedTable) return request;
  const given = request.files as readonly RequestedFile[];
  const isForeign = ({ data }: RequestedFile) => data !== undefined && !privateBuffers.has(data.buffer);
  if (!given.some(isForeign)) return request;
  // Files may share their memory: copy it once.
  const copies = new Map<Uint8Array | undefined, Uint8Array>();
  const files = given.map((file): RequestedFile => {
    if (!file.data || !isForeign(file)) return file;
    const data = copies.get(file.data) ?? privateCopy(file.data);
    copies.set(file.data, data);
    return { ...file, data };
  });
  return { ...request, files };
}

/** @module Small records on disk that several processes read and append to at once, each batch behind a checksum. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { closeRead, readFully } from '../hash/read.ts';

// The key of a record decides which file of the folder holds it. Files only grow, by blocks: one block is one batch of one
// writer, written by one call with O_APPEND. So no locks are needed, and a writer may be killed at any moment.
//
//   block:   magic, length of the payload (u32), start of the SHA-256 of the payload (8 bytes), payload
//   payload: records, each: length of the key (u16), length of the value (u32), key, value

/** A value and what finds it again. */
export interface StoredRecord {
  key: Buffer;
  value: Uint8Array;
}

/** What to look for: a value of another length is not it. */
export interface RecordQuery {
  key: Buffer;
  length: number;
}

/** What a store holds. */
export interface StoreSize {
  entries: number;
  bytes: number;
}

const MAGIC = Buffer.from('\x89hashes\n', 'latin1');
const HEADER = { length: 8, checksum: 12, bytes: 20 };
const RECORD = { key: 0, value: 2, bytes: 6 };
const SHARED_FILES = 64;
/** A longer value has a file of its own, so that nobody reads it who looks for another one. */
const LONGEST_SHARED = 2 ** 15;
/** A longer file was not written by us: it is not read into memory. */
const LONGEST_FILE = 2 ** 28;
const FILES_AT_ONCE = 8;
const DAMAGED = '.damaged';
/** A FIFO must not make us wait for its other end. Windows has no such flag. */
const NONBLOCK = constants.O_NONBLOCK ?? 0;

/** Records in the files of one folder. */
export class RecordStore {
  readonly #folder: string;
  readonly #onDamage: (setAside: string) => void;

  /**
   * @param folder It must exist before records are appended.
   * @param onDamage Called with the path of each damaged file that was set aside.
   */
  constructor(folder: string, onDamage: (setAside: string) => void) {
    this.#folder = folder;
    this.#onDamage = onDamage;
  }

  /**
   * Values in the order of the queries; null where there is none.
   *
   * @throws what the system says of files that cannot be read
   */
  async read(queries: readonly RecordQuery[]): Promise<(Uint8Array | null)[]> {
    const values: (Uint8Array | null)[] = queries.map(() => null);
    const groups = groupBy([...queries.keys()], (index) => fileNameOf(queries[index] as RecordQuery));
    await forEachFile(groups, async (name, indices) => {
      const wanted = groupBy(indices, (index) => textOf((queries[index] as RecordQuery).key));
      await this.#scan(name, (key, value) => {
        // A copy: the rest of the file is not to stay in memory.
        for (const index of wanted.get(key) ?? [])
          if (queries[index]?.length === value.length) values[index] = Buffer.from(value);
      });
    });
    return values;
  }

  /** @throws what the system says, when not all of them could be written: `ENOENT` where the folder is gone */
  async append(records: readonly StoredRecord[]): Promise<void> {
    const groups = groupBy(records, ({ key, value }) => fileNameOf({ key, length: value.length }));
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | NONBLOCK;
    await forEachFile(groups, async (name, group) => {
      const block = blockOf(group);
      const handle = await open(path.join(this.#folder, name), flags, 0o600);
      try {
        const { bytesWritten } = await handle.write(block);
        // The rest would come after what others have appended meanwhile.
        if (bytesWritten < block.length) throw new Error(`only ${bytesWritten} of ${block.length} bytes were written`);
      } finally {
        await closeRead(handle);
      }
    });
  }

  /** Counts each key once. */
  async size(): Promise<StoreSize> {
    const total = { entries: 0, bytes: 0 };
    const names = (await readdir(this.#folder)).filter((name) => !name.endsWith(DAMAGED));
    await forEachFile(groupBy(names, String), async (name) => {
      const keys = new Set<string>();
      total.bytes += await this.#scan(name, (key) => keys.add(key));
      total.entries += keys.size;
    });
    return total;
  }

  /** Visits the intact records of a file, and sets it aside when others are damaged. Answers its bytes; 0 for no file. */
  async #scan(name: string, visit: (key: string, value: Buffer) => void): Promise<number> {
    const file = path.join(this.#folder, name);
    const bytes = await readWhole(file);
    if (bytes && visitRecords(bytes, visit)) return bytes.length;
    if (bytes?.length === 0) return 0;
    // Somebody else may have done it, or nobody may.
    await rename(file, file + DAMAGED).catch(() => {});
    this.#onDamage(file + DAMAGED);
    return 0;
  }
}

/** All that is in a file: nothing when there is no such file, null when it cannot be one of ours. */
async function readWhole(file: string): Promise<Buffer | null> {
  const handle = await open(file, constants.O_RDONLY | NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (!handle) return Buffer.alloc(0);
  try {
    const status = await handle.stat();
    if (!status.isFile() || status.size > LONGEST_FILE) return null;
    const bytes = Buffer.allocUnsafeSlow(status.size);
    return bytes.subarray(0, await readFully(handle, bytes, 0));
  } finally {
    await closeRead(handle);
  }
}

/** Visits the records of all intact blocks. False when something else is among them than blocks that were cut short. */
function visitRecords(bytes: Buffer, visit: (key: string, value: Buffer) => void): boolean {
  let isIntact = true;
  for (let at = 0; at < bytes.length; ) {
    const payload = payloadAt(bytes, at);
    if (payload) {
      visitPayload(payload, visit);
      at += HEADER.bytes + payload.length;
      continue;
    }
    const next = bytes.indexOf(MAGIC, at + 1);
    const end = next < 0 ? bytes.length : next;
    if (!isCutShort(bytes.subarray(at, end))) isIntact = false;
    at = end;
  }
  return isIntact;
}

/** The payload of an intact block; null for anything else. */
function payloadAt(bytes: Buffer, at: number): Buffer | null {
  if (bytes.length - at < HEADER.bytes || !bytes.subarray(at, at + MAGIC.length).equals(MAGIC)) return null;
  const start = at + HEADER.bytes;
  const length = bytes.readUInt32LE(at + HEADER.length);
  if (bytes.length - start < length) return null;
  const payload = bytes.subarray(start, start + length);
  return checksumOf(payload).equals(bytes.subarray(at + HEADER.checksum, start)) ? payload : null;
}

/** Whether it is the beginning of a block: one that is still being written, or whose writer was killed or had no room left. */
function isCutShort(bytes: Buffer): boolean {
  const magic = bytes.subarray(0, MAGIC.length);
  if (!MAGIC.subarray(0, magic.length).equals(magic)) return false;
  return bytes.length < HEADER.bytes || HEADER.bytes + bytes.readUInt32LE(HEADER.length) > bytes.length;
}

function visitPayload(payload: Buffer, visit: (key: string, value: Buffer) => void): void {
  for (let at = 0; at < payload.length; ) {
    const key = at + RECORD.bytes;
    const value = key + payload.readUInt16LE(at + RECORD.key);
    const end = value + payload.readUInt32LE(at + RECORD.value);
    visit(payload.toString('latin1', key, value), payload.subarray(value, end));
    at = end;
  }
}

function blockOf(records: readonly StoredRecord[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const { key, value } of records) {
    const head = Buffer.alloc(RECORD.bytes);
    head.writeUInt16LE(key.length, RECORD.key);
    head.writeUInt32LE(value.length, RECORD.value);
    parts.push(head, key, value);
  }
  const payload = Buffer.concat(parts);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(payload.length);
  return Buffer.concat([MAGIC, length, checksumOf(payload), payload]);
}

function checksumOf(payload: Uint8Array): Buffer {
  return createHash('sha256')
    .update(payload)
    .digest()
    .subarray(0, HEADER.bytes - HEADER.checksum);
}

function fileNameOf({ key, length }: RecordQuery): string {
  if (length > LONGEST_SHARED) return createHash('sha256').update(key).digest('hex').slice(0, 32);
  return (crc32(key) % SHARED_FILES).toString(16).padStart(2, '0');
}

const textOf = (key: Buffer) => key.toString('latin1');

function groupBy<T>(items: readonly T[], nameOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const name = nameOf(item);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return groups;
}

/** Does work for each file, for some at once. When it throws, no work is going on. */
async function forEachFile<T>(
  groups: ReadonlyMap<string, T[]>,
  work: (name: string, group: T[]) => Promise<void>,
): Promise<void> {
  const all = [...groups];
  for (let i = 0; i < all.length; i += FILES_AT_ONCE) {
    const some = all.slice(i, i + FILES_AT_ONCE);
    const ends = await Promise.allSettled(some.map(([name, group]) => work(name, group)));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

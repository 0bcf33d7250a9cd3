/** A store of small records on disk: several processes read it and append to it at once, without locks. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { forEachConcurrently } from '../../hash/for-each-concurrently.ts';
import { closeRead, readFully } from '../../hash/read.ts';

// The group of a record decides which file of the folder holds it. Files only grow, block by block: a block is one batch of one
// writer, appended by a single write. So the store needs no locks, and a writer may be killed at any moment.
//
//   block:   magic, length of the payload (u32), first 8 bytes of the SHA-256 of the payload, payload
//   payload: records, each: length of the key (u16), length of the value (u32), key, value

/** The place of a record. */
export interface RecordPlace {
  key: Buffer;
  /** A whole number: records of one group, and of groups with the next numbers, are in few files. */
  group: number;
}

/** A value and its place. */
export interface StoredRecord extends RecordPlace {
  value: Uint8Array;
}

/** A lookup of a record. A value of another length does not match. */
export interface RecordQuery extends RecordPlace {
  length: number;
}

/** The size of a store. */
export interface StoreSize {
  /** Records. */
  entries: number;
  /** Bytes on disk. */
  bytes: number;
}

const MAGIC = Buffer.from('\x89hashes\n', 'latin1');
const HEADER = { length: 8, checksum: 12, bytes: 20 };
const RECORD = { key: 0, value: 2, bytes: 6 };
const SHARED_FILES = 64;
/** Bytes. A longer value has a file of its own: lookups of other values need not read it. */
const MAX_SHARED_VALUE = 2 ** 15;
/** Bytes. A store never writes a longer file, so a longer one is not read into memory. */
const MAX_FILE = 2 ** 28;
const FILES_AT_ONCE = { concurrency: 8 };
const DAMAGED = '.damaged';
/** Opening a FIFO must not wait for its other end. Windows has no such flag. */
const NONBLOCK = constants.O_NONBLOCK ?? 0;

/** The records in one folder. */
export class RecordStore {
  readonly #folder: string;
  readonly #onDamage: (setAside: string) => void;

  /**
   * @param folder Must exist before records are appended.
   * @param onDamage Called with the path of each damaged file that was set aside.
   */
  constructor(folder: string, onDamage: (setAside: string) => void) {
    this.#folder = folder;
    this.#onDamage = onDamage;
  }

  /**
   * Looks up values, in the order of the queries; null for no match.
   *
   * @throws the system's error for a file that cannot be read
   */
  async read(queries: readonly RecordQuery[]): Promise<(Uint8Array | null)[]> {
    const values: (Uint8Array | null)[] = queries.map(() => null);
    const groups = groupBy([...queries.keys()], (index) => fileNameOf(queries[index] as RecordQuery));
    await forEachConcurrently(groups, FILES_AT_ONCE, async ([name, indices]) => {
      const wanted = groupBy(indices, (index) => textOf((queries[index] as RecordQuery).key));
      await this.#scan(name, (key, value) => {
        // A copy, so that the rest of the file can be freed.
        for (const index of wanted.get(key) ?? [])
          if (queries[index]?.length === value.length) values[index] = Buffer.from(value);
      });
    });
    return values;
  }

  /**
   * Appends records.
   *
   * @throws the system's error if a record could not be written: `ENOENT` if the folder is gone
   */
  async append(records: readonly StoredRecord[]): Promise<void> {
    const groups = groupBy(records, ({ value, ...place }) => fileNameOf({ ...place, length: value.length }));
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | NONBLOCK;
    await forEachConcurrently(groups, FILES_AT_ONCE, async ([name, group]) => {
      const block = blockOf(group);
      const handle = await open(path.join(this.#folder, name), flags, 0o600);
      try {
        const { bytesWritten } = await handle.write(block);
        // A second write could land behind the block of another writer.
        if (bytesWritten < block.length) throw new Error(`only ${bytesWritten} of ${block.length} bytes were written`);
      } finally {
        await closeRead(handle);
      }
    });
  }

  /** Counts the records, each key once. */
  async size(): Promise<StoreSize> {
    const total = { entries: 0, bytes: 0 };
    const names = (await readdir(this.#folder)).filter((name) => !name.endsWith(DAMAGED));
    await forEachConcurrently(names, FILES_AT_ONCE, async (name) => {
      const keys = new Set<string>();
      // Not `total.bytes += await`, which would read the total before it waits.
      const bytes = await this.#scan(name, (key) => keys.add(key));
      total.bytes += bytes;
      total.entries += keys.size;
    });
    return total;
  }

  /** Visits the intact records of a file and returns its bytes. A file with damaged records is set aside and counts as 0. */
  async #scan(name: string, visit: (key: string, value: Buffer) => void): Promise<number> {
    const file = path.join(this.#folder, name);
    const bytes = await readWhole(file);
    if (bytes && visitRecords(bytes, visit)) return bytes.length;
    if (bytes?.length === 0) return 0;
    // Another process may have renamed it, or permission may be missing.
    await rename(file, file + DAMAGED).catch(() => {});
    this.#onDamage(file + DAMAGED);
    return 0;
  }
}

/** The content of a file: empty if there is no file, null if a store cannot have written it. */
async function readWhole(file: string): Promise<Buffer | null> {
  const handle = await open(file, constants.O_RDONLY | NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (!handle) return Buffer.alloc(0);
  try {
    const status = await handle.stat();
    if (!status.isFile() || status.size > MAX_FILE) return null;
    const bytes = Buffer.allocUnsafeSlow(status.size);
    return bytes.subarray(0, await readFully(handle, bytes, 0));
  } finally {
    await closeRead(handle);
  }
}

/** Visits the records of all intact blocks. False if anything else is found but truncated blocks. */
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
    if (!isTruncated(bytes.subarray(at, end))) isIntact = false;
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

/** Whether the bytes are the start of a block: it is still being written, or its writer was killed or ran out of space. */
function isTruncated(bytes: Buffer): boolean {
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

function fileNameOf({ key, group, length }: RecordQuery): string {
  if (length > MAX_SHARED_VALUE) return createHash('sha256').update(key).digest('hex').slice(0, 32);
  return (group % SHARED_FILES).toString(16).padStart(2, '0');
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

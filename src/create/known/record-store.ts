/** A store of small records on disk: several processes read it and append to it at once, without locks. */
import { createHash } from 'node:crypto';
import { constants, open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { readWithin } from '../../disk/read-file.ts';
import { untilAbort } from '../../errors/cancel.ts';
import { forEachConcurrently } from '../../hash/for-each-concurrently.ts';
import { closeRead } from '../../hash/read.ts';
import { hexText } from '../../platform/node.ts';

// The group of a record decides which file of the folder holds it. Files only grow, and all records of one writer are appended
// by a single write. So the store needs no locks, and a writer may be killed at any moment. Readers skip everything that is not
// an intact record:
//
//   magic, key, length of the value (u32), first 8 bytes of the SHA-256 of key and value, value

/** A value to look up. A value of another length does not match. */
export interface RecordQuery {
  /** 16 bytes. */
  key: Uint8Array;
  /** A whole number: records of one group, and of groups with the next numbers, are in few files. */
  group: number;
  length: number;
}

/** A value and its place. */
export interface StoredRecord extends RecordQuery {
  value: Uint8Array;
}

const MAGIC = Buffer.from('\x89hashes\n', 'latin1');
const HEADER = { key: 8, length: 24, checksum: 28, bytes: 36 };
const SHARED_FILES = 64;
/** Bytes. A longer value has a file of its own: lookups of other values need not read it. */
const MAX_SHARED_VALUE = 2 ** 15;
/** Bytes. A longer file is not read into memory. */
const MAX_FILE = 2 ** 28;
const FILES_AT_ONCE = { concurrency: 8 };

/** Looks up values in a folder, in the order of the queries; null for no match. Throws for a file that cannot be read. */
export async function readRecords(folder: string, queries: readonly RecordQuery[]): Promise<(Uint8Array | null)[]> {
  const found = new Map<string, Uint8Array>();
  const lengths = new Map(queries.map(({ key, length }) => [hexText(key), length]));
  await forEachConcurrently(new Set(queries.map(fileNameOf)), FILES_AT_ONCE, async (name) => {
    // A copy, so that the rest of the file can be freed.
    for (const [key, value] of await recordsIn(path.join(folder, name)))
      if (lengths.get(key) === value.length) found.set(key, Buffer.from(value));
  });
  return queries.map(({ key }) => found.get(hexText(key)) ?? null);
}

/** Appends records to files of a folder. Throws the system's error if that fails: `ENOENT` if the folder is gone. */
export async function appendRecords(folder: string, records: readonly StoredRecord[]): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);
  await forEachConcurrently(new Set(records.map(fileNameOf)), FILES_AT_ONCE, async (name) => {
    const batch = records.filter((record) => fileNameOf(record) === name);
    const bytes = Buffer.concat(batch.flatMap(({ key, value }) => [headerOf(key, value), value]));
    const handle = await open(path.join(folder, name), flags, 0o600);
    try {
      const { bytesWritten } = await handle.write(bytes);
      // A second write could land behind the records of another writer.
      if (bytesWritten < bytes.length) throw new Error(`only ${bytesWritten} of ${bytes.length} bytes were written`);
    } finally {
      await closeRead(handle);
    }
  });
}

/** Counts the records of a folder, each key once, and the bytes of its files. */
export async function sizeOfStore(
  folder: string,
  signal: AbortSignal | undefined,
): Promise<{ entries: number; bytes: number }> {
  const total = { entries: 0, bytes: 0 };
  await forEachConcurrently(await readdir(folder), { ...FILES_AT_ONCE, signal }, async (name, _, stop) => {
    const file = path.join(folder, name);
    const records = await untilAbort(stop, recordsIn(file));
    const { size } = await untilAbort(stop, stat(file));
    total.entries += records.size;
    total.bytes += size;
  });
  return total;
}

/** The intact records of a file by the hexadecimal text of their keys. */
async function recordsIn(file: string): Promise<Map<string, Uint8Array>> {
  const records = new Map<string, Uint8Array>();
  const read = await readWithin(file, MAX_FILE, { onlyFiles: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_NOT_FOUND') return new Uint8Array();
    throw error;
  });
  const bytes = Buffer.from(read.buffer, read.byteOffset, read.length);
  for (let at = bytes.indexOf(MAGIC); at >= 0; at = bytes.indexOf(MAGIC, at)) {
    const start = at + HEADER.bytes;
    const end = start > bytes.length ? start : start + bytes.readUInt32LE(at + HEADER.length);
    const key = bytes.subarray(at + HEADER.key, at + HEADER.length);
    const value = bytes.subarray(start, end);
    const isIntact = end <= bytes.length && headerOf(key, value).equals(bytes.subarray(at, start));
    if (isIntact) records.set(hexText(key), value);
    at = isIntact ? end : at + 1;
  }
  return records;
}

function headerOf(key: Uint8Array, value: Uint8Array): Buffer {
  const length = Buffer.alloc(HEADER.checksum - HEADER.length);
  length.writeUInt32LE(value.length);
  const checksum = createHash('sha256').update(key).update(value).digest();
  return Buffer.concat([MAGIC, key, length, checksum.subarray(0, HEADER.bytes - HEADER.checksum)]);
}

function fileNameOf({ key, group, length }: RecordQuery): string {
  return length > MAX_SHARED_VALUE ? hexText(key) : (group % SHARED_FILES).toString(16).padStart(2, '0');
}

/** Saves the content of sources to files while it is hashed: all of them get their names in the end, or none does. */
import { constants } from 'node:fs';
import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { MetainfoError } from '../errors/errors.ts';
import { invalidArgument } from '../errors/guard.ts';
import { fromSystemError, throwSystemError } from '../errors/system-error.ts';
import { newBytes } from '../platform/node.ts';
import { holdBeneath } from './beneath.ts';
import {
  exists,
  isGone,
  keepOwner,
  outputExists,
  renameExclusively,
  replacedFile,
  requireReplaceable,
  syncFolder,
  temporaryName,
} from './write-file.ts';

/** A file to save content to. */
export interface SaveTarget {
  /** Absolute. */
  path: string;
  /** Whether it may replace a file. */
  force: boolean;
}

/** Takes the content of one source. */
export interface Save {
  /** Resolves when the bytes may change. */
  write(bytes: Uint8Array): Promise<void>;
  /** The content is complete. */
  end(): Promise<void>;
}

/** Short chunks are gathered, because each write takes a system call. */
const BUFFER_BYTES = 2 ** 17;

/** A file that is saved under a temporary name in its folder. */
class SavedFile implements Save {
  readonly target: SaveTarget;
  readonly #temporary = temporaryName();
  readonly #beneath: string | undefined;
  #file: FileHandle | null = null;
  /** Whether it has its name, which no other file had. */
  #isNamed = false;
  /** Null before the first chunk and after the last: there may be many files. */
  #buffer: Uint8Array | null = null;
  #filled = 0;

  constructor(target: SaveTarget, beneath: string | undefined) {
    this.target = target;
    this.#beneath = beneath;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#filled + bytes.length > BUFFER_BYTES) await this.#flush();
    if (bytes.length > BUFFER_BYTES) return this.#append(bytes);
    this.#buffer ??= newBytes(BUFFER_BYTES);
    this.#buffer.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }

  async end(): Promise<void> {
    await this.#flush();
    this.#buffer = null;
    await this.#attempt(async () => {
      await (await this.#opened()).sync();
      await this.#close();
    });
  }

  /** Gives the file its name. */
  name(): Promise<void> {
    const { path: target, force } = this.target;
    return this.#inFolder(async (folder) => {
      const [from, to] = [path.join(folder, this.#temporary), path.join(folder, path.basename(target))];
      if (force) await rename(from, to);
      else await renameExclusively(from, to);
      this.#isNamed = !force;
      await syncFolder(folder);
      // A link leaves it.
      await unlink(from).catch(() => {});
    });
  }

  /** Removes what there is, also the file under its name unless it has replaced another one. */
  async discard(): Promise<void> {
    await this.#close().catch(() => {});
    const names = [this.#temporary, ...(this.#isNamed ? [path.basename(this.target.path)] : [])];
    const remove = (folder: string) => Promise.all(names.map((one) => unlink(path.join(folder, one)).catch(() => {})));
    await this.#inFolder(remove).catch(() => {});
  }

  async #flush(): Promise<void> {
    const filled = this.#buffer?.subarray(0, this.#filled);
    this.#filled = 0;
    if (filled) await this.#append(filled);
  }

  #append(bytes: Uint8Array): Promise<void> {
    return this.#attempt(async () => {
      const file = await this.#opened();
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
    });
  }

  async #opened(): Promise<FileHandle> {
    this.#file ??= await this.#inFolder(async (folder, flags) => {
      const { O_WRONLY, O_CREAT, O_EXCL } = constants;
      const file = await open(path.join(folder, this.#temporary), O_WRONLY | O_CREAT | O_EXCL | flags);
      // Opened before anything can fail, so that it is closed.
      this.#file = file;
      const old = this.target.force ? await replacedFile(this.target.path, { beneath: this.#beneath }) : null;
      if (old) await keepOwner(file, old);
      return file;
    });
    return this.#file;
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  #inFolder<T>(use: (folder: string, flags: number) => Promise<T>): Promise<T> {
    return this.#attempt(() => holdBeneath(path.dirname(this.target.path), { beneath: this.#beneath }, use));
  }

  async #attempt<T>(action: () => Promise<T>): Promise<T> {
    const { path: target } = this.target;
    try {
      return await action();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw outputExists(target, error);
      if (isGone(error as NodeJS.ErrnoException)) {
        const problem = 'its folder, or the temporary file in it, was deleted before the file was complete.';
        throw new MetainfoError('ERR_WRITE', `${target}: ${problem}`, { path: target, cause: error });
      }
      throw fromSystemError(error, target, 'write');
    }
  }
}

/** The files of one creation. */
export class SaveGroup {
  readonly #files: SavedFile[] = [];
  /** The folder, whatever path leads to it, and the name of each file. */
  readonly #targets = new Set<string>();
  readonly #beneath: string | undefined;

  constructor(beneath: string | undefined) {
    this.#beneath = beneath;
  }

  /**
   * The sources, with a {@link Save} for each that is saved.
   *
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for two sources with one target; `ERR_OUTPUT_EXISTS`, `ERR_NOT_FOUND` for its folder, `ERR_NOT_A_FILE`, `ERR_PATH_OUTSIDE`
   */
  async addAll<File extends { saveTo?: SaveTarget }>(sources: readonly File[]): Promise<(File & { save?: Save })[]> {
    const added: (File & { save?: Save })[] = [];
    for (const source of sources)
      added.push(source.saveTo ? { ...source, save: await this.#add(source.saveTo) } : source);
    return added;
  }

  async #add(target: SaveTarget): Promise<Save> {
    const beneath = { beneath: this.#beneath };
    const folder = path.dirname(target.path);
    // Numbers of Windows do not fit into a double.
    const found = holdBeneath(folder, beneath, (held) => stat(held, { bigint: true }));
    const status = await found.catch(throwSystemError(folder, 'write'));
    if (!status.isDirectory())
      throw fromSystemError(Object.assign(new Error('ENOTDIR'), { code: 'ENOTDIR' }), folder, 'write');
    const key = [status.dev, status.ino, path.basename(target.path)].join(' ');
    if (this.#targets.has(key))
      throw invalidArgument(`two sources are saved to ${target.path}: give one of them another saveTo`);
    this.#targets.add(key);
    const isThere = await exists(target.path);
    if (isThere) await requireReplaceable(target.path, beneath);
    if (isThere && !target.force) throw outputExists(target.path);
    const file = new SavedFile(target, this.#beneath);
    this.#files.push(file);
    return file;
  }

  /**
   * Gives all files their names. If one cannot have its own, the others lose theirs, unless they have replaced other files.
   *
   * @throws {MetainfoError} `ERR_OUTPUT_EXISTS`, `ERR_NO_SPACE`, `ERR_WRITE`
   */
  async finish(): Promise<void> {
    for (const file of this.#files) await file.name();
  }

  /** Removes all files. */
  async discard(): Promise<void> {
    await Promise.all(this.#files.map((file) => file.discard()));
  }
}

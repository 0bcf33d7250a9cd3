/** Saves the content of sources to files while it is hashed: all of them get their names in the end, or none does. */
import { stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { MetainfoError } from '../errors/errors.ts';
import { invalidArgument } from '../errors/guard.ts';
import { fromSystemError, throwSystemError } from '../errors/system-error.ts';
import { newBytes } from '../platform/node.ts';
import { at, type Held, hold, requireBeneath } from './held-folder.ts';
import { UnfinishedFile } from './unfinished-file.ts';
import { isGone, keepOwner, outputExists, replacedFile, requireOutput } from './write-file.ts';

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

/** A file that is saved without a name, or under a temporary one in its folder. */
class SavedFile implements Save {
  readonly target: SaveTarget;
  /** The folder without links. */
  readonly #folder: string;
  readonly #beneath: string | undefined;
  #file: UnfinishedFile | null = null;
  /** Whether it has its name, which no other file had. */
  #isNamed = false;
  /** Null before the first chunk and after the last: there may be many files. */
  #buffer: Uint8Array | null = null;
  #filled = 0;

  constructor(target: SaveTarget, folder: string, beneath: string | undefined) {
    this.target = target;
    this.#folder = folder;
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
      const file = await this.#opened();
      await file.handle.sync();
      if (file.temporary !== null) await file.close();
    });
  }

  /** Gives the file its name. */
  name(): Promise<void> {
    const { path: target, force } = this.target;
    return this.#inFolder(async (folder) => {
      const file = await this.#opened();
      await file.name(folder, path.basename(target), { force, shown: target });
      this.#isNamed = !force;
    });
  }

  /** Removes what there is, also the file under its name unless it has replaced another one. */
  async discard(): Promise<void> {
    const file = this.#file;
    if (!file) return;
    await file.close().catch(() => {});
    const remove = async (folder: Held) => {
      await file.discard(folder);
      if (this.#isNamed) await unlink(at(folder, path.basename(this.target.path)));
    };
    await this.#inFolder(remove).catch(() => {});
  }

  async #flush(): Promise<void> {
    const filled = this.#buffer?.subarray(0, this.#filled);
    this.#filled = 0;
    if (filled) await this.#append(filled);
  }

  #append(bytes: Uint8Array): Promise<void> {
    return this.#attempt(async () => (await this.#opened()).append(bytes));
  }

  async #opened(): Promise<UnfinishedFile> {
    this.#file ??= await this.#inFolder(async (folder) => {
      // Kept before anything can fail, so that it is closed.
      this.#file = await UnfinishedFile.open(folder);
      const { path: target, force } = this.target;
      const place = path.join(folder.path, path.basename(target));
      const old = force ? await replacedFile(target, { beneath: this.#beneath }, place) : null;
      if (old) await keepOwner(this.#file.handle, old);
      return this.#file;
    });
    return this.#file;
  }

  #inFolder<T>(use: (folder: Held) => Promise<T>): Promise<T> {
    const check = (real: string) => {
      if (real === this.#folder) return;
      const { path: target } = this.target;
      throw new MetainfoError('ERR_PATH_OUTSIDE', `${target}: its folder was replaced by a link.`, { path: target });
    };
    // With a slash, the system refuses a file in its place.
    return this.#attempt(() => hold(`${this.#folder}/.`, check, use));
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
    const found = hold(
      folder,
      (real) => requireBeneath(real, beneath, folder),
      async ({ path: held, real }) => ({ status: await stat(held, { bigint: true }), real }),
    );
    const { status, real } = await found.catch(throwSystemError(folder, 'write'));
    if (!status.isDirectory())
      throw fromSystemError(Object.assign(new Error('ENOTDIR'), { code: 'ENOTDIR' }), folder, 'write');
    const key = [status.dev, status.ino, path.basename(target.path)].join(' ');
    if (this.#targets.has(key))
      throw invalidArgument(`two sources are saved to ${target.path}: give one of them another saveTo`);
    this.#targets.add(key);
    await requireOutput(target.path, { ...beneath, force: target.force });
    const file = new SavedFile(target, real, this.#beneath);
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

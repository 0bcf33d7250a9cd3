/** `create`: a torrent in one call. */
import { MetainfoError, shown } from '../errors/errors.ts';
import { checkOptions, invalidArgument, type OptionStructs, pathOrNull, Unchecked } from '../errors/guard.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import type { TorrentOf } from '../model/torrent/torrent.ts';
import { dataIn } from '../sources/source-data.ts';
import { namedSource, type SourceInput } from '../sources/sources.ts';
import { destroyStream } from '../sources/take-streams.ts';
import { TorrentCreate } from './draft.ts';
import { FIELD_NAMES } from './draft-fields.ts';
import type { TorrentCreateInput } from './draft-input.ts';
import { GENERATE, type GenerateOptions } from './options.ts';

/** The fields of a draft that are not options of {@link create}: its first argument, and on-disk keys. */
type NoOption = 'pathRoot' | 'sources' | 'announce-list' | 'created by' | 'creation date' | 'piece layers' | 'url-list';

/** The options of {@link create}: the fields of a draft, and the options of {@link TorrentCreate.generate}. */
export interface CreateOptions extends GenerateOptions, Omit<TorrentCreateInput, NoOption> {}

/** The fields that the first argument stands for. */
const CONTENT = ['pathRoot', 'sources'];
const OTHERS = FIELD_NAMES.filter((name) => !CONTENT.includes(name));
const FIELDS = Object.fromEntries(OTHERS.map((name) => [name, Unchecked]));
/** The draft checks its fields itself. */
const CREATE = { ...FIELDS, ...GENERATE } as OptionStructs<CreateOptions>;

/**
 * Makes a torrent of a file, a folder or sources. For a draft that is planned first, or for files on disk and sources in one torrent, use
 * {@link TorrentCreate}.
 *
 * @param content The path or `file:` URL of a file or folder, or a list of sources. Nothing is read from the current folder unless the
 *   path says so.
 * @param options Fields of the torrent and how to make it. Unknown ones are errors, with the name that was probably meant.
 * @throws {MetainfoError} see docs/errors.md. After any error, streams among the sources are destroyed.
 * @throws {ValidationError} with every rule that the fields break
 * @throws {AbortError} if the signal fires; its reason is the `cause`
 * @example
 * ```ts
 * import { create } from 'metainfo';
 *
 * const torrent = await create('album', {
 *   trackers: ['udp://tracker.example:6969/announce'],
 *   private: true,
 *   threads: null,
 * });
 * await torrent.write('create.torrent');
 * ```
 *
 * @example
 * ```ts
 * import { create } from 'metainfo';
 *
 * const torrent = await create([{ path: 'hello.txt', data: Buffer.from('hello') }], { version: 'v2' });
 * console.log(torrent.name, torrent.totalSize);
 * ```
 *
 * ```text
 * hello.txt 5
 * ```
 */
export async function create<V extends TorrentVersion = 'hybrid'>(
  content: string | URL | readonly SourceInput[],
  options: CreateOptions & { version?: V } = {},
): Promise<TorrentOf<V>> {
  return draftOf(content, options).generate() as Promise<TorrentOf<V>>;
}

/** The draft, and its generation with the other options. */
function draftOf(content: unknown, options: CreateOptions): { generate(): Promise<TorrentOf<TorrentVersion>> } {
  try {
    const files = filesOf(content);
    requireNoContent(options);
    const given = Object.entries(checkOptions(options, CREATE, { example: "{ version: 'v2' }" }));
    const pick = (isOfDraft: boolean) =>
      Object.fromEntries(given.filter(([name]) => Object.hasOwn(GENERATE, name) !== isOfDraft));
    const draft = new TorrentCreate({ ...pick(true), ...files });
    return { generate: () => draft.generate(pick(false)) };
  } catch (error) {
    for (const source of Array.isArray(content) ? content : []) destroyStream(dataIn(source));
    throw error;
  }
}

function filesOf(content: unknown): Pick<TorrentCreateInput, 'pathRoot' | 'sources'> {
  if (Array.isArray(content) && content.some((one) => typeof one === 'string' || one instanceof URL))
    throw invalidArgument('create takes one path: for several, use new TorrentCreate({ pathRoot, paths: [...] })');
  // A draft takes plain bytes for text.
  if (Array.isArray(content)) return { sources: content.map(namedSource) as SourceInput[] };
  const pathRoot = pathOrNull(content);
  // An empty path would be the current folder, like a variable that is missing.
  if (pathRoot) return { pathRoot };
  throw invalidArgument(
    `create needs a path, a file: URL or a list of sources as its first argument, not ${shown(content)}`,
  );
}

/** The content has one place: the first argument. */
function requireNoContent(options: object | null | undefined): void {
  for (const name of CONTENT)
    if (name in Object(options)) {
      const message = `${name} is not an option of create: give the path or the sources as its first argument.`;
      throw new MetainfoError('ERR_INVALID_ARGUMENT', message, { option: { [name]: null } });
    }
}

/** Makes the draft of a creation from the paths and options of the command line. */
import { TorrentCreate } from '../../create/draft.ts';
import type { TorrentCreateFields } from '../../create/draft-fields.ts';
import { globFilter } from '../globs.ts';
import { cacheFolders } from '../options.ts';
import { rootAndPaths } from '../roots.ts';
import { outputToSkip } from '../target.ts';
import type { CreateOptions } from './options.ts';

/**
 * The draft of a creation.
 *
 * @param output The resolved path of the torrent file, which is never part of the torrent; undefined for standard output.
 */
export async function draftOf(
  paths: readonly string[],
  options: CreateOptions,
  output: string | undefined,
): Promise<TorrentCreate> {
  const roots = rootAndPaths(paths);
  const skipped = [...(await outputToSkip(output)), ...cacheFolders(options)];
  const filter = await globFilter(options, roots.pathRoot, skipped);
  return new TorrentCreate({ ...fieldsOf(options), ...roots, ...filter });
}

function fieldsOf(options: CreateOptions): TorrentCreateFields {
  const { createdBy, name, source } = options;
  return {
    info: {
      ...(name !== undefined && { name }),
      ...(source !== undefined && { source }),
      ...(options.private && { private: true }),
    },
    pieceLength: options.pieceLength === 'auto' ? null : options.pieceLength,
    trackers: options.tracker,
    urlList: options.webseed,
    comment: options.comment,
    similar: options.similar,
    collections: options.collection,
    creationDate: options.date,
    createdBy: createdBy === false ? null : typeof createdBy === 'string' ? createdBy : undefined,
  };
}

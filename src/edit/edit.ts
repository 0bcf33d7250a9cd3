/** Edits the fields of a torrent that do not describe its content. */
import { checkArgument, checkOptions, Flag, Given, type OptionStructs, Unchecked } from '../errors/guard.ts';
import { AnyTorrent, type ReadOptions, type Torrent } from '../model/torrent/torrent.ts';
import { CHANGES, infoChanges, type TorrentChanges, topChanges } from './changes.ts';
import { replaceFields } from './replace-fields.ts';

/** Options of {@link edit}. The result is validated in `context`. */
export interface EditOptions extends Pick<ReadOptions, 'context'> {
  /**
   * Refuse changes that would change the infohash.
   *
   * @default false
   */
  keepInfohash?: boolean;
}

const EDIT: OptionStructs<EditOptions> = { keepInfohash: Flag, context: Unchecked };

/**
 * Changes fields of a torrent and returns the new torrent. All other bytes stay as they are, and no file is read.
 *
 * @param torrent The torrent, which stays as it is.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an invalid value; `ERR_INFOHASH` when `keepInfohash` forbids a change
 * @throws {ValidationError} when the result is not a valid torrent
 * @example
 * ```ts
 * import { edit, Torrent } from 'metainfo';
 *
 * const torrent = await Torrent.read('album.torrent');
 * const edited = edit(torrent, { addTrackers: ['udp://tracker.example:6969/announce'], comment: null });
 * await edited.write('album.torrent', { force: true });
 * ```
 */
export function edit(torrent: Torrent, changes: TorrentChanges, options: EditOptions = {}): Torrent {
  checkArgument('torrent', torrent, AnyTorrent);
  const checked = checkOptions(checkArgument('changes', changes, Given), CHANGES, {
    name: 'changes',
    example: "{ comment: 'x' }",
  });
  const { keepInfohash, context } = checkOptions(options, EDIT, { example: '{ keepInfohash: true }' });
  const [info, top] = [infoChanges(torrent, checked), topChanges(torrent, checked)];
  return replaceFields(torrent, { info, top, keepInfohash, context });
}

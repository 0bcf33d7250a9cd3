/** Edits the fields of a torrent that do not describe its content. */

import { requireUrls } from '../create/draft-fields.ts';
import type { Finding } from '../create/findings/findings.ts';
import { ValidationError } from '../errors/errors.ts';
import { Callback, checkArgument, checkOptions, Flag, type OptionStructs, Unchecked } from '../errors/guard.ts';
import { Issues } from '../model/issues.ts';
import { AnyTorrent, type ReadOptions, type Torrent } from '../model/torrent/torrent.ts';
import { checkedChanges } from './change-values.ts';
import { infoChanges, type TorrentChanges, topChanges } from './changes.ts';
import { editFindings } from './edit-findings.ts';
import { replaceFields } from './replace-fields.ts';
import { allTrackers, replacedIn } from './url-changes.ts';

/** Options of {@link edit}. The result is validated in `context`. */
export interface EditOptions extends Pick<ReadOptions, 'context'> {
  /**
   * Refuse changes that would change the infohash.
   *
   * @default false
   */
  keepInfohash?: boolean;
  /**
   * Called for each warning: a tracker or other URL that cannot work, a name that clients change, or a removed or replaced text or key that the
   * torrent does not have. If it throws, `edit` fails with that error.
   *
   * @default warnings are not reported
   */
  onWarning?: ((warning: Finding) => unknown) | undefined;
}

const EDIT: OptionStructs<EditOptions> = { keepInfohash: Flag, onWarning: Callback, context: Unchecked };

/**
 * Changes fields of a torrent and returns the new torrent. All other bytes stay as they are, and no file is read.
 *
 * @param torrent The torrent, which stays as it is.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an unknown field; `ERR_INFOHASH` when `keepInfohash` forbids a change
 * @throws {ValidationError} for invalid values, each under the name of its field; when the result is not a valid torrent
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
  const checked = checkedChanges(changes);
  const { keepInfohash, onWarning, context } = checkOptions(options, EDIT, { example: '{ keepInfohash: true }' });
  const replaced = {
    trackers: replacedIn([allTrackers(torrent), checked.trackers ?? []].flat(2), checked.replaceTrackers),
    webseeds: replacedIn([torrent.webseeds, checked.urlList ?? []].flat(2), checked.replaceWebseeds),
  };
  const issues = new Issues();
  requireUrls(['replaceTrackers'], replaced.trackers.made, issues);
  requireUrls(['replaceWebseeds'], replaced.webseeds.made, issues);
  if (issues.hasErrors) throw new ValidationError(issues.finish(), 'edit');
  const [info, top] = [infoChanges(torrent, checked), topChanges(torrent, checked)];
  const edited = replaceFields(torrent, { info, top, keepInfohash, context });
  if (onWarning) for (const finding of editFindings(torrent, edited, { ...checked, replaced })) onWarning(finding);
  return edited;
}

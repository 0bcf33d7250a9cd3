/** The groups of options in `--help`, the man page and the command reference. */
import { type Command, Option } from 'commander';

/** The headings of groups and the long names of their options, without the dashes. */
export type OptionGroups = Readonly<Record<string, readonly string[]>>;

/** Options without a group. Only hidden ones have none. */
const OTHERS = 'Options:';

const OUTPUT = ['output', 'force', 'dry-run', 'magnet', 'link-file', 'verbose', 'quiet', 'json'];
const SPEED = ['threads', 'memory-limit', 'read-size', 'cache', 'cache-dir'];
const TRACKERS = [
  ...['tracker', 'no-trackers', 'add-tracker', 'remove-tracker', 'announce', 'private', 'no-private'],
  ...['webseed', 'no-webseeds', 'add-webseed', 'remove-webseed', 'httpseed', 'no-httpseeds', 'node', 'no-nodes'],
];
const DESCRIPTION = [
  ...['name', 'comment', 'no-comment', 'source', 'no-source', 'created-by', 'no-created-by', 'date', 'no-date'],
  ...['similar', 'no-similar', 'collection', 'no-collections', 'update-url', 'no-update-url'],
  ...['set', 'unset', 'entropy'],
];
const CONTENT = ['exclude', 'include', 'symlinks', 'follow-outside', 'skip-unreadable', 'no-hidden', 'attributes'];
const VALIDATION = ['strict', 'compat', 'padding', 'limit'];
const WORKERS = ['queue', 'root', 'store', 'part-size'];

/** The groups of `create` and `plan`. */
export const CREATE_GROUPS: OptionGroups = {
  Output: OUTPUT,
  'Version and piece length': [
    ...['torrent-version', 'piece-length', 'max-piece-length', 'target-pieces', 'max-torrent-size'],
    ...['padding', 'pad-names'],
  ],
  'Trackers and peers': TRACKERS,
  Description: DESCRIPTION,
  Content: CONTENT,
  'Warnings and errors': ['strict', 'allow'],
  'Speed and memory': SPEED,
  'Many torrents': ['each', 'batch', 'jobs', 'resume'],
  'Other machines': WORKERS,
  'Configuration file': ['preset', 'config', 'no-config'],
};

/** The groups of `verify`. */
export const VERIFY_GROUPS: OptionGroups = {
  Output: ['quiet', 'json'],
  'What to check': ['torrent-version', 'fast', 'follow-outside'],
  'Renamed or moved files': ['find', 'link', 'rename'],
  'Resume data for clients': ['resume-data', 'output', 'force'],
  'Many torrents': ['each', 'content', 'jobs'],
  'Speed and memory': SPEED,
  'Other machines': WORKERS,
  'Validation of the torrent': VALIDATION,
};

/** The groups of `edit`. */
export const EDIT_GROUPS: OptionGroups = {
  Output: ['output', 'force', 'dry-run', 'keep-infohash', 'json'],
  'Trackers and peers': TRACKERS,
  Description: DESCRIPTION,
  'Validation of the torrent': VALIDATION,
};

/** The groups of `update`. */
export const UPDATE_GROUPS: OptionGroups = {
  Output: OUTPUT,
  'Files to read': ['since', 'cache', 'cache-dir'],
  'Piece length and pad files': ['piece-length', 'pad-names'],
  Content: CONTENT,
  'Speed and memory': ['threads', 'memory-limit'],
  'Validation of the torrent': VALIDATION,
};

/** Puts the options of a command into groups, in the order of the groups. */
export function groupOptions(command: Command, groups: OptionGroups): Command {
  const headings = new Map<string, string>(
    Object.entries(groups).flatMap(([heading, names]) =>
      names.map((name) => [`--${name}`, `${heading}:`] as [string, string]),
    ),
  );
  const order = [...headings.keys()];
  const place = ({ long }: Option) => order.indexOf(long ?? '');
  // Commander prints the groups in the order of the options. Hidden options come first, and are not printed.
  (command.options as Option[]).sort((a, b) => place(a) - place(b));
  for (const option of command.options) option.helpGroup(headings.get(option.long ?? '') ?? OTHERS);
  return command.addHelpOption(new Option('-h, --help', 'display help for command').helpGroup('Output:'));
}

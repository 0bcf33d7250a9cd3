/** The commented example of a configuration file that `metainfo config --init` writes. */

import { type ConfigOption, configOptions, FORMS } from './config-options.ts';
import { RULE_KEYS } from './hosts.ts';

/** Values of options whose form alone does not tell a useful one. */
const OWN_SAMPLES: Readonly<Record<string, string>> = {
  'torrent-version': '"hybrid"',
  threads: '4',
  'memory-limit': '"512MiB"',
  'read-size': '"1MiB"',
  'max-torrent-size': '"10MiB"',
  webseed: '["https://host.example/files/"]',
  httpseed: '["https://host.example/seed"]',
  'update-url': '"https://host.example/new.torrent"',
  node: '["router.example:6881"]',
  set: '["publisher=me"]',
  similar: '["0123456789abcdef0123456789abcdef01234567"]',
  exclude: '["*.nfo", "Thumbs.db"]',
  include: '["*.flac"]',
  allow: '["long_path"]',
  'cache-dir': '"cache"',
  source: '"SITE"',
  comment: '"made with metainfo"',
};

const HEAD = `# The configuration of metainfo. Lines that begin with "#" and no space are settings: remove the "#".
# metainfo config shows which values are in force.
#
# Order: command line, preset, rules of hosts, [create], built-in values. The first one that has a value gives it.

# Defaults for metainfo create and metainfo plan: their long options, without the dashes.
[create]
`;

const TAIL = `
# Presets: metainfo create --preset films album. Each has the keys of [create].
[presets.films]
#piece-length = "4MiB"
#source = "FILMS"
#tracker = ["https://tracker.example.org/announce"]

# Aliases of trackers: metainfo create -t main album. A list has a tier for each element; a list in it is a tier of several URLs.
[trackers]
#main = "https://tracker.example.org/announce"
#all = ["https://tracker.example.org/announce", ["udp://a.example.org:6969/x", "udp://b.example.org:6969/x"]]

# Rules for torrents with a tracker on this host. plan checks them, and create applies them.
[hosts."tracker.example.org"]
`;

/** Returns the text of the example. Every setting in it is a comment. */
export function exampleConfig(): string {
  const options = configOptions();
  const create = [...options.values()].map((option) => `# ${describe(option)}\n${settingOf(option)}\n`);
  const rules = RULE_KEYS.map((key) => `${settingOf(options.get(key) as ConfigOption)}\n`);
  return `${HEAD}${create.join('')}${TAIL}${rules.join('')}`;
}

function describe({ option, form }: ConfigOption): string {
  const description = option.description
    .replace('(repeatable)', '(a list)')
    .replace('; repeat it for more tiers, or', ':');
  const [first = ''] = option.argChoices ?? [];
  const isListed = form !== 'choice' || option.description.includes(first);
  const choices = isListed ? '' : ` (${option.argChoices?.join(', ')})`;
  return `${option.negate ? 'false: ' : ''}${description}${choices}`;
}

function settingOf({ key, form, option }: ConfigOption): string {
  const choice = form === 'choice' ? JSON.stringify(option.argChoices?.[0]) : null;
  const value = option.negate ? 'false' : (OWN_SAMPLES[key] ?? choice ?? FORMS[form].sample);
  return `#${key} = ${value}`;
}

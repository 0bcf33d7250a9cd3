/** The options of `create` that a configuration file cannot set. */

/** Long names of options, each with the reason. A new option of `create` can be set unless it is listed here. */
export const UNSETTABLE: Readonly<Record<string, string>> = {
  output: 'each torrent has its own output',
  'link-file': 'each torrent has its own link file',
  name: 'each torrent has its own name',
  force: 'replacing a file is decided each time',
  json: 'the caller of the command chooses the form of its output',
  'dry-run': 'use metainfo plan',
  announce: 'use tracker',
  preset: 'presets are chosen on the command line or by a job',
};

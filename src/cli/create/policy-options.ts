/** The options of a creation that decide what happens to links, unreadable files and hidden files. */
import { type Command, Option } from 'commander';
import type { ScanPolicies, SymlinkPolicy } from '../../disk/scan.ts';

export interface PolicyOptions {
  symlinks?: SymlinkPolicy;
  followOutside?: boolean;
  skipUnreadable?: boolean;
  /** False with `--no-hidden`. */
  hidden?: boolean;
  attributes?: boolean;
}

/** Adds the options of {@link PolicyOptions} to a command. `byDefault` says what happens to symlinks without the option. */
export function policyOptions(command: Command, byDefault = 'follow them'): Command {
  return command
    .optionsGroup('Content:')
    .addOption(
      new Option(
        '--symlinks <policy>',
        `what to do with symlinks in folders; by default, ${byDefault}; store keeps them as links (BEP 47)`,
      ).choices(['follow', 'skip', 'store', 'error']),
    )
    .option('--follow-outside', 'also follow symlinks that lead out of the folder')
    .option('--skip-unreadable', 'leave out files and folders that cannot be read')
    .option('--no-hidden', 'leave out files and folders whose names begin with a dot')
    .option('--attributes', 'mark executable and hidden files (BEP 47; changes the infohash)');
}

/** The fields of the draft. */
export function policiesOf(options: PolicyOptions): ScanPolicies & { attributes: boolean | undefined } {
  const { symlinks, followOutside, skipUnreadable, hidden, attributes } = options;
  return { symlinks, followOutside, skipUnreadable, hidden, attributes };
}

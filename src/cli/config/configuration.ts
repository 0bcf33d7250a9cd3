/** The configuration of the command: what a configuration file says, as checked values with their places. */
import type { CreateOptions } from '../create/options.ts';
import type { Aliases } from './aliases.ts';
import type { TrackerRule } from './hosts.ts';

/** One value of a configuration file. */
export interface Setting {
  /** The long name of the option. */
  key: string;
  /** The value as the file has it. */
  raw: unknown;
  /** The parsed value. */
  value: unknown;
  line: number;
}

/** The values of a table of a configuration file, by the property of {@link CreateOptions}. */
export type Settings = ReadonlyMap<keyof CreateOptions, Setting>;

/** A checked configuration file. */
export interface Configuration {
  file: string;
  create: Settings;
  presets: ReadonlyMap<string, Settings>;
  aliases: Aliases;
  hosts: ReadonlyMap<string, TrackerRule>;
}

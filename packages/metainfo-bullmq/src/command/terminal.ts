/** The interface through which the command of metainfo lends its output to this package, which imports nothing of its source. */

/** The output, the texts and the exit codes of the command. */
export interface Terminal {
  /** Standard error, whose write errors are ignored. */
  stderr(): NodeJS.WriteStream;
  /** Writes lines to standard output, or to another stream. */
  writeLines(lines: Iterable<string>, to?: () => NodeJS.WriteStream): Promise<void>;
  /** Prints an error as JSON. */
  writeJson(code: 'ERR_ABORTED', message: string): void;
  /** Functions that color a text for a stream. */
  colorsFor(stream: NodeJS.WriteStream): Promise<Record<'red' | 'yellow' | 'dim', (text: string) => string>>;
  /** Text for a stream: wrapped at words if that is a terminal. */
  fitted(line: string, to: NodeJS.WriteStream): string;
  /** Escapes what a terminal would interpret. */
  printable(text: string): string;
  /** The same for the JSON of a value. */
  printableJson(value: unknown): string;
  /** A size in binary units: `1.5 MiB`. */
  formatBytes(bytes: number): string;
  /** `1 part`, `2 parts`. */
  plural(count: number, noun: string): string;
  /** Reports an error, and returns the exit code for it. */
  exitCodeOf(error: unknown): Promise<number>;
  /** The exit code of a job that a signal has cancelled. */
  exitCodeOfSignal(error: { cause?: unknown }): number;
}

/** A progress bar. */
export interface ProgressBar {
  update(state: { bytes: number; totalBytes: number; file: string; seconds: number; isRemote: boolean }): void;
  /** Removes the bar. */
  finish(): void;
}

/** How a command prints. */
export interface PrintOptions {
  terminal: Terminal;
  json?: boolean | undefined;
}

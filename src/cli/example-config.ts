/** The commented example of a configuration file that `metainfo config --init` writes: docs/config.example.toml. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Reads the example. In it, every setting is a comment. */
export const exampleConfig = (): Promise<Buffer> =>
  readFile(path.join(import.meta.dirname, '../../docs/config.example.toml'));

import { once } from 'node:events';

const CHUNK = 65536;

// Node makes its standard streams when they are first asked for, and that takes as long as making a small torrent:
// nothing here asks for one before there is something to say.

let out: NodeJS.WriteStream | undefined;
let err: NodeJS.WriteStream | undefined;

/**
 * Standard output. A closed pipe (`metainfo show x | head`) is no failure; where else it cannot be written to, the process
 * ends.
 */
export function stdout(): NodeJS.WriteStream {
  out ??= process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    stderr().write(`error: standard output: ${error.message}\n`);
    process.exit(1);
  });
  return out;
}

/** Standard error. A closed terminal or log takes no progress; the work goes on. */
export function stderr(): NodeJS.WriteStream {
  err ??= process.stderr.on('error', () => {});
  return err;
}

/** Writes lines to standard output as fast as they are taken: millions of them never wait in memory. */
export async function writeLines(lines: Iterable<string>): Promise<void> {
  let text = '';
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < CHUNK) continue;
    await write(text);
    text = '';
  }
  await write(text);
}

async function write(text: string): Promise<void> {
  if (!stdout().write(text)) await once(stdout(), 'drain');
}

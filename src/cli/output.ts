import { once } from 'node:events';

const CHUNK = 65536;

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
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

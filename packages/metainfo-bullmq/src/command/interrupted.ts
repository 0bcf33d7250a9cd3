/** After Ctrl-C: asks what becomes of work that is in the queue. */
import { createInterface } from 'node:readline/promises';
import type { AbortError } from 'metainfo';
import type { PrintOptions } from './terminal.ts';

/** Cancels the work if the user says so, and ends the process. Without a terminal, the work stays in the queue. */
export async function interrupted(
  error: AbortError,
  { what, json, terminal, cancel }: PrintOptions & { what: string; cancel: () => Promise<string> },
): Promise<never> {
  const { stderr } = terminal;
  const isAsked = error.cause === 'SIGINT' && process.stdin.isTTY;
  const answer = isAsked ? await asked(`Cancel the ${what}? [y/N] `, stderr()) : '';
  const stays = `interrupted: the ${what} stays in the queue; run the same command to see its progress`;
  const text = /^y(es)?$/i.test(answer.trim()) ? await cancel() : stays;
  if (json) terminal.writeJson('ERR_ABORTED', text);
  else stderr().write(`${text}\n`);
  process.exit(terminal.exitCodeOfSignal(error));
}

function asked(question: string, output: NodeJS.WriteStream): Promise<string> {
  const reader = createInterface({ input: process.stdin, output });
  // A second Ctrl-C is no answer.
  const answer = reader.question(question).catch(() => '');
  return answer.finally(() => reader.close());
}

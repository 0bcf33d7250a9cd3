/** After Ctrl-C: asks what becomes of work that is in the queue. */
import { createInterface } from 'node:readline/promises';
import type { AbortError } from '../../errors/cancel.ts';
import { exitCodeOfSignal, writeJson } from '../exit.ts';
import { stderr } from '../terminal/output.ts';

/**
 * Cancels the work if the user says so, and ends the process. Without a terminal, the work stays in the queue.
 *
 * @param options.cancel Cancels it, and says what became of it.
 */
export async function interrupted(
  error: AbortError,
  { what, json, cancel }: { what: string; json: boolean | undefined; cancel: () => Promise<string> },
): Promise<never> {
  const answer = error.cause === 'SIGINT' && process.stdin.isTTY ? await asked(`Cancel the ${what}? [y/N] `) : '';
  const stays = `interrupted: the ${what} stays in the queue; run the same command to see its progress`;
  const text = /^y(es)?$/i.test(answer.trim()) ? await cancel() : stays;
  if (json) writeJson('ERR_ABORTED', text);
  else stderr().write(`${text}\n`);
  process.exit(exitCodeOfSignal(error));
}

function asked(question: string): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: stderr() });
  // A second Ctrl-C is no answer.
  const answer = reader.question(question).catch(() => '');
  return answer.finally(() => reader.close());
}

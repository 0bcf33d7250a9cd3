/** Notices of commands that go on: the server of a queue does not answer, or nobody works for a root. On standard error, also as JSON. */
import { setTimeout as delay } from 'node:timers/promises';
import type { TorrentQueue } from '../torrent-queue.ts';
import type { PrintOptions } from './terminal.ts';

/** A notice: the fields of its JSON, and its text. */
export interface Notice {
  event: 'metrics' | 'ready' | 'outage' | 'connected' | 'no_worker' | 'resting' | 'recovered' | 'error';
  message: string;
  /** The other fields of the JSON. */
  more?: object;
}

/** Removes a progress bar, which is drawn again later. */
const CLEAR_LINE = '\r\u001b[K';

/** The labels of notices of failures, which have the code `ERR_QUEUE`. */
const LABELS: Partial<Record<Notice['event'], 'error' | 'warning'>> = {
  outage: 'error',
  error: 'error',
  no_worker: 'warning',
  resting: 'warning',
};

/** Prints a notice. */
export async function notice({ event, message, more }: Notice, { json, terminal }: PrintOptions): Promise<void> {
  const { stderr, printable } = terminal;
  const label = LABELS[event];
  const code = label ? 'ERR_QUEUE' : null;
  if (json) {
    stderr().write(`${terminal.printableJson({ event, code, message, ...more })}\n`);
    return;
  }
  const { red, yellow, dim } = await terminal.colorsFor(stderr());
  const color = label === 'error' ? red : yellow;
  const line = label ? `${color(`${label}:`)} ${printable(message)} ${dim(`[${code}]`)}` : printable(message);
  stderr().write(`${stderr().isTTY ? CLEAR_LINE : ''}${terminal.fitted(line, stderr())}\n`);
}

/** Tells of outages of a server: one notice when it stops answering, and one when it answers again. */
export class Outage {
  readonly #server: string;
  readonly options: PrintOptions;
  #isDown = false;
  /** Whether it tells no more. */
  isClosed = false;

  constructor(server: string, options: PrintOptions) {
    this.#server = server;
    this.options = options;
  }

  /** Takes a failure to reach the server. */
  lost(error: unknown): void {
    const reason = reasonOf(error);
    const message = `no answer from ${this.#server}${reason === '' ? '' : `: ${reason}`}; trying again`;
    this.#tell({ event: 'outage', message, more: { server: this.#server, reason } });
  }

  /** Takes an answer of the server. */
  answered(): void {
    const message = `${this.#server} answers again`;
    this.#tell({ event: 'connected', message, more: { server: this.#server } });
  }

  /** Tells no more: a connection that closes is no outage. */
  close(): void {
    this.isClosed = true;
  }

  #tell(what: Notice): void {
    const isDown = what.event === 'outage';
    if (this.isClosed || this.#isDown === isDown) return;
    this.#isDown = isDown;
    void notice(what, this.options);
  }
}

/** Why a server does not answer, as its client says: empty if it does not say. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [, reason] = /^The server of the queue does not answer(?: \((.*)\))?\.$/s.exec(text) ?? [null, text];
  return reason ?? '';
}

/** Milliseconds between two questions to the server of somebody who waits. */
const ASK_MS = 2000;
/** Milliseconds without an answer until somebody is told. The question itself goes on for longer. */
const SILENCE_MS = 5000;

/** Tells those who wait for workers that the server does not answer, or that nobody works for a root. */
export function waitNotices(
  queue: TorrentQueue,
  { root, server, ...options }: PrintOptions & { root: string; server: string },
): { onNoWorker: (root: string) => Promise<void>; close: () => void } {
  const closed = new AbortController();
  const { signal } = closed;
  const outage = new Outage(server, options);
  const ask = async () => {
    while (!signal.aborted) {
      const silence = setTimeout(() => outage.lost(''), SILENCE_MS).unref();
      await queue.counts([root], { signal }).then(
        () => outage.answered(),
        (error: unknown) => outage.lost(error),
      );
      clearTimeout(silence);
      await delay(ASK_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  void ask();
  return {
    onNoWorker: async (root) => {
      const { workers, waiting, active, delayed, failed } = await queue.counts([root], { signal });
      const jobs = `${options.terminal.plural(waiting, 'waiting job')}, ${active} active, ${delayed} delayed, ${failed} failed`;
      const message = `no worker serves the root ${root} at ${server} (${jobs}): start metainfo worker --root ${root}=PATH`;
      const more = { root, workers, waiting, active, delayed, failed };
      await notice({ event: 'no_worker', message, more }, options);
    },
    close: () => {
      outage.close();
      closed.abort();
    },
  };
}

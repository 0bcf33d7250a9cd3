/** The output of a join. The part store keeps it under its hash, because nobody trusts the queue, and job data stay small. */
import { createHash } from 'node:crypto';
import { boolean, type Infer, string, type } from 'superstruct';
import { MetainfoError, type PartStore } from '../index.ts';
import { notInStore } from './failures.ts';
import type { JoinData } from './jobs.ts';
import { parsedObject } from './stored.ts';

const REQUEST = type({
  /** `NAME/path` of the torrent file. */
  output: string(),
  /** Whether to replace a file. */
  force: boolean(),
});

/** Where the torrent of a plan goes. */
export type JoinRequest = Infer<typeof REQUEST>;

/** Stores a request, and returns its hash: the SHA-256 of its text, in hexadecimal. */
export async function storeRequest(plan: string, { output, force }: JoinRequest, store: PartStore): Promise<string> {
  const text = JSON.stringify({ output, force });
  const request = hashOf(text);
  await store.put(plan, `join-${request}`, Buffer.from(text));
  return request;
}

/**
 * Reads a request.
 *
 * @throws {MetainfoError} `ERR_QUEUE` if it is not in the store; `ERR_PLAN` if it is malformed, or not the request of that hash
 */
export async function requestOf(
  { plan, request }: Pick<JoinData, 'plan' | 'request'>,
  store: PartStore,
): Promise<JoinRequest> {
  const bytes = await store.get(plan, `join-${request}`);
  if (!bytes) throw notInStore(`the output of the plan ${plan}`);
  if (hashOf(bytes) !== request)
    throw new MetainfoError('ERR_PLAN', `The part store has another output for the plan ${plan}.`);
  return parsedObject(bytes, `The output of the plan ${plan}`, REQUEST);
}

function hashOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

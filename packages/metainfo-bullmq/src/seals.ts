/** Seals what jobs say with keys of the part store: the server of a queue can neither read nor change it. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { MetainfoError, type PartStore } from 'metainfo';
import { notInStore } from './failures.ts';

const CIPHER = 'aes-256-gcm';
const [KEY_BYTES, IV_BYTES, TAG_BYTES] = [32, 12, 16];

/** Milliseconds after which a process writes its key again: `store prune` deletes objects that nobody has written for days. */
const FRESH_MS = 3_600_000;

/** Keys of other processes that a process remembers. */
const MAX_KEYS = 1000;

interface OwnKey {
  id: string;
  key: Buffer;
  stored: Promise<void>;
  storedAt: number;
}

const ownKeys = new WeakMap<PartStore, OwnKey>();
const foreignKeys = new WeakMap<PartStore, Map<string, Promise<Uint8Array | null>>>();

/** Seals a text for those who have the store. `about` says what it is, so that it is taken for nothing else. */
export async function seal(store: PartStore, about: string, text: string): Promise<string> {
  const { id, key } = await ownKey(store);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(about));
  const bytes = [cipher.update(text), cipher.final()];
  return `${id}.${Buffer.concat([iv, cipher.getAuthTag(), ...bytes]).toString('base64')}`;
}

/** Opens a sealed text. Throws `ERR_QUEUE` if the store does not have its key; `ERR_PLAN` if somebody has changed it. */
export async function unseal(store: PartStore, about: string, sealed: string): Promise<Uint8Array> {
  const [id = '', text = ''] = sealed.split('.');
  const bytes = Buffer.from(text, 'base64');
  const key = /^[0-9a-f]{64}$/.test(id) && (await keyOf(store, id));
  if (key === null) throw notInStore(`the key of a job`);
  try {
    const iv = bytes.subarray(0, IV_BYTES);
    // A shorter tag would be easier to guess.
    const open = createDecipheriv(CIPHER, key as Uint8Array, iv, { authTagLength: TAG_BYTES });
    open.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([open.update(bytes.subarray(IV_BYTES + TAG_BYTES)), open.final()]);
  } catch {
    throw new MetainfoError('ERR_PLAN', 'A job was changed in the queue: it does not fit its seal.');
  }
}

async function ownKey(store: PartStore): Promise<OwnKey> {
  const now = performance.now();
  const found = ownKeys.get(store);
  const { id, key } = found ?? { id: randomBytes(32).toString('hex'), key: randomBytes(KEY_BYTES) };
  const own =
    found && now - found.storedAt < FRESH_MS ? found : { id, key, storedAt: now, stored: store.put(id, 'key', key) };
  ownKeys.set(store, own);
  // One that could not be written is written again.
  await own.stored.catch((error) => {
    ownKeys.delete(store);
    throw error;
  });
  return own;
}

function keyOf(store: PartStore, id: string): Promise<Uint8Array | null> {
  const own = ownKeys.get(store);
  if (own?.id === id) return Promise.resolve(own.key);
  const keys = foreignKeys.get(store) ?? new Map<string, Promise<Uint8Array | null>>();
  foreignKeys.set(store, keys);
  const key = keys.get(id) ?? store.get(id, 'key');
  keys.set(id, key);
  const forget = () => keys.delete(id);
  key.then((bytes) => bytes ?? forget(), forget);
  for (const [oldest] of keys) if (keys.size > MAX_KEYS) keys.delete(oldest);
  return key;
}

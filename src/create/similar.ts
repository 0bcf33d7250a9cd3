/**
 * An infohash of another torrent (BEP 38) as bytes: from 20 or 32 bytes, or their hexadecimal. Null for anything else.
 */
export function parseSimilar(hash: unknown): Uint8Array | null {
  if (typeof hash === 'string' && /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(hash)) return Buffer.from(hash, 'hex');
  return hash instanceof Uint8Array && (hash.length === 20 || hash.length === 32) ? hash : null;
}

/** Measures how fast an engine hashes from memory. */
import { defaultEngine } from '../../hash/default-engine.ts';
import { type Engine, hashedHere, isOwnEngine } from '../../hash/engine.ts';
import { checkedResources } from '../../hash/hash-request.ts';
import type { TorrentVersion } from '../../model/discriminator.ts';
import type { GenerateOptions } from '../options.ts';

/** Bytes that each thread hashes: enough for all lanes of a kernel, and a few hundredths of a second with a slow one. */
const BYTES_PER_THREAD = 8 * 2 ** 20;
const PIECE_LENGTH = 2 ** 18;
/** The first round warms the threads and the memory up. */
const ROUNDS = 2;

/** The last measurement, which plans of many torrents share for a minute. */
let last: { engine?: Engine; key?: string; at: number; rate: Promise<number> } = { at: 0, rate: Promise.resolve(0) };

/** The rate of hashing from memory, in bytes per second; null in browsers. */
export async function hashRate(version: TorrentVersion, options: GenerateOptions): Promise<number | null> {
  const { engine = defaultEngine() } = options;
  const resources = checkedResources(options, version);
  const [key, at] = [JSON.stringify([version, resources]), performance.now()];
  if (engine !== last.engine || key !== last.key || at - last.at > 60_000)
    last = { engine, key, at, rate: measured(engine, version, resources) };
  return last.rate;
}

async function measured(engine: Engine, version: TorrentVersion, resources: ReturnType<typeof checkedResources>) {
  const data = new Uint8Array(BYTES_PER_THREAD * resources.threads);
  const { length } = data;
  const files = [{ path: null, data, offset: 0, length, size: length, mtimeMs: 0 }];
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    // This is no content.
    if (isOwnEngine(engine)) hashedHere.bytes -= length;
    const started = performance.now();
    await engine.start({ files, version, pieceLength: PIECE_LENGTH, onMissing: 'fail', ...resources }).done;
    fastest = Math.min(fastest, performance.now() - started);
  }
  return Math.round((length / fastest) * 1000);
}

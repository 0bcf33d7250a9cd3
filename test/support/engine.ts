import { libtorrent } from '../../src/create/libtorrent.ts';

/** Whether the engine is built: in CI it must be. */
export function engineMissing(): string | false {
  try {
    libtorrent();
    return false;
  } catch (error) {
    if (process.env['CI']) throw error;
    return 'the libtorrent engine is not built (npm run build:libtorrent)';
  }
}

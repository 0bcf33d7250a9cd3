/** Says why tests that need the addon of libtorrent skip. */
import { libtorrent } from '../../src/create/libtorrent.ts';

/** Returns why a test that needs the libtorrent addon must skip; throws in CI. */
export function engineMissing(): string | false {
  try {
    libtorrent();
    return false;
  } catch (error) {
    if (process.env['CI']) throw error;
    return 'the libtorrent addon is not built (npm run build:libtorrent)';
  }
}

// Asks for a torrent by libtorrent, and tells what it says.
import { TorrentCreate } from '../../src/create/draft.ts';
import type { MetainfoError } from '../../src/errors/errors.ts';

const told = await new TorrentCreate({ pathRoot: process.argv[2] ?? '' }).generateExt().then(
  () => ({ code: null, message: 'it was made' }),
  ({ code, message }: MetainfoError) => ({ code, message }),
);
process.send?.(told);
process.disconnect?.();

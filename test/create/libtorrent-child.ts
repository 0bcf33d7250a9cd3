// Makes a torrent with libtorrent, and sends the error to the parent process.
import { TorrentCreate } from '../../src/create/draft.ts';
import type { MetainfoError } from '../../src/errors/errors.ts';

const told = await new TorrentCreate({ pathRoot: process.argv[2] ?? '' }).generateExt().then(
  () => ({ code: null, message: 'it was made' }),
  ({ code, message }: MetainfoError) => ({ code, message }),
);
process.send?.(told);
process.disconnect?.();

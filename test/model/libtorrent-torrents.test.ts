/** Compares the compat profile with libtorrent on the torrents of libtorrent's own tests. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { BencodeError, LimitError, Torrent } from '../../src/index.ts';
import { client, libtorrentMissing } from '../support/external.ts';
import { LibtorrentOracle } from '../support/libtorrent.ts';

/** libtorrent 2.0.8 loads these torrents; 2.0.14 and 2.1 refuse them: "a piece layer is invalid". */
const REFUSED_SINCE = [
  'v2_invalid_piece_layer_root.torrent',
  'v2_invalid_root_hash.torrent',
  'v2_unknown_piece_layer_entry.torrent',
];

/** The folder to which `.ci/clients` downloads the torrents. */
const FOLDER = path.resolve(client('..'), 'torrents');

function missing(): string | false {
  if (existsSync(FOLDER) && process.env['METAINFO_CLIENTS']) return false;
  if (process.env['CI']) throw new Error(`${FOLDER} does not exist, and CI may not skip tests`);
  return "no torrents of libtorrent's tests (METAINFO_CLIENTS=$(.ci/clients) fetches them)";
}

/** The infohashes of a torrent in compat; null if compat refuses it. */
function load(file: string): { v1: string | null; v2: string | null } | null {
  try {
    const { torrent, infohash } = Torrent.inspect(readFileSync(file), { context: { profile: 'compat' } });
    return torrent && infohash;
  } catch (error) {
    assert.ok(error instanceof BencodeError || error instanceof LimitError, String(error));
    return null;
  }
}

describe("the torrents of libtorrent's own tests", { skip: missing() || libtorrentMissing() }, () => {
  let oracle: LibtorrentOracle;
  before(() => {
    oracle = new LibtorrentOracle();
  });
  after(() => oracle.close());

  it('exist', () => assert.ok(readdirSync(FOLDER).length > 90));

  for (const name of missing() ? [] : readdirSync(FOLDER)) {
    it(`are accepted or refused by compat as by libtorrent: ${name}`, async () => {
      const file = path.join(FOLDER, name);
      const answer = await oracle.load(file).then(
        ({ v1, v2 }) => ({ v1, v2 }),
        () => null,
      );
      assert.deepEqual(load(file), REFUSED_SINCE.includes(name) ? null : answer);
    });
  }
});

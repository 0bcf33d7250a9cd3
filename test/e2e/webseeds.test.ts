import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { isPadFile, type Torrent } from '../../src/index.ts';
import {
  assertWhole,
  CLIENTS,
  done,
  type Scope,
  scopeOf,
  share,
  TEST_TIMEOUT,
  type Version,
} from '../support/clients.ts';
import { tried } from '../support/interop.ts';
import { writeTree } from '../support/tree.ts';

/** Serves the files of a folder on 127.0.0.1, with support of ranges. */
async function startServer(scope: Scope) {
  const started = { url: '', folder: '', asked: new Set<string>(), ranges: 0 };
  const server = createServer(async (request, response) => {
    const name = decodeURIComponent(new URL(request.url as string, started.url).pathname);
    started.asked.add(name);
    const file = path.join(started.folder, name);
    const size = (await stat(file).catch(() => null))?.size;
    if (size === undefined) return response.writeHead(404).end();
    if (size === 0) return response.end();
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    const start = Number(range?.[1] ?? 0);
    const end = Math.min(Number(range?.[2] || size), size - 1);
    response.setHeader('content-length', end - start + 1);
    if (range) {
      started.ranges += 1;
      response.writeHead(206, { 'content-range': `bytes ${start}-${end}/${size}` });
    }
    return createReadStream(file, { start, end }).pipe(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  started.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  scope.after(async () => {
    server.closeAllConnections();
    server.close();
  });
  return started;
}

/** The pad files of a hybrid, which v1 clients request like other files. */
function padsOf(torrent: Torrent): Record<string, Buffer> {
  assert.equal(torrent.torrentVersion, 'hybrid');
  const pads = (torrent.info.files ?? []).filter(isPadFile);
  return Object.fromEntries(pads.map((pad) => [pad.path.join('/'), Buffer.alloc(pad.length)]));
}

describe('webseeds of metainfo torrents are used without peers', { concurrency: 8 }, () => {
  const cases: [name: keyof typeof CLIENTS, torrentVersion: Version, withPads: boolean][] = [
    ['libtorrent', 'v1', false],
    ['libtorrent', 'v2', false],
    ['libtorrent', 'hybrid', false],
    ['Transmission', 'v1', false],
    ['Transmission', 'hybrid', true],
    ['aria2', 'v1', false],
    ['aria2', 'hybrid', true],
  ];
  for (const [name, torrentVersion, withPads] of cases) {
    const { skip, start } = CLIENTS[name];
    it(`${torrentVersion} by ${name}${withPads ? ', which requests pad files too' : ''}`, {
      skip,
      timeout: TEST_TIMEOUT,
    }, async (t) => {
      const scope = scopeOf(t);
      const server = await startServer(scope);
      const shared = await share(scope, torrentVersion, ['--webseed', server.url]);
      server.folder = shared.parent;
      if (withPads) await writeTree(path.join(shared.parent, 'content'), padsOf(shared.torrent));
      const folder = await shared.newFolder();
      const peer = await start(scope, shared.file, folder);
      await done([peer]);
      await assertWhole(shared, folder);
      assert.ok(server.ranges > 0);
      assert.equal(
        [...server.asked].some((one) => one.startsWith('/content/.pad/')),
        withPads,
      );
      const what = withPads ? 'downloads from a webseed that has the pad files too' : 'downloads from a webseed';
      tried({ client: peer.client, version: peer.version, torrentVersion, what });
    });
  }
});

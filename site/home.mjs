// The front page, with figures of bench/results.json. site/build.mjs writes it.
import { cell, peersText } from './chart.mjs';

/** Random trees that test/create/generate.test.ts gave to libtorrent too, on 2026-11-24: 4,400 in three versions. */
const EQUAL = { torrents: 13_200, command: 'METAINFO_RUNS=20 npm test -- test/create/generate.test.ts' };

/** The program of the front page: test/pages.test.ts runs it. */
export const PROGRAM = `import { Torrent, TorrentCreate, verify } from 'metainfo';
const draft = new TorrentCreate({ pathRoot: 'album' });
const made = await draft.generate({ version: 'hybrid' });
await made.write('made.torrent');
const torrent = await Torrent.read('made.torrent');
for (const { path } of torrent.files) console.log(path);
const { ok } = await verify(torrent, 'album');
console.log(ok, torrent.magnet());
`;

/** A card: a measured figure, its meaning, and the command that measures it, which links to the page with the whole table. */
function card(figure, text, page, command) {
  return `- **${figure}** ${text}\n\n  [\`${command}\`](${page}.md)\n`;
}

/** Returns the text of the front page. */
export function homePage(results) {
  const { create, peers, million } = results;
  const rate = cell(create, 'Kernels', 'v1, default', '2 threads').toFixed(1);
  const seconds = cell(million, 'Commands', 'create, metainfo', 'v1').toFixed(1);
  const mebibytes = Math.round(cell(million, 'Commands', 'create, metainfo', 'v1, memory') / 2 ** 20);
  const equal = EQUAL.torrents.toLocaleString('en');
  return `---
layout: page
sidebar: false
title: metainfo
titleTemplate: torrent files of every version
description: Create, read, verify and edit BitTorrent metainfo files of all versions (v1, v2 and hybrid), from a terminal or from Node.
---

<main class="vp-doc home">
<div class="top">
<div>

# metainfo

Create, read, verify and edit torrent files of every version (v1, v2 and hybrid), from a terminal or from Node.

<div class="ways">

[The command](start.md#the-command)
[The library](start.md#the-library)
[Which version?](versions.md)
[Look into a torrent](/inspect/){target="_self"}

</div>
</div>
<div>

\`\`\`sh
npm install metainfo     # library
npm install -g metainfo  # command
\`\`\`

[Cookbook](guides/cookbook.md) · [Guides](contents.md#guides) · [Coming from another program](guides/switching.md)

</div>
<div class="picture" role="region" aria-label="Terminal" tabindex="0">

![metainfo create and verify in a terminal](/files/docs/session.svg)

</div>
<div class="side">

\`\`\`ts
${PROGRAM}\`\`\`

<div class="chart">

**Time to create a 4 GiB v1 torrent** (shorter is better)

![${peersText(results)}](/files/docs/diagrams/performance.svg)

[\`${peers.command}\`](performance.md)

</div>
<div class="cards">

${[
  card(`${rate} GB/s`, 'hashed for v1 on two cores', 'performance', 'npm run bench -- create'),
  card(`1,000,000 files in ${seconds} s`, `with ${mebibytes} MiB of memory`, 'performance', 'npm run bench -- million'),
  card(`${equal} torrents`, 'of all versions equal to libtorrent’s', 'reliability', EQUAL.command),
].join('\n')}
</div>
</div>
</div>

The chart has multiples of the time of metainfo, measured on ${peers.date} on ${peers.machine.replace(/ \(.*?\)/, '')}. mkbrr, torrenttools and imdl are missing, because
they could not be installed there. [Performance](performance.md) has all versions and workloads, also those where others are faster. [Tests with real clients](interop.md) seed and
download with qBittorrent, Transmission, rtorrent and aria2.

</main>
`;
}

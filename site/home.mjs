// The front page, with figures of bench/results.json. site/build.mjs writes it.

/** A cell of a table of a bench. */
function cell({ tables }, table, row, column) {
  const { columns, rows } = tables.find(({ title }) => title.startsWith(table));
  const [, ...cells] = rows.find(([name]) => name === row || name.startsWith(row));
  return cells[columns.findIndex(({ name }) => name === column)];
}

const LARGE = 'one large file';

/** The rows of the chart: each program with the time that it takes for one of ours. */
function peersOf({ peers }) {
  const names = ['metainfo', 'mktorrent', 'libtorrent, C++', 'transmission-create', 'create-torrent'];
  return names.map((name) => ({ name, ratio: cell(peers, LARGE, name, 'v1, its time / ours') }));
}

function bars(rows) {
  const most = Math.max(...rows.map(({ ratio }) => ratio));
  const row = ({ name, ratio }) =>
    `<div class="bar${name === 'metainfo' ? ' ours' : ''}"><span>${name}</span><i style="width:${((ratio / most) * 100).toFixed(1)}%"></i><b>${ratio.toFixed(1)}</b></div>`;
  return `<div class="bars" role="img" aria-label="${rows.map(({ name, ratio }) => `${name} ${ratio.toFixed(1)}`).join(', ')}">${rows.map(row).join('')}</div>`;
}

/** Returns the text of the front page. */
export function homePage(results) {
  const { create, peers, million } = results;
  const rate = cell(create, 'Kernels', 'v1, default', '2 threads').toFixed(1);
  const faster = cell(peers, LARGE, 'libtorrent, C++', 'hybrid, its time / ours').toFixed(1);
  const seconds = cell(million, 'Commands', 'create, metainfo', 'v1').toFixed(1);
  const mebibytes = Math.round(cell(million, 'Commands', 'create, metainfo', 'v1, memory') / 2 ** 20);
  return `---
layout: page
sidebar: false
title: metainfo
titleTemplate: torrent files of every version
description: Create, read, verify and edit BitTorrent metainfo files of all versions (v1, v2 and hybrid), from a terminal or from Node.
hero:
  name: metainfo
  text: Torrent files of every version
  tagline: Create, read, verify and edit v1, v2 and hybrid torrents, from a terminal or from Node.
  actions:
    - { theme: brand, text: The command, link: /guides/creating }
    - { theme: alt, text: The library, link: /start#the-library }
    - { theme: alt, text: Which version?, link: /versions }
features:
  - title: ${rate} GB/s on two cores
    details: Sixteen pieces at once in vector registers. A hybrid of 4 GiB takes libtorrent in C++ ${faster} times as long.
    link: /performance
    linkText: npm run bench -- create, peers
  - title: A million files in ${seconds} s
    details: With ${mebibytes} MiB of memory, and problems named before anything is hashed. Beyond one machine, parts run anywhere.
    link: /performance
    linkText: npm run bench -- million
  - title: Equal to libtorrent, byte for byte
    details: Random trees of all versions are compared with libtorrent in each run of the tests. qBittorrent, Transmission, rtorrent and aria2 seed and download the torrents.
    link: /interop
    linkText: npm test -- test/e2e
---

<main>

<Hero />

<div class="vp-doc home install">

\`\`\`sh
npm install metainfo             # the library
npm install --global metainfo    # the command
\`\`\`

</div>

<Features />

<div class="vp-doc home">

![metainfo create, show and verify in a terminal](/files/docs/session.svg)

## One file of 4 GiB, v1: time, metainfo = 1

${bars(peersOf(results))}

\`${peers.command}\`, ${peers.date}, on ${peers.machine.replace(/ \(.*?\)/, '')}. mkbrr, torrenttools and imdl are not in this chart: they could not be
installed there. [Performance](performance.md) has all versions and workloads, also those where others are faster.

</div>
</main>
`;
}

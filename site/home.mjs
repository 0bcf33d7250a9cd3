// The front page, with figures of bench/results.json, lines of README.md and a table of docs/interop.md. site/build.mjs writes it.
import { readFileSync } from 'node:fs';
import { cell, peersOf } from './chart.mjs';

const read = (file) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

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

/** The people whom the page addresses, each with the pages that they need first. */
const READERS = [
  {
    title: 'Servers that make torrents',
    text: 'Hash uploads while they arrive. Thousands of jobs share one budget of threads and memory.',
    links: '[Servers](guides/servers.md) · [Sources](guides/sources.md) · [Queues](guides/queues.md)',
  },
  {
    title: 'Release pipelines',
    text: 'The same files give the same infohash, on every machine. Attach it to the release, with webseeds and a signature.',
    links:
      '[GitHub Action](guides/deploying.md#github-action) · [Signatures](guides/cookbook.md#_14-signed-torrents-of-a-release) · [Updates](guides/updating.md)',
  },
  {
    title: 'Uploaders and seedboxes',
    text: 'Presets and rules for each tracker, a torrent of every entry of a folder, and clients that seed at once.',
    links:
      '[Presets](guides/configuration.md) · [Seeding](guides/seeding.md) · [Coming from another program](guides/switching.md)',
  },
  {
    title: 'People who verify',
    text: 'Find missing, corrupt, extra and renamed files, on disk or in a browser.',
    links: '[Verifying](guides/verifying.md) · [Strict validation](validation.md) · [Clients](interop.md)',
  },
];

const PLATFORMS = `| platform | hashing |
| --- | --- |
| Linux x64: glibc 2.28 or later, musl | binary in the package |
| Linux arm64: glibc | binary in the package |
| Windows x64 | binary in the package |
| macOS and others | compiled by npm, or \`node:crypto\` |
| Bun, Deno 2 | as on Node 20.19 or later |
| browsers | WebCrypto |`;

/** Text of README.md or docs, with links that hold on the front page. */
const onSite = (text) => text.replaceAll('](docs/', '](').replaceAll('](#', '](start.md#');

/** The items of the list "Why use it" of README.md. */
function reasons() {
  const [, list] = /^Why use it:\n\n([\s\S]*?)\n\n/m.exec(read('README.md'));
  return onSite(list)
    .split(/^- /m)
    .slice(1)
    .map((item) => /^\*\*(.*?)\*\*: ([\s\S]*)/.exec(item))
    .map(([, title, text]) => [title, text.trim().replace(/^\[?[a-z]/, (start) => start.toUpperCase())])
    .map(([title, text]) => `<div>\n\n### ${title}\n\n${text}\n\n</div>`);
}

/** The table of versions and clients of docs/interop.md, with a row of our own. */
function versions() {
  const [, table] = /^## Supported versions\n\n([\s\S]*?)\n\n/m.exec(read('docs/interop.md'));
  const [head, line, ...rows] = table.split('\n');
  return [head.replace('client', 'program'), line, '| **metainfo** | yes | yes | yes |', ...rows].join('\n');
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The session of docs/session.svg as text, whose lines wrap where the screen is small. */
function terminal() {
  const lines = [...read('docs/session.svg').matchAll(/^<text[^>]*>(.*)<\/text>$/gm)].map(([, line]) =>
    line.replaceAll('<tspan', '<span').replaceAll('</tspan>', '</span>'),
  );
  return `<pre class="terminal" aria-label="metainfo create and verify in a terminal" v-pre><code>${lines.join('\n')}</code></pre>`;
}

/** The chart of the times of other programs: bars of HTML, because a picture does not know the colours of the page. */
function chart(results) {
  const rows = peersOf(results);
  const most = Math.max(...rows.map(({ ratio }) => ratio));
  const bars = rows.map(({ name, ratio }) => {
    const width = ((ratio / most) * 100).toFixed(1);
    const ours = name === 'metainfo' ? ' class="ours"' : '';
    return `<li${ours}><span>${escaped(name)}</span><span class="track"><span class="bar" style="width:${width}%"></span></span><span>${ratio.toFixed(1)}×</span></li>`;
  });
  return `<ul class="bars">\n${bars.join('\n')}\n</ul>`;
}

/** A measured figure, its meaning, and the command that measures it, which links to the page with the whole table. */
const figure = (number, text, page, command) =>
  `<div>\n\n**${number}** ${text}\n\n[\`${command}\`](${page}.md)\n\n</div>`;

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

<main class="vp-doc home front">
<section class="hero">
<div class="pitch">

# Torrents of every version, at up to <em>${rate} GB/s</em>

metainfo is a command and a Node library that creates, reads, validates, verifies and edits \`.torrent\` files: v1, v2 and hybrid. It hashes on
native threads, so your event loop stays free.

<div class="ways">

[Get started](start.md)
[Look into a torrent](/inspect/){target="_self"}

</div>

\`\`\`sh
npm install metainfo     # library
npm install -g metainfo  # command
\`\`\`

[Which version?](versions.md) · [Other runtimes](guides/install.md) · [Cookbook](guides/cookbook.md) · [All guides](contents.md#guides)

</div>
<div class="figures">
<div class="chart">

**Time to create a 4 GiB v1 torrent** (shorter is better)

${chart(results)}

[\`${peers.command}\`](performance.md)

</div>
<div class="numbers">

${[
  figure(`${rate} GB/s`, 'hashed for v1 on two cores', 'performance', 'npm run bench -- create'),
  figure(
    `${seconds} s`,
    `for 1,000,000 files, with ${mebibytes} MiB of memory`,
    'performance',
    'npm run bench -- million',
  ),
  figure(equal, 'torrents of all versions equal to libtorrent’s', 'reliability', EQUAL.command),
].join('\n')}

</div>
<div class="note">

Measured on ${peers.date} on ${peers.machine.replace(/ \(.*?\)/, '')}, with files in the page cache; the chart has multiples of the time of metainfo.
mkbrr, torrenttools and imdl could not be installed there. [Performance](performance.md) has all versions and workloads, also those where others are
faster.

</div>
</div>
<div class="screen">

${terminal()}

</div>
</section>

## Made for

<div class="readers">

${READERS.map(({ title, text, links }) => `<div>\n\n### ${title}\n\n${text}\n\n${links}\n\n</div>`).join('\n')}

</div>

## Look into a torrent, in the browser

<div class="inspect">
<div>

The page [/inspect](/inspect/){target="_self"} shows how files, pieces and pad files lie, and every issue with its place. It also verifies, edits and
creates torrents. Nothing is sent anywhere, and it works without a network.

<div class="ways">

[Open /inspect](/inspect/){target="_self"}

</div>
</div>

[![A hybrid torrent on the page /inspect](/files/docs/inspect.webp)](/inspect/){target="_self"}

</div>

## Why metainfo

<div class="reasons">

${reasons().join('\n')}

</div>

## The library in eight lines

<div class="library">

\`\`\`ts
${PROGRAM}\`\`\`

<div>

Every operation takes a signal and reports its progress. Errors have stable codes, and the types document every parameter.

[API](api/index.md) · [Servers](guides/servers.md) · [Browsers](guides/browsers.md) · [Errors](guides/errors.md)

</div>
</div>

## Versions, clients and platforms

<div class="matrix">

${versions()}

${PLATFORMS}

</div>

[Clients](interop.md) has the programs and the tests with them: qBittorrent, Transmission, rtorrent and aria2 seed and download these torrents.
[Install](guides/install.md) has the rest.

</main>
`;
}

// `npm run docs:diagrams`: writes docs/diagrams/*.svg. test/docs.test.ts compares them.
import { closeSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TorrentCreate } from '../src/create/draft.ts';
import { describePlan } from '../src/create/plan-report.ts';
import { formatBytes } from '../src/layout/text.ts';

const FOLDER = new URL('../docs/diagrams/', import.meta.url);

/** Fills for kinds of boxes. The page below shines through, so that they work on light and dark pages. */
type Fill = 'plain' | 'blue' | 'green' | 'orange' | 'pad';

// An image follows the colour scheme of the system, and a page may have the other one: so the paper is part of the image.
const STYLE = `
  .paper{fill:#fff} text{fill:#1f2328;font:14px system-ui,sans-serif} .small{font-size:12px;fill:#59636e} .bold{font-weight:600}
  .mono{font-family:ui-monospace,monospace;font-size:12px} .line{stroke:#59636e;fill:none;stroke-width:1.5} .head{fill:#59636e}
  .plain{fill:#f6f8fa;stroke:#8c959f} .blue{fill:#ddf4ff;stroke:#0969da} .green{fill:#dafbe1;stroke:#1a7f37}
  .orange{fill:#fff1e5;stroke:#bc4c00} .pad{fill:url(#hatch);stroke:#8c959f} .hatch{stroke:#8c959f}
  .s1{stroke:#0969da} .s2{stroke:#1a7f37} .s3{stroke:#bc4c00} .f1{fill:#0969da} .f2{fill:#1a7f37} .f3{fill:#bc4c00} .grid{stroke:#d1d9e0}
  @media (prefers-color-scheme:dark){
  .paper{fill:#161b22} text{fill:#f0f6fc} .small{fill:#b1bac4} .line{stroke:#b1bac4} .head{fill:#b1bac4}
  .plain{fill:#21262d;stroke:#6e7681} .blue{fill:#0c2d6b;stroke:#58a6ff} .green{fill:#0f3d1f;stroke:#3fb950}
  .orange{fill:#4d2200;stroke:#f0883e} .pad{stroke:#6e7681} .hatch{stroke:#6e7681}
  .s1{stroke:#58a6ff} .s2{stroke:#3fb950} .s3{stroke:#f0883e} .f1{fill:#58a6ff} .f2{fill:#3fb950} .f3{fill:#f0883e} .grid{stroke:#30363d}}`;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** An image with a title and a description for those who do not see it. */
function image(size: [width: number, height: number], title: string, description: string, parts: string[]): string {
  const [width, height] = size;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t d">
<title id="t">${escaped(title)}</title>
<desc id="d">${escaped(description)}</desc>
<style>${STYLE}</style>
<defs>
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V6" class="hatch"/></pattern>
<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8Z" class="head"/></marker>
</defs>
<rect width="${width}" height="${height}" rx="8" class="paper"/>
${parts.join('\n')}
</svg>
`;
}

/** Text; several lines are 18 pixels apart. */
function text(x: number, y: number, lines: string, style = '', anchor: 'start' | 'middle' | 'end' = 'start'): string {
  return lines
    .split('\n')
    .map(
      (line, i) => `<text x="${x}" y="${y + 18 * i}" text-anchor="${anchor}" class="${style}">${escaped(line)}</text>`,
    )
    .join('\n');
}

/** A box with centred lines: the first is bold if there are more. */
function box(x: number, y: number, width: number, height: number, fill: Fill, label = ''): string {
  const lines = label === '' ? [] : label.split('\n');
  const top = y + height / 2 + 5 - 9 * (lines.length - 1);
  const labels = lines.map((line, i) =>
    text(x + width / 2, top + 18 * i, line, lines.length > 1 ? (i === 0 ? 'bold' : 'small') : '', 'middle'),
  );
  return [`<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="3" class="${fill}"/>`, ...labels].join('\n');
}

const arrow = (shape: string): string => `<path d="${shape}" class="line" marker-end="url(#head)"/>`;
const line = (shape: string): string => `<path d="${shape}" class="line"/>`;

/** The layout of two files in v1, v2 and hybrid. */
function versions(): string {
  const parts: string[] = [];
  const [left, piece] = [110, 128];
  // v1: pieces run through both files.
  parts.push(text(16, 34, 'v1', 'bold'), text(16, 52, 'SHA-1', 'small'));
  parts.push(box(left, 20, piece * 2.5, 36, 'blue', 'a.wav'), box(left + piece * 2.5, 20, piece, 36, 'green', 'b.txt'));
  for (let i = 0; i < 4; i += 1)
    parts.push(box(left + i * piece, 70, i === 3 ? piece / 2 : piece, 28, 'plain', `piece ${i}`));
  parts.push(text(left, 120, 'One piece may hold the end of a file and the start of the next: piece 2.', 'small'));
  // v2: a tree for each file.
  const y = 150;
  parts.push(text(left + piece / 2 - 42, y + 88, 'piece layer', 'small', 'end'));
  parts.push(text(16, y + 148, 'v2', 'bold'), text(16, y + 166, 'SHA-256', 'small'));
  const fileTree = (x: number, blocks: number, name: string, fill: Fill) => {
    const block = piece / 4;
    for (let i = 0; i < blocks; i += 1) parts.push(box(x + i * block, y + 150, block, 22, fill));
    const pieces = Math.ceil(blocks / 4);
    const root = x + (pieces * piece) / 2;
    for (let i = 0; i < pieces; i += 1) {
      const count = Math.min(4, blocks - i * 4);
      const middle = x + i * piece + (count * block) / 2;
      if (pieces > 1) {
        parts.push(box(middle - 34, y + 72, 68, 24, 'plain', `piece ${i}`));
        parts.push(line(`M${middle} ${y + 72}L${root} ${y + 34}`));
      }
      const parent = pieces > 1 ? [middle, y + 96] : [root, y + 34];
      for (let j = 0; j < count; j += 1)
        parts.push(line(`M${x + i * piece + (j + 0.5) * block} ${y + 150}L${parent[0]} ${parent[1]}`));
    }
    parts.push(box(root - 62, y + 6, 124, 28, fill, 'pieces root'));
    parts.push(text(x, y + 190, name, 'small'));
  };
  fileTree(left, 10, 'a.wav: 10 blocks of 16 KiB in 3 pieces', 'blue');
  fileTree(left + piece * 3.3, 4, 'b.txt: 4 blocks, one piece, no piece layer', 'green');
  parts.push(
    text(
      left,
      y + 210,
      'Each file has a tree of its own. The piece layer lies where one hash covers one piece.',
      'small',
    ),
  );
  // Hybrid: v1 pieces with padding, and the trees of v2.
  const z = 400;
  parts.push(text(16, z + 14, 'hybrid', 'bold'), text(16, z + 32, 'both', 'small'));
  parts.push(box(left, z, piece * 2.5, 36, 'blue', 'a.wav'), box(left + piece * 2.5, z, piece * 0.5, 36, 'pad', 'pad'));
  parts.push(box(left + piece * 3, z, piece, 36, 'green', 'b.txt'));
  for (let i = 0; i < 4; i += 1) parts.push(box(left + i * piece, z + 50, piece, 28, 'plain', `piece ${i}`));
  parts.push(
    text(
      left,
      z + 100,
      'A pad file (BEP 47) fills the last piece of a.wav, so that v1 pieces and v2 trees cover the same bytes.',
      'small',
    ),
  );
  const description =
    'v1: pieces run across the boundary of two files. v2: each file has a Merkle tree of 16 KiB blocks; a piece layer, and a pieces root. Hybrid: a pad file lets each file start at a piece.';
  return image([800, 520], 'The layout of v1, v2 and hybrid torrents', description, parts);
}

/** How content is hashed. */
function hashing(): string {
  const parts: string[] = [];
  parts.push(box(16, 20, 170, 56, 'plain', 'plan\nfiles, pieces, padding'));
  parts.push(arrow('M186 48H236'));
  parts.push(box(240, 20, 240, 56, 'blue', 'one budget for the process\nthreads and memory of all jobs'));
  parts.push(
    text(510, 42, 'JavaScript makes one call and gets one', 'small'),
    text(510, 60, 'promise. The rest is native code.', 'small'),
  );
  for (const [i, name] of ['thread 1', 'thread 2'].entries()) {
    const y = 120 + i * 150;
    parts.push(arrow(i === 0 ? 'M300 76V98H76V118' : 'M76 98H8V320H14'));
    parts.push(box(16, y, 120, 100, 'green', `${name}\nreads 128 KiB\nof each piece`));
    for (let lane = 0; lane < 6; lane += 1) {
      const top = y + lane * 17;
      parts.push(`<rect x="200" y="${top}" width="150" height="13" rx="2" class="blue"/>`);
      parts.push(arrow(`M136 ${top + 6}H198`));
    }
    parts.push(text(275, y + 116, 'lanes: up to 16 pieces or blocks', 'small', 'middle'));
    parts.push(arrow(`M352 ${y + 50}H408`));
    parts.push(box(412, y + 16, 150, 68, 'orange', 'kernel\nadvances all lanes\nin vector registers'));
    parts.push(arrow(`M562 ${y + 50}H618`));
    parts.push(box(622, y + 16, 162, 68, 'plain', 'digests\nv1 pieces, or nodes\nreduced to layers'));
  }
  parts.push(
    text(
      16,
      414,
      'Kernels: AVX-512 with 16 or 8 lanes, AVX2 with 8, SHA-NI and ARMv8 with up to 4, OpenSSL with 1: see metainfo kernels.',
      'small',
    ),
  );
  const description =
    'A plan enters one native call. Threads of one budget read 128 KiB of each of up to sixteen pieces into lanes; a kernel advances all lanes at once; the digests are v1 pieces, or Merkle nodes that are reduced at once.';
  return image([800, 436], 'How metainfo hashes', description, parts);
}

/** From a draft to a torrent, on one machine and on many. */
function stages(): string {
  const parts: string[] = [];
  const names = ['draft\nfields, checked', 'plan\nfiles, piece length', 'hash\ndigests', 'assemble\nthe torrent'];
  for (const [i, name] of names.entries()) {
    const x = 16 + i * 200;
    parts.push(box(x, 60, 150, 60, i === 2 ? 'orange' : 'blue', name));
    if (i < 3) parts.push(arrow(`M${x + 150} 90H${x + 196}`));
  }
  parts.push(text(16, 34, 'One machine: generate()', 'bold'));
  parts.push(
    text(291, 142, 'findings: everything that', 'small', 'middle'),
    text(291, 160, 'can fail, before hashing', 'small', 'middle'),
  );
  parts.push(text(16, 210, 'Many machines', 'bold'));
  parts.push(arrow('M291 168V232'));
  parts.push(box(216, 236, 150, 60, 'blue', 'TorrentPlan\nJSON with an id'));
  for (let i = 0; i < 3; i += 1) {
    const y = 206 + i * 52;
    parts.push(box(436, y, 130, 40, 'orange', `hashPart ${i}`));
    parts.push(arrow(`M366 266L432 ${y + 20}`));
    parts.push(arrow(`M566 ${y + 20}L632 266`));
  }
  parts.push(box(636, 236, 148, 60, 'green', 'part store\nsealed parts'));
  parts.push(arrow('M710 236V126'));
  parts.push(text(702, 196, 'joinParts looks at the files again', 'small', 'end'));
  parts.push(text(501, 376, 'any scheduler: BullMQ, Kubernetes, Slurm, GNU parallel', 'small', 'middle'));
  const description =
    'A draft becomes a plan, the plan is hashed, and the torrent is assembled. The plan can leave the process as JSON: other machines hash its parts into a part store, and joinParts assembles the same torrent.';
  return image([800, 396], 'From a draft to a torrent', description, parts);
}

/** The numbers of a folder of 400 files with 4 GiB, by piece length. */
async function tradeOff(): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-diagram-'));
  const lengths = Array.from({ length: 11 }, (_, i) => 2 ** (14 + i));
  try {
    const content = path.join(folder, 'content');
    mkdirSync(content);
    let total = 0;
    // Sparse files, from 3 to 18 MiB: their sizes repeat only after a thousand.
    for (let i = 0; i < 400; i += 1) {
      const file = openSync(path.join(content, `file ${i}`), 'wx');
      const size = 3_000_000 + ((i * 7_919_131) % 15_500_000);
      ftruncateSync(file, size);
      closeSync(file);
      total += size;
    }
    const rows = [];
    for (const pieceLength of lengths) {
      const draft = new TorrentCreate({ pathRoot: content, pieceLength });
      const { description } = await describePlan(draft, { version: 'hybrid', sources: [] });
      const { torrentSize, padBytes, pieces } = description;
      rows.push({ pieceLength, size: torrentSize as number, padding: padBytes / total, pieces: pieces as number });
    }
    return tradeOffImage(rows, total);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Row {
  pieceLength: number;
  size: number;
  padding: number;
  pieces: number;
}

function tradeOffImage(rows: readonly Row[], total: number): string {
  const parts: string[] = [text(16, 32, `A hybrid of 400 files with ${formatBytes(total)}, by piece length`, 'bold')];
  const [left, step] = [128, 60];
  const panels: [string, string, (row: Row) => number, (row: Row) => string][] = [
    ['.torrent', '1', ({ size }) => size, ({ size }) => formatBytes(size)],
    ['padding', '2', ({ padding }) => padding, ({ padding }) => `${(padding * 100).toPrecision(2)} %`],
    ['resumed in\nunits of', '3', ({ pieceLength }) => pieceLength, ({ pieceLength }) => formatBytes(pieceLength)],
  ];
  for (const [panel, [name, series, amountOf, label]] of panels.entries()) {
    const [top, height] = [64 + panel * 120, 78];
    const values = rows.map((row) => Math.log2(Math.max(amountOf(row), 1e-6)));
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const points = values.map((value, i) => [left + i * step, top + height - ((value - low) / (high - low)) * height]);
    parts.push(text(16, top + 36, name));
    parts.push(`<path d="M${left - 20} ${top + height + 12}H${left + 10.5 * step}" class="grid"/>`);
    parts.push(`<path d="M${points.map(([x, y]) => `${x} ${y?.toFixed(1)}`).join('L')}" class="line s${series}"/>`);
    for (const [i, [x = 0, y = 0]] of points.entries()) {
      parts.push(`<circle cx="${x}" cy="${y.toFixed(1)}" r="3.5" class="f${series}"/>`);
      if (i % 2 === 0) parts.push(text(x, Number((y - 9).toFixed(1)), label(rows[i] as Row), 'small', 'middle'));
    }
  }
  for (const [i, { pieceLength }] of rows.entries())
    parts.push(text(left + i * step, 436, formatBytes(pieceLength), 'small', 'middle'));
  parts.push(text(16, 436, 'piece length', 'small'));
  const [first, last] = [rows[0] as Row, rows.at(-1) as Row];
  const description = `From ${formatBytes(first.pieceLength)} to ${formatBytes(last.pieceLength)}, the torrent file shrinks from ${formatBytes(first.size)} to ${formatBytes(last.size)}, while padding grows from ${(first.padding * 100).toPrecision(2)} to ${(last.padding * 100).toPrecision(2)} percent, and a client resumes in units of a piece. All scales are logarithmic.`;
  return image([800, 452], 'The trade-off of the piece length', description, parts);
}

/** The diagrams by their file names. */
export async function diagrams(): Promise<Map<string, string>> {
  return new Map([
    ['versions.svg', versions()],
    ['hashing.svg', hashing()],
    ['stages.svg', stages()],
    ['piece-length.svg', await tradeOff()],
  ]);
}

if (process.argv[1]?.endsWith('docs-diagrams.ts')) {
  mkdirSync(FOLDER, { recursive: true });
  for (const [file, text] of await diagrams()) writeFileSync(new URL(file, FOLDER), text);
}

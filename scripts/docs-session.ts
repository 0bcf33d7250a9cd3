// `npm run docs:session [-- SIZE]`: draws docs/session.svg from real output, with a file of that size (default: 8G).
// Needs `script` of util-linux, which gives the command a terminal.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COLUMNS = 84;
const [CHARACTER, LINE, MARGIN] = [8.43, 21, 20];

/** A code that sets a colour or ends it. */
const SGR = new RegExp(`${String.fromCharCode(27)}\\[(\\d+)m`);

/** Classes of the colours that the command uses (SGR codes); other codes end a colour. */
const COLOURS: Readonly<Record<string, string>> = { 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' };

/** Runs a command line in a terminal; returns what the terminal got. */
function inTerminal(command: string, cwd: string): string {
  const line = `stty cols ${COLUMNS} rows 40; PATH="${cwd}:$PATH"; ${command}`;
  const { NO_COLOR: _, ...env } = process.env;
  const { stdout } = spawnSync('script', ['-qec', line, '/dev/null'], { cwd, env: { ...env, TERM: 'xterm-256color' } });
  return stdout.toString().replaceAll('\r\n', '\n');
}

/** The lines that stay on the screen, and before them the progress line of the middle of the job. */
function linesOf(output: string): string[] {
  const frames = output.split('\r\x1b[K').filter((frame) => / s left/.test(frame));
  const middle = frames[Math.floor(frames.length / 2)];
  const rest = output
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r\x1b[K') + 1).replace('\x1b[K', ''))
    .filter((line, index, all) => line !== '' || index < all.length - 1);
  return [...(middle === undefined ? [] : [middle.trimEnd()]), ...rest];
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** A line with its colours. */
function drawn(line: string, row: number): string {
  const parts = line.split(SGR);
  let colour = '';
  const spans = parts.map((part, index) => {
    if (index % 2 === 1) colour = COLOURS[part] ?? '';
    else if (part !== '') return colour ? `<tspan class="${colour}">${escaped(part)}</tspan>` : escaped(part);
    return '';
  });
  return `<text x="${MARGIN}" y="${58 + row * LINE}" xml:space="preserve">${spans.join('')}</text>`;
}

function picture(lines: readonly string[]): string {
  const [width, height] = [Math.ceil(COLUMNS * CHARACTER + 2 * MARGIN), 58 + lines.length * LINE];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t">
<title id="t">metainfo create and verify in a terminal</title>
<style>text{font:14px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#e6edf3}.green{fill:#3fb950}.red{fill:#ff7b72}.yellow{fill:#d29922}.cyan{fill:#39c5cf}.dim{fill:#b1bac4}</style>
<rect width="${width}" height="${height}" rx="10" fill="#161b22"/>
<circle cx="22" cy="20" r="6" fill="#ff5f56"/><circle cx="42" cy="20" r="6" fill="#ffbd2e"/><circle cx="62" cy="20" r="6" fill="#27c93f"/>
${lines.map(drawn).join('\n')}
</svg>
`;
}

const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-session-'));
try {
  cpSync(path.join(ROOT, 'examples/album'), path.join(folder, 'album'), { recursive: true });
  writeFileSync(
    path.join(folder, 'metainfo'),
    `#!/bin/sh\nexec '${process.execPath}' '${path.join(ROOT, 'dist/cli/main.cjs')}' "$@"\n`,
    { mode: 0o755 },
  );
  // A sparse file in the page cache: no wait for a disk, and the same infohashes every time.
  spawnSync('sh', ['-c', `truncate -s ${process.argv[2] ?? '8G'} film.mkv && cat film.mkv > /dev/null`], {
    cwd: folder,
  });
  // Windows cannot store this name.
  writeFileSync(path.join(folder, 'album/notes/a:b.txt'), '');
  const shown = (command: string): string[] => [`\x1b[32m$\x1b[0m ${command}`, ...linesOf(inTerminal(command, folder))];
  const session = [
    shown('metainfo create film.mkv -t udp://tracker.example:6969/announce'),
    shown('metainfo create album'),
  ];
  spawnSync(
    'sh',
    ['-c', "printf x | dd of='01 fifth.wav' bs=1 seek=20000 conv=notrunc; rm notes/readme.txt; echo > cover.png"],
    {
      cwd: path.join(folder, 'album'),
    },
  );
  session.push(shown('metainfo verify album.torrent album'));
  const lines = session.flatMap((part, index) => (index > 0 ? ['', ...part] : part));
  writeFileSync(path.join(ROOT, 'docs/session.svg'), picture(lines));
} finally {
  rmSync(folder, { recursive: true });
}

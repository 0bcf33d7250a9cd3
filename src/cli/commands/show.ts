import type { Command } from 'commander';
import { Torrent } from '../../model/torrent.ts';
import { formatTorrent } from '../../print/pprint.ts';
import { printableJson } from '../../print/text.ts';

export function addShow(program: Command): void {
  program
    .command('show')
    .description('show what a torrent says')
    .argument('<file>', 'a torrent file')
    .option('--json', 'one JSON object')
    .action(show);
}

async function show(file: string, { json = false }: { json?: boolean }): Promise<void> {
  const torrent = await Torrent.read(file);
  process.stdout.write(`${json ? printableJson(toJson(torrent, file)) : formatTorrent(torrent)}\n`);
}

function toJson(torrent: Torrent, file: string) {
  const { info } = torrent;
  return {
    path: file,
    version: torrent.torrentVersion,
    name: info.name,
    infohash: { v1: torrent.infohashV1, v2: torrent.infohashV2 },
    pieceLength: info.pieceLength,
    pieces: torrent.nPieces,
    files: torrent.files.map(({ path, length }) => ({ path, length })),
    totalSize: torrent.totalSize,
    trackers: torrent.flatTrackers,
    webseeds: torrent.urlList ?? [],
    comment: torrent.comment,
    createdBy: torrent.createdBy,
    creationDate: torrent.creationDate?.toISOString() ?? null,
    private: info.private ?? false,
    source: info.source ?? null,
  };
}

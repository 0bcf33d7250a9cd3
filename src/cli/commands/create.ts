/** `metainfo create`: creates a torrent from files and folders. */
import type { Command } from 'commander';
import type { Finding } from '../../create/findings.ts';
import type { TorrentPlan } from '../../create/torrent-plan.ts';
import { printableJson } from '../../layout/text.ts';
import { creationLines } from '../create/findings.ts';
import { type CreateOptions, createOptions } from '../create/options.ts';
import { showPlan } from '../create/plan-report.ts';
import { runCreate } from '../create/run-create.ts';
import { summaryJson, summaryLines } from '../create/summary.ts';
import { interruptible } from '../interrupt.ts';
import { showsProgress, stderr, writeLines } from '../output.ts';
import { reportTo } from '../target.ts';

const EXAMPLES = `
Examples:
  metainfo create album                       write album.torrent, a hybrid
  metainfo create -k v1 -t udp://a:6969/x -t udp://b:6969/x film.mkv
  metainfo create album -o /srv --exclude '*.nfo' --piece-length 1MiB --json
  metainfo create album --cache --date now    reads only changed files next time
  metainfo create https://host/film.mkv       the URL becomes a webseed
  metainfo create - --name x.tar -o /srv < x.tar

Seeding: libtorrent, qBittorrent, Deluge and rtorrent 0.16 seed a folder from a
hybrid. Transmission, aria2, WebTorrent and rtorrent 0.9 cannot, because they
expect the pad files on disk: create a v1 torrent for them (-k v1).

Exit codes: 0 success, 1 failure (the output exists, a file cannot be read),
2 wrong usage, 130 cancelled (nothing is written).`;

export function addCreate(program: Command): void {
  const command = program
    .command('create')
    .description('create a torrent from files and folders')
    .argument(
      '<path...>',
      'a file or folder; the root of several paths is their common folder. Or one URL (http or https), or - for standard input',
    );
  createOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((paths: string[], options: CreateOptions) => interruptible((signal) => create(paths, options, signal)));
}

async function create(paths: string[], options: CreateOptions, signal: AbortSignal): Promise<void> {
  if (options.dryRun) {
    await showPlan(paths, options, signal);
    return;
  }
  const progress = showsProgress(options);
  let warnings: readonly Finding[] = [];
  const onFindings = async (findings: readonly Finding[], plan: TorrentPlan) => {
    warnings = findings.filter(({ severity }) => severity === 'warning');
    if (!options.json) await writeLines(await creationLines(findings, plan, options), stderr);
  };
  const created = await runCreate(paths, options, { progress, signal, onFindings });
  const { target } = created;
  if (options.json) await writeLines([printableJson(summaryJson({ ...created, warnings }, options))], reportTo(target));
  else await writeLines(summaryLines(created, options), reportTo(target));
}

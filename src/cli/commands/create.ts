/** `metainfo create`: creates a torrent from files and folders. */
import type { Command } from 'commander';
import type { Finding } from '../../create/findings/findings.ts';
import type { PlanReport } from '../../create/findings/plan-report.ts';
import { configFileOptions } from '../config/load.ts';
import { readCommandLine } from '../config/resolve-options.ts';
import { creationLines } from '../create/findings.ts';
import { COMMON, type CreateOptions, createOptions, manyOptions } from '../create/options.ts';
import { runCreate } from '../create/run-create.ts';
import { contentPathOf, summaryJson, summaryLines } from '../create/summary.ts';
import { interruptible } from '../exit.ts';
import { parsePriority } from '../options/option-values.ts';
import { shortHelp } from '../options/short-help.ts';
import { reportTo } from '../options/target.ts';
import { type QueueingOptions, queueingOptions, queueOf } from '../queue/options.ts';
import { USAGE } from '../run.ts';
import { recordJson, stderr, writeLines, writeResult } from '../terminal/output.ts';
import { progressOf } from '../terminal/progress.ts';

const EXAMPLES = `
Examples:
  metainfo create album                       write album.torrent, a hybrid
  metainfo create -k v1 -t udp://a:6969/x -t udp://b:6969/x film.mkv
  metainfo create album -o /srv --exclude '*.nfo' --piece-length 1MiB --json
  metainfo create album --cache --date now    reads only changed files next time
  metainfo create album -k v1 -s X --reuse ~/.local/share/qBittorrent/BT_backup
  metainfo create https://host/film.mkv       the URL becomes a webseed
  metainfo create - --name x.tar -o /srv < x.tar
  metainfo create film.mkv --preset films     see metainfo config --help
  metainfo create --each /srv/films -o torrents/ --resume
  metainfo create /srv/set --queue redis://10.0.0.5 --root srv=/srv --store /s`;

const MORE = `
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
      '[path...]',
      'a file or folder; the root of several paths is their common folder. Or one URL (http or https), or - for standard input',
    );
  queueingOptions(manyOptions(configFileOptions(createOptions(command))))
    .option(
      '--priority <number>',
      'with --queue: smaller numbers run earlier, from 1 to 1000 (default: before all of them)',
      parsePriority,
    )
    .optionsGroup('Output:')
    .helpOption('-h, --help', 'display help for command');
  shortHelp(command, { common: [...COMMON, 'each', 'batch'], examples: EXAMPLES, more: MORE }).action(
    async (paths: string[], given: CreateOptions & QueueingOptions) => {
      requirePaths(command, paths, given);
      // Not interruptible: a configuration file can be a pipe without a writer.
      const optionsFor = await readCommandLine(command);
      await interruptible(async (signal) => {
        const queue = queueOf(given);
        if (given.each || given.batch !== undefined) {
          if (queue) command.error('error: --queue makes one torrent: omit --each and --batch', { exitCode: USAGE });
          const { createMany } = await import('../many/create-many.ts');
          return createMany(paths, optionsFor, signal);
        }
        if (!queue) return create(paths, optionsFor(paths), signal);
        const { createInQueue } = await import('../queue/queue.ts');
        return createInQueue(
          paths,
          { ...optionsFor(paths), partSize: given.partSize, priority: given.priority },
          queue,
          signal,
        );
      });
    },
  );
}

/** Refuses a command line without paths, or with paths that no job would use. */
function requirePaths(
  command: Command,
  paths: readonly string[],
  { each, batch, jobs, resume, reuse, reuseVerify }: CreateOptions,
) {
  const isMany = each || batch !== undefined;
  const problem =
    batch === undefined
      ? paths.length === 0 && "missing required argument 'path'"
      : paths.length > 0 && 'the list of --batch names the paths: omit all others';
  const lonely = !isMany && (jobs !== undefined || resume) && '--jobs and --resume need --each or --batch';
  const unused = !isMany && reuseVerify && !reuse && '--reuse-verify needs --reuse';
  const message = problem || lonely || unused;
  if (message) command.error(`error: ${message}`, { exitCode: USAGE, code: 'metainfo.usage' });
}

async function create(paths: string[], options: CreateOptions, signal: AbortSignal): Promise<void> {
  if (options.dryRun) {
    const { showPlan } = await import('../create/plan-report.ts');
    return showPlan(paths, options, signal);
  }
  let warnings: readonly Finding[] = [];
  const onFindings = async (findings: readonly Finding[], plan: PlanReport) => {
    warnings = findings.filter(({ severity }) => severity === 'warning');
    if (!options.json) await writeLines(await creationLines(findings, plan, options), stderr);
  };
  const created = await runCreate(paths, options, { ...progressOf(options), signal, onFindings });
  // A quiet run computes no infohashes, which would load node:crypto.
  const place = { torrent: created.target, path: contentPathOf(paths) };
  const object = options.json ? recordJson(place, summaryJson({ ...created, warnings }, options)) : {};
  await writeResult({ json: options.json }, object, summaryLines(created, options), reportTo(created.target));
}

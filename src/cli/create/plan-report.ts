/** Shows the plan of a creation: for `metainfo plan` and `metainfo create --dry-run`. */
import { TorrentCreate } from '../../create/draft.ts';
import type { Finding } from '../../create/findings/findings.ts';
import type { PlanReport } from '../../create/findings/plan-report.ts';
import type { ReusePlan } from '../../create/known/known.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { formatBytes, formatDuration, plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { nameOfTarget } from '../options/target.ts';
import { FAILED, host } from '../run.ts';
import { toPlain } from '../terminal/messages.ts';
import { printableJson, stdout, writeLines } from '../terminal/output.ts';
import { findingLines, optionsOf } from './findings.ts';
import type { CreateOptions } from './options.ts';
import { type Prepared, prepare } from './prepare.ts';
import { reuseOf } from './run-create.ts';
import { contentPathOf, skippedText } from './summary.ts';

/** Plans a creation without reading content or writing anything. Gives the plan, also for `--json`, and whether it has no errors. */
export async function planFor(paths: readonly string[], options: CreateOptions, signal: AbortSignal) {
  const { target, fields, settings, web, ...prepared } = await prepare(paths, options, { purpose: 'report', signal });
  const planned = await TorrentCreate.plan(fields, { ...settings, ...reuseOf(options) });
  for (const finding of planned.findings) prepared.explained(finding);
  const ofWebseeds = options.checkWebseeds ? await checkedWebseeds(fields, settings, planned, signal) : [];
  const plan = {
    ...planned,
    findings: prepared.findingsOf({ ...planned, findings: [...planned.findings, ...ofWebseeds] }),
  };
  const place = { torrent: target, path: contentPathOf(paths) };
  const json = { ...place, ...web, ...plan, infohash: null, findings: plan.findings.map(toPlain) };
  return { target, plan, json, ok: plan.findings.every(({ severity }) => severity !== 'error') };
}

/** Prints the plan of a creation. The exit code is 1 if a finding is an error. */
export async function showPlan(paths: readonly string[], options: CreateOptions, signal: AbortSignal): Promise<void> {
  const { target, plan, json, ok } = await planFor(paths, options, signal);
  if (!ok) host().exitCode = FAILED;
  if (options.json) return writeLines([printableJson(json)]);
  const leftOut = options.verbose ? plan.leftOut.map((path) => `not included   ${printable(path)}`) : [];
  // The plan is the result of the command: only its own command line silences it.
  const isQuiet = options.quiet && !options.fromConfig?.has('quiet');
  const lines = isQuiet ? [] : [...linesOf(plan, target), ...leftOut];
  await writeLines([...lines, ...(await findingLines(plan.findings, stdout))]);
}

/** Asks the webseeds of a plan without errors for its files. */
async function checkedWebseeds(
  fields: Prepared['fields'],
  settings: Prepared['settings'],
  { findings, totalSize }: PlanReport,
  signal: AbortSignal,
): Promise<Finding[]> {
  const draft = new TorrentCreate(fields);
  const webseeds = [draft.fields.urlList ?? []].flat();
  if (webseeds.length === 0) throw invalidArgument('--check-webseeds needs a webseed: add --webseed URL');
  if (totalSize === null) throw invalidArgument('--check-webseeds needs content whose size is known');
  if (findings.some(({ severity }) => severity === 'error')) return [];
  const [{ planParts }, { webseedFindings }] = await Promise.all([
    import('../../parts/torrent-plan.ts'),
    import('../options/web-files.ts'),
  ]);
  const { files, torrent } = await planParts(draft, { ...settings, partSize: 'auto' });
  const { name, isSingleFile: single } = torrent;
  const lengths = files.path.map((path, i) => [single ? name : `${name}/${path}`, files.length[i]] as [string, number]);
  const wanted = new Map(lengths.filter((_, i) => files.path[i] !== null && !files.keys[i]?.symlinkPath));
  return webseedFindings(webseeds, wanted, { single, signal });
}

/** The lines of a plan. */
export function linesOf(plan: PlanReport, target: string): string[] {
  const { version, name, pathRoot, files, totalSize, pieceLength, pieces, padFiles, padBytes, torrentSize } = plan;
  const rows: [string, string | null][] = [
    ['output', nameOfTarget(target)],
    ['name', name],
    ['path', pathRoot],
    ['version', version],
    ['content', `${plural(files, 'file')}, ${totalSize === null ? 'size unknown' : formatBytes(totalSize)}`],
    ['piece length', pieceLength === null ? null : formatBytes(pieceLength)],
    ['pieces', pieces === null ? null : pieces.toLocaleString('en')],
    ['padding', padFiles === 0 || totalSize === null ? null : paddingText(padFiles, padBytes, totalSize)],
    ['torrent', torrentSize === null ? null : `about ${formatBytes(torrentSize)}`],
    ['hashing', rateText(plan)],
    ['reuse', plan.reuse && reuseText(plan.reuse)],
    ['infohash', 'known after hashing'],
  ];
  return rows.flatMap(([label, value]) => (value === null ? [] : [`${label.padEnd(14)} ${printable(value)}`]));
}

function paddingText(count: number, bytes: number, totalSize: number): string {
  const share = (bytes / (totalSize + bytes)) * 100;
  return `${plural(count, 'pad file')}, ${formatBytes(bytes)} (${share.toFixed(1)} % of all bytes)`;
}

function rateText({ seconds, bytesPerSecond }: PlanReport): string | null {
  if (bytesPerSecond === null) return null;
  const rate = `${formatBytes(bytesPerSecond)}/s, measured in memory; a disk may be slower`;
  if (seconds === null) return rate;
  return `${seconds < 1 ? 'less than a second' : `about ${formatDuration(seconds)}`} at ${rate}`;
}

/** Tells how much `--reuse` saves, or which options would let it save something. */
function reuseText({ torrents, skipped, files, bytes, instead }: ReusePlan): string {
  const found = `${plural(files, 'file')}, ${formatBytes(bytes)}, by size and name, of ${plural(torrents, 'torrent')}`;
  const more = instead ? `; usable with ${optionsOf(instead)}` : '';
  return `${found}${skippedText(skipped)}${more}`;
}

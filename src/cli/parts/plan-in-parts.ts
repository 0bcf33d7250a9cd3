/** `metainfo plan --part-size`: writes a plan whose parts other machines hash. */
import { TorrentCreate } from '../../create/draft.ts';
import type { Finding } from '../../create/findings/findings.ts';
import type { PlanReport } from '../../create/findings/plan-report.ts';
import { writeWhole } from '../../disk/write-file.ts';
import type { TorrentPlan } from '../../parts/plan.ts';
import { planParts } from '../../parts/torrent-plan.ts';
import { formatBytes, plural } from '../../text/format.ts';
import { findingLines, refuse } from '../create/findings.ts';
import type { CreateOptions } from '../create/options.ts';
import { linesOf } from '../create/plan-report.ts';
import { type Prepared, prepare } from '../create/prepare.ts';
import { contentPathOf } from '../create/summary.ts';
import { isStdout, reportTo } from '../options/target.ts';
import { toPlain } from '../terminal/messages.ts';
import { stderr, writeBytes, writeLines, writeResult } from '../terminal/output.ts';

/** The options of a creation in parts. */
export type PartsOfCreation = CreateOptions & { partSize: number | 'auto' | undefined; workers?: number | undefined };

/**
 * Plans a torrent in parts, and prints the findings.
 *
 * @param root The name by which other machines know the path root; by default, the plan has the path root.
 */
export async function planned(
  { fields, settings, findingsOf, explained }: Prepared,
  { partSize, workers, json }: PartsOfCreation,
  root?: string,
): Promise<{ plan: TorrentPlan; report: PlanReport; findings: readonly Finding[] }> {
  let findings: Finding[] = [];
  let report: PlanReport | null = null;
  const onPlan = async (plan: PlanReport) => {
    report = plan;
    findings = findingsOf(plan);
    if (!json) await writeLines(await findingLines(findings.filter(({ code }) => !code.startsWith('ERR_'))), stderr);
    refuse(findings);
  };
  const draft = new TorrentCreate(fields);
  const plan = await planParts(draft, { ...settings, onPlan, partSize, workers, root }).catch((error: unknown) => {
    throw explained(error);
  });
  return { plan, report: report as unknown as PlanReport, findings };
}

/** Plans a torrent in parts, writes the plan and reports it. */
export async function planInParts(
  paths: readonly string[],
  options: PartsOfCreation,
  signal: AbortSignal,
): Promise<void> {
  const prepared = await prepare(paths, options, { purpose: 'parts', signal });
  const { target, web } = prepared;
  const { plan, report, findings } = await planned(prepared, options);
  await writePlan(plan, target, options.force ?? false);
  const { id, parts, partSize } = plan;
  const place = { output: target, path: contentPathOf(paths) };
  const about = { ...place, ...web, ...report, id, parts, partSize, findings: findings.map(toPlain) };
  const lines = [
    ...linesOf(report, target).filter((line) => !line.startsWith('infohash')),
    `parts          ${plural(parts, 'part')} of at most ${formatBytes(partSize)}`,
    `plan           ${id}`,
  ];
  await writeResult(options, about, lines, reportTo(target));
}

async function writePlan(plan: TorrentPlan, target: string, force: boolean): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(plan));
  if (isStdout(target)) await writeBytes(bytes);
  else await writeWhole(target, bytes, { force });
}

/** `metainfo plan --part-size`: writes a plan whose parts other machines hash. */
import { TorrentCreate } from '../../create/draft.ts';
import type { Finding } from '../../create/findings/findings.ts';
import type { PlanReport } from '../../create/findings/plan-report.ts';
import { writeWhole } from '../../disk/write-file.ts';
import type { TorrentPlan } from '../../parts/plan.ts';
import { planParts } from '../../parts/torrent-plan.ts';
import { formatBytes, plural } from '../../text/format.ts';
import { draftOf } from '../create/draft-of.ts';
import { findingLines, gradeFindings, refuse } from '../create/findings.ts';
import type { WebObject } from '../create/inputs.ts';
import type { CreateOptions } from '../create/options.ts';
import { linesOf } from '../create/plan-report.ts';
import { explained, generateOptions, targetFor } from '../create/run-create.ts';
import { fileOf, isStdout, reportTo, requireWritable } from '../options/target.ts';
import { toPlain } from '../terminal/messages.ts';
import { stderr, writeBytes, writeLines, writeResult } from '../terminal/output.ts';

/** A plan in parts, and what the command says about it. */
export interface PlannedInParts {
  plan: TorrentPlan;
  report: PlanReport;
  findings: readonly Finding[];
  web: WebObject | null;
}

/**
 * Plans a torrent in parts, and prints the findings.
 *
 * @param output The file that will be written, which must not be one of the planned files; undefined for standard output.
 * @param nameOf Gives the name by which other machines know a path root; by default, the plan has the path root.
 */
export async function planned(
  paths: readonly string[],
  options: CreateOptions & { partSize: number | 'auto' | undefined; workers?: number | undefined },
  {
    output,
    signal,
    nameOf,
  }: { output: string | undefined; signal: AbortSignal; nameOf?: (pathRoot: string) => Promise<string> },
): Promise<PlannedInParts> {
  const { fields, findings: ownFindings, web } = await draftOf(paths, options, { output, signal });
  let findings: Finding[] = [];
  let report: PlanReport | null = null;
  const onPlan = async (plan: PlanReport) => {
    report = plan;
    findings = gradeFindings(plan, ownFindings(), options);
    if (!options.json)
      await writeLines(await findingLines(findings.filter(({ code }) => !code.startsWith('ERR_'))), stderr);
    refuse(findings);
  };
  const { partSize, workers } = options;
  const draft = new TorrentCreate(fields);
  const root = await nameOf?.(draft.pathRoot);
  const planOptions = { ...generateOptions(options), outputPath: output, signal, onPlan, partSize, workers, root };
  const plan = await planParts(draft, planOptions).catch((error: unknown) => {
    throw explained(error, options);
  });
  return { plan, report: report as unknown as PlanReport, findings, web };
}

/** Plans a torrent in parts, writes the plan and reports it. */
export async function planInParts(
  paths: readonly string[],
  options: CreateOptions & { partSize: number | 'auto'; workers?: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const target = await targetFor(paths, options, '.plan.json');
  if (!isStdout(target)) await requireWritable(target, { ...options, output: options.output ?? target });
  const { plan, report, findings, web } = await planned(paths, options, { output: fileOf(target), signal });
  await writePlan(plan, target, options.force ?? false);
  const { id, parts, partSize } = plan;
  const about = { path: target, ...web, ...report, id, parts, partSize, findings: findings.map(toPlain) };
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

/** The findings of a creation: which of them are errors, and how the command shows them. */
import type { Finding } from '../../create/findings/findings.ts';
import type { PlanReport } from '../../create/findings/plan-report.ts';
import { magnetFindings } from '../../create/findings/tracker-findings.ts';
import type { ReusePlan } from '../../create/known/known.ts';
import { ISSUE_CODES } from '../../errors/codes.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument, nearest } from '../../errors/guard.ts';
import { exactBytes } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { appended } from '../options/option-values.ts';
import { toPlain } from '../terminal/messages.ts';
import { colorsFor, stderr } from '../terminal/output.ts';
import type { CreateOptions } from './options.ts';

/** The options that decide about findings. */
export interface FindingOptions {
  strict?: boolean;
  allow?: string[];
}

/** The facts of a torrent that rules are about. */
export interface RuledPlan extends Pick<PlanReport, 'pieceLength' | 'torrentSize' | 'totalSize' | 'findings'> {
  /** The path of the most characters, with the name of the torrent; only needed for rules about it. */
  longestPath?: string | undefined;
}

/** The longer one of two paths. */
export const longer = (a: string, b: string): string => (b.length > a.length ? b : a);

/** Appends a code to `--allow`. Throws `ERR_INVALID_ARGUMENT` for anything but the code of a warning. */
export function collectCode(code: string, before: string[] = []): string[] {
  if (Object.hasOwn(ISSUE_CODES, code)) return appended(before, code);
  const meant = nearest(code, Object.keys(ISSUE_CODES));
  const hint = code.startsWith('ERR_')
    ? 'it makes every creation fail'
    : meant === undefined
      ? 'metainfo plan shows the codes in brackets'
      : `did you mean ${meant}?`;
  throw invalidArgument(`--allow cannot accept ${code}: ${hint}`);
}

/** All findings of a plan and the `own` ones of the command. `--strict` makes each warning an error, unless its code is allowed. */
export function gradeFindings(plan: RuledPlan, own: readonly Finding[], options: CreateOptions): Finding[] {
  const ofLink = options.magnet || options.linkFile !== undefined ? magnetFindings(options.private) : [];
  return graded([...plan.findings, ...own, ...ofLink, ...(options.ruleFindings?.(plan) ?? [])], options);
}

/** Findings after `--strict` and `--allow`, the worst first. */
export function graded(findings: readonly Finding[], { strict, allow = [] }: FindingOptions): Finding[] {
  const own = findings.map((finding): Finding => {
    const { code, severity } = finding;
    if (code.startsWith('ERR_')) return finding;
    if (allow.includes(code)) return severity === 'error' ? { ...finding, severity: 'warning' } : finding;
    return strict && severity === 'warning' ? { ...finding, severity: 'error' } : finding;
  });
  const rank = ({ severity }: Finding) => ['error', 'warning', 'hint'].indexOf(severity);
  return own.sort((a, b) => rank(a) - rank(b));
}

/**
 * Refuses findings that are errors. Those with an error's code make the creation fail by themselves.
 *
 * @param done What the command would do otherwise.
 * @throws {MetainfoError} `ERR_FINDINGS`
 */
export function refuse(findings: readonly Finding[], done: 'hashed' | 'written' = 'hashed'): void {
  const errors = findings.filter(({ severity, code }) => severity === 'error' && !code.startsWith('ERR_'));
  if (errors.length === 0) return;
  const codes = [...new Set(errors.map(({ code }) => code))];
  const message = `Nothing was ${done} because of ${codes.join(', ')}: fix that, or accept it with ${codes.map((code) => `--allow ${code}`).join(' ')}.`;
  // `--json` prints them.
  throw Object.assign(new MetainfoError('ERR_FINDINGS', message), { findings: errors.map(toPlain) });
}

/** The findings of one code that are printed; `--json` has all of them. */
const MAX_PRINTED = 5;

/** The findings as lines: at most {@link MAX_PRINTED} of each code, with their advice once. */
export async function findingLines(findings: readonly Finding[], to = stderr): Promise<string[]> {
  const { red, yellow, cyan, dim } = await colorsFor(to());
  const labels = { error: red('error:'), warning: yellow('warning:'), hint: cyan('hint:') };
  const lines: string[] = [];
  for (const group of groupsOf(findings.map(toPlain))) {
    const [{ severity, code, advice }] = group;
    const shown = group.filter(({ count }) => count === undefined).slice(0, MAX_PRINTED);
    lines.push(...shown.map((one) => `${labels[severity]} ${printable(one.message)} ${dim(`[${code}]`)}`));
    const unlisted = group.reduce((count, one) => count + (one.count ?? 0), 0);
    const listed = group.filter(({ count }) => count === undefined).length;
    const more = listed + unlisted - shown.length;
    const lists = unlisted > 0 ? `the first ${listed}` : 'all';
    const rest = more > 0 ? `and ${more} more of these (--json lists ${lists}). ` : '';
    if (rest || advice) lines.push(`  ${rest}${printable(advice)}`.trimEnd());
  }
  return lines;
}

/** The findings in groups of equal severity, code and advice, in the order of their first ones. */
function groupsOf(findings: readonly Finding[]): [Finding, ...Finding[]][] {
  const groups = new Map<string, [Finding, ...Finding[]]>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.severity, finding.code, finding.advice]);
    const group = groups.get(key);
    if (group) group.push(finding);
    else groups.set(key, [finding]);
  }
  return [...groups.values()];
}

/** The options of the version and piece length with which more hashes can be reused. */
export const optionsOf = ({ version, pieceLength }: NonNullable<ReusePlan['instead']>): string =>
  `-k ${version} -l ${exactBytes(pieceLength).replace(' ', '')}`;

/** The findings that `create` prints before it hashes: hints only where they help, and no errors that end it anyway. */
export async function creationLines(
  findings: readonly Finding[],
  { leftOut, reuse }: Pick<PlanReport, 'leftOut' | 'reuse'>,
  { quiet, verbose, private: isPrivate }: Pick<CreateOptions, 'quiet' | 'verbose' | 'private'>,
): Promise<string[]> {
  const isShown = ({ code, severity }: Finding) => {
    if (severity !== 'hint') return !code.startsWith('ERR_');
    if (quiet) return false;
    return code === 'old_clients' ? Boolean(isPrivate && stderr().isTTY) : true;
  };
  const shown = findings.filter(isShown);
  const more = reuse?.instead && !quiet ? [`hint: --reuse can take hashes with ${optionsOf(reuse.instead)}`] : [];
  // Do not open standard error, which takes a moment, for nothing.
  if (shown.length + more.length === 0) return [];
  const left = verbose ? leftOut.map((path) => `  not included  ${printable(path)}`) : [];
  return [...(await findingLines(shown)), ...more, ...left];
}

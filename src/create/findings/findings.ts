/** Findings: problems and hints about a torrent that are known before any byte of its content is read. */
import type { IssueCode, MetainfoErrorCode } from '../../errors/codes.ts';
import type { MetainfoError } from '../../errors/errors.ts';

/** The code of a {@link Finding}: that of the error which the creation fails with, or of an issue. */
export type FindingCode = MetainfoErrorCode | IssueCode;

/** One finding of a plan. */
export interface Finding {
  /** The code: see {@link ERROR_CODES} and {@link ISSUE_CODES}. */
  code: FindingCode;
  /** The creation fails for an `error`. A `warning` tells of a torrent that some reader refuses, a `hint` of a usual surprise. */
  severity: 'error' | 'warning' | 'hint';
  /** The file or folder on disk, the path in the torrent, the URL or the pattern that it is about; null for the whole torrent. */
  path: string | null;
  /** The problem, in words for people; they may change. */
  message: string;
  /** A way out, in words for people; they may change. Empty if the message says it. */
  advice: string;
  /** The option that the message or the advice means, with the value that it advises: see {@link MetainfoError.option}. */
  option?: MetainfoError['option'];
  /** The number of problems that a finding without a path stands for; absent for a single problem. */
  count?: number;
}

/** Makes a warning. */
export function warning(
  code: FindingCode,
  path: string | null,
  message: string,
  { advice, option = {} }: Pick<Finding, 'advice' | 'option'>,
): Finding {
  const hasOption = Object.keys(option).length > 0;
  return { code, severity: 'warning', path, message, advice, ...(hasOption && { option }) };
}

/** Findings of one kind that are listed. */
export const MAX_LISTED = 100;

/** The first findings of one kind, and one that counts the rest. */
export function listed(findings: readonly Finding[], total: number, what: string): Finding[] {
  const first = findings.slice(0, MAX_LISTED);
  const [like] = first;
  const count = total - first.length;
  if (!like || count === 0) return first;
  return [...first, { ...like, path: null, message: `${count} more ${what}.`, count }];
}

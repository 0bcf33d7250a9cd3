/** Collects the issues of a validation. */

import { DEFAULT_LIMITS, LimitError, type LimitName } from '../bencode/limits.ts';
import { type BencodePath, locate } from '../bencode/locate.ts';
import { codeUnitsAtMost, keyBytes } from '../bencode/value.ts';
import { ISSUE_SPECS, type IssueCode } from '../errors/codes.ts';
import { type Issue, toHex } from '../errors/errors.ts';
import { isUtf8, utf8Text } from '../platform/node.ts';
import type { TextDecoding } from '../text/name-bytes.ts';
import { PROFILES, type Profile, type ProfileRules } from './profile.ts';

/** Longer keys are cut in the path of an issue: a thousand issues may lie below a key of a megabyte. */
const MAX_KEY = 256;
/** Further issues are counted, not listed: a hostile file may have millions. */
const MAX_ISSUES = 1000;

/** A value that is computed only for an issue that is listed, not for one that is counted. */
type Lazy<T> = T | (() => T);

function evaluate<T extends string | BencodePath>(value: Lazy<T>): T {
  return typeof value === 'function' ? value() : value;
}

/** Added to an error that is a warning in compat. */
const COMPAT_HINT = '(profile compat, --compat, accepts it)';

/** Collects issues while a torrent or a draft is validated. */
export class Issues {
  readonly rules: ProfileRules;
  /** The path of the value that is being decoded: on-disk keys (one character per byte) and indexes. */
  readonly path: (string | number)[] = [];
  /** The severity of an issue that is added without one. In compat, `warning` inside a value that libtorrent ignores. */
  severity: Issue['severity'] = 'error';
  /** Whether an issue here is only a warning in compat; the message of an error then says so. */
  lenient = false;
  /** Decodes text that is not UTF-8, where that is shown: by the `encoding` of the torrent. */
  decoder: TextDecoding | null = null;
  readonly #list: (Issue & { raw: BencodePath })[] = [];
  readonly #listed: Record<Issue['severity'], number> = { error: 0, warning: 0 };
  readonly #unlisted: Record<Issue['severity'], number> = { error: 0, warning: 0 };

  /** The codes of the listed issues, by the first two steps of their paths. */
  readonly #places = new Map<unknown, Map<unknown, Set<IssueCode>>>();
  readonly #limits: Readonly<Record<LimitName, number>>;
  readonly #hints: boolean;
  #items = 0;
  #bytes = 0;

  /** @param hints Whether the message of an error says that compat accepts it. */
  constructor(profile: Profile = 'default', limits = DEFAULT_LIMITS, { hints = true } = {}) {
    this.rules = PROFILES[profile];
    this.#limits = limits;
    this.#hints = hints;
  }

  /** @throws {LimitError} when the count exceeds the limit of the caller */
  requireWithin(limit: LimitName, count: number): void {
    if (count > this.#limits[limit]) throw new LimitError(limit, this.#limits[limit]);
  }

  /** Counts a value of a caller's objects, which the decoder has not bounded: objects may contain each other many times. */
  countItem(): void {
    this.#items += 1;
    this.requireWithin('items', this.#items);
  }

  /** Counts bytes of a caller's objects, which may contain one buffer many times. */
  countBytes(bytes: number): void {
    this.#bytes += bytes;
    this.requireWithin('bytes', this.#bytes);
  }

  get compat(): boolean {
    return this.rules.isAsLibtorrent;
  }

  get isEmpty(): boolean {
    return this.#list.length === 0;
  }

  get hasErrors(): boolean {
    return this.#listed.error > 0;
  }

  /** Adds an issue. Returns undefined, as a decoder does for a value that does not decode. @param below The path below the current one. */
  add(
    code: IssueCode,
    below: Lazy<BencodePath>,
    message: Lazy<string>,
    severity = this.severity,
    { lenient = this.lenient } = {},
  ): undefined {
    // Counted by severity, so that many warnings do not hide an error.
    if (this.#listed[severity] >= MAX_ISSUES) {
      this.#unlisted[severity] += 1;
      return undefined;
    }
    this.#listed[severity] += 1;
    const raw = [...this.path, ...evaluate(below)];
    const [first, second] = raw;
    const seconds = this.#places.get(first) ?? new Map<unknown, Set<IssueCode>>();
    this.#places.set(first, seconds.set(second, (seconds.get(second) ?? new Set()).add(code)));
    const spec = ISSUE_SPECS[code];
    this.#list.push({
      code,
      severity,
      path: raw.map((step, i) => readable(step, i === 1 && raw[0] === 'piece layers')),
      message:
        lenient && severity === 'error' && this.#hints ? `${evaluate(message)} ${COMPAT_HINT}` : evaluate(message),
      ...(spec && { spec }),
      raw,
    });
    return undefined;
  }

  /** Adds a warning at an offset where no value starts. */
  warnAt(code: IssueCode, offset: number, message: string): void {
    this.add(code, [], message, 'warning');
    const last = this.#list.at(-1);
    if (last?.message === message) last.offset = offset;
  }

  /** Adds an issue that is only a warning in compat. */
  forgivable(code: IssueCode, below: Lazy<BencodePath>, message: Lazy<string>): undefined {
    return this.add(code, below, message, this.compat ? 'warning' : this.severity, { lenient: true });
  }

  /** Decodes a value one step below the current path. */
  within<T>(step: string | number, decode: () => T): T {
    this.path.push(step);
    try {
      return decode();
    } finally {
      this.path.pop();
    }
  }

  /** Whether an issue at or below a path of two steps is listed: any issue, or one with the given code. */
  covers([first, second]: readonly [string, string], code?: IssueCode): boolean {
    const codes = this.#places.get(first)?.get(second);
    return codes !== undefined && (!code || codes.has(code));
  }

  /** All issues, errors first. They have byte offsets when the bytes are given. */
  finish(bytes?: Uint8Array): Issue[] {
    const paths = this.#list.map(({ raw }) => raw);
    const offsets = bytes && paths.length > 0 ? locate(bytes, paths) : [];
    const listed = this.#list.map(({ raw: _, ...issue }, i) => {
      const offset = issue.offset ?? offsets[i];
      return offset === undefined ? issue : { ...issue, offset };
    });
    const errors = listed.filter(({ severity }) => severity === 'error');
    const warnings = listed.filter(({ severity }) => severity === 'warning');
    return [...errors, ...this.#rest('error'), ...warnings, ...this.#rest('warning')];
  }

  /** The listed errors, without offsets. */
  errors(): Issue[] {
    return this.#list.filter(({ severity }) => severity === 'error');
  }

  #rest(severity: Issue['severity']): Issue[] {
    const count = this.#unlisted[severity];
    return count === 0 ? [] : [{ code: 'too_many_issues', severity, path: [], message: `and ${count} more` }];
  }
}

/** An on-disk key for a reader: as text, or in hexadecimal where it is a hash or not UTF-8. */
function readable(step: string | number, isHash: boolean): string | number {
  if (typeof step === 'number' || (step.length < 32 && codeUnitsAtMost(step, 0x7f))) return step;
  if (step.length > MAX_KEY) return `${readable(step.slice(0, MAX_KEY), false)}…`;
  const bytes = keyBytes(step);
  return (isHash && bytes.length === 32) || !isUtf8(bytes) ? toHex(bytes) : utf8Text(bytes);
}

import { isUtf8 } from 'node:buffer';
import { DEFAULT_LIMITS, LimitError, type LimitName } from '../bencode/limits.ts';
import { type BencodePath, locate } from '../bencode/locate.ts';
import { codeUnitsAtMost, keyBytes } from '../bencode/value.ts';
import { ISSUE_CODES, type IssueCode } from '../errors/codes.ts';
import { type Issue, toHex } from '../errors/errors.ts';
import { checkOptions, type OptionStructs, oneOf } from '../errors/guard.ts';

/** How much is asked of a torrent (docs/validation.md). */
export type Profile = 'default' | 'strict' | 'compat';

/** The strictness of a validation. */
export interface ValidationContext {
  /**
   * `default`: what the models document, and every BEP 52 rule that can be checked from the file alone. `strict`: also
   * padding, names of pads, canonical bencode for v1 too, `meta version`. `compat`: what libtorrent loads, loads.
   */
  profile?: Profile;
  /**
   * Whether files must start where pieces start: `strict` they must where there are pad files, `ignore` they need not,
   * `forbid` there must be no pad file. `default`: strict for hybrid and in the strict profile, else ignore.
   */
  padding?: 'default' | 'ignore' | 'strict' | 'forbid';
  /** Whether a pad file must be named `.pad/<length>`: `default` only in the strict profile. */
  paddingPath?: 'default' | 'strict';
}

const SETTINGS: OptionStructs<ValidationContext> = {
  profile: oneOf('default', 'strict', 'compat'),
  padding: oneOf('default', 'ignore', 'strict', 'forbid'),
  paddingPath: oneOf('default', 'strict'),
};

/** A copy of a context. @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for what is no context: a misspelt `strict` would ask for less */
export function requireContext(context: ValidationContext): ValidationContext {
  return checkOptions(context, SETTINGS, { name: 'context', example: "{ profile: 'strict' }" });
}

/** Longer keys are cut in an issue's path: a thousand issues may lie below one of a megabyte. */
const MOST_KEY = 256;
/** More than these are counted, not listed: a hostile file could hold millions. */
const MOST_ISSUES = 1000;

/** What is made only for an issue that is listed: a hostile file could hold millions that are counted. */
type Lazy<T> = T | (() => T);

function made<T extends string | BencodePath>(value: Lazy<T>): T {
  return typeof value === 'function' ? value() : value;
}

/** Which codes are at or below a path, and which steps follow it. */
interface Place {
  codes: Set<IssueCode>;
  steps: Map<string | number, Place>;
}

const newPlace = (): Place => ({ codes: new Set(), steps: new Map() });

/** What to do about an error that is none in compat. */
const COMPAT_HINT = '(profile compat, --compat, accepts it)';

/** Collects what is wrong while a torrent or draft is looked at. */
export class Issues {
  readonly profile: Profile;
  /** Where the decoding is: on-disk keys (latin1) and indexes. */
  readonly path: (string | number)[] = [];
  /** What a failure is where nothing else is said: a warning inside of what libtorrent passes over, in compat. */
  severity: Issue['severity'] = 'error';
  /** Whether compat would only warn of a failure here: its message then says so. */
  lenient = false;
  readonly #list: (Issue & { raw: BencodePath })[] = [];
  readonly #listed: Record<Issue['severity'], number> = { error: 0, warning: 0 };
  readonly #unlisted: Record<Issue['severity'], number> = { error: 0, warning: 0 };

  /** The places of all that is listed. */
  readonly #places = newPlace();
  readonly #limits: Readonly<Record<LimitName, number>>;
  #items = 0;
  #bytes = 0;

  constructor(profile: Profile = 'default', limits = DEFAULT_LIMITS) {
    this.profile = profile;
    this.#limits = limits;
  }

  /** @throws {LimitError} when there are more than the caller takes */
  requireWithin(limit: LimitName, count: number): void {
    if (count > this.#limits[limit]) throw new LimitError(limit, this.#limits[limit]);
  }

  /** One more value of what was not decoded here: objects may hold one another again and again. */
  countItem(): void {
    this.#items += 1;
    this.requireWithin('items', this.#items);
  }

  /** The same of what they hold: one buffer may stand in many places. */
  countBytes(bytes: number): void {
    this.#bytes += bytes;
    this.requireWithin('bytes', this.#bytes);
  }

  get compat(): boolean {
    return this.profile === 'compat';
  }

  get hasErrors(): boolean {
    return this.#listed.error > 0;
  }

  /** Reports a failure below the current path. Returns undefined, as a failed decoding does. */
  add(
    code: IssueCode,
    at: Lazy<BencodePath>,
    message: Lazy<string>,
    severity = this.severity,
    { lenient = this.lenient } = {},
  ): undefined {
    // By severity: many warnings must not hide an error.
    if (this.#listed[severity] >= MOST_ISSUES) {
      this.#unlisted[severity] += 1;
      return undefined;
    }
    this.#listed[severity] += 1;
    const raw = [...this.path, ...made(at)];
    this.#remember(raw, code);
    const { spec } = ISSUE_CODES[code];
    this.#list.push({
      code,
      severity,
      path: raw.map((step, i) => readable(step, i === 1 && raw[0] === 'piece layers')),
      message: lenient && severity === 'error' ? `${made(message)} ${COMPAT_HINT}` : made(message),
      ...(spec && { spec }),
      raw,
    });
    return undefined;
  }

  /** Warns of something at a place in the bytes that is no value's start. */
  warnAt(code: IssueCode, offset: number, message: string): void {
    this.add(code, [], message, 'warning');
    const last = this.#list.at(-1);
    if (last?.message === message) last.offset = offset;
  }

  /** Reports what compat lets pass with a warning. */
  forgivable(code: IssueCode, at: Lazy<BencodePath>, message: Lazy<string>): undefined {
    return this.add(code, at, message, this.compat ? 'warning' : this.severity, { lenient: true });
  }

  /** Runs `work` one step deeper in the data. */
  within<T>(step: string | number, work: () => T): T {
    this.path.push(step);
    try {
      return work();
    } finally {
      this.path.pop();
    }
  }

  /** Whether something at or below a path has been reported: anything, or one code. */
  covers(path: Lazy<BencodePath>, code?: IssueCode): boolean {
    if (this.#places.steps.size === 0) return false;
    let place: Place | undefined = this.#places;
    for (const step of made(path)) {
      place = place.steps.get(step);
      if (!place) return false;
    }
    return !code || place.codes.has(code);
  }

  #remember(raw: BencodePath, code: IssueCode): void {
    let place = this.#places;
    place.codes.add(code);
    for (const step of raw) {
      const next: Place = place.steps.get(step) ?? newPlace();
      place.steps.set(step, next);
      place = next;
      place.codes.add(code);
    }
  }

  /** All issues, errors first; with byte offsets when the bytes are given. */
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

  #rest(severity: Issue['severity']): Issue[] {
    const count = this.#unlisted[severity];
    return count === 0 ? [] : [{ code: 'too_many_issues', severity, path: [], message: `and ${count} more` }];
  }
}

/** An on-disk key for people: text where it is UTF-8; in hexadecimal where it is not, and where it is a hash. */
function readable(step: string | number, isHash: boolean): string | number {
  if (typeof step === 'number' || (step.length < 32 && codeUnitsAtMost(step, 0x7f))) return step;
  if (step.length > MOST_KEY) return `${readable(step.slice(0, MOST_KEY), false)}…`;
  const bytes = keyBytes(step);
  return (isHash && bytes.length === 32) || !isUtf8(bytes) ? toHex(bytes) : bytes.toString('utf8');
}

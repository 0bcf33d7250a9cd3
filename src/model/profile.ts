/** The profiles of a validation, and what each of them changes. */
import type { Issue } from '../errors/errors.ts';
import { checkOptions, expected, type OptionStructs, oneOf } from '../errors/guard.ts';
import { decoderOf } from '../text/name-bytes.ts';

/** A set of rules to validate against (docs/validation.md). */
export type Profile = 'default' | 'strict' | 'compat';

/** The changes of a profile in the validation. */
export interface ProfileRules {
  /** Whether what libtorrent forgives is only a warning, and its limits on sizes and new names apply. */
  isAsLibtorrent: boolean;
  /** Whether padding, names of pad files, canonical bencode in v1, the order of empty files and texts in UTF-8 are checked. */
  isExact: boolean;
  /** The severity of what libtorrent refuses, although a BEP allows it. */
  refusedByLibtorrent: Issue['severity'];
  /** The severity of what clients ignore, such as invalid values outside `info`. */
  ignoredByClients: Issue['severity'];
}

/** The changes that each profile makes. */
export const PROFILES: Readonly<Record<Profile, ProfileRules>> = {
  default: { isAsLibtorrent: false, isExact: false, refusedByLibtorrent: 'warning', ignoredByClients: 'warning' },
  strict: { isAsLibtorrent: false, isExact: true, refusedByLibtorrent: 'error', ignoredByClients: 'error' },
  compat: { isAsLibtorrent: true, isExact: false, refusedByLibtorrent: 'error', ignoredByClients: 'warning' },
};

/** How strictly a torrent is validated. */
export interface ValidationContext {
  /**
   * `default`: the rules of the models, and every rule of BEP 52 that can be checked from the torrent alone. `strict`: also
   * padding, names of pad files, canonical bencode in v1, `meta version`. `compat`: accepts what libtorrent loads.
   *
   * @default 'default'
   */
  profile?: Profile;
  /**
   * Whether files must start where pieces start. `strict`: where there are pad files. `ignore`: never. `forbid`: there must be
   * no pad files. `default`: `strict` for hybrid torrents and in the strict profile, else `ignore`.
   *
   * @default 'default'
   */
  padding?: 'default' | 'ignore' | 'strict' | 'forbid';
  /**
   * Whether a pad file must be named `.pad/<length>`. `default`: only in the strict profile.
   *
   * @default 'default'
   */
  paddingPath?: 'default' | 'strict';
  /**
   * The encoding of names that are not UTF-8, which only `compat` accepts: a label of `TextDecoder`, such as `gbk` or `latin1`.
   * It changes what is shown, not the bytes.
   *
   * @default the `encoding` of the torrent
   */
  encoding?: string | undefined;
}

const SETTINGS: OptionStructs<ValidationContext> = {
  profile: oneOf('default', 'strict', 'compat'),
  padding: oneOf('default', 'ignore', 'strict', 'forbid'),
  paddingPath: oneOf('default', 'strict'),
  encoding: expected("an encoding that TextDecoder knows, such as 'gbk'", (value) => {
    return typeof value === 'string' && decoderOf(value) !== null;
  }),
};

/** Checks a context and copies it. Throws `ERR_INVALID_ARGUMENT`: a misspelt `strict` must not weaken the validation. */
export function requireContext(context: ValidationContext): ValidationContext {
  return checkOptions(context, SETTINGS, { name: 'context', example: "{ profile: 'strict' }" });
}

/** Whether two contexts ask for the same validation. */
export function isSameContext(one: ValidationContext, other: ValidationContext): boolean {
  const [a, b] = [one, other].map((context): ValidationContext => ({ profile: 'default', ...context }));
  return (Object.keys(SETTINGS) as (keyof ValidationContext)[]).every((key) => a?.[key] === b?.[key]);
}

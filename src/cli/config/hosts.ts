/** Rules of tracker hosts: which rules a torrent has by its trackers, and the findings for a torrent that breaks them. */
import type { Finding } from '../../create/findings/findings.ts';
import { shown } from '../../errors/errors.ts';
import type { TorrentVersion } from '../../model/discriminator.ts';
import { exactBytes } from '../../text/format.ts';
import { hostKeysOf } from '../../text/urls.ts';
import type { RuledPlan } from '../create/findings.ts';
import type { CreateOptions } from '../create/options.ts';
import { lengthBySize } from '../options/option-values.ts';

/** The keys of a rule: options of `create`, and limits that only rules have. */
export const RULE_KEYS = [
  ...(['torrent-version', 'private', 'source', 'piece-lengths', 'min-piece-length', 'max-piece-length'] as const),
  ...(['max-torrent-size', 'max-path-length'] as const),
];

/** The options that rules set. */
export interface RuleOptions
  extends Partial<Pick<CreateOptions, 'private' | 'source' | 'pieceLengths' | 'minPieceLength' | 'maxPieceLength'>>,
    Partial<Pick<CreateOptions, 'maxTorrentSize' | 'maxPathLength'>> {
  /** The versions that the tracker takes, the preferred one first. */
  torrentVersion?: TorrentVersion[];
}

/** The rule of a host that a torrent has as a tracker. */
export interface TrackerRule {
  /** The key of the rule: a host, or a host and a port, in lower case. */
  host: string;
  options: RuleOptions;
  /** The line of each option in the configuration file, as FILE:LINE. */
  places: { readonly [K in keyof RuleOptions]?: string };
}

/** The rules of the hosts of some trackers, in the order of the trackers. A rule with a port precedes that of the host. */
export function rulesOf(
  trackers: readonly (readonly string[])[],
  hosts: ReadonlyMap<string, TrackerRule>,
): TrackerRule[] {
  if (hosts.size === 0) return [];
  const keys = new Set(trackers.flat().flatMap(hostKeysOf));
  return [...keys].flatMap((key) => hosts.get(key) ?? []);
}

/** Joins rules: one that asks for a private torrent wins; the first source and piece lengths, the strictest limits and the versions that all take count. */
export function jointRule(rules: readonly TrackerRule[]): { options: RuleOptions; from: Map<string, TrackerRule> } {
  const options: Record<string, unknown> = {};
  const from = new Map<string, TrackerRule>();
  for (const rule of rules) {
    for (const [key, value] of Object.entries(rule.options)) {
      const before = options[key];
      if (key === 'torrentVersion' && Array.isArray(before)) {
        const common = before.filter((one) => (value as unknown[]).includes(one));
        // Without a version that all take, the findings tell which rule is broken.
        if (common.length > 0) options[key] = common;
        continue;
      }
      const [a, b] = key === 'minPieceLength' ? [before, value] : [value, before];
      const wins = before === undefined || value === true || (typeof value === 'number' && Number(a) < Number(b));
      if (!wins) continue;
      options[key] = value;
      from.set(key, rule);
    }
  }
  return { options, from };
}

interface RuledFields {
  torrentVersion: TorrentVersion;
  private?: boolean | null | undefined;
  source?: string | null | undefined;
  /** Whether an edit may not change the fields of the info dictionary. */
  keepInfohash?: boolean;
}

/** Limits in bytes, and the findings for torrents that break them. */
const LIMITS = [
  ['pieceLengths', (own, limit) => own !== limit, 'wants pieces of LIMIT for this size, but these have OWN'],
  ['minPieceLength', (own, limit) => own < limit, 'allows pieces of at least LIMIT, but these have OWN'],
  ['maxPieceLength', (own, limit) => own > limit, 'allows pieces of at most LIMIT, but these have OWN'],
  ['maxTorrentSize', (own, limit) => own > limit, 'allows torrent files of at most LIMIT, but this one has about OWN'],
] as const satisfies readonly [keyof RuleOptions, (own: number, limit: number) => boolean, string][];

/** The findings for a torrent that breaks the rules of its trackers' hosts. */
export function ruleFindings(
  rules: readonly TrackerRule[],
  { torrentVersion: version, private: isPrivate, source, keepInfohash = false }: RuledFields,
  { pieceLength, torrentSize, totalSize, longestPath = '', findings: others }: RuledPlan,
): Finding[] {
  const findings: Finding[] = [];
  for (const { host, options: rule, places } of rules) {
    const add = (key: keyof RuleOptions, severity: Finding['severity'], problem: string) => {
      const message = `${host} ${problem} (the rule is in ${places[key]}).`;
      const isKept = keepInfohash && (key === 'private' || key === 'source');
      const advice = `${isKept ? 'Leave out --keep-infohash, change' : 'Change the option or'} the rule, or use other trackers.`;
      findings.push({ code: 'tracker_rule', severity, path: host, message, advice });
    };
    const { torrentVersion: versions = [] } = rule;
    if (versions.length > 0 && !versions.includes(version))
      add('torrentVersion', 'error', `wants ${versions.join(' or ')} torrents, but this one is ${version}`);
    if (rule.private !== undefined && rule.private !== (isPrivate ?? false))
      add('private', 'error', `wants ${rule.private ? 'private' : 'public'} torrents, but this one is not`);
    // An empty tag is none.
    if (rule.source !== undefined && rule.source !== (source ?? '')) {
      const wanted = rule.source === '' ? 'no source tag' : `the source tag ${JSON.stringify(rule.source)}`;
      const own = source ? `not ${JSON.stringify(source)}` : 'but this one has none';
      add('source', 'warning', `wants ${wanted}, ${own}`);
    }
    const { maxPathLength: most = Number.POSITIVE_INFINITY, pieceLengths = [] } = rule;
    const paths = `paths of at most ${most} characters, but the longest one has ${longestPath.length}`;
    if (longestPath.length > most) add('maxPathLength', 'error', `allows ${paths}: ${shown(longestPath)}`);
    // The error of the chooser tells of limits that no piece length can keep.
    if (others.some(({ code }) => code === 'ERR_PIECE_LENGTH')) continue;
    for (const [key, isBroken, text] of LIMITS) {
      const own = key === 'maxTorrentSize' ? torrentSize : pieceLength;
      // Two trackers may want different lengths.
      const severity = key === 'pieceLengths' ? 'warning' : 'error';
      const limit = key === 'pieceLengths' ? lengthBySize(pieceLengths, totalSize ?? Number.NaN) : rule[key];
      if (typeof limit === 'number' && own !== null && isBroken(own, limit))
        add(key, severity, text.replace('LIMIT', exactBytes(limit)).replace('OWN', exactBytes(own)));
    }
  }
  return findings;
}

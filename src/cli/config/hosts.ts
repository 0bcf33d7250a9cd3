/** Rules of tracker hosts: which rules a torrent has by its trackers, and the findings for a torrent that breaks them. */
import type { Finding } from '../../create/findings/findings.ts';
import type { PlanReport } from '../../create/findings/plan-report.ts';
import { exactBytes } from '../../text/format.ts';
import type { CreateOptions } from '../create/options.ts';

/** The keys of a rule: each is an option of `create`. */
export const RULE_KEYS = ['private', 'source', 'max-piece-length', 'max-torrent-size'] as const;

/** The options that rules set. */
export type RuleOptions = Partial<Pick<CreateOptions, 'private' | 'source' | 'maxPieceLength' | 'maxTorrentSize'>>;

/** The rule of a host that a torrent has as a tracker. */
export interface TrackerRule {
  /** The key of the rule: a host, or a host and a port, in lower case. */
  host: string;
  options: RuleOptions;
  /** The line of each option in the configuration file, as FILE:LINE. */
  places: { readonly [K in keyof RuleOptions]?: string };
}

/** Parts of a host in lower case; a name in other letters is in Punycode. Null for any other text. */
export function parseHost(text: string): { host: string; port: string } | null {
  const [, name = '', port = ''] = /^(\[[^\]]*\]|[^:/?#@\s[\]\\]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (name === '' || Number(port) > 65_535 || !URL.canParse(`http://${name}`)) return null;
  const { hostname } = new URL(`http://${name}`);
  return { host: hostname.replace(/\.$/, ''), port };
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443' };

/** The keys of the rules that a tracker can have: with its port, and for all ports. */
function keysOf(tracker: string): string[] {
  if (!URL.canParse(tracker)) return [];
  const { protocol, hostname, port } = new URL(tracker);
  const parts = parseHost(decodeHost(hostname));
  return parts ? [`${parts.host}:${port || DEFAULT_PORTS[protocol]}`, parts.host] : [];
}

/** URLs of schemes that browsers do not know have their hosts percent-encoded. */
function decodeHost(hostname: string): string {
  try {
    return decodeURIComponent(hostname);
  } catch {
    return hostname;
  }
}

/** The rules of the hosts of some trackers, in the order of the trackers. A rule with a port precedes that of the host. */
export function rulesOf(
  trackers: readonly (readonly string[])[],
  hosts: ReadonlyMap<string, TrackerRule>,
): TrackerRule[] {
  if (hosts.size === 0) return [];
  const keys = new Set(trackers.flat().flatMap(keysOf));
  return [...keys].flatMap((key) => hosts.get(key) ?? []);
}

/** Joins rules: one that asks for a private torrent wins, and the first source and the lowest limits count. */
export function jointRule(rules: readonly TrackerRule[]): { options: RuleOptions; from: Map<string, TrackerRule> } {
  const options: Record<string, unknown> = {};
  const from = new Map<string, TrackerRule>();
  for (const rule of rules) {
    for (const [key, value] of Object.entries(rule.options)) {
      const before = options[key];
      const wins = before === undefined || value === true || (typeof value === 'number' && value < (before as number));
      if (!wins) continue;
      options[key] = value;
      from.set(key, rule);
    }
  }
  return { options, from };
}

/** The findings for a torrent that breaks the rules of its trackers' hosts. */
export function ruleFindings(
  rules: readonly TrackerRule[],
  options: CreateOptions,
  plan: Pick<PlanReport, 'pieceLength' | 'torrentSize' | 'findings'>,
): Finding[] {
  return rules.flatMap((rule) =>
    breachesOf(rule, options, plan).map(({ key, severity, message }) => ({
      code: 'tracker_rule',
      severity,
      path: rule.host,
      message: `${rule.host} ${message} (the rule is in ${rule.places[key]}).`,
      advice: 'Change the option or the rule, or use other trackers.',
    })),
  );
}

/** A rule that a torrent breaks. */
interface Breach {
  key: keyof RuleOptions;
  severity: Finding['severity'];
  message: string;
}

function breachesOf(
  { options: rule }: TrackerRule,
  { private: isPrivate = false, source }: CreateOptions,
  { pieceLength, torrentSize, findings }: Parameters<typeof ruleFindings>[2],
): Breach[] {
  const breaches: Breach[] = [];
  if (rule.private !== undefined && rule.private !== isPrivate) {
    const message = `wants ${rule.private ? 'private' : 'public'} torrents, but this one is not`;
    breaches.push({ key: 'private', severity: 'error', message });
  }
  if (rule.source !== undefined && rule.source !== source) {
    const message = `wants the source tag ${JSON.stringify(rule.source)}, not ${JSON.stringify(source ?? '')}`;
    breaches.push({ key: 'source', severity: 'warning', message });
  }
  // The error of the chooser tells of limits that no piece length can keep.
  if (findings.some(({ code }) => code === 'ERR_PIECE_LENGTH')) return breaches;
  const { maxPieceLength = Number.POSITIVE_INFINITY, maxTorrentSize = Number.POSITIVE_INFINITY } = rule;
  if (pieceLength !== null && pieceLength > maxPieceLength) {
    const message = `allows pieces of at most ${exactBytes(maxPieceLength)}, but these have ${exactBytes(pieceLength)}`;
    breaches.push({ key: 'maxPieceLength', severity: 'error', message });
  }
  if (torrentSize !== null && torrentSize > maxTorrentSize) {
    const message = `allows torrent files of at most ${exactBytes(maxTorrentSize)}, but this one has about ${exactBytes(torrentSize)}`;
    breaches.push({ key: 'maxTorrentSize', severity: 'error', message });
  }
  return breaches;
}

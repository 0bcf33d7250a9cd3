/** Finds season packs that lack episodes or mix releases. Wherever names leave a doubt, it stays silent. */
import { shown } from '../../errors/errors.ts';
import { type Finding, listed, MAX_LISTED, warning } from './findings.ts';

const VIDEO = /\.(?:avi|flv|m2ts|m4v|mkv|mov|mp4|mpe?g|ogm|ts|webm|wmv)$/i;
/** Folders and words of videos that are no episodes. */
const EXTRA_FOLDER =
  /^(?:behind the scenes|bonus|deleted scenes|extras?|featurettes?|interviews?|other|proofs?|samples?|shorts?|specials?|trailers?)$/i;
const EXTRA_NAME = /(?<![a-z])(?:creditless|extras?|featurettes?|nced|ncop|proof|sample|trailer)(?![a-z])/i;

/** `S01E02`, `s1 - ep 2` or `1x02`. */
const EPISODE = /(?<![a-z\d])(?:s(\d{1,2})[ ._-]{0,3}ep?[ ._]?(\d{1,4})(?!\d)|(\d{1,2})x(\d{2,3})(?![\da-uwyz]))/i;
/** What follows an episode of a file with several: `E03`, `-E03`, `-S01E03`, `-03`, `x03`. */
const NEXT =
  /(?:[ ._]?[-+&~]?[ ._]?(?:s\d{1,2}[ ._-]?ep?|\d{1,2}x|ep?)[ ._]?(\d{1,4})(?!\d)|[-x](\d{1,3})(?![\da-uwyz]))/iy;
/** The most episodes in one file: a larger step is another number, as in `S01E01x264`. */
const MAX_STEP = 50;
/** Fewer numbers are a choice of episodes, not a pack. */
const LEAST_EPISODES = 3;
const MAX_EPISODE = 9999;

const RESOLUTION = /(?<![a-z\d])(?:480|540|576|720|1080|1440|2160)[pi](?![a-z\d])/gi;
/** A bare `web` is also a word of titles. */
const SOURCE =
  /(?<![A-Za-z\d])(?:[Ww][Ee][Bb]-?(?:[Dd][Ll]|[Rr][Ii][Pp])|WEB|[Hh][Dd][Tt][Vv]|[Bb]lu-?[Rr]ay|BLURAY|[Bb][Dd][Rr]ip|DVD(?:[Rr]ip)?)(?![A-Za-z\d])/g;
const CODEC = /(?<![a-z\d])(?:[xh][ .]?26[45]|hevc|av1|xvid)(?![a-z\d])/gi;
/** Ends of names that look like a group: `WEB-DL`, `DTS-HD`, `DTS-X`. */
const NO_GROUP = /^(?:dl|hd|rip|ray|x)$/i;

/** The values of a property of releases, each with the number of its episodes; null counts files that do not tell. */
type Values = Map<string | null, number>;

/** The episodes of one season of one show. */
interface Season {
  /** How the first file writes the show; empty if only its folder tells. */
  show: string;
  number: number;
  folder: string;
  episodes: Set<number>;
  /** The resolutions, sources and groups in each folder. */
  releases: Map<string, [Values, Values, Values]>;
}

/** Collects the episodes of a torrent. Each path is looked at once, in time that grows with its length. */
export class SeasonPacks {
  readonly #seasons = new Map<string, Season>();
  /** The episodes of each season of any show, those of extras too: a name that is written another way fills a gap. */
  readonly #known = new Map<number, Set<number>>();
  /** Videos without a number: each may be a missing episode. */
  #unnumbered = 0;

  /** @param path The components of a file. */
  add(path: readonly string[]): void {
    const name = path.at(-1) ?? '';
    if (!VIDEO.test(name)) return;
    const stem = name.slice(0, name.lastIndexOf('.'));
    const folders = path.slice(0, -1);
    const isExtra = EXTRA_NAME.test(stem) || folders.some((folder) => EXTRA_FOLDER.test(folder));
    const found = episodesOf(stem);
    if (!found) {
      if (!isExtra) this.#unnumbered += 1;
      return;
    }
    const { number, episodes, title, rest } = found;
    const known = this.#known.get(number) ?? new Set();
    this.#known.set(number, known);
    for (const episode of episodes) known.add(episode);
    // Specials have gaps by nature.
    if (isExtra || number === 0) return;
    const own = folders.findIndex((folder) => EPISODE.test(folder));
    const folder = folders.slice(0, own < 0 ? undefined : own).join('/');
    const show = title.replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
    const key = `${show.toLowerCase() || folder}\0${number}`;
    let season = this.#seasons.get(key);
    if (!season) {
      season = { show, number, folder, episodes: new Set(), releases: new Map() };
      this.#seasons.set(key, season);
    }
    for (const episode of episodes) season.episodes.add(episode);
    const values = season.releases.get(folder) ?? [new Map(), new Map(), new Map()];
    season.releases.set(folder, values);
    for (const [i, value] of releaseOf(rest).entries())
      (values[i] as Values).set(value, ((values[i] as Values).get(value) ?? 0) + 1);
  }

  finish(): Finding[] {
    const counts = new Map([...this.#known].map(([number, episodes]) => [number, countsUpTo(episodes)]));
    const findings: Record<'missing_episodes' | 'mixed_releases', Finding[]> = {
      missing_episodes: [],
      mixed_releases: [],
    };
    const total = { missing_episodes: 0, mixed_releases: 0 };
    const add = (code: keyof typeof total, { folder }: Season, message: () => string, advice: string) => {
      total[code] += 1;
      if (total[code] <= MAX_LISTED) findings[code].push(warning(code, folder || null, message(), { advice }));
    };
    for (const season of this.#seasons.values()) {
      if (season.episodes.size < LEAST_EPISODES) continue;
      const about = `Season ${season.number}${season.show && ` of ${shown(season.show)}`}`;
      const gaps = gapsOf(season.episodes);
      const upTo = counts.get(season.number) as Uint16Array;
      const isMissing = (n: number) => upTo[n] === upTo[n - 1];
      const missing = gaps.reduce(
        (sum, [a, b]) => sum + b - a + 1 - ((upTo[b] as number) - (upTo[a - 1] as number)),
        0,
      );
      if (missing > this.#unnumbered)
        add(
          'missing_episodes',
          season,
          () => `${about}: ${missingText(gaps, isMissing, missing)}.`,
          'Add what is missing, or check the filters.',
        );
      const mixed = [...season.releases.values()].flatMap(mixedText);
      if (mixed.length > 0)
        add(
          'mixed_releases',
          season,
          () => `${about} mixes releases: ${mixed.slice(0, 3).join(', ')}.`,
          'Take all episodes from one release.',
        );
    }
    return [
      ...listed(findings.missing_episodes, total.missing_episodes, 'seasons with missing episodes'),
      ...listed(findings.mixed_releases, total.mixed_releases, 'seasons of mixed releases'),
    ];
  }
}

/** The season and the episodes that a name tells, and what stands before and after them; null if it tells none. */
function episodesOf(stem: string) {
  const match = EPISODE.exec(stem);
  if (!match) return null;
  const [text, s, e, x, y] = match;
  let last = Number(e ?? y);
  const episodes = [last];
  NEXT.lastIndex = match.index + text.length;
  for (;;) {
    const from = NEXT.lastIndex;
    const [, named, bare] = NEXT.exec(stem) ?? [];
    const next = Number(named ?? bare);
    if (!(next > last && next - last <= MAX_STEP)) {
      return { number: Number(s ?? x), episodes, title: stem.slice(0, match.index), rest: stem.slice(from) };
    }
    while (last < next) episodes.push(++last);
  }
}

/** The resolution, source and group of a release; null for each that a name does not tell. */
function releaseOf(rest: string): [string | null, string | null, string | null] {
  // Words of the title come first.
  const [resolution, source, codec] = [RESOLUTION, SOURCE, CODEC].map((token) => [...rest.matchAll(token)].at(-1));
  const quality = Math.min(...[resolution, source, codec].map((match) => match?.index ?? rest.length));
  const dash = rest.lastIndexOf('-');
  const [, group = ''] = /^-([a-z\d]{2,20})$/i.exec(rest.slice(dash)) ?? [];
  const hasGroup = dash > quality && group !== '' && !NO_GROUP.test(group);
  return [
    resolution?.[0].toLowerCase() ?? null,
    source ? sourceName(source[0]) : null,
    hasGroup ? group.toUpperCase() : null,
  ];
}

function sourceName(text: string): string {
  const first = text.charAt(0).toUpperCase();
  return { W: 'WEB', H: 'HDTV', B: 'Blu-ray' }[first] ?? 'DVD';
}

/** How many episodes there are up to each number. */
function countsUpTo(episodes: ReadonlySet<number>): Uint16Array {
  const counts = new Uint16Array(MAX_EPISODE + 1);
  for (let n = 1; n <= MAX_EPISODE; n += 1) counts[n] = (counts[n - 1] as number) + (episodes.has(n) ? 1 : 0);
  return counts;
}

/**
 * The ranges between the episodes. A pack may begin anywhere, as the second half of a season does, but one that begins with episode 2
 * has lost the first.
 */
function gapsOf(episodes: ReadonlySet<number>): [from: number, to: number][] {
  const sorted = [...episodes].sort((a, b) => a - b);
  let before = sorted[0] === 2 ? 0 : (sorted[0] as number);
  const gaps: [number, number][] = [];
  for (const n of sorted) {
    if (n > before + 1) gaps.push([before + 1, n - 1]);
    before = n;
  }
  return gaps;
}

/** The most ranges or values that a message lists. */
const MAX_NAMED = 4;

function missingText(gaps: readonly [number, number][], isMissing: (n: number) => boolean, count: number): string {
  const ranges: [number, number][] = [];
  for (const [from, to] of gaps)
    for (let n = from; n <= to; n += 1) {
      const last = ranges.at(-1);
      if (!isMissing(n)) continue;
      if (last && last[1] === n - 1) last[1] = n;
      else ranges.push([n, n]);
    }
  const texts = ranges.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`));
  return count === 1 ? `episode ${texts[0]} is missing` : `episodes ${joined(texts)} are missing`;
}

/** The properties that differ among the episodes in one folder. A group counts only if every name has one. */
function mixedText([resolutions, sources, groups]: [Values, Values, Values]): string[] {
  return [resolutions, sources, groups.has(null) ? new Map() : groups].flatMap((values) => {
    const names = [...values.keys()].filter((value) => value !== null);
    return names.length > 1 ? [joined(names)] : [];
  });
}

function joined(texts: readonly string[]): string {
  const first = texts.slice(0, MAX_NAMED);
  const more = texts.length - first.length;
  const last = more > 0 ? `${more} more` : (first.pop() as string);
  return first.length > 0 ? `${first.join(', ')} and ${last}` : last;
}

/** Finds season packs that lack episodes or mix releases. Wherever names leave a doubt, it stays silent. */
import { shown } from '../../errors/errors.ts';
import { type Finding, type FindingCode, listed, MAX_LISTED, warning } from './findings.ts';

const VIDEO = /\.(?:avi|flv|m2ts|m4v|mkv|mov|mp4|mpe?g|ogm|ts|webm|wmv)$/i;
/** Folders and words of videos that are no episodes. */
const EXTRA_FOLDER =
  /^(?:behind the scenes|bonus|deleted scenes|extras?|featurettes?|interviews?|other|proofs?|samples?|shorts?|specials?|trailers?)$/i;
const EXTRA_NAME = /(?<![a-z])(?:creditless|extras?|featurettes?|nced|ncop|proof|sample|trailer)(?![a-z])/i;

/** `S01E02`, `s1 - ep 2`, `Season 1 Episode 2` or `1x02`. */
const EPISODE =
  /(?<![a-z\d])(?:(?:season[ ._]?|s)(\d{1,2})[ ._-]{0,3}(?:episode|ep?)[ ._]?(\d{1,4})(?!\d)|(\d{1,2})x(\d{2})(?![\da-uwyz]))/i;
/** A further episode of the same file: `E03`, `-E03`, `-S01E03`, `-03`, `x03`. */
const NEXT =
  /(?:[ ._]?[-+&~]?[ ._]?(?:s\d{1,2}[ ._-]?ep?|\d{1,2}x|ep?)[ ._]?(\d{1,4})(?!\d)|[-x](\d{1,3})(?![\da-uwyz]))/iy;
/** The most episodes in one file: a larger step is another number, as in `S01E01x264`. */
const MAX_STEP = 50;
/** The gaps between fewer episodes are a choice. */
const LEAST_EPISODES = 3;
const MAX_EPISODE = 9999;

const RESOLUTION = /(?<![a-z\d])(?:480|540|576|720|1080|1440|2160)[pi](?![a-z\d])/gi;
/** A bare `web` is also a word of titles. */
const SOURCE =
  /(?<![A-Za-z\d])(?:[Ww][Ee][Bb]-?(?:[Dd][Ll]|[Rr][Ii][Pp])|WEB|[Hh][Dd][Tt][Vv]|[Bb]lu-?[Rr]ay|BLURAY|[Bb][Dd][Rr]ip|DVD(?:[Rr]ip)?)(?![A-Za-z\d])/g;
/** The name of each source, by its first letter. */
const SOURCES: Readonly<Record<string, string>> = { W: 'WEB', H: 'HDTV', B: 'Blu-ray', D: 'DVD' };
const CODEC = /(?<![a-z\d])(?:[xh][ .]?26[45]|hevc|av1|xvid)(?![a-z\d])/gi;
/** Ends of names that look like a group: `WEB-DL`, `DTS-HD`, `DTS-X`. */
const NO_GROUP = /^(?:dl|hd|rip|ray|x)$/i;

/** The episodes of one season of one show. */
interface Season {
  /** How the first file writes the show; empty if only its folder tells. */
  show: string;
  number: number;
  folder: string;
  episodes: Set<number>;
  /** The resolutions, sources and groups in each folder; null stands for a file that does not tell. */
  releases: Map<string, Set<string | null>[]>;
}

/** Collects the episodes of a torrent. Each path is looked at once, in time that grows with its length. */
export class SeasonPacks {
  readonly #seasons = new Map<string, Season>();
  /** The episodes of each season of any show, those of extras too: a name that is written another way fills a gap. */
  readonly #known = new Map<number, Uint8Array>();
  /** Videos without a number: each may be a missing episode. */
  #unnumbered = 0;

  /** @param path The components of a file. */
  add(path: readonly string[]): void {
    const name = path.at(-1) ?? '';
    if (!VIDEO.test(name)) return;
    const stem = name.slice(0, name.lastIndexOf('.'));
    const folders = path.slice(0, -1);
    const isExtra = EXTRA_NAME.test(stem) || folders.some((folder) => EXTRA_FOLDER.test(folder));
    // Of some releases, only the folder of each episode tells its number.
    const found = episodesOf(stem) ?? episodesOf(folders.at(-1) ?? '');
    if (!found) {
      if (!isExtra) this.#unnumbered += 1;
      return;
    }
    const { number, episodes, title, rest } = found;
    const known = this.#known.get(number) ?? new Uint8Array(MAX_EPISODE + 1);
    this.#known.set(number, known);
    for (const episode of episodes) known[episode] = 1;
    // Specials have gaps by nature.
    if (isExtra || number === 0) return;
    const own = folders.findIndex((folder) => EPISODE.test(folder));
    const folder = folders.slice(0, own < 0 ? undefined : own).join('/');
    const show = title.replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
    const key = `${show.toLowerCase() || folder}\0${number}`;
    const season = this.#seasons.get(key) ?? { show, number, folder, episodes: new Set(), releases: new Map() };
    this.#seasons.set(key, season);
    for (const episode of episodes) season.episodes.add(episode);
    const values = season.releases.get(folder) ?? [new Set(), new Set(), new Set()];
    season.releases.set(folder, values);
    for (const [i, value] of releaseOf(rest).entries()) values[i]?.add(value);
  }

  finish(): Finding[] {
    const packs = [...this.#seasons.values()].filter(({ episodes }) => episodes.size > 1);
    const missing = (season: Season) => missingIn(season, this.#known.get(season.number) as Uint8Array);
    const countIn = (season: Season) => missing(season).reduce((sum, [from, to]) => sum + to - from + 1, 0);
    const mixed = ({ releases }: Season) => [...releases.values()].flatMap(mixedValues).slice(0, 3);
    const report = (
      code: FindingCode,
      seasons: readonly Season[],
      text: (season: Season) => string,
      advice: string,
    ) => {
      const first = seasons.slice(0, MAX_LISTED).map((season) => {
        const about = `Season ${season.number}${season.show && ` of ${shown(season.show)}`}`;
        return warning(code, season.folder || null, `${about}${text(season)}.`, { advice });
      });
      return listed(first, seasons.length, 'seasons with this problem');
    };
    const isPack = ({ episodes }: Season) => episodes.size >= LEAST_EPISODES;
    const withGaps = packs.filter((season) => isPack(season) && countIn(season) > this.#unnumbered);
    const ofMixed = packs.filter((season) => mixed(season).length > 0);
    const mixedText = (season: Season) => ` mixes releases: ${mixed(season).join(', ')}`;
    const gapsText = (season: Season) => `: ${missingText(missing(season))}`;
    return [
      ...report('missing_episodes', withGaps, gapsText, 'Add what is missing, or check the filters.'),
      ...report('mixed_releases', ofMixed, mixedText, 'Take all episodes from one release.'),
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
  const name = SOURCES[source?.[0].charAt(0).toUpperCase() ?? ''] ?? null;
  return [resolution?.[0].toLowerCase() ?? null, name, hasGroup ? group.toUpperCase() : null];
}

/**
 * The ranges of episodes that nothing in the torrent has. A pack may begin anywhere, as the second half of a season does, but one that begins
 * with episode 2 has lost the first.
 */
function missingIn({ episodes }: Season, known: Uint8Array): [from: number, to: number][] {
  const sorted = [...episodes].sort((a, b) => a - b);
  const [lowest = 0, highest = 0] = [sorted[0], sorted.at(-1)];
  const ranges: [number, number][] = [];
  for (let n = lowest === 2 ? 1 : lowest; n < highest; n += 1) {
    const last = ranges.at(-1);
    if (known[n]) continue;
    if (last?.[1] === n - 1) last[1] = n;
    else ranges.push([n, n]);
  }
  return ranges;
}

function missingText(ranges: readonly [number, number][]): string {
  const texts = ranges.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`));
  const isOne = texts.length === 1 && ranges[0]?.[0] === ranges[0]?.[1];
  return isOne ? `episode ${texts[0]} is missing` : `episodes ${joined(texts)} are missing`;
}

/** The properties that differ among the episodes in one folder. A group counts only if every name has one. */
function mixedValues([resolutions = NONE, sources = NONE, groups = NONE]: readonly ReadonlySet<
  string | null
>[]): string[] {
  return [resolutions, sources, groups.has(null) ? NONE : groups].flatMap((values) => {
    const names = [...values].filter((value) => value !== null);
    return names.length > 1 ? [joined(names)] : [];
  });
}

const NONE: ReadonlySet<string | null> = new Set();

/** The most ranges or values that a message lists. */
const MAX_NAMED = 4;

function joined(texts: readonly string[]): string {
  const first = texts.slice(0, MAX_NAMED);
  const more = texts.length - first.length;
  const last = more > 0 ? `${more} more` : (first.pop() as string);
  return first.length > 0 ? `${first.join(', ')} and ${last}` : last;
}

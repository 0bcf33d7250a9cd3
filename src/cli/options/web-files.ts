/** Files on a web server: a mirror of the content of a torrent, or its webseed. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Finding, warning } from '../../create/findings/findings.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { forEachConcurrently } from '../../hash/for-each-concurrently.ts';
import { webseedUrl } from '../../model/ranges.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import type { RangeReader } from '../../sources/source-data.ts';
import { INSTEAD, type WebFile, webFile } from '../../sources/web-source.ts';
import { plural } from '../../text/format.ts';
import { withoutSecrets } from '../../text/urls.ts';
import { isSingleFile } from '../../verify/content-place.ts';
import type { VerifySources } from '../../verify/verify-sources.ts';
import { isUrl } from '../create/inputs.ts';
import { flagText } from '../terminal/messages.ts';
import { isStdin, nameOfInput, openStdin } from '../terminal/standard-input.ts';

/** Asks for the size of each file below a webseed, and for a range of it. @param paths With the name of a folder, and `/`. */
async function askWebseed(
  base: string,
  paths: readonly string[],
  { single, signal }: { single: boolean; signal: AbortSignal | undefined },
): Promise<(WebFile | MetainfoError)[]> {
  const answers: (WebFile | MetainfoError)[] = [];
  // Few enough requests at once for a small server.
  await forEachConcurrently(paths, { concurrency: 8, signal }, async (fullPath, i, stop) => {
    const ask = async () => webFile(webseedUrl(base, { fullPath, single }), { signal: stop });
    answers[i] = await ask().catch((error: unknown) => {
      if (!(error instanceof MetainfoError && ['ERR_HTTP', 'ERR_INVALID_ARGUMENT'].includes(error.code))) throw error;
      return Object.assign(error, { message: error.message.replace(`: ${INSTEAD}`, '') });
    });
  });
  return answers;
}

/** The most files of a webseed that are named. */
const MAX_NAMED = 20;

/** Finds the files that webseeds do not have in full, or not in ranges. */
export async function webseedFindings(
  webseeds: readonly string[],
  files: ReadonlyMap<string, number>,
  watch: { single: boolean; signal: AbortSignal },
): Promise<Finding[]> {
  const lengths = [...files.values()];
  const findings: Finding[] = [];
  for (const base of webseeds) {
    const problems = (await askWebseed(base, [...files.keys()], watch)).flatMap((answer, i) => {
      if (answer instanceof MetainfoError) return [answer.message.replace(/\.?$/, '.')];
      const wrong = `${withoutSecrets(answer.url, /$/)}: it has ${answer.size} bytes, not ${lengths[i]}.`;
      return answer.size === lengths[i] ? [] : [wrong];
    });
    const shown = withoutSecrets(base, /$/);
    const more = problems.length - MAX_NAMED;
    const last = more > 0 ? [`${shown}: ${plural(more, 'more file')} cannot be used.`] : [];
    const advice = 'Upload the files to the webseed before you publish the torrent, or give another URL.';
    for (const message of new Set([...problems.slice(0, MAX_NAMED), ...last]))
      findings.push(warning('webseed_url', shown, message, { advice }));
  }
  return findings;
}

/** Options of `verify` for files on disk. */
const ON_DISK = ['cache', 'cacheDir', 'find', 'resumeData', 'queue'] as const;

/** The content of `metainfo verify` that is not on this disk: a mirror on a web server, standard input or a pipe. Null for a path. */
export async function foreignContent(
  torrent: Torrent,
  content: string | undefined,
  options: Partial<Record<(typeof ON_DISK)[number], unknown>>,
  signal: AbortSignal | undefined,
): Promise<VerifySources | null> {
  if (content === undefined || !(isUrl(content) || (await isPipe(content)))) return null;
  for (const option of ON_DISK)
    if (options[option]) throw invalidArgument(`${flagText(option)} works only with files on disk: omit it`);
  const single = isSingleFile(torrent);
  if (isUrl(content)) return mirrorOf(torrent, content, single, signal);
  if (torrent.nFiles > 1) {
    const problem = `${nameOfInput(content)} is a single file, but the torrent has ${plural(torrent.nFiles, 'file')}`;
    throw invalidArgument(`${problem}: give the folder with its files`);
  }
  return isStdin(content) ? openStdin('cat film.mkv | metainfo verify film.torrent -') : createReadStream(content);
}

const isPipe = async (content: string): Promise<boolean> =>
  isStdin(content) || ((await stat(content).catch(() => null))?.isFIFO() ?? false);

/** Whether a server does not have a file. */
const isMissing = (answer: unknown): boolean =>
  answer instanceof MetainfoError && / status (404|410)\b/.test(answer.message);

/** The files of a mirror. Its URL is that of the torrent's folder, or of the folder above, as of a webseed. */
async function mirrorOf(
  { name, files }: Torrent,
  url: string,
  single: boolean,
  signal: AbortSignal | undefined,
): Promise<VerifySources> {
  // A symlink has no content (BEP 47), whatever the server sends for it.
  const links = files.filter(({ attr }) => attr?.includes('l'));
  const asked = files.filter(({ attr }) => !attr?.includes('l'));
  const ask = (folder: string) =>
    askWebseed(
      url,
      asked.map(({ path }) => folder + path),
      { single, signal },
    );
  let answers = await ask(single ? '' : `${name}/`);
  const hasNone = () => answers.every((answer) => answer instanceof MetainfoError);
  const [first] = answers;
  if (!single && hasNone()) answers = await ask('');
  if (hasNone()) throw answers.find((answer) => !isMissing(answer)) ?? first;
  const found = answers.flatMap((answer, i) => {
    const { path, length } = asked[i] as { path: string; length: number };
    if (!(answer instanceof MetainfoError)) return [{ path, data: answer }];
    if (isMissing(answer)) return [];
    const failing: RangeReader = { size: length, read: () => Promise.reject(answer) };
    return [{ path, data: failing }];
  });
  return [...found, ...links.map(({ path }) => ({ path, data: new Uint8Array() }))];
}

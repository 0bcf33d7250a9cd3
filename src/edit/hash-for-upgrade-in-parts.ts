/** Hashes the files of a v1 torrent twice on other machines: as pieces of a hybrid, and as pieces of the v1 torrent. */
import { availableParallelism } from 'node:os';
import type { GenerateOptions } from '../create/options.ts';
import type { Engine } from '../hash/engine.ts';
import { splitDigests } from '../hash/file-digests.ts';
import { checkedResources, type HashRequest, type RequestedFile } from '../hash/hash-request.ts';
import { lengthsOf, requestedPadFile } from '../hash/request-files.ts';
import { JobGroup } from '../jobs/job-group.ts';
import type { RunningJob } from '../jobs/watch.ts';
import type { TwiceHashed } from './hash-for-upgrade.ts';
import type { UpgradeFile } from './upgrade-files.ts';

/**
 * Starts two hash jobs that name the files by path. Content in memory would never leave this process, so an engine that hashes on other
 * machines reads each file twice there.
 */
export function hashRemotely(
  files: readonly UpgradeFile[],
  pieceLength: number,
  { engine, ...resources }: Pick<GenerateOptions, 'threads' | 'memoryLimit'> & { engine: Engine },
): RunningJob<TwiceHashed> {
  const group = new JobGroup(engine);
  const totalBytes = 2 * files.reduce((sum, { item }) => sum + item.length, 0);
  const content = files.map(({ request }) => request ?? requestedPadFile(0));
  // A pad file of the v1 torrent follows the file that it pads.
  const v1Content = files.flatMap(({ request, paddingAfter }, i): { file: RequestedFile; index: number }[] => [
    ...(request ? [{ file: request, index: i }] : []),
    ...(paddingAfter > 0 ? [{ file: requestedPadFile(paddingAfter), index: i }] : []),
  ]);
  const nameOf = (index: number) => files[index]?.item.path.join('/') ?? '';
  const start = (
    request: Pick<HashRequest, 'files' | 'paddedFiles' | 'version'>,
    fileOf: (index: number) => number,
  ): ReturnType<JobGroup['run']> => {
    const limits = checkedResources(resources, request.version, availableParallelism());
    return group.run({ ...request, pieceLength, onMissing: 'fail', ...limits }, (index) => nameOf(fileOf(index)));
  };
  const run = async (): Promise<TwiceHashed> => {
    const paddedFiles = files.length > 1 ? files.length : 0;
    const [hybrid, v1] = await Promise.all([
      start({ files: content, paddedFiles, version: 'hybrid' }, (index) => index),
      v1Content.length > 0
        ? start({ files: v1Content.map(({ file }) => file), version: 'v1' }, (i) => v1Content[i]?.index ?? 0)
        : null,
    ]);
    const digests = splitDigests(lengthsOf(content), hybrid, { version: 'hybrid', pieceLength });
    return { digests, v1Pieces: v1?.v1 ?? new Uint8Array() };
  };
  const done = group.finish(run());
  done.catch(() => {});
  return {
    done,
    progress: () => ({ ...group.progress(), totalBytes }),
    cancel: () => group.cancel(),
  };
}

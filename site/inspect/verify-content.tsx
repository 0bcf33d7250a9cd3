/** Verifies the content of a torrent, and shows which pieces and files are good. */
import { type FoundFolder, filesFrom, type Torrent, type VerifyReport, verify } from 'metainfo/browser';
import { defineComponent, nextTick, ref, shallowRef, watch } from 'vue';
import { formatBytes } from '../../src/text/format.ts';
import { type PlacedContent, placedContent, runsOf } from './model.ts';
import { Choose, type Field, Fields, JobProgress, Picture, useJob } from './parts.tsx';

function Report({ report, pieces, folder }: { report: VerifyReport; pieces: number; folder: string }) {
  const { ok, files, badPieces, extraFiles, goodBytes, totalSize } = report;
  const bad = badPieces.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const failed = files.filter(({ status }) => status !== 'complete');
  const fields: Field[] = [
    ['found in', folder],
    ['good pieces', `${pieces - bad} of ${pieces}`],
    ['bad pieces', badPieces.map((range) => [...new Set(range)].join('–'))],
    ['incomplete', failed.map(({ path, status, problem }) => `${path}: ${problem ?? status}`)],
    ['extra files', extraFiles],
  ];
  return (
    <>
      <p class={ok ? 'valid' : 'error'}>
        {ok ? 'Complete' : 'Not complete'}: {formatBytes(goodBytes)} of {formatBytes(totalSize)} are good
      </p>
      <Picture drawing={runsOf(report, pieces)} />
      <Fields fields={fields} />
    </>
  );
}

export const VerifyContent = defineComponent(
  (props: { torrent: Torrent; content: FoundFolder | null; onReport: (report: VerifyReport | null) => void }) => {
    const report = shallowRef<VerifyReport | null>(null);
    watch(report, props.onReport);
    let given: PlacedContent = { folder: '', sources: [] };
    const job = useJob(async (options) => {
      report.value = null;
      report.value = await verify(props.torrent, given, options);
    });
    const section = ref<HTMLElement | null>(null);
    const start = async (content: FoundFolder) => {
      given = placedContent(props.torrent, content);
      job.start();
      await nextTick();
      section.value?.scrollIntoView();
    };
    watch(
      () => props.content,
      (content) => content && start(content),
      { immediate: true },
    );
    return () => (
      <section ref={section}>
        <h2>Verify</h2>
        <p>
          Drop the folder of this torrent on the page, a folder that holds it, or some of its files. You can also choose
          them.
        </p>
        <Choose choose={async (files) => start(await filesFrom(files, { everything: true }))} />
        <JobProgress job={job} />
        {report.value ? <Report report={report.value} pieces={props.torrent.nPieces} folder={given.folder} /> : null}
      </section>
    );
  },
  { props: ['torrent', 'content', 'onReport'] },
);

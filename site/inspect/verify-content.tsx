/** Verifies the content of a torrent, and shows which pieces and files are good. */
import { type FoundFolder, filesFrom, type Torrent, type VerifyReport, verify } from 'metainfo/browser';
import { defineComponent, nextTick, ref, shallowRef, watch } from 'vue';
import { formatBytes, plural } from '../../src/text/format.ts';
import { printable } from '../../src/text/printable.ts';
import { runsOf } from './model.ts';
import { Choose, JobProgress, Picture, useJob } from './parts.tsx';

/** Lines that are in the document. */
const MOST_LINES = 200;
const MOST_RANGES = 20;

function Lines({ title, lines }: { title: string; lines: string[] }) {
  if (lines.length === 0) return null;
  const more = lines.length - MOST_LINES;
  return (
    <>
      <h3>{title}</h3>
      <ul class="lines">
        {[...lines.slice(0, MOST_LINES), ...(more > 0 ? [`and ${more} more`] : [])].map((line, i) => (
          <li key={i}>
            <bdi>{printable(line)}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}
Lines.props = ['title', 'lines'];

function Report({ report, pieces }: { report: VerifyReport; pieces: number }) {
  const { ok, files, badPieces, extraFiles, goodBytes, totalSize } = report;
  const bad = badPieces.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const ranges = badPieces.slice(0, MOST_RANGES).map((range) => [...new Set(range)].join('–'));
  const more = badPieces.length > MOST_RANGES ? ' and more' : '';
  const failed = files.filter(({ status }) => status !== 'complete');
  const lines = failed.map(({ path, status, problem }) => `${path}: ${problem ?? status}`);
  return (
    <>
      <p class={ok ? 'valid' : 'error'}>
        {ok ? 'Complete' : 'Not complete'}: {formatBytes(goodBytes)} of {formatBytes(totalSize)} are good
      </p>
      <Picture drawing={runsOf(report, pieces)} />
      <p>
        {plural(pieces - bad, 'good piece')}, {plural(bad, 'bad piece')}
        {bad > 0 ? `: ${ranges.join(', ')}${more}` : ''}
      </p>
      <Lines title="Files that are not complete" lines={lines} />
      <Lines title="Files that the torrent does not have" lines={extraFiles} />
    </>
  );
}
Report.props = ['report', 'pieces'];

export const VerifyContent = defineComponent(
  (props: { torrent: Torrent; content: FoundFolder | null; onReport: (report: VerifyReport | null) => void }) => {
    const report = shallowRef<VerifyReport | null>(null);
    let given: Parameters<typeof verify>[1] = [];
    watch(report, props.onReport);
    const job = useJob(async (options) => {
      report.value = null;
      report.value = await verify(props.torrent, given, options);
    });
    const section = ref<HTMLElement | null>(null);
    const start = async (content: typeof given) => {
      given = content;
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
        <p>Drop the folder or the files of this torrent on the page, or choose them.</p>
        <Choose onChoose={async (files: File[]) => start(await filesFrom(files))} />
        <JobProgress job={job} />
        {report.value ? <Report report={report.value} pieces={props.torrent.nPieces} /> : null}
      </section>
    );
  },
  { props: ['torrent', 'content', 'onReport'] },
);

/** The parts that several views share: fields, problems, pictures, jobs and downloads. */
import { AbortError, type Finding, type Issue, type Progress } from 'metainfo/browser';
import { defineComponent, onUnmounted, ref, shallowRef } from 'vue';
import { formatBytes, formatDuration } from '../../src/text/format.ts';
import { printable } from '../../src/text/printable.ts';
import type { Box, Drawing } from './model.ts';

/** The value of an input that changed. */
export const inputValue = ({ target }: Event) => (target as HTMLInputElement).value;

/** A text with a button that copies it. */
export const Copyable = defineComponent(
  ({ text, label }: { text: string; label: string }) => {
    const status = ref('');
    const copy = () =>
      navigator.clipboard.writeText(text).then(
        () => (status.value = 'Copied'),
        () => (status.value = 'Not allowed'),
      );
    return () => (
      <span class="copyable">
        <code tabindex="0">{printable(text)}</code>
        <button type="button" aria-label={`Copy ${label}`} onClick={copy}>
          Copy
        </button>
        <small role="status">{status.value}</small>
      </span>
    );
  },
  { props: ['text', 'label'] },
);

/** A field: its name and its value, one or several lines. Fields without a value are left out. */
export type Field = [name: string, value: string | null | undefined, canCopy?: true];

export function Fields({ fields }: { fields: Field[] }) {
  const present = fields.filter(([, value]) => value);
  const lines = (value: string) => value.split('\n').map((line, i) => <bdi key={i}>{printable(line)}</bdi>);
  return (
    <dl class="fields">
      {present.map(([name, value = '', canCopy]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{canCopy ? <Copyable text={value ?? ''} label={name} /> : lines(value ?? '')}</dd>
        </div>
      ))}
    </dl>
  );
}
Fields.props = ['fields'];

/** A code, as a link to its explanation. */
export function Code({ code }: { code: string }) {
  return (
    <a href={`/errors.html#${code}`}>
      <code>{code}</code>
    </a>
  );
}
Code.props = ['code'];

/** Findings of a plan or an edit, or issues. */
export function Findings({ findings }: { findings: readonly (Finding | Issue)[] }) {
  const textOf = (finding: Finding | Issue) =>
    printable('advice' in finding ? `${finding.message} ${finding.advice}` : finding.message);
  return (
    <ul class="findings">
      {findings.map((finding, i) => (
        <li key={i} class={finding.severity}>
          <b>{finding.severity}</b> <Code code={finding.code} /> {textOf(finding)}
        </li>
      ))}
    </ul>
  );
}
Findings.props = ['findings'];

/** An error, with its issues if it has any. */
export function Problem({ error }: { error: unknown }) {
  if (!error) return null;
  const { code, message, offset, issues = [] } = error as Partial<Finding & { offset: number; issues: Issue[] }>;
  const place = offset === undefined ? '' : ` (byte ${offset})`;
  const text = printable(message ?? String(error)) + place;
  return (
    <div class="problem" role="alert">
      {issues.length > 0 ? <Findings findings={issues} /> : [code ? <Code code={code} /> : '', ` ${text}`]}
    </div>
  );
}
Problem.props = ['error'];

/** Rows of boxes to scale. Screen readers read them as lists. */
export function Picture({ drawing, marked }: { drawing: Drawing; marked?: Pick<Box, 'from' | 'to'> }) {
  const percent = (bytes: number) => `${(bytes / drawing.width) * 100}%`;
  const place = ({ from, to }: Pick<Box, 'from' | 'to'>) => ({ left: percent(from), width: percent(to - from) });
  return (
    <div class="picture">
      {drawing.rows.map(({ name, boxes }) => (
        <div key={name}>
          <span>{name}</span>
          <ul aria-label={name} class={boxes[0]?.detail ? 'tall' : ''}>
            {boxes.map((box, i) => (
              <li key={i} class={box.kind} style={place(box)} title={`${box.label} ${box.detail}`}>
                <span>{box.label}</span>
                <small>{box.detail}</small>
              </li>
            ))}
          </ul>
          {marked ? <i class="mark" style={place(marked)} /> : null}
        </div>
      ))}
    </div>
  );
}
Picture.props = ['drawing', 'marked'];

/** How a job reports its progress, and learns that it is cancelled. */
interface JobOptions {
  signal: AbortSignal;
  onProgress: (progress: Progress) => void;
}

/** A job that the user can start and cancel. */
export function useJob(work: (options: JobOptions) => Promise<void>) {
  const progress = shallowRef<Progress | null>(null);
  const error = shallowRef<unknown>(null);
  const running = shallowRef<AbortController | null>(null);
  const status = ref('');
  const start = async () => {
    running.value?.abort();
    const own = new AbortController();
    running.value = own;
    progress.value = error.value = null;
    status.value = 'Hashing …';
    const end = await work({ signal: own.signal, onProgress: (now) => (progress.value = now) }).then(
      () => 'Done',
      (failure) => {
        if (failure instanceof AbortError) return 'Cancelled';
        error.value = failure;
        return '';
      },
    );
    // Another job may have replaced this one.
    if (running.value !== own) return;
    running.value = null;
    status.value = end;
  };
  const cancel = () => running.value?.abort();
  onUnmounted(cancel);
  return { progress, error, running, status, start, cancel };
}

/** The progress of a job with its rate and the time left, and a button that cancels it. */
export function JobProgress({ job }: { job: ReturnType<typeof useJob> }) {
  const { bytes = 0, totalBytes = 0, seconds = 0, file = '' } = job.progress.value ?? {};
  const rate = seconds > 0 ? bytes / seconds : 0;
  const left = rate > 0 ? `${formatDuration((totalBytes - bytes) / rate)} left` : '';
  const text = `${formatBytes(bytes)} of ${formatBytes(totalBytes)} · ${formatBytes(Math.round(rate))}/s · ${left}`;
  return (
    <div>
      <span role="status">{job.status.value}</span>
      {job.running.value ? (
        <div class="running">
          <progress aria-label="Bytes hashed" max={totalBytes || 1} value={bytes} />
          <span>{text}</span>
          <button type="button" onClick={job.cancel}>
            Cancel
          </button>
          <bdi class="cut">{printable(file)}</bdi>
        </div>
      ) : null}
      <Problem error={job.error.value} />
    </div>
  );
}
JobProgress.props = ['job'];

/** Buttons that choose files or a folder. */
export function Choose({ onChoose }: { onChoose: (files: File[]) => void }) {
  const take = ({ target }: Event) => {
    const input = target as HTMLInputElement;
    if (input.files?.length) onChoose(Array.from(input.files));
    // The same files can be chosen again.
    input.value = '';
  };
  const press = ({ currentTarget }: Event) =>
    ((currentTarget as Element).previousElementSibling as HTMLInputElement).click();
  return (
    <div class="buttons">
      {(['files', 'a folder'] as const).map((what) => (
        <span key={what}>
          <input type="file" hidden multiple onChange={take} {...{ webkitdirectory: what === 'a folder' }} />
          <button type="button" onClick={press}>
            Choose {what}
          </button>
        </span>
      ))}
    </div>
  );
}
Choose.props = ['onChoose'];

/** Gives bytes to the user as a file. */
export function download(bytes: Uint8Array, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([bytes as BlobPart], { type: 'application/x-bittorrent' }));
  link.download = `${printable(name)}.torrent`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The parts that several views share: fields, inputs, problems, pictures, jobs and downloads. */
import { AbortError, type GenerateOptions, type Issue, type Progress } from 'metainfo/browser';
import { type InputHTMLAttributes, onDeactivated, onUnmounted, ref, shallowRef } from 'vue';
import { formatBytes, formatDuration } from '../../src/text/format.ts';
import type { Box, Drawing } from './model.ts';
import { visible, withoutOptions } from './text.ts';

/** The label of an input for trackers. */
export const TRACKERS = 'Trackers, one on each line; a blank line begins a tier';
/** The label of an input for webseeds. */
export const WEBSEEDS = 'Webseeds, one on each line';

/** The value of an input that changed. */
export const inputValue = ({ target }: Event) => (target as HTMLInputElement).value;

/** An input with its label; with `rows`, one of several lines. */
export function Input({ label, ...rest }: { label: string; rows?: number } & InputHTMLAttributes) {
  const input = rest.rows ? <textarea spellcheck="false" {...rest} /> : <input {...rest} />;
  // biome-ignore lint/a11y/noLabelWithoutControl: it contains the input
  return <label>{rest.type === 'checkbox' ? [input, ' ', label] : [label, input]}</label>;
}
// Otherwise the label gets the listeners too.
Input.inheritAttrs = false;

/** A field: its name and its value, one or several lines. Fields without a value are left out. */
export type Field = [name: string, value: string | readonly string[] | null | undefined, canCopy?: true];

/** Further lines of a field are counted. */
const MOST_LINES = 200;

export function Fields({ fields }: { fields: Field[] }) {
  const lines = (all: readonly string[]) => {
    const more = all.length > MOST_LINES ? [`and ${all.length - MOST_LINES} more`] : [];
    return [...all.slice(0, MOST_LINES), ...more].map((line, i) => <bdi key={i}>{visible(line)}</bdi>);
  };
  return (
    <dl class="fields">
      {fields.map(([name, value, canCopy]) =>
        value?.length ? (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{canCopy ? <Copyable text={String(value)} name={name} /> : lines([value].flat())}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

/** A text with a button that copies it. */
function Copyable({ text, name }: { text: string; name: string }) {
  const copy = async ({ currentTarget }: Event) => {
    const status = (currentTarget as Element).nextElementSibling as Element;
    const copied = navigator.clipboard.writeText(text);
    status.textContent = await copied.then(
      () => 'Copied',
      () => 'Not allowed',
    );
  };
  return (
    <div class="buttons">
      <code tabindex="0">{visible(text)}</code>
      <span>
        <button type="button" aria-label={`Copy ${name}`} onClick={copy}>
          Copy
        </button>
        <small role="status" />
      </span>
    </div>
  );
}

/** What is shown of a finding, an issue or an error. Only errors of the library have codes. */
interface Problem {
  code?: string;
  severity?: string;
  /** In each profile, instead of one severity. */
  severities?: Readonly<Record<string, string>>;
  message: string;
  advice?: string;
  spec?: string;
  path?: string | readonly (string | number)[] | null;
  offset?: number;
}

/** Problems: the code of each as a link to its explanation, its place and its message. */
export function Findings({ findings }: { findings: readonly Problem[] }) {
  const item = ({ code, severity = 'error', severities, message, advice = '', spec, path, offset }: Problem) => (
    <>
      {Object.entries(severities ?? { '': severity }).map(([profile, its]) => [
        <b class={its}>{profile ? `${profile}: ${its}` : its}</b>,
        ' ',
      ])}
      {code ? <a href={`/errors.html#${code}`}>{code}</a> : null}{' '}
      <code>
        {[path ?? [], offset === undefined ? [] : `byte ${offset}`].flat().map(String).map(visible).join(' › ')}
      </code>
      <p>{visible([withoutOptions(message), spec && `(${spec})`, withoutOptions(advice)].filter(Boolean).join(' '))}</p>
    </>
  );
  const items = findings.map((finding, i) => <li key={i}>{item(finding)}</li>);
  return items.length > 0 ? <ul class="findings">{items}</ul> : null;
}

/** An error, with its issues if it has any. */
export function Failure({ error }: { error: unknown }) {
  if (!error) return null;
  const { issues = [] } = error as { issues?: Issue[] };
  return (
    <div class="problem" role="alert">
      <Findings findings={issues.length > 0 ? issues : [error as Problem]} />
    </div>
  );
}

/** Rows of boxes to scale. Screen readers read them as lists. */
export function Picture({ drawing }: { drawing: Drawing }) {
  const percent = (bytes: number) => `${(bytes / drawing.width) * 100}%`;
  const place = ({ from, to }: Box) => ({ left: percent(from), width: percent(to - from) });
  return (
    <div class="picture">
      {drawing.rows.map(({ name, boxes }) => (
        <div key={name}>
          <span class="soft">{name}</span>
          <ul aria-label={name}>
            {boxes.map((box, i) => (
              <li key={i} class={box.kind} style={place(box)} title={`${box.label} ${box.detail}`}>
                <span>{box.label}</span>
                <small>{box.detail}</small>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}

type JobOptions = Required<Pick<GenerateOptions, 'signal' | 'onProgress'>>;

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
  onDeactivated(cancel);
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
        <div class="buttons">
          <progress aria-label="Bytes hashed" max={totalBytes || 1} value={bytes} />
          <span>{text}</span>
          <button type="button" onClick={job.cancel}>
            Cancel
          </button>
          <bdi class="cut">{visible(file)}</bdi>
        </div>
      ) : null}
      <Failure error={job.error.value} />
    </div>
  );
}

/** Buttons that choose files or a folder. */
export function Choose({ choose }: { choose: (files: File[]) => void }) {
  const take = ({ target }: Event) => {
    const input = target as HTMLInputElement;
    if (input.files?.length) choose(Array.from(input.files));
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

/** Gives bytes to the user as a file. */
export function download(bytes: Uint8Array, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([bytes as BlobPart], { type: 'application/x-bittorrent' }));
  link.download = `${visible(name)}.torrent`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

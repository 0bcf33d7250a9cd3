/** Makes a torrent of files: the choices, the plan with its findings, and the job. */
import { AbortError, type FoundFolder, type PlanReport, type Torrent, TorrentCreate } from 'metainfo/browser';
import { computed, defineComponent, shallowReactive, shallowRef, watch } from 'vue';
import { exactBytes, formatBytes, formatDuration, plural } from '../../src/text/format.ts';
import { tiersIn } from './model.ts';
import { type Field, Fields, Findings, inputValue, JobProgress, Problem, useJob } from './parts.tsx';

const VERSIONS = ['hybrid', 'v1', 'v2'] as const;
/** 16 KiB to 16 MiB. */
const PIECE_LENGTHS = Array.from({ length: 11 }, (_, i) => 2 ** (14 + i));

function fieldsOf(plan: PlanReport): Field[] {
  const { files, totalSize, pieceLength, pieces, padFiles, padBytes, torrentSize, seconds } = plan;
  return [
    ['content', `${formatBytes(totalSize ?? 0)} in ${plural(files, 'file')}`],
    ['pieces', pieceLength && `${(pieces ?? 0).toLocaleString('en')} of ${exactBytes(pieceLength)}`],
    ['pad files', padFiles > 0 ? `${padFiles.toLocaleString('en')} (${formatBytes(padBytes)})` : 'none'],
    ['torrent file', torrentSize && `about ${formatBytes(torrentSize)}`],
    ['hashing', seconds && `about ${formatDuration(Math.ceil(seconds))}`],
  ].map(([name, value]) => [name as string, value ? String(value) : null]);
}

/** The fields of a draft. The file of a single-file torrent has the name of the torrent. */
function draftOf({ sources, name }: FoundFolder, fields: Choices) {
  const isSingle = sources.length === 1 && sources[0]?.path === name;
  const trackers = tiersIn(fields.trackers);
  return {
    sources: isSingle ? sources.map((source) => ({ ...source, path: fields.name })) : sources,
    ...(trackers.length > 0 && { trackers }),
    ...(fields.comment && { comment: fields.comment }),
    info: {
      name: fields.name,
      ...(fields.pieceLength > 0 && { pieceLength: fields.pieceLength }),
      ...(fields.private && { private: true }),
    },
  };
}

interface Choices {
  name: string;
  version: (typeof VERSIONS)[number];
  /** Bytes; 0 for the automatic choice. */
  pieceLength: number;
  trackers: string;
  comment: string;
  private: boolean;
}

export const CreateTorrent = defineComponent(
  ({ found, onMade }: { found: FoundFolder; onMade: (torrent: Torrent) => void }) => {
    const name = found.name ?? '';
    const other = { trackers: '', comment: '', private: false };
    const choices = shallowReactive<Choices>({ name, version: 'hybrid', pieceLength: 0, ...other });
    const draft = computed(() => ({ fields: draftOf(found, choices), version: choices.version }));
    const plan = shallowRef<PlanReport | null>(null);
    const error = shallowRef<unknown>(null);
    watch(
      draft,
      async ({ fields, version }, _, onCleanup) => {
        const planning = new AbortController();
        const { signal } = planning;
        onCleanup(() => planning.abort());
        plan.value = error.value = null;
        try {
          const made = await TorrentCreate.plan(fields, { version, signal });
          if (!signal.aborted) plan.value = made;
        } catch (failure) {
          if (!(failure instanceof AbortError)) error.value = failure;
        }
      },
      { immediate: true },
    );
    const job = useJob(async (options) => {
      const { fields, version } = draft.value;
      onMade(await new TorrentCreate(fields).generate({ version, ...options }));
    });
    const canCreate = computed(
      () => job.running.value === null && plan.value?.findings.every(({ severity }) => severity !== 'error') === true,
    );
    // Each plan measures the rate of hashing, so it waits until a field is complete.
    const onChange = (field: 'name' | 'trackers' | 'comment') => (event: Event) => (choices[field] = inputValue(event));
    const versions = () =>
      VERSIONS.map((version) => (
        <label class="check" key={version}>
          <input
            type="radio"
            name="version"
            checked={choices.version === version}
            onChange={() => (choices.version = version)}
          />
          {version}
        </label>
      ));
    const start = (event: Event) => {
      event.preventDefault();
      if (canCreate.value) job.start();
    };
    return () => (
      <>
        <h1 tabindex="-1">Create a torrent of {plural(found.sources.length, 'file')}</h1>
        <div class="columns">
          <section>
            <h2>Choices</h2>
            <form class="form" onSubmit={start}>
              <label class="wide">
                Name
                <input value={choices.name} required onChange={onChange('name')} />
              </label>
              <fieldset class="wide">
                <legend>Version</legend>
                {versions()} <a href="/versions.html">Which one?</a>
              </fieldset>
              <label>
                Piece length
                <select onChange={(event: Event) => (choices.pieceLength = Number(inputValue(event)))}>
                  <option value="0">automatic</option>
                  {PIECE_LENGTHS.map((length) => (
                    <option key={length} value={length}>
                      {exactBytes(length)}
                    </option>
                  ))}
                </select>
              </label>
              <label>
                Comment
                <input onChange={onChange('comment')} />
              </label>
              <label class="wide">
                Trackers, one on each line; a blank line begins a tier
                <textarea rows="3" spellcheck="false" onChange={onChange('trackers')} />
              </label>
              <label class="check">
                <input type="checkbox" onChange={() => (choices.private = !choices.private)} />
                Private
              </label>
              <button type="submit" class="main" disabled={!canCreate.value}>
                Create
              </button>
            </form>
            <JobProgress job={job} />
          </section>
          <section aria-live="polite">
            <h2>Plan</h2>
            {plan.value
              ? [<Fields fields={fieldsOf(plan.value)} />, <Findings findings={plan.value.findings} />]
              : null}
            <Problem error={error.value} />
          </section>
        </div>
      </>
    );
  },
  { props: ['found', 'onMade'] },
);

/** Makes a torrent of files: the choices, the plan with its findings, and the job. */
import { type FoundFolder, type PlanReport, type Torrent, TorrentCreate, type TorrentVersion } from 'metainfo/browser';
import { computed, defineComponent, shallowReactive, shallowRef, watch, withModifiers } from 'vue';
import { exactBytes, formatBytes, formatDuration, plural } from '../../src/text/format.ts';
import { tiersIn } from './model.ts';
import {
  Failure,
  type Field,
  Fields,
  Findings,
  Input,
  inputValue,
  JobProgress,
  TRACKERS,
  useJob,
  WEBSEEDS,
} from './parts.tsx';

const VERSIONS = ['hybrid', 'v1', 'v2'] as const;
/** 16 KiB to 16 MiB. */
const POWERS = Array.from({ length: 11 }, (_, i) => 2 ** (14 + i));
/** Bytes; undefined for the automatic choice. */
const PIECE_LENGTHS = new Map([
  ['automatic', undefined],
  ...POWERS.map((length) => [exactBytes(length), length] as const),
]);

function fieldsOf(plan: PlanReport): Field[] {
  const { files, totalSize, pieceLength, pieces, padFiles, padBytes, torrentSize, seconds } = plan;
  return [
    ['content', `${formatBytes(totalSize ?? 0)} in ${plural(files, 'file')}`],
    ['pieces', pieceLength && pieces ? `${pieces.toLocaleString('en')} of ${exactBytes(pieceLength)}` : null],
    ['pad files', padFiles > 0 ? `${padFiles.toLocaleString('en')} (${formatBytes(padBytes)})` : 'none'],
    ['torrent file', torrentSize ? `about ${formatBytes(torrentSize)}` : null],
    ['hashing', seconds ? `about ${formatDuration(Math.ceil(seconds))}` : null],
  ];
}

const CHOICES = {
  name: '',
  version: 'hybrid' as TorrentVersion,
  pieceLength: PIECE_LENGTHS.get('automatic'),
  trackers: '',
  webseeds: '',
  comment: '',
  source: '',
  private: false,
  padding: false,
};
type Text = 'name' | 'trackers' | 'webseeds' | 'comment' | 'source';

/** The fields of a draft. The file of a single-file torrent has the name of the torrent. */
function draftOf({ sources, name }: FoundFolder, choices: typeof CHOICES) {
  const isSingle = sources.length === 1 && sources[0]?.path === name;
  const trackers = tiersIn(choices.trackers);
  const urlList = tiersIn(choices.webseeds).flat();
  return {
    sources: isSingle ? sources.map((source) => ({ ...source, path: choices.name })) : sources,
    ...(trackers.length > 0 && { trackers }),
    ...(urlList.length > 0 && { urlList }),
    ...(choices.comment && { comment: choices.comment }),
    info: {
      name: choices.name,
      ...(choices.pieceLength && { pieceLength: choices.pieceLength }),
      ...(choices.private && { private: true }),
      ...(choices.source && { source: choices.source }),
    },
  };
}

export const CreateTorrent = defineComponent(
  ({ found, onMade }: { found: FoundFolder; onMade: (torrent: Torrent) => void }) => {
    const choices = shallowReactive({ ...CHOICES, name: found.name ?? '' });
    const draft = computed(() => {
      const { version, padding } = choices;
      return { fields: draftOf(found, choices), options: { version, padding } };
    });
    const plan = shallowRef<PlanReport | null>(null);
    const planning = useJob(async ({ signal }) => {
      const { fields, options } = draft.value;
      plan.value = null;
      plan.value = await TorrentCreate.plan(fields, { ...options, signal });
    });
    watch(draft, planning.start, { immediate: true });
    const job = useJob(async (watching) => {
      const { fields, options } = draft.value;
      onMade(await new TorrentCreate(fields).generate({ ...options, ...watching }));
    });
    // Not while a plan is made: otherwise a click that leaves a changed field would find the button disabled.
    const hasErrors = () => plan.value?.findings.some(({ severity }) => severity === 'error');
    // Each plan measures the rate of hashing, so it waits until a field is complete.
    const text = (field: Text, label: string, more: { rows?: number; required?: boolean } = {}) => {
      const onChange = (event: Event) => (choices[field] = inputValue(event));
      // Unlike `value`, it leaves alone what the user types while a plan is made.
      return <Input label={label} {...{ defaultValue: choices[field] }} onChange={onChange} {...more} />;
    };
    const flag = (field: 'private' | 'padding', label: string) => {
      const onChange = () => (choices[field] = !choices[field]);
      return <Input label={label} type="checkbox" checked={choices[field]} onChange={onChange} />;
    };
    const select = (label: string, options: Iterable<string>, choose: (option: string) => void) => (
      <label>
        {label}
        <select onChange={(event: Event) => choose(inputValue(event))}>
          {[...options].map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      </label>
    );
    return () => (
      <>
        <h1 tabindex="-1">Create a torrent of {plural(found.sources.length, 'file')}</h1>
        <div class="columns">
          <section>
            <h2>Choices</h2>
            <form onSubmit={withModifiers(job.start, ['prevent'])}>
              {text('name', 'Name', { required: true })}
              {select('Version', VERSIONS, (version) => (choices.version = version as TorrentVersion))}
              {select(
                'Piece length',
                PIECE_LENGTHS.keys(),
                (length) => (choices.pieceLength = PIECE_LENGTHS.get(length)),
              )}
              {choices.version === 'v1' ? flag('padding', 'Pad files, so that each file starts a piece') : null}
              {text('trackers', TRACKERS, { rows: 3 })}
              {text('webseeds', WEBSEEDS, { rows: 2 })}
              {text('comment', 'Comment')}
              {text('source', 'Source (changes the infohash)')}
              {flag('private', 'Private')}
              <button type="submit" class="main" disabled={job.running.value !== null || hasErrors()}>
                Create
              </button>
            </form>
            <JobProgress job={job} />
          </section>
          <section aria-live="polite">
            <h2>Plan</h2>
            {plan.value ? <Fields fields={fieldsOf(plan.value)} /> : null}
            <Findings findings={plan.value?.findings ?? []} />
            <Failure error={planning.error.value} />
            <a href="/versions.html">How the versions differ</a>
          </section>
        </div>
      </>
    );
  },
  { props: ['found', 'onMade'] },
);

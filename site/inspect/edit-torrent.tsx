/** Edits a torrent: the fields, the infohash before and after, and the download. */
import { edit, type Finding, type Torrent, type TorrentChanges } from 'metainfo/browser';
import { computed, defineComponent, shallowReactive } from 'vue';
import { tiersIn, tiersText } from './model.ts';
import { download, Failure, type Field, Fields, Findings, Input, inputValue, TRACKERS } from './parts.tsx';

/** The fields to edit, as the torrent has them. */
function editableFields(torrent: Torrent) {
  return {
    trackers: tiersText(torrent.toJSON().tiers),
    comment: torrent.comment ?? '',
    source: torrent.info.source ?? '',
    private: torrent.info.private ?? false,
  };
}

/** The edits of a torrent, which outlive its view, and whether the user has them as a file. */
export class Edits {
  /** The fields as the torrent has them. */
  readonly original: ReturnType<typeof editableFields>;
  readonly fields: typeof this.original;
  /** The fields of each file that the user has, as JSON. */
  readonly #saved = new Set<string>();

  constructor(torrent: Torrent, isNew: boolean) {
    this.original = editableFields(torrent);
    this.fields = shallowReactive({ ...this.original });
    if (!isNew) this.save();
  }

  /** Whether the user has a file with these fields. */
  get isSaved(): boolean {
    return this.#saved.has(JSON.stringify(this.fields));
  }

  /** The user has got a file with these fields. */
  save(fields = this.fields): void {
    this.#saved.add(JSON.stringify(fields));
  }
}

export const EditTorrent = defineComponent(
  ({ torrent, edits }: { torrent: Torrent; edits: Edits }) => {
    const { original: before, fields } = edits;
    const result = computed(() => {
      const changes: TorrentChanges = {
        ...(fields.trackers !== before.trackers && { trackers: tiersIn(fields.trackers) }),
        ...(fields.comment !== before.comment && { comment: fields.comment || null }),
        ...(fields.source !== before.source && { source: fields.source || null }),
        ...(fields.private !== before.private && { private: fields.private }),
      };
      const warnings: Finding[] = [];
      const onWarning = (warning: Finding) => warnings.push(warning);
      try {
        return { edited: edit(torrent, changes, { context: { profile: 'compat' }, onWarning }), warnings, error: null };
      } catch (error) {
        return { edited: null, warnings, error };
      }
    });
    const input = (name: 'trackers' | 'comment' | 'source', label: string, rows?: number) => {
      const onInput = (event: Event) => (fields[name] = inputValue(event));
      return <Input label={label} value={fields[name]} onInput={onInput} {...(rows && { rows })} />;
    };
    const save = (edited: Torrent) => {
      download(edited.bencode(), torrent.name);
      edits.save();
    };
    const hashes = (version: string, old: string | null, edited: string | null | undefined): Field[] => [
      [`${version} before`, old],
      [`${version} after`, edited === old && old ? `${old} (the same)` : edited],
    ];
    return () => {
      const { edited, warnings, error } = result.value;
      return (
        <section>
          <h2>Edit</h2>
          {input('trackers', TRACKERS, 4)}
          {input('comment', 'Comment', 2)}
          {input('source', 'Source (changes the infohash)')}
          <Input
            label="Private (changes the infohash)"
            type="checkbox"
            checked={fields.private}
            onChange={() => (fields.private = !fields.private)}
          />
          <h3>Infohash</h3>
          <div aria-live="polite">
            <Fields
              fields={[
                ...hashes('v1', torrent.infohashV1, edited?.infohashV1),
                ...hashes('v2', torrent.infohashV2, edited?.infohashV2),
              ]}
            />
          </div>
          <Findings findings={warnings} />
          <Failure error={error} />
          <button type="button" disabled={!edited} onClick={() => edited && save(edited)}>
            Download the edited torrent
          </button>
        </section>
      );
    };
  },
  { props: ['torrent', 'edits'] },
);

/** Edits a torrent: the fields, the infohash before and after, and the download. */
import { edit, type Finding, type Torrent, type TorrentChanges } from 'metainfo/browser';
import { computed, defineComponent, shallowReactive } from 'vue';
import { tiersIn, tiersText } from './model.ts';
import { download, type Field, Fields, Findings, inputValue, Problem } from './parts.tsx';

export const EditTorrent = defineComponent(
  ({ torrent }: { torrent: Torrent }) => {
    const before = {
      trackers: tiersText(torrent.toJSON().tiers),
      comment: torrent.comment ?? '',
      source: torrent.info.source ?? '',
      private: torrent.info.private ?? false,
    };
    const fields = shallowReactive({ ...before });
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
    const input = (name: 'comment' | 'source', label: string) => (
      <label>
        {label}
        <input value={fields[name]} onInput={(event: Event) => (fields[name] = inputValue(event))} />
      </label>
    );
    const hashes = (version: string, old: string | null, edited: string | null | undefined): Field[] => [
      [`${version} before`, old],
      [`${version} after`, edited === old && old ? `${old} (the same)` : edited],
    ];
    return () => {
      const { edited, warnings, error } = result.value;
      return (
        <section>
          <h2>Edit</h2>
          <div class="form">
            <label class="wide">
              Trackers, one on each line; a blank line begins a tier
              <textarea
                rows="4"
                spellcheck="false"
                value={fields.trackers}
                onInput={(event: Event) => (fields.trackers = inputValue(event))}
              />
            </label>
            {input('comment', 'Comment')}
            {input('source', 'Source (changes the infohash)')}
            <label class="check">
              <input type="checkbox" checked={fields.private} onChange={() => (fields.private = !fields.private)} />
              Private (changes the infohash)
            </label>
          </div>
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
          <Problem error={error} />
          <button type="button" disabled={!edited} onClick={() => edited && download(edited.bencode(), torrent.name)}>
            Download the edited torrent
          </button>
        </section>
      );
    };
  },
  { props: ['torrent'] },
);

/** A torrent: its fields, files, pictures, issues and magnet link; then verification and edits. */
import type { FoundFolder, Torrent, VerifyReport } from 'metainfo/browser';
import { computed, defineComponent, ref, shallowRef } from 'vue';
import { exactBytes, formatBytes, plural } from '../../src/text/format.ts';
import { printable } from '../../src/text/printable.ts';
import { EditTorrent } from './edit-torrent.tsx';
import { FileTree } from './file-tree.tsx';
import type { Reports } from './model.ts';
import { issueRows, largestOf, overviewOf, PROFILES, piecesOf, placedFiles, treeOf } from './model.ts';
import { Code, download, type Field, Fields, inputValue, Picture } from './parts.tsx';
import { VerifyContent } from './verify-content.tsx';

/** A torrent that was opened or made. */
export interface Opened {
  /** The name of the file. */
  file: string;
  reports: Reports;
  isNew: boolean;
  /** Content to verify at once. */
  content: FoundFolder | null;
}

const count = (number: number) => number.toLocaleString('en');

function fieldsOf(torrent: Torrent): Field[] {
  const { info } = torrent;
  return [
    ['name', torrent.name],
    ['size', `${formatBytes(torrent.totalSize)} (${count(torrent.totalSize)} bytes)`],
    ['files', count(torrent.nFiles)],
    ['pieces', `${count(torrent.nPieces)} of ${exactBytes(info.pieceLength)}`],
    ['torrent file', formatBytes(torrent.fileSize)],
    ['private', info.private ? 'yes' : null],
    ['source', info.source],
    ['comment', torrent.comment],
    ['created by', torrent.createdBy],
    ['creation date', torrent.creationDate?.toISOString()],
    ['trackers', torrent.flatTrackers.join('\n')],
    ['webseeds', torrent.webseeds.join('\n')],
    ['HTTP seeds', torrent.httpseeds?.join('\n')],
    ['DHT nodes', torrent.nodes?.map((node) => node.join(':')).join('\n')],
    ['collections', torrent.collections.join('\n')],
    ['update URL', info.updateUrl],
  ];
}

/** Clients accept some torrents whose fields a link cannot express. */
function magnetOf(torrent: Torrent): string | null {
  try {
    return torrent.magnet();
  } catch {
    return null;
  }
}

function Issues({ reports }: { reports: Reports }) {
  const rows = issueRows(reports);
  const verdict = (profile: (typeof PROFILES)[number]) => {
    const errors = reports[profile].issues.filter(({ severity }) => severity === 'error').length;
    return <span class={errors > 0 ? 'error' : 'valid'}>{errors > 0 ? plural(errors, 'error') : 'valid'}</span>;
  };
  const placeOf = ({ path, offset }: (typeof rows)[number]) =>
    [...path.map(String), ...(offset === undefined ? [] : [`byte ${count(offset)}`])].map(printable).join(' › ');
  return (
    <section>
      <h2>Profiles and issues</h2>
      <table class="issues">
        <thead>
          <tr>
            <th scope="col">{rows.length > 0 ? plural(rows.length, 'issue') : 'No profile finds an issue.'}</th>
            {PROFILES.map((profile) => (
              <th scope="col" key={profile}>
                {profile} {verdict(profile)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((issue, i) => (
            <tr key={i}>
              <td>
                <Code code={issue.code} /> <code>{placeOf(issue)}</code>
                <p>{printable(issue.spec ? `${issue.message} (${issue.spec})` : issue.message)}</p>
              </td>
              {PROFILES.map((profile) => (
                <td key={profile} data-name={profile} class={issue.severities[profile] ?? 'soft'}>
                  {issue.severities[profile] ?? '–'}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
Issues.props = ['reports'];

const RULES = {
  v1: 'A v1 piece may hold the end of a file and the start of the next.',
  v2: 'Each file starts a piece. The hashes of its pieces are its piece layer; the root of their Merkle tree is its pieces root.',
  hybrid:
    'Each file starts a piece, in v1 behind a pad file, which is on no disk. In v2, it has a piece layer and a pieces root.',
};

const Pictures = defineComponent(
  (props: { torrent: Torrent; report: VerifyReport | null }) => {
    const { torrent } = props;
    const { pieceLength } = torrent.info;
    const files = placedFiles(torrent);
    const overview = overviewOf(files);
    const largest = largestOf(treeOf(torrent.name, torrent.files));
    const pieces = Math.ceil(overview.width / pieceLength);
    // Hashes need some width.
    const shown = Math.min(pieces, innerWidth < 640 ? 4 : 8);
    const first = ref(0);
    const drawing = computed(() => piecesOf(torrent, files, { first: first.value, shown, report: props.report }));
    const slider = () => (
      <>
        <Picture
          drawing={overview}
          marked={{ from: first.value * pieceLength, to: first.value * pieceLength + drawing.value.width }}
        />
        <label>
          Pieces {count(first.value)} to {count(first.value + shown - 1)} of {count(pieces)}
          <input
            type="range"
            max={pieces - shown}
            value={first.value}
            onInput={(event: Event) => (first.value = Number(inputValue(event)))}
          />
        </label>
      </>
    );
    return () => (
      <div class="columns pictures">
        <section>
          <h2>How files and pieces lie</h2>
          {pieces > shown ? slider() : null}
          {pieces > 0 ? <Picture drawing={drawing.value} /> : 'All files are empty: there are no pieces.'}
          <p class="soft">
            A piece has {exactBytes(pieceLength)}. {RULES[torrent.torrentVersion]} <a href="/versions.html">Versions</a>
          </p>
        </section>
        <section>
          <h2>Sizes by folder</h2>
          <ul class="sizes">
            {largest.map(({ name, length }, i) => (
              <li key={i}>
                <bdi class="cut">{name}</bdi>
                <span>{formatBytes(length)}</span>
                <i class="bar" style={{ width: `${(length / (torrent.totalSize || 1)) * 100}%` }} />
              </li>
            ))}
          </ul>
        </section>
      </div>
    );
  },
  { props: ['torrent', 'report'] },
);

export const TorrentView = defineComponent(
  (props: { opened: Opened }) => {
    const { reports, file, isNew } = props.opened;
    const { version, infohash } = reports.default;
    const torrent = reports.default.torrent ?? reports.compat.torrent;
    const report = shallowRef<VerifyReport | null>(null);
    const hashes: Field[] = [
      ['infohash v1', infohash.v1, true],
      ['infohash v2', infohash.v2, true],
      ['magnet link', torrent && magnetOf(torrent), true],
    ];
    const refused = torrent ? 'Only the profile compat accepts this torrent.' : 'No profile accepts this torrent.';
    return () => (
      <>
        <header>
          <h1 tabindex="-1">
            <bdi>{printable(torrent?.name ?? file)}</bdi>
          </h1>
          {reports.default.torrent ? null : <p class="error">{refused}</p>}
          {isNew && torrent ? (
            <button type="button" class="main" onClick={() => download(torrent.bencode(), torrent.name)}>
              Download the torrent
            </button>
          ) : null}
        </header>
        <div class="columns">
          <section>
            <h2>Fields</h2>
            <Fields fields={[['version', version ?? 'unknown'], ...(torrent ? fieldsOf(torrent) : []), ...hashes]} />
          </section>
          {torrent ? (
            <section>
              <h2>Files</h2>
              <FileTree torrent={torrent} />
            </section>
          ) : null}
        </div>
        {torrent ? <Pictures torrent={torrent} report={report.value} /> : null}
        <Issues reports={reports} />
        {torrent ? (
          <div class="columns">
            <VerifyContent
              torrent={torrent}
              content={props.opened.content}
              onReport={(now: VerifyReport | null) => (report.value = now)}
            />
            <EditTorrent torrent={torrent} />
          </div>
        ) : null}
      </>
    );
  },
  { props: ['opened'] },
);

/** A torrent: its fields, files, pictures, issues and magnet link; then verification and edits. */
import { type FoundFolder, type Torrent, Torrent as Torrents, type VerifyReport } from 'metainfo/browser';
import { computed, defineComponent, ref, shallowRef } from 'vue';
import { exactBytes, formatBytes, plural } from '../../src/text/format.ts';
import { Edits, EditTorrent } from './edit-torrent.tsx';
import { FileTree } from './file-tree.tsx';
import {
  issueRows,
  linksOf,
  overviewOf,
  PROFILES,
  piecesOf,
  placedFiles,
  type Reports,
  sizesOf,
  toHex,
  treeOf,
  unknownLines,
} from './model.ts';
import { download, type Field, Fields, Findings, Input, inputValue, Picture } from './parts.tsx';
import { peerText, visible } from './text.ts';
import { VerifyContent } from './verify-content.tsx';

/** A torrent that was opened or made. */
export interface Opened {
  /** The name of the file. */
  file: string;
  reports: Reports;
  /** Null if no profile accepts it. */
  torrent: Torrent | null;
  edits: Edits | null;
  isNew: boolean;
  /** Content to verify at once. */
  content: FoundFolder | null;
}

/** Inspects the bytes of a torrent file. @param isNew Whether the page has made it. */
export function openedFrom(
  file: string,
  bytes: Uint8Array,
  { isNew = false, content = null as Opened['content'] },
): Opened {
  const inspect = (profile: keyof Reports) => Torrents.inspect(bytes, { context: { profile } });
  const reports = { default: inspect('default'), strict: inspect('strict'), compat: inspect('compat') };
  const torrent = reports.default.torrent ?? reports.compat.torrent;
  return { file, reports, torrent, edits: torrent && new Edits(torrent, isNew), isNew, content };
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
    ['comment', torrent.comment?.split('\n')],
    ['created by', torrent.createdBy],
    ['creation date', torrent.creationDate?.toISOString()],
    ['trackers', torrent.flatTrackers],
    ['webseeds', torrent.webseeds],
    ['HTTP seeds', torrent.httpseeds],
    ['DHT nodes', torrent.nodes?.map(([host, port]) => peerText(host, port))],
    ['similar torrents', torrent.similar.map(toHex)],
    ['collections', torrent.collections],
    ['update URL', info.updateUrl],
    ['unknown keys', unknownLines(torrent)],
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
  const issues = issueRows(reports);
  const verdicts = PROFILES.map((profile): Field => {
    const errors = reports[profile].issues.filter(({ severity }) => severity === 'error').length;
    return [profile, errors > 0 ? plural(errors, 'error') : 'valid'];
  });
  return (
    <section>
      <h2>Profiles and issues</h2>
      <Fields fields={[...verdicts, ['issues', issues.length > 0 ? count(issues.length) : 'none']]} />
      <Findings findings={issues} />
    </section>
  );
}

const RULES = {
  v1: 'A v1 piece may hold the end of a file and the start of the next.',
  v2: 'Each file starts a piece. The hashes of its pieces are its piece layer; the root of their Merkle tree is its pieces root.',
  hybrid:
    'Each file starts a piece, in v1 behind a pad file, which is on no disk. In v2, it has a piece layer and a pieces root.',
};

const Pieces = defineComponent(
  (props: { torrent: Torrent; report: VerifyReport | null }) => {
    const { torrent } = props;
    const { pieceLength } = torrent.info;
    const files = placedFiles(torrent);
    const overview = overviewOf(files);
    const pieces = Math.ceil(overview.width / pieceLength);
    // Hashes need some width.
    const shown = Math.min(pieces, innerWidth < 640 ? 4 : 8);
    const first = ref(0);
    const drawing = computed(() => piecesOf(torrent, files, { first: first.value, shown, report: props.report }));
    const slider = () => (
      <>
        <Picture drawing={overview} />
        <Input
          label={`Pieces ${count(first.value)} to ${count(first.value + shown - 1)} of ${count(pieces)}`}
          type="range"
          max={pieces - shown}
          value={first.value}
          onInput={(event: Event) => (first.value = Number(inputValue(event)))}
        />
      </>
    );
    return () => (
      <section>
        <h2>How files and pieces lie</h2>
        {pieces > shown ? slider() : null}
        {pieces > 0 ? <Picture drawing={drawing.value} /> : 'All files are empty: there are no pieces.'}
        <p class="soft">
          A piece has {exactBytes(pieceLength)}. {RULES[torrent.torrentVersion]} <a href="/versions.html">Versions</a>
        </p>
      </section>
    );
  },
  { props: ['torrent', 'report'] },
);

export const TorrentView = defineComponent(
  (props: { opened: Opened }) => {
    const { reports, file, torrent, edits, isNew } = props.opened;
    const { version, infohash } = reports.default;
    const fields: Field[] = [
      ['version', version ?? 'unknown'],
      ...(torrent ? fieldsOf(torrent) : []),
      ['infohash v1', infohash.v1, true],
      ['infohash v2', infohash.v2, true],
      ['magnet link', torrent && magnetOf(torrent), true],
    ];
    const save = (made: Torrent) => {
      download(made.bencode(), made.name);
      edits?.save(edits.original);
    };
    const heading = () => (
      <header>
        <h1 tabindex="-1">
          <bdi>{visible(torrent?.name ?? file)}</bdi>
        </h1>
        {reports.default.torrent ? null : (
          <p class="error">{torrent ? 'Only the profile compat accepts' : 'No profile accepts'} this torrent.</p>
        )}
        {isNew && torrent ? (
          <button type="button" class="main" onClick={() => save(torrent)}>
            Download the torrent
          </button>
        ) : null}
      </header>
    );
    const described = () => (
      <section>
        <h2>Fields</h2>
        <Fields fields={fields} />
        {torrent?.info.private ? (
          <p class="soft">
            The torrent is private, but its magnet link may have a passkey, and clients ask the DHT for the torrent
            before they know that. Give others the torrent file instead.
          </p>
        ) : null}
      </section>
    );
    if (!torrent || !edits) return () => [heading(), described(), <Issues reports={reports} />];
    const root = treeOf(torrent.files, linksOf(torrent));
    const sizes = sizesOf(root);
    const report = shallowRef<VerifyReport | null>(null);
    return () => (
      <>
        {heading()}
        <div class="columns">
          {described()}
          <section>
            <h2>Files</h2>
            <FileTree root={root} />
          </section>
        </div>
        <Pieces torrent={torrent} report={report.value} />
        <section>
          <h2>Sizes by folder</h2>
          <Picture drawing={sizes} />
        </section>
        <Issues reports={reports} />
        <div class="columns">
          <VerifyContent
            torrent={torrent}
            content={props.opened.content}
            onReport={(now: VerifyReport | null) => (report.value = now)}
          />
          <EditTorrent torrent={torrent} edits={edits} />
        </div>
      </>
    );
  },
  { props: ['opened'] },
);

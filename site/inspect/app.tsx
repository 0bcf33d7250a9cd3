/** The page: opens dropped or chosen files and pasted links, shows the view that fits, and keeps itself for use without a network. */
import type { FoundFolder, GivenFiles, Magnet, Torrent } from 'metainfo/browser';
import { DEFAULT_LIMITS, filesFrom, formatMagnet, parseMagnet, Torrent as Torrents } from 'metainfo/browser';
import { createApp, defineComponent, nextTick, onMounted, ref, shallowRef, withModifiers } from 'vue';
import { formatBytes } from '../../src/text/format.ts';
import { CreateTorrent } from './create-torrent.tsx';
import type { Reports } from './model.ts';
import { Choose, Failure, type Field, Fields, Findings, Input, inputValue } from './parts.tsx';
import { type Opened, TorrentView } from './torrent-view.tsx';

type View =
  | { kind: 'start' }
  | { kind: 'torrent'; opened: Opened }
  | { kind: 'create'; found: FoundFolder }
  | { kind: 'magnet'; magnet: Magnet };

/** A dropped entry or a chosen file. */
type Given = FileSystemEntry | File;

function isTorrentFile(given: Given): boolean {
  const isTop = 'isFile' in given ? given.isFile : given.webkitRelativePath === '';
  return isTop && /\.torrent$/i.test(given.name);
}

/** The reports of all profiles on the bytes of a torrent file. */
function reportsOn(bytes: Uint8Array): Reports {
  const inspect = (profile: keyof Reports) => Torrents.inspect(bytes, { context: { profile } });
  return { default: inspect('default'), strict: inspect('strict'), compat: inspect('compat') };
}

function MagnetView({ magnet }: { magnet: Magnet }) {
  const fields: Field[] = [
    ['name', magnet.displayName],
    ['size', magnet.length === null ? null : formatBytes(magnet.length)],
    ['trackers', magnet.trackers],
    ['webseeds', magnet.webseeds],
    ['torrent file at', [...magnet.exactSources, ...magnet.acceptableSources]],
    ['peers', magnet.peers.map(({ host, port }) => `${host}:${port}`)],
    ['selected files', magnet.selectOnly?.map((range) => [...new Set(range)].join('–')).join(', ')],
    ['others', magnet.extra.map((pair) => pair.join('='))],
    ['infohash v1', magnet.infohashV1, true],
    ['infohash v2', magnet.infohashV2, true],
    ['magnet link', formatMagnet(magnet), true],
  ];
  return (
    <>
      <h1 tabindex="-1">Magnet link</h1>
      <section>
        <Fields fields={fields} />
        <Findings findings={magnet.warnings} />
      </section>
    </>
  );
}

const App = defineComponent(() => {
  const view = shallowRef<View>({ kind: 'start' });
  /** Vue makes each view anew. */
  const shown = ref(0);
  const error = shallowRef<unknown>(null);
  const link = ref('');
  const isOver = ref(false);

  const show = async (next: View) => {
    view.value = next;
    shown.value += 1;
    await nextTick();
    scrollTo(0, 0);
    document.querySelector<HTMLElement>('main h1')?.focus();
  };
  const attempt = async (work: () => Promise<void>) => {
    error.value = null;
    await work().catch((failure: unknown) => {
      error.value = failure;
      scrollTo(0, 0);
    });
  };
  const showTorrent = (file: string, bytes: Uint8Array, more: Partial<Opened> = {}) =>
    show({ kind: 'torrent', opened: { file, reports: reportsOn(bytes), isNew: false, content: null, ...more } });

  const open = async (given: Given[]) => {
    const others = given.filter((one) => !isTorrentFile(one));
    const found = others.length > 0 ? await filesFrom(others as GivenFiles) : null;
    const torrents = (await filesFrom(given.filter(isTorrentFile) as GivenFiles)).sources;
    const [torrent] = torrents;
    if (torrents.length > 1) throw new Error('Open one torrent at a time.');
    if (torrent) {
      // One byte beyond the limit makes `inspect` refuse it.
      const bytes = new Uint8Array(await torrent.data.slice(0, DEFAULT_LIMITS.bytes + 1).arrayBuffer());
      await showTorrent(torrent.path, bytes, { content: found });
    } else if (found && view.value.kind === 'torrent')
      view.value = { kind: 'torrent', opened: { ...view.value.opened, content: found } };
    else if (found) await show({ kind: 'create', found });
  };
  const openLink = (text: string) => attempt(async () => show({ kind: 'magnet', magnet: parseMagnet(text) }));
  const openFiles = (given: Given[]) => attempt(() => open(given));

  const onDrop = (event: DragEvent) => {
    const items = Array.from(event.dataTransfer?.items ?? []);
    const given = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile()).filter((one) => one !== null);
    if (given.length > 0) openFiles(given);
    else openLink(event.dataTransfer?.getData('text') ?? '');
  };
  onMounted(() => {
    for (const type of ['drop', 'dragover', 'dragleave'] as const)
      addEventListener(type, (event) => {
        event.preventDefault();
        isOver.value = type === 'dragover';
        if (type === 'drop') onDrop(event);
      });
  });

  const start = () => (
    <>
      <h1 tabindex="-1">Look into a torrent, or make one</h1>
      <section class="drop">
        <h2>Drop files on this page</h2>
        <Fields
          fields={[
            ['a torrent', 'see its fields, files, pieces and issues, and edit it'],
            ['files, a folder', 'make a torrent of them'],
            ['both', 'verify the content'],
          ]}
        />
        <Choose choose={openFiles} />
        <p class="soft">Nothing leaves this device. The page works without a network.</p>
      </section>
      <section>
        <form onSubmit={withModifiers(() => openLink(link.value), ['prevent'])}>
          <Input
            label="Or paste a magnet link"
            value={link.value}
            spellcheck={false}
            onInput={(event: Event) => (link.value = inputValue(event))}
          />
          <button type="submit">Open the link</button>
        </form>
      </section>
    </>
  );
  const onMade = (torrent: Torrent) => showTorrent(torrent.name, torrent.bencode(), { isNew: true });
  const content = (now: View, key: number) => {
    if (now.kind === 'torrent') return <TorrentView key={key} opened={now.opened} />;
    if (now.kind === 'create') return <CreateTorrent key={key} found={now.found} onMade={onMade} />;
    return now.kind === 'magnet' ? <MagnetView magnet={now.magnet} /> : start();
  };
  return () => (
    <>
      <nav aria-label="Site">
        <a href="/">metainfo</a>
        <a href="/start.html">Getting started</a>
        <a href="/contents.html">Documentation</a>
        {view.value.kind === 'start' ? null : <a href="/inspect/">Start over</a>}
      </nav>
      <main class={isOver.value ? 'over' : ''}>
        <Failure error={error.value} />
        {content(view.value, shown.value)}
      </main>
    </>
  );
});

// The choice that the documentation stores.
const appearance = localStorage.getItem('vitepress-theme-appearance');
if (appearance === 'dark' || appearance === 'light') document.documentElement.style.colorScheme = appearance;
createApp(App).mount('#app');

const WORKER = '/inspect-worker.js';
/** Not in the types of TypeScript yet, nor in all browsers. */
const { trustedTypes } = globalThis as { trustedTypes?: { createPolicy(name: string, rules: object): void } };
// The only string that becomes a script.
trustedTypes?.createPolicy('default', { createScriptURL: (url: string) => (url === WORKER ? url : null) });
// Pages without https have no service workers. Without one, the page needs its server, which may have no worker now.
for (const scope of ['/inspect/', '/errors.html']) navigator.serviceWorker?.register(WORKER, { scope }).catch(() => {});

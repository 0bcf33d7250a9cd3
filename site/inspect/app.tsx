/** The page: opens dropped or chosen files and pasted links, shows the view that fits, and keeps itself for use without a network. */
import type { FoundFolder, GivenFiles, Magnet, Torrent } from 'metainfo/browser';
import { DEFAULT_LIMITS, filesFrom, formatMagnet, parseMagnet, Torrent as Torrents } from 'metainfo/browser';
import {
  computed,
  createApp,
  defineComponent,
  KeepAlive,
  nextTick,
  onMounted,
  ref,
  shallowReactive,
  shallowRef,
  withModifiers,
} from 'vue';
import { formatBytes } from '../../src/text/format.ts';
import { CreateTorrent } from './create-torrent.tsx';
import { exampleMagnet, exampleTorrent } from './example.ts';
import { Choose, Failure, type Field, Fields, Findings, Input, inputValue } from './parts.tsx';
import { magnetText, peerText } from './text.ts';
import { type Opened, openedFrom, TorrentView } from './torrent-view.tsx';

type View =
  | { kind: 'start' }
  | { kind: 'torrent'; opened: Opened }
  | { kind: 'create'; found: FoundFolder }
  | { kind: 'magnet'; magnet: Magnet };

/** A view in the history of the browser. */
interface Entry {
  view: View;
  /** Vue makes each view anew, and finds it again by its key. */
  key: number;
  /** Pixels. */
  scrolled: number;
}

/** A dropped entry or a chosen file. */
type Given = FileSystemEntry | File;

/** Reads a file that is a torrent by its name or by its bytes; null for any other, and for a folder. */
async function torrentIn(given: Given): Promise<{ name: string; bytes: Uint8Array } | null> {
  const isTop = 'isFile' in given ? given.isFile : given.webkitRelativePath === '';
  const [file] = isTop ? (await filesFrom([given] as GivenFiles, { everything: true })).sources : [];
  if (!file) return null;
  const { name, size } = file.data;
  const read = async (most: number) => new Uint8Array(await file.data.slice(0, most).arrayBuffer());
  // One byte beyond the limit makes `inspect` refuse it.
  const whole = () => read(DEFAULT_LIMITS.bytes + 1);
  if (/\.torrent$/i.test(name)) return { name, bytes: await whole() };
  // A file that cannot be read is content, and reported as such.
  const start = size <= DEFAULT_LIMITS.bytes ? await read(8).catch(() => []) : [];
  if (!/^d\d+:/.test(String.fromCharCode(...start))) return null;
  const bytes = await whole();
  return hasInfo(bytes) ? { name, bytes } : null;
}

function hasInfo(bytes: Uint8Array): boolean {
  try {
    return Torrents.inspect(bytes, { context: { profile: 'compat' } }).version !== null;
  } catch {
    return false;
  }
}

function MagnetView({ magnet }: { magnet: Magnet }) {
  const fields: Field[] = [
    ['name', magnet.displayName],
    ['size', magnet.length === null ? null : formatBytes(magnet.length)],
    ['trackers', magnet.trackers],
    ['webseeds', magnet.webseeds],
    ['torrent file at', [...magnet.exactSources, ...magnet.acceptableSources]],
    ['peers', magnet.peers.map(({ host, port }) => peerText(host, port))],
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

/** Marks the entries of this page in the history of the browser. Entries from before a reload have another mark. */
const SESSION = performance.timeOrigin;
/** Views that keep their state while they are hidden. */
const MOST_KEPT = 10;

const App = defineComponent(() => {
  const views = shallowReactive<Entry[]>([{ view: { kind: 'start' }, key: 0, scrolled: 0 }]);
  const place = ref(0);
  const now = computed(() => views[place.value] as Entry);
  let lastKey = 0;
  const error = shallowRef<unknown>(null);
  const link = ref('');
  const isOver = ref(false);

  const go = async (to: number) => {
    now.value.scrolled = scrollY;
    place.value = to;
    error.value = null;
    await nextTick();
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    scrollTo(0, now.value.scrolled);
  };
  const show = async (next: View) => {
    lastKey += 1;
    const to = place.value + 1;
    views.splice(to, views.length, { view: next, key: lastKey, scrolled: 0 });
    history.pushState({ session: SESSION, place: to }, '');
    await go(to);
  };
  const attempt = async (work: () => Promise<void>) => {
    error.value = null;
    await work().catch((failure: unknown) => {
      error.value = failure;
      scrollTo(0, 0);
    });
  };
  const showTorrent = (file: string, bytes: Uint8Array, more: Partial<Opened> = {}) =>
    show({ kind: 'torrent', opened: openedFrom(file, bytes, more) });

  const open = async (given: Given[]) => {
    const candidates = await Promise.all(given.map(torrentIn));
    const [torrent, another] = candidates.filter((one) => one !== null);
    if (another) throw new Error('Open one torrent at a time.');
    const others = given.filter((_, i) => candidates[i] === null);
    const [at, entry] = [place.value, now.value];
    const { view } = entry;
    const everything = torrent !== undefined || view.kind === 'torrent';
    const content = others.length > 0 ? await filesFrom(others as GivenFiles, { everything }) : null;
    if (torrent) await showTorrent(torrent.name, torrent.bytes, { content });
    else if (content && view.kind === 'torrent')
      views[at] = { ...entry, view: { ...view, opened: { ...view.opened, content } } };
    else if (content) await show({ kind: 'create', found: content });
  };
  const openLink = (text: string) =>
    attempt(async () => show({ kind: 'magnet', magnet: parseMagnet(magnetText(text)) }));
  const openFiles = (given: Given[]) => attempt(() => open(given));
  const openExample = () =>
    attempt(async () => {
      const torrent = await exampleTorrent();
      await showTorrent(torrent.name, torrent.bencode());
    });
  const openExampleLink = () =>
    attempt(async () => {
      link.value = await exampleMagnet();
      await openLink(link.value);
    });

  const onDrop = (event: DragEvent) => {
    const items = Array.from(event.dataTransfer?.items ?? []);
    const given = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile()).filter((one) => one !== null);
    if (given.length > 0) openFiles(given);
    else openLink(event.dataTransfer?.getData('text') ?? '');
  };
  /** The browser puts text into a field itself. */
  const isForField = ({ target, dataTransfer }: DragEvent) =>
    target instanceof Element && target.matches('input, textarea') && !dataTransfer?.types.includes('Files');
  onMounted(() => {
    for (const type of ['drop', 'dragover', 'dragleave'] as const)
      addEventListener(type, (event) => {
        isOver.value = type === 'dragover' && !isForField(event);
        if (isForField(event)) return;
        event.preventDefault();
        if (type === 'drop') onDrop(event);
      });
    history.scrollRestoration = 'manual';
    addEventListener('popstate', ({ state }) => go(state?.session === SESSION ? state.place : 0));
    addEventListener('beforeunload', (event) => {
      if (views.some(({ view }) => view.kind === 'torrent' && view.opened.edits?.isSaved === false))
        event.preventDefault();
    });
  });

  const start = () => (
    <>
      <h1 tabindex="-1">Look into a torrent, or make one</h1>
      <section class="drop">
        <h2>Drop files on this page, or choose them</h2>
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
            label="Or paste a magnet link or an infohash"
            value={link.value}
            spellcheck={false}
            onInput={(event: Event) => (link.value = inputValue(event))}
          />
          <button type="submit">Open the link</button>
        </form>
      </section>
      <section>
        <h2>Try it with an example</h2>
        <div class="buttons">
          <button type="button" onClick={openExample}>
            Open an example torrent
          </button>
          <button type="button" onClick={openExampleLink}>
            Open an example magnet link
          </button>
        </div>
      </section>
    </>
  );
  const onMade = (torrent: Torrent) => showTorrent(torrent.name, torrent.bencode(), { isNew: true });
  const content = ({ view, key }: Entry) => {
    if (view.kind === 'torrent') return <TorrentView key={key} opened={view.opened} />;
    if (view.kind === 'create') return <CreateTorrent key={key} found={view.found} onMade={onMade} />;
    return view.kind === 'magnet' ? <MagnetView key={key} magnet={view.magnet} /> : start();
  };
  const startOver = () => {
    link.value = '';
    show({ kind: 'start' });
  };
  return () => (
    <>
      <nav aria-label="Site">
        <a href="/">metainfo</a>
        <a href="/start.html">Getting started</a>
        <a href="/contents.html">Documentation</a>
        {now.value.view.kind === 'start' ? null : (
          <a href="/inspect/" onClick={withModifiers(startOver, ['exact', 'prevent'])}>
            Start over
          </a>
        )}
      </nav>
      <main class={isOver.value ? 'over' : ''}>
        <Failure error={error.value} />
        <KeepAlive max={MOST_KEPT}>{() => content(now.value)}</KeepAlive>
      </main>
    </>
  );
});

/** The colour scheme that the documentation stores; null for none, and where the browser blocks site data. */
function storedAppearance(): string | null {
  try {
    return localStorage.getItem('vitepress-theme-appearance');
  } catch {
    return null;
  }
}
const appearance = storedAppearance();
if (appearance === 'dark' || appearance === 'light') document.documentElement.style.colorScheme = appearance;
createApp(App).mount('#app');

const WORKER = '/inspect-worker.js';
/** Not in the types of TypeScript yet, nor in all browsers. */
const { trustedTypes } = globalThis as { trustedTypes?: { createPolicy(name: string, rules: object): void } };
// The only string that becomes a script.
trustedTypes?.createPolicy('default', { createScriptURL: (url: string) => (url === WORKER ? url : null) });
// Pages without https have no service workers. Without one, the page needs its server, which may have no worker now.
for (const scope of ['/inspect/', '/errors.html']) navigator.serviceWorker?.register(WORKER, { scope }).catch(() => {});

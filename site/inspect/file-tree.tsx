/** The tree of files: only the rows in view are in the document. */
import type { Torrent } from 'metainfo/browser';
import { computed, defineComponent, nextTick, ref, shallowRef } from 'vue';
import { formatBytes, plural } from '../../src/text/format.ts';
import { printable } from '../../src/text/printable.ts';
import { foldersOf, rowsOf, shownPath, type TreeNode, type TreeRow, treeOf } from './model.ts';

const ROW_PIXELS = 28;
/** Rows above and below those in view. */
const MORE_ROWS = 10;
const MOST_PIXELS = 392;
/** Folders of larger torrents are closed at first. */
const MANY_FILES = 500;

export const FileTree = defineComponent(
  ({ torrent }: { torrent: Torrent }) => {
    const root = treeOf(torrent.name, torrent.files);
    const folders = foldersOf(root);
    const open = shallowRef<ReadonlySet<TreeNode>>(new Set(root.files > MANY_FILES ? [] : folders));
    const rows = computed(() => rowsOf(root, open.value));
    const height = computed(() => Math.min(MOST_PIXELS, rows.value.length * ROW_PIXELS));
    const active = ref(0);
    const scrolled = ref(0);
    const list = ref<HTMLElement | null>(null);

    const toggle = (node: TreeNode) => {
      if (!node.children) return;
      const nodes = new Set(open.value);
      if (!nodes.delete(node)) nodes.add(node);
      open.value = nodes;
    };
    const go = async (index: number) => {
      active.value = Math.max(0, Math.min(rows.value.length - 1, index));
      await nextTick();
      const box = list.value as HTMLElement;
      const top = active.value * ROW_PIXELS;
      box.scrollTop = Math.max(top + ROW_PIXELS - box.clientHeight, Math.min(top, box.scrollTop));
    };
    const onKeydown = (event: KeyboardEvent) => {
      const node = rows.value[active.value]?.node;
      if (!node) return;
      const at = active.value;
      const isOpen = open.value.has(node);
      const page = Math.floor(height.value / ROW_PIXELS);
      const parent = () => rows.value.findIndex((row) => row.node === node.parent);
      const keys: Record<string, () => unknown> = {
        ArrowDown: () => go(at + 1),
        ArrowUp: () => go(at - 1),
        PageDown: () => go(at + page),
        PageUp: () => go(at - page),
        Home: () => go(0),
        End: () => go(rows.value.length - 1),
        ArrowRight: () => (isOpen ? go(at + 1) : toggle(node)),
        ArrowLeft: () => (isOpen ? toggle(node) : parent() >= 0 && go(parent())),
        Enter: () => toggle(node),
      };
      const act = keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };

    // biome-ignore-start lint/a11y: Vue writes tabindex and onKeydown as HTML does
    const item = ({ node, level, position }: TreeRow, index: number) => (
      <div
        key={index}
        id={`row-${index}`}
        role="treeitem"
        aria-level={level}
        aria-posinset={position}
        aria-setsize={node.parent?.children?.length}
        aria-expanded={node.children ? open.value.has(node) : undefined}
        aria-selected={index === active.value}
        style={{ top: `${index * ROW_PIXELS}px`, paddingLeft: `${Math.min(level, 12) * 16 - 8}px` }}
        tabindex="-1"
      >
        <bdi class="cut">{printable(node.name)}</bdi>
        <span>{formatBytes(node.length)}</span>
        <i class="bar" style={{ width: `${(node.length / (root.length || 1)) * 64}px` }} />
      </div>
    );
    const onClick = ({ target }: Event) => {
      const index = Number((target as Element).closest('[role=treeitem]')?.id.slice('row-'.length) ?? -1);
      const row = rows.value[index];
      // Rows come and go with scrolling, so the tree has the focus.
      list.value?.focus();
      if (!row) return;
      active.value = index;
      toggle(row.node);
    };
    const openAll = (all: TreeNode[]) => {
      open.value = new Set(all);
      go(0);
    };
    const pathOf = (node: TreeNode) => {
      const inFiles = node.children ? ` in ${plural(node.files, 'file')}` : '';
      return `${shownPath(node)}: ${plural(node.length, 'byte')}${inFiles}`;
    };
    return () => {
      const first = Math.max(0, Math.floor(scrolled.value / ROW_PIXELS) - MORE_ROWS);
      const shown = rows.value.slice(first, first + Math.ceil(height.value / ROW_PIXELS) + 2 * MORE_ROWS);
      const isShown = active.value >= first && active.value < first + shown.length;
      const current = rows.value[active.value]?.node;
      return (
        <>
          {folders.length > 0 ? (
            <div class="buttons">
              <button type="button" onClick={() => openAll(folders)}>
                Open all folders
              </button>
              <button type="button" onClick={() => openAll([])}>
                Close all
              </button>
            </div>
          ) : null}
          <div
            ref={list}
            class="tree"
            role="tree"
            tabindex="0"
            aria-label="Files"
            aria-activedescendant={isShown ? `row-${active.value}` : undefined}
            style={{ height: `${height.value + 2}px` }}
            onScroll={() => (scrolled.value = list.value?.scrollTop ?? 0)}
            onKeydown={onKeydown}
            onClick={onClick}
          >
            <div role="none" style={{ height: `${rows.value.length * ROW_PIXELS}px` }}>
              {shown.map((row, i) => item(row, first + i))}
            </div>
          </div>
          {current ? <p class="soft">{pathOf(current)}</p> : null}
        </>
      );
    };
    // biome-ignore-end lint/a11y: Vue writes tabindex and onKeydown as HTML does
  },
  { props: ['torrent'] },
);

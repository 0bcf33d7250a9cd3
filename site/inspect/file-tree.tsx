/** The tree of files: only the rows in view are in the document. */
import { computed, defineComponent, nextTick, onActivated, ref, shallowRef } from 'vue';
import { formatBytes, plural } from '../../src/text/format.ts';
import { rowsOf, type TreeNode } from './model.ts';
import { visible } from './text.ts';

const ROW_PIXELS = 28;
/** Rows above and below those in view. */
const MORE_ROWS = 10;
const MOST_PIXELS = 392;
/** Folders of larger torrents are closed at first. */
const MANY_FILES = 500;

export const FileTree = defineComponent(
  ({ root }: { root: TreeNode }) => {
    const folders = rowsOf(root, () => true).filter(({ children }) => children);
    const open = shallowRef<ReadonlySet<TreeNode>>(new Set(root.files > MANY_FILES ? [] : folders));
    const rows = computed(() => rowsOf(root, (node) => open.value.has(node)));
    const height = computed(() => Math.min(MOST_PIXELS, rows.value.length * ROW_PIXELS));
    const active = ref(0);
    const scrolled = ref(0);
    const list = ref<HTMLElement | null>(null);

    // A list that was out of the document is at its start.
    onActivated(() => list.value?.scrollTo(0, scrolled.value));
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
      const node = rows.value[active.value];
      if (!node) return;
      const at = active.value;
      const isOpen = open.value.has(node);
      const page = Math.floor(height.value / ROW_PIXELS);
      const parent = node.parent ? rows.value.indexOf(node.parent) : -1;
      const keys: Record<string, () => unknown> = {
        ArrowDown: () => go(at + 1),
        ArrowUp: () => go(at - 1),
        PageDown: () => go(at + page),
        PageUp: () => go(at - page),
        Home: () => go(0),
        End: () => go(rows.value.length - 1),
        ArrowRight: () => (isOpen ? go(at + 1) : toggle(node)),
        ArrowLeft: () => (isOpen ? toggle(node) : parent >= 0 && go(parent)),
        Enter: () => toggle(node),
      };
      const act = keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    const openAll = (all: TreeNode[]) => {
      open.value = new Set(all);
      go(0);
    };

    const levelOf = ({ path }: TreeNode) => path.split('/').length;
    // biome-ignore-start lint/a11y: the tree has the focus, as rows come and go; Vue writes tabindex as HTML does
    const item = (node: TreeNode, index: number) => (
      <div
        key={index}
        id={`row-${index}`}
        role="treeitem"
        aria-level={levelOf(node)}
        aria-posinset={node.position}
        aria-setsize={node.parent?.children?.length}
        aria-expanded={node.children ? open.value.has(node) : undefined}
        aria-selected={index === active.value}
        style={{ top: `${index * ROW_PIXELS}px`, paddingLeft: `${Math.min(levelOf(node), 12) * 16 - 8}px` }}
        onClick={() => {
          active.value = index;
          toggle(node);
        }}
      >
        <span class="cut">
          <bdi>{visible(node.name)}</bdi> {node.flags ? <bdi class="soft">{node.flags}</bdi> : null}
        </span>
        <span>{formatBytes(node.length)}</span>
        <i style={{ width: `${(node.length / (root.length || 1)) * 64}px` }} />
      </div>
    );
    const facts = ({ path, length, flags, children, files }: TreeNode) =>
      [`${visible(path)}: ${plural(length, 'byte')}${children ? ` in ${plural(files, 'file')}` : ''}`, flags]
        .filter(Boolean)
        .join(', ');
    return () => {
      const first = Math.max(0, Math.floor(scrolled.value / ROW_PIXELS) - MORE_ROWS);
      const shown = rows.value.slice(first, first + Math.ceil(height.value / ROW_PIXELS) + 2 * MORE_ROWS);
      const current = rows.value[active.value];
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
            aria-activedescendant={current && shown.includes(current) ? `row-${active.value}` : undefined}
            style={{ height: `${height.value + 2}px` }}
            onScroll={() => (scrolled.value = list.value?.scrollTop ?? 0)}
            onKeydown={onKeydown}
          >
            <div role="none" style={{ height: `${rows.value.length * ROW_PIXELS}px` }}>
              {shown.map((node, i) => item(node, first + i))}
            </div>
          </div>
          {current ? <p class="soft">{facts(current)}</p> : null}
        </>
      );
    };
    // biome-ignore-end lint/a11y: the tree has the focus, as rows come and go; Vue writes tabindex as HTML does
  },
  { props: ['root'] },
);

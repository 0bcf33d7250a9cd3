/** The symbolic links that a torrent stores instead of content (BEP 47). */
import { flattenTree } from './flat-tree.ts';
import type { InfoDictHybrid } from './info-dict.ts';
import { contentOf } from './torrent/content.ts';
import type { Torrent } from './torrent/torrent.ts';

/** The targets of stored links, by the paths of the links; both begin at the torrent's root, with `/`. */
export function storedLinks(torrent: Torrent): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  // Large lists and trees are decoded only if they are needed.
  if (contentOf(torrent).links.size === 0) return links;
  const { files: list, fileTree } = torrent.info as Partial<InfoDictHybrid>;
  for (const { path, symlinkPath } of list ?? flattenTree(fileTree ?? new Map()))
    if (symlinkPath) links.set(path.join('/'), symlinkPath.join('/'));
  return links;
}

/** Where each file of a v1 list starts among the pieces, for lookups in O(log files). */
import { padsIn } from '../layout/padding.ts';
import { type FileItem, v1Files } from './file-item.ts';
import type { InfoDictV1 } from './info-dict.ts';
import type { RangeFile } from './ranges.ts';

/** The files of a v1 list, pad files included, with the offset of each from the first piece. */
export interface V1FileOffsets {
  files: RangeFile[];
  /** Bytes, ascending. */
  starts: Float64Array;
}

/** The offsets of the files of an info dictionary that has `files` or `length`. */
export function v1FileOffsets(name: string, info: InfoDictV1): V1FileOffsets {
  const items = v1Files(info) as FileItem[];
  const starts = new Float64Array(items.length);
  const isPad = padsIn(items, info.pieceLength);
  const single = !info.files;
  let offset = 0;
  const files = items.map((item, i): RangeFile => {
    starts[i] = offset;
    offset += item.length;
    const path = displayPath(item, single ? name : null);
    return {
      path,
      length: item.length,
      attr: item.attr ?? null,
      isPad: isPad(item),
      single,
      fullPath: single ? name : `${name}/${path}`,
    };
  });
  return { files, starts };
}

/** The path to show for a file: the torrent's name for a single file. */
export function displayPath(file: FileItem, singleName: string | null): string {
  return singleName ?? (file.pathUtf8 ?? file.path).join('/');
}

/** Random file trees, names and text for property tests. */
import fc from 'fast-check';
import type { FlatFile } from '../../src/model/file-tree.ts';

// Folders and files have different names, so no path leads through a file.
const folder = fc.constantFrom('a', 'a-b', 'Z', 'é', '\u{e000}', '\u{1f600}', '__proto__', '0');
const file = fc.constantFrom('x', 'a.txt', 'A', '\uffee', '\u{1f601}', 'constructor', '1', '10');
const path = fc.tuple(fc.array(folder, { maxLength: 4 }), file).map(([folders, name]) => [...folders, name]);

/** Files of a v2 tree, in any order. */
export const flatFiles: fc.Arbitrary<FlatFile[]> = fc
  .uniqueArray(fc.tuple(path, fc.maxSafeNat(), fc.uint8Array({ minLength: 32, maxLength: 32 })), {
    minLength: 1,
    maxLength: 12,
    selector: ([parts]) => parts.join('/'),
  })
  .map((files) =>
    files.map(([parts, length, root]) => ({
      path: parts,
      length,
      ...(length > 0 && { piecesRoot: Buffer.from(root) }),
    })),
  );

/** A component of a path. */
export const name = fc.oneof(folder, file);

/** Text of any script. */
export const text = fc.string({ unit: 'grapheme', maxLength: 12 });

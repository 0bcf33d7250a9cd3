/** Finds which of many paths are another path or a folder above it, in time that grows with the length of the paths, not its square. */

interface Prefix {
  path: string;
  /** The longest other text that this one begins with. */
  above: Prefix | null;
}

/** Some paths with `/`. */
export class PathPrefixes {
  /** In this order, all texts that begin with a text follow it. */
  readonly #sorted: Prefix[] = [];

  constructor(paths: Iterable<string>) {
    for (const path of [...new Set(paths)].sort()) {
      let above = this.#sorted.at(-1) ?? null;
      while (above && !path.startsWith(above.path)) above = above.above;
      this.#sorted.push({ path, above });
    }
  }

  /** Yields those that are the given path or a folder above it, the longest first. */
  *of(path: string): Generator<string> {
    let [first, end] = [0, this.#sorted.length];
    while (first < end) {
      const middle = (first + end) >> 1;
      if ((this.#sorted[middle] as Prefix).path <= path) first = middle + 1;
      else end = middle;
    }
    // In sorted order, the nearest one before the path begins with every prefix of the path that is here.
    let prefix = this.#sorted[first - 1] ?? null;
    let shared = 0;
    while (shared < path.length && prefix?.path.charCodeAt(shared) === path.charCodeAt(shared)) shared += 1;
    for (; prefix; prefix = prefix.above) {
      const { length } = prefix.path;
      if (length === path.length ? shared === length : length <= shared && path[length] === '/') yield prefix.path;
    }
  }
}

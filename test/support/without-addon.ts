/** Runs code as if the addon did not load. */

/** Calls a function while METAINFO_ENGINE is `node`. */
export async function withoutAddon<T>(work: () => T | Promise<T>): Promise<T> {
  const { METAINFO_ENGINE: before } = process.env;
  process.env['METAINFO_ENGINE'] = 'node';
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env['METAINFO_ENGINE'];
    else process.env['METAINFO_ENGINE'] = before;
  }
}

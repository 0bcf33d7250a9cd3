// The folders that a scan starts from: deep trees cost no more for each level, and loops are found.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enter, mayLoop, type Start } from '../../src/disk/scan-starts.ts';

const place = (path: string, disk = path) => ({
  path: path.replaceAll('/', '\0'),
  disk: disk.replaceAll('/', '\0'),
  shown: `/root/${path}`,
});
const startAt = (path: string): Start => ({ ...place(path), top: place(path).disk, link: null });

/** Enters a folder, which an entry of the start's own folder leads to. */
function entered(start: Start, to: ReturnType<typeof place>, isTarget = false): Start {
  const starts: Start[] = [];
  enter(to, { start, disk: start.disk }, isTarget, starts);
  return starts[0] as Start;
}

describe('entering folders', () => {
  it('remembers links only, not every folder on the way', () => {
    let start = startAt('');
    for (let depth = 1; depth <= 3; depth += 1) start = entered(start, place(Array(depth).fill('d').join('/')));
    assert.deepEqual(start, { ...place('d/d/d'), top: '', link: null });
    const linked = entered(start, place('d/d/d/l', 'x'), true);
    assert.equal(linked.link?.start, start);
    const below = entered(linked, place('d/d/d/l/y', 'x/y'));
    assert.equal(below.link, linked.link);
    assert.equal(below.top, 'x');
  });

  it('rejects a folder that contains the entry, before and after links', () => {
    const top = startAt('a');
    const low = entered(top, place('a/b'));
    for (const disk of ['a', 'a/b'])
      assert.throws(() => entered(low, place('a/b/l', disk), true), { code: 'ERR_LINK_LOOP', path: '/root/a/b/l' });
    // The folder above the first one is not on the way, but leads to it again.
    const above = entered(low, place('a/b/l', ''), true);
    assert.ok(mayLoop(above));
    assert.throws(() => entered(above, place('a/b/l/a', 'a')), { code: 'ERR_LINK_LOOP' });
    const beside = entered(above, place('a/b/l/c', 'c'));
    assert.ok(!mayLoop(beside));
    assert.throws(() => entered(beside, place('a/b/l/c/m', 'a/b'), true), { code: 'ERR_LINK_LOOP' });
    assert.ok(entered(beside, place('a/b/l/c/m', 'a/x'), true));
  });
});

// Reading a small torrent with many issues must not block the event loop for longer than a valid one of the same size.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { type Bencode, folder, H20, leaf, raw, single, torrent, v2, withLayers } from '../support/build.ts';

const COUNT = 100_000;
const list = (part: string, count = COUNT) => raw(`l${part.repeat(count)}e`);
const top = (key: string, value: Bencode) => torrent(single, { [key]: value });
const path = (part: string) => torrent(folder([{ length: 1, path: list(part) }], { pieces: H20 }));
/** Returns the entries of a tree in their order; # stands for a number. */
const tree = (entry: string, count: number) =>
  raw(`d${Array.from({ length: count }, (_, i) => entry.replace('#', String(i).padStart(7, '0'))).join('')}e`);
const beneath = (folders: number, value: Bencode): Bencode =>
  Array.from({ length: folders }).reduce<Bencode>((below) => ({ a: below }), value);

/** A valid torrent with as many values as the others. */
const good = top('url-list', list('1:a'));

const FAULTY: Readonly<Record<string, Buffer>> = {
  'webseeds that are not UTF-8': top('url-list', list('1:\xff')),
  'trackers that are not UTF-8': top('announce-list', list('l1:\xffe', COUNT / 2)),
  'components that are not UTF-8': path('1:\xff'),
  'components that are not safe': path('2:..'),
  'names of a tree that are not UTF-8': withLayers(v2(tree('8:\xff#d0:d6:lengthi5eee', COUNT / 5))),
  'files without a root': withLayers(v2(tree('7:#d0:d6:lengthi5eee', COUNT / 5))),
  'files without a root, beneath 90 folders': withLayers(
    v2(beneath(90, tree('7:#d0:d6:lengthi5eee', COUNT / 10)), { 'piece length': 16_384 }),
  ),
  'files whose root is none': withLayers(v2(tree('7:#d0:d6:lengthi5e11:pieces root1:aee', COUNT / 7))),
  'files beneath 300 folders of their own': torrent(
    folder([], {
      files: raw(
        `l${Array.from({ length: COUNT / 300 }, (_, i) => `d6:lengthi1e4:pathl4:${9999 - i}${'1:a'.repeat(300)}ee`).join('')}e`,
      ),
    }),
  ),
  'lengths with leading zeros': top('x', list('01:a')),
  'unknown keys': torrent(single, {
    x: leaf(5),
    ...Object.fromEntries(Array.from({ length: COUNT / 4 }, (_, i) => [`k${1e6 + i}`, 0])),
  }),
};

/** Returns the processor time of this process in seconds: the best of three runs, because the machine may be busy. */
function secondsOf(bytes: Buffer, profile: 'default' | 'compat'): number {
  const rounds = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    try {
      Torrent.inspect(bytes, { context: { profile } });
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'ERR_BENCODE');
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  });
  return Math.min(...rounds);
}

describe('reading a torrent with many issues takes no longer than reading a valid one', () => {
  for (const [what, bytes] of Object.entries(FAULTY)) {
    it(what, (t) => {
      assert.ok(bytes.length < 2_000_000);
      for (const profile of ['default', 'compat'] as const) {
        const ratio = secondsOf(bytes, profile) / secondsOf(good, profile);
        t.diagnostic(`${profile}: ${ratio.toFixed(1)} times a good one`);
        assert.ok(ratio < 20, `${profile}: ${ratio.toFixed(1)} times a good one`);
      }
    });
  }

  it('a decoder throws for few of many strings that are not UTF-8', (t) => {
    const decode = t.mock.method(TextDecoder.prototype, 'decode');
    Torrent.inspect(FAULTY['webseeds that are not UTF-8'] as Buffer);
    Torrent.inspect(FAULTY['names of a tree that are not UTF-8'] as Buffer);
    const thrown = decode.mock.calls.filter(({ error }) => error).length;
    assert.ok(thrown <= 2000, `${thrown} of ${decode.mock.callCount()} calls threw`);
  });
});

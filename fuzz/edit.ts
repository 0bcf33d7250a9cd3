// Fuzzes edits: named fields change, everything else stays byte for byte, and changes can be reverted.
// An input is a list of a torrent, the changes and the index of a profile.
import assert from 'node:assert/strict';
import { BencodeError } from '../src/bencode/bencode-error.ts';
import { decode } from '../src/bencode/decode.ts';
import { LimitError, NO_LIMITS } from '../src/bencode/limits.ts';
import type { BencodeMap, BencodeValue } from '../src/bencode/value.ts';
import type { TorrentChanges } from '../src/edit/changes.ts';
import { edit } from '../src/edit/edit.ts';
import { MetainfoError, ValidationError } from '../src/errors/errors.ts';
import { Torrent } from '../src/model/torrent/torrent.ts';
import { bencode, latin1, Raw } from '../test/support/build.ts';
import { infoOf, scan } from '../test/support/scan.ts';
import { fixtures, type Target, TORRENT_WORDS } from './engine/target.ts';
import { PROFILES } from './torrent.ts';

const TRACKERS = ['announce', 'announce-list'];
/** The keys that a change may touch. */
const TOP: Record<string, readonly string[]> = {
  trackers: TRACKERS,
  addTrackers: TRACKERS,
  removeTrackers: TRACKERS,
  urlList: ['url-list'],
  addWebseeds: ['url-list'],
  removeWebseeds: ['url-list'],
  httpseeds: ['httpseeds'],
  nodes: ['nodes'],
  comment: ['comment', 'comment.utf-8'],
  createdBy: ['created by', 'created by.utf-8'],
  creationDate: ['creation date'],
};
const INFO: Record<string, readonly string[]> = {
  name: ['name', 'name.utf-8', 'file tree'],
  private: ['private'],
  source: ['source'],
  similar: ['similar'],
  collections: ['collections'],
  updateUrl: ['update-url'],
};

const OTHERS = ['extra', 'infoExtra'];

/** Converts bencode to JavaScript values. An empty list becomes null, which removes a key. */
function plain(value: BencodeValue): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  return value;
}

function changesOf(map: BencodeMap): TorrentChanges {
  const changes: Record<string, unknown> = {};
  for (const [key, value] of map) {
    const given = plain(value);
    if (OTHERS.includes(key)) {
      if (!(value instanceof Map)) continue;
      const entries = [...value].map(([name, item]) => [name, Array.isArray(item) && item.length === 0 ? null : item]);
      changes[key] = Object.fromEntries(entries);
    } else if (key === 'private') changes[key] = given === 0 || given === 1 ? given === 1 : given;
    else if (key === 'creationDate' && typeof given === 'number') changes[key] = new Date(given * 1000);
    // Lists to add or remove cannot be null.
    else if (Object.hasOwn(TOP, key) || Object.hasOwn(INFO, key))
      changes[key] = given ?? (/^(add|remove)/.test(key) ? [] : null);
  }
  return changes as TorrentChanges;
}

/** Edits, and returns the result or the documented error. */
function attempt(work: () => Torrent): Torrent | MetainfoError {
  try {
    return work();
  } catch (error) {
    const documented =
      error instanceof MetainfoError && /^ERR_(INVALID_ARGUMENT|INFOHASH|VALIDATION|BENCODE)$/.test(error.code);
    if (!documented) throw error;
    return error;
  }
}

/** The raw entries of a dictionary that no change names. */
function others(bytes: Uint8Array, named: ReadonlySet<string>): string[] {
  return scan(bytes).entries.flatMap(([key, { start, end }]) =>
    named.has(String(key)) ? [] : [`${key} ${Buffer.from(bytes.subarray(start, end)).toString('latin1')}`],
  );
}

function namesOf(changes: TorrentChanges, table: Record<string, readonly string[]>, extra: object = {}): Set<string> {
  const utf8 = (key: string) => Buffer.from(key).toString('latin1');
  return new Set([...Object.keys(changes).flatMap((key) => table[key] ?? []), ...Object.keys(extra).map(utf8)]);
}

/** The content of a torrent, for comparison. */
const said = (torrent: Torrent) => {
  const { announce, announceList, comment, creationDate, webseeds, httpseeds, nodes, files, name, warnings, extra } =
    torrent;
  return { announce, announceList, comment, creationDate, webseeds, httpseeds, nodes, files, name, warnings, extra };
};

export const check: Target['check'] = (input) => {
  let outer: ReturnType<typeof scan>;
  try {
    decode(input, { tolerant: true });
    outer = scan(input);
  } catch (error) {
    if (error instanceof BencodeError || error instanceof LimitError) return;
    throw error;
  }
  const [first, second, third] = outer.entries.map(([, { start, end }]) => input.subarray(start, end));
  if (!first || !second) return;
  const map = decode(second, { tolerant: true }).value;
  const index = third && decode(third, { tolerant: true }).value;
  if (!(map instanceof Map)) return;
  const context = { profile: PROFILES[typeof index === 'number' ? Math.abs(index) % 3 : 0] ?? 'default' };
  let torrent: Torrent;
  try {
    torrent = Torrent.fromBytes(first, { context });
  } catch (error) {
    if (error instanceof MetainfoError) return;
    throw error;
  }
  const changes = changesOf(map);
  const edited = attempt(() => edit(torrent, changes, { context }));
  const kept = attempt(() => edit(torrent, changes, { context, keepInfohash: true }));
  assert.ok(first.equals(torrent.bencode()), 'the torrent stays');
  if (edited instanceof MetainfoError) {
    if (edited instanceof ValidationError) assert.ok(edited.issues.length > 0);
    assert.ok(kept instanceof MetainfoError);
    return;
  }
  const sameInfo = Buffer.compare(edited.infoBytes, torrent.infoBytes) === 0;
  if (kept instanceof MetainfoError) assert.equal(kept.code, 'ERR_INFOHASH');
  assert.equal(kept instanceof MetainfoError, !sameInfo);

  const bytes = Buffer.from(edited.bencode());
  const top = namesOf(changes, TOP, changes.extra);
  const info = namesOf(changes, INFO, changes.infoExtra);
  assert.deepEqual(others(bytes, new Set([...top, 'info'])), others(first, new Set([...top, 'info'])));
  const infoBytes = infoOf(bytes) as Uint8Array;
  assert.deepEqual(others(infoBytes, info), others(torrent.infoBytes, info));
  if (info.size === 0) assert.ok(sameInfo);
  if (Object.keys(changes).length === 0) assert.ok(first.equals(bytes));

  // Reading the bytes of the result gives the same torrent.
  const reread = Torrent.fromBytes(bytes, { context, limits: NO_LIMITS });
  assert.deepEqual(said(edited), said(reread));
  assert.deepEqual([edited.infohashV1, edited.infohashV2], [reread.infohashV1, reread.infohashV2]);
  const { comment, createdBy, creationDate, source, name } = changes;
  // An empty text removes its key.
  if (comment !== undefined) assert.equal(edited.comment, comment || null);
  if (createdBy !== undefined) assert.equal(edited.createdBy, createdBy || null);
  if (creationDate !== undefined) assert.deepEqual(edited.creationDate, creationDate);
  if (source !== undefined) assert.equal(edited.info.source ?? null, source || null);
  if (name !== undefined) assert.equal(edited.name, name);
  if (changes.private !== undefined) assert.equal(edited.info.private ?? null, changes.private || null);

  const isRelative = ['addTrackers', 'removeTrackers', 'addWebseeds', 'removeWebseeds'].some((key) => key in changes);
  if (!isRelative) {
    const twice = attempt(() => edit(edited, changes, { context }));
    assert.ok(!(twice instanceof MetainfoError) && bytes.equals(twice.bencode()), 'twice is once');
  }
  changeBack(torrent, edited, changes, context);
};

/** Where a field represents its key completely, restoring the old value restores the old bytes. */
function changeBack(torrent: Torrent, edited: Torrent, changes: TorrentChanges, context: object): void {
  const fields = Object.keys(changes);
  const isCanonical = torrent.warnings.length === 0;
  if (!isCanonical || !fields.every((key) => ['comment', 'createdBy', 'source'].includes(key))) return;
  if (['comment.utf-8', 'created by.utf-8'].some((key) => torrent.extra.has(key))) return;
  const { comment, createdBy } = torrent;
  const old = { comment, createdBy, source: torrent.info.source ?? null };
  // An edit writes no empty text.
  if (Object.values(old).includes('')) return;
  const back = Object.fromEntries(fields.map((key) => [key, old[key as keyof typeof old]]));
  assert.deepEqual(
    Buffer.from(edit(edited, back, { context }).bencode()),
    Buffer.from(torrent.bencode()),
    'changed back',
  );
}

const CHANGES = [
  {},
  { comment: 'x', createdBy: 'y', creationDate: 5 },
  { comment: [], createdBy: [], source: [], creationDate: [] },
  { comment: '', createdBy: '', source: '' },
  { trackers: ['udp://a'], urlList: ['http://w/'], nodes: [['a.example', 1]], httpseeds: ['http://h/'] },
  {
    addTrackers: ['udp://b.example:1/x'],
    removeTrackers: ['udp://a'],
    addWebseeds: ['http://v/'],
    removeWebseeds: ['http://w/'],
  },
  { name: 'other', private: 1, source: 'S', similar: ['01'.repeat(20)], collections: ['c'], updateUrl: 'http://u/' },
  { extra: { zz: 'x', a: 1, ü: [] }, infoExtra: { zz: [1], a: [] } },
];

export const seeds: Target['seeds'] = async () => {
  const torrents = await fixtures();
  return torrents.flatMap((torrent, i) => {
    const changes = CHANGES[i % CHANGES.length] as never;
    return [bencode([new Raw(torrent), changes, i % 3])];
  });
};
export const words = [
  ...TORRENT_WORDS,
  ...Object.keys(TOP),
  ...Object.keys(INFO),
  ...OTHERS,
  latin1('\xc3\xbc').toString('latin1'),
];

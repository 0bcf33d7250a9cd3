// Other programs make torrents of files on disk. The tests check that metainfo reads these without errors or warnings, and that
// libtorrent still accepts them after metainfo edits, upgrades or updates them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { edit } from '../../src/edit/edit.ts';
import { update } from '../../src/edit/update.ts';
import { upgrade } from '../../src/edit/upgrade.ts';
import type { Issue, ValidationError } from '../../src/errors/errors.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { verify } from '../../src/verify/verify.ts';
import { scopeOf, until, VERSIONS, type Version } from '../support/clients.ts';
import { client, clientMissing, libtorrentMissing } from '../support/external.ts';
import { writeGenerated } from '../support/generated.ts';
import { tried } from '../support/interop.ts';
import { LibtorrentOracle } from '../support/libtorrent.ts';
import { QBittorrent, qbittorrentMissing } from '../support/qbittorrent.ts';

const KIB = 1024;
/** The shortest piece length that mktorrent accepts. */
const PIECE = 32 * KIB;
const TRACKER = 'http://a.example/announce';
const LIMIT_MS = 120_000;

const SIZES: Readonly<Record<string, number>> = {
  empty: 0,
  'one byte': 1,
  'exactly a piece': PIECE,
  'a piece and one': PIECE + 1,
  'nested/deep/er/empty': 0,
  // The next two have equal content, and so the same pieces root.
  'nested/deep/er/équal': 70_000,
  equal: 70_000,
  // Names whose order depends on the comparison: by component or joined, by UTF-16 or UTF-8, by case, by number.
  'a/x': 70_001,
  'a-b/x': 5,
  'a.txt': 16 * KIB,
  A: 3 * KIB,
  10: 1,
  9: 2,
  '\u{1f600}': 2 * PIECE - 1,
  '\uffee': 9,
  // The same name in composed and decomposed Unicode.
  é: 300_001,
  'e\u0301': 7,
  // Names that Windows does not allow.
  ' led by a space': 11,
  'dot.': 12,
  CON: 13,
  'back\\slash': 14,
  '?*:|<>"': 15,
  'tab\tnew\nline': 16,
};
const FILES = Object.entries(SIZES).map(([name, size]) => ({ path: name, size, seed: 0 }));
const ADDED = { path: 'nested/added', size: PIECE + 5, seed: 1 };
/** The files that a torrent is made of. */
interface Content {
  name: string;
  path: string;
  /** Paths with `/` and sizes, sorted. */
  files: [path: string, size: number][];
}

/** The infohashes that a program reports for its torrent; null if it reports none. */
type Infohashes = { v1: string | null; v2: string | null } | null;

/** A program that makes torrents. */
interface Maker {
  version: string;
  make(torrentVersion: Version, content: string, output: string): Promise<Infohashes>;
}

/** Runs a program and returns what it printed. */
async function run(program: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  const { stdout, stderr } = await promisify(execFile)(program, args, {
    env,
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  return `${stdout}\n${stderr}`;
}

function matchIn(text: string, pattern: RegExp): string {
  const [, match] = pattern.exec(text) ?? [];
  assert.ok(match, `${pattern} is not in ${text}`);
  return match;
}

const mktorrent = async (): Promise<Maker> => ({
  version: matchIn(await run(client('mktorrent'), ['-h']), /mktorrent (\S+)/),
  async make(_, content, output) {
    await run(client('mktorrent'), ['-l', String(Math.log2(PIECE)), '-a', TRACKER, '-o', output, content]);
    return null;
  },
});

const buildtorrent = async (): Promise<Maker> => ({
  version: matchIn(await run(client('buildtorrent'), ['-V']), /buildtorrent (\S+)/),
  async make(_, content, output) {
    // -m adds the key `md5sum` to each file.
    await run(client('buildtorrent'), ['-q', '-m', '-l', String(PIECE), '-a', TRACKER, content, output]);
    return null;
  },
});

const transmission = async (): Promise<Maker> => ({
  version: matchIn(await run(client('transmission-create'), ['--version']), /transmission-create (\S+)/),
  async make(_, content, output) {
    await run(client('transmission-create'), ['-s', String(PIECE / KIB), '-t', TRACKER, '-o', output, content]);
    const shown = await run(client('transmission-show'), [output]);
    return { v1: matchIn(shown, /Hash(?: v1)?: ([0-9a-f]{40})\n/), v2: null };
  },
});

/** The package exports neither its command nor its version, so both are read from its folder. */
const CREATE_TORRENT = fileURLToPath(new URL('../../node_modules/create-torrent', import.meta.url));

const createTorrent = async (): Promise<Maker> => ({
  version: (JSON.parse(await readFile(`${CREATE_TORRENT}/package.json`, 'utf8')) as { version: string }).version,
  async make(_, content, output) {
    const args = [`${CREATE_TORRENT}/bin/cmd.js`, content, '-o', output, '--pieceLength', String(PIECE)];
    await run(process.execPath, [...args, '--announce', TRACKER]);
    return null;
  },
});

async function qbittorrent(t: TestContext): Promise<Maker> {
  const program = await QBittorrent.start(scopeOf(t));
  type Task = { taskID: string; status: string; errorMessage?: string };
  type Added = { infohash_v1: string; infohash_v2: string };
  const added = async () => (await (await program.get('torrents/info')).json()) as Added[];
  return {
    version: await program.version(),
    async make(format, content, output) {
      const before = await added();
      // Seeding adds the torrent, and the web API reports the infohashes of added torrents.
      const task = { sourcePath: content, format, pieceSize: String(PIECE), trackers: TRACKER, startSeeding: 'true' };
      const { taskID } = (await (await program.post('torrentcreator/addTask', task)).json()) as Task;
      const isMade = async () => {
        const [now] = (await (await program.get('torrentcreator/status', { taskID })).json()) as Task[];
        assert.notEqual(now?.status, 'Failed', now?.errorMessage);
        return now?.status === 'Finished';
      };
      await until('the torrent that qBittorrent makes', isMade, () => program.log());
      const made = await program.get('torrentcreator/torrentFile', { taskID });
      await writeFile(output, Buffer.from(await made.arrayBuffer()));
      let own: Added | undefined;
      const isNew = (torrent: Added) =>
        before.every((old) => old.infohash_v1 !== torrent.infohash_v1 || old.infohash_v2 !== torrent.infohash_v2);
      const isSeeded = async () => {
        own = (await added()).find(isNew);
        return own !== undefined;
      };
      await until('the torrent that qBittorrent seeds', isSeeded, () => program.log());
      const { infohash_v1, infohash_v2 } = own as unknown as Added;
      return { v1: infohash_v1 || null, v2: infohash_v2 || null };
    },
  };
}

const MAKERS = [
  { name: 'mktorrent', torrentVersions: ['v1'], start: mktorrent, skip: clientMissing('mktorrent') },
  { name: 'buildtorrent', torrentVersions: ['v1'], start: buildtorrent, skip: clientMissing('buildtorrent') },
  {
    name: 'Transmission',
    torrentVersions: ['v1'],
    start: transmission,
    skip: clientMissing('transmission-create') || clientMissing('transmission-show'),
  },
  { name: 'create-torrent', torrentVersions: ['v1'], start: createTorrent, skip: false },
  { name: 'qBittorrent', torrentVersions: VERSIONS, start: qbittorrent, skip: qbittorrentMissing() },
] as const;

/** Flags that change the torrents that libtorrent makes. */
const OPTIONS: readonly { flag: string; torrentVersions: readonly Version[] }[] = [
  // Pad files in v1 too.
  { flag: 'canonical_files', torrentVersions: ['v1'] },
  { flag: 'canonical_files_no_tail_padding', torrentVersions: ['v1', 'hybrid'] },
  { flag: 'modification_time', torrentVersions: VERSIONS },
];

describe('torrents of other makers', () => {
  const noLibtorrent = libtorrentMissing();
  let base = '';
  let oracle: LibtorrentOracle;
  let count = 0;

  before(async () => {
    base = await mkdtemp(path.join(tmpdir(), 'metainfo-makers-'));
    if (!noLibtorrent) oracle = new LibtorrentOracle();
  });
  after(async () => {
    await oracle?.close();
    await rm(base, { recursive: true, force: true });
  });

  const newPath = (ending: string) => {
    count += 1;
    return path.join(base, `${count}${ending}`);
  };

  /** Writes files with a time before any torrent, so that `update` need not read them. */
  async function write(root: string, files: typeof FILES): Promise<Content> {
    await writeGenerated(root, { single: false, pieceLength: PIECE, files });
    for (const one of files) await utimes(path.join(root, one.path), 1e9, 1e9);
    return { name: 'folder', path: root, files: listOf(files.map((one) => [one.path, one.size])) };
  }

  const folder = (files = FILES) => write(path.join(newPath(''), 'hard ünd schön'), files);

  async function singleFile(): Promise<Content> {
    const [name, size] = ['a film\u{1f600}.mkv', 3 * PIECE + 1];
    const { path: root, files } = await write(newPath(''), [{ path: name, size, seed: 0 }]);
    return { name: 'file', path: path.join(root, name), files };
  }

  /** Reads a torrent and compares it with its maker's infohashes, with libtorrent and with the files on disk. */
  async function check(
    file: string,
    torrentVersion: Version,
    content: Content,
    reported: Infohashes,
  ): Promise<Torrent> {
    const torrent = await Torrent.read(file);
    assert.equal(torrent.torrentVersion, torrentVersion);
    assert.deepEqual(torrent.warnings, []);
    if (reported)
      assert.deepEqual([torrent.infohashV1, torrent.infohashV2], [reported.v1, reported.v2], 'as its maker says');
    await agree(torrent, file, content);

    const written = newPath('.torrent');
    await torrent.write(written);
    assert.deepEqual(await readFile(written), await readFile(file), 'written back');
    return torrent;
  }

  /** Asserts that a torrent agrees with what libtorrent reads from its file, and with the files on disk. */
  async function agree(torrent: Torrent, file: string, content: Content): Promise<void> {
    const { v1, v2 } = await oracle.load(file);
    assert.deepEqual([torrent.infohashV1, torrent.infohashV2], [v1, v2], 'as libtorrent reads it');
    assert.deepEqual(listOf(torrent.files.map((one) => [one.path, one.length])), content.files);
    const { ok, badPieces, extraFiles } = await verify(torrent, content.path);
    assert.deepEqual({ ok, badPieces, extraFiles }, { ok: true, badPieces: [], extraFiles: [] });
  }

  async function agreeOnceWritten(torrent: Torrent, content: Content): Promise<void> {
    assert.deepEqual(torrent.warnings, []);
    const file = newPath('.torrent');
    await torrent.write(file);
    await agree(torrent, file, content);
  }

  /** Edits, upgrades or updates the torrent, and checks the results with libtorrent. */
  async function change(torrent: Torrent, content: Content): Promise<void> {
    const { infohashV1, infohashV2 } = torrent;
    const changes = { addTrackers: ['udp://b.example/x'], comment: 'a cömment' };
    const edited = edit(torrent, changes, { keepInfohash: true });
    assert.deepEqual([edited.infohashV1, edited.infohashV2], [infohashV1, infohashV2]);
    assert.deepEqual([edited.comment, edited.flatTrackers.at(-1)], [changes.comment, ...changes.addTrackers]);
    await agreeOnceWritten(edited, content);

    if (torrent.torrentVersion === 'v1') {
      const { torrent: upgraded, bytesRead } = await upgrade(torrent, content.path);
      assert.deepEqual([upgraded.torrentVersion, bytesRead], ['hybrid', 2 * torrent.totalSize]);
      await agreeOnceWritten(upgraded, content);
    } else if (content.name === 'folder') {
      const grown = await folder([...FILES, ADDED]);
      const { torrent: updated, fileTimes: _, ...rest } = await update(torrent, grown.path, { since: null });
      const expected = { bytesRead: ADDED.size, added: [ADDED.path], changed: [], removed: [], renamed: [] };
      assert.deepEqual(rest, expected);
      await agreeOnceWritten(updated, grown);
    }
  }

  /** Tests all versions that a program can make, each of a folder and of a single file. */
  async function tryAll(
    t: TestContext,
    name: string,
    torrentVersions: readonly Version[],
    { version, make }: Maker,
  ): Promise<void> {
    for (const torrentVersion of torrentVersions) {
      await t.test(torrentVersion, async () => {
        for (const content of [await folder(), await singleFile()]) {
          const file = newPath('.torrent');
          const reported = await make(torrentVersion, content.path, file);
          await change(await check(file, torrentVersion, content, reported), content);
        }
        tried({ client: name, version, torrentVersion, what: 'torrents made by it are read and verified' });
      });
    }
  }

  for (const { name, torrentVersions, start, skip } of MAKERS) {
    it(`are read and can be changed: ${name}`, { skip: noLibtorrent || skip, timeout: LIMIT_MS }, async (t) => {
      await tryAll(t, name, torrentVersions, await start(t));
    });
  }

  const withLibtorrent = (torrentVersion: Version, content: string, output: string, flags: readonly string[] = []) =>
    oracle.make({ make: content, output, version: torrentVersion, pieceLength: PIECE, flags });

  it('are read and can be changed: libtorrent', { skip: noLibtorrent, timeout: LIMIT_MS }, async (t) => {
    await tryAll(t, 'libtorrent', VERSIONS, { version: await oracle.version(), make: withLibtorrent });
  });

  for (const { flag, torrentVersions } of OPTIONS) {
    for (const torrentVersion of torrentVersions) {
      it(`are read and can be changed: libtorrent, ${torrentVersion} with ${flag}`, {
        skip: noLibtorrent,
        timeout: LIMIT_MS,
      }, async () => {
        const content = await folder();
        const [plain, file] = [newPath('.torrent'), newPath('.torrent')];
        const reported = await withLibtorrent(torrentVersion, content.path, file, [flag]);
        const { v1, v2 } = await withLibtorrent(torrentVersion, content.path, plain);
        assert.notDeepEqual([reported.v1, reported.v2], [v1, v2], 'the flag makes no difference');
        await change(await check(file, torrentVersion, content, reported), content);
      });
    }
  }

  for (const torrentVersion of VERSIONS) {
    it(`are read and can be changed: libtorrent, ${torrentVersion} with symbolic links`, {
      skip: noLibtorrent,
      timeout: LIMIT_MS,
    }, async () => {
      const content = await folder();
      await symlink('a.txt', path.join(content.path, 'link'));
      // A link has no content of its own.
      content.files = listOf([...content.files, ['link', 0]]);
      const file = newPath('.torrent');
      const reported = await withLibtorrent(torrentVersion, content.path, file, ['symlinks']);
      const torrent = await check(file, torrentVersion, content, reported);
      assert.match(torrent.files.find((one) => one.path === 'link')?.attr ?? '', /l/);
      if (torrentVersion === 'v1') await change(torrent, content);

      // libtorrent stores the text of the link, while BEP 47 asks for a path from the root: so `..` may lead out of it.
      await symlink('../a.txt', path.join(content.path, 'nested/up'));
      const upwards = newPath('.torrent');
      await withLibtorrent(torrentVersion, content.path, upwards, ['symlinks']);
      await assert.rejects(Torrent.read(upwards), ({ issues }: ValidationError) => codesOf(issues) === 'unsafe_path');
      const forgiven = await Torrent.read(upwards, { context: { profile: 'compat' } });
      assert.equal(codesOf(forgiven.warnings), 'unsafe_path');
      assert.equal((await verify(forgiven, content.path)).ok, true);
    });
  }
});

/** Returns the different codes of issues. */
function codesOf(issues: readonly Issue[]): string {
  return [...new Set(issues.map(({ code }) => code))].join();
}

function listOf(files: [path: string, size: number][]): [path: string, size: number][] {
  return files.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

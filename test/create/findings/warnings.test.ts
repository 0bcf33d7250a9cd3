import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decode } from '../../../src/bencode/decode.ts';
import { LimitError } from '../../../src/bencode/limits.ts';
import { TorrentCreate } from '../../../src/create/draft.ts';
import { measureFiles } from '../../../src/create/findings/file-sizes.ts';
import type { Finding } from '../../../src/create/findings/findings.ts';
import { limitFindings } from '../../../src/create/findings/reader-limits.ts';
import { SizesOf, sizesOf, type TorrentShape } from '../../../src/create/findings/torrent-sizes.ts';
import { edit } from '../../../src/edit/edit.ts';
import { withoutContent } from '../../../src/edit/replace-fields.ts';
import { update } from '../../../src/edit/update.ts';
import { upgrade } from '../../../src/edit/upgrade.ts';
import type { Engine } from '../../../src/hash/engine.ts';
import { layerCount } from '../../../src/hash/hash-request.ts';
import { FileTable } from '../../../src/layout/file-table.ts';
import type { InfoDictHybridCreate } from '../../../src/model/info-dict.ts';
import { Torrent } from '../../../src/model/torrent/torrent.ts';
import { verify } from '../../../src/verify/verify.ts';
import { engineMissing } from '../../support/engine.ts';
import { libtorrentMissing } from '../../support/external.ts';
import { tree, writeGenerated } from '../../support/generated.ts';
import { LibtorrentOracle } from '../../support/libtorrent.ts';
import { runs } from '../../support/runs.ts';
import { sparseFile, temporaryFolder } from '../../support/tree.ts';

const KIB = 1024;
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

/** An engine that hashes nothing, and notes whether it was started. */
function idleEngine(): Engine & { starts: number } {
  const engine = {
    kernel: 'idle',
    starts: 0,
    start: ({ files: given, version, pieceLength, paddedFiles = 0 }: Parameters<Engine['start']>[0]) => {
      engine.starts += 1;
      const files = [...given];
      const padded = (length: number, index: number) => {
        return index < paddedFiles ? Math.ceil(length / pieceLength) * pieceLength : length;
      };
      const bytes = files.reduce((sum, { length }, index) => sum + padded(length, index), 0);
      const layers = files.reduce((sum, file) => sum + layerCount(file, pieceLength), 0);
      const digests = {
        v1: version === 'v2' ? null : Buffer.alloc(20 * Math.ceil(bytes / pieceLength), 1),
        v2:
          version === 'v1' ? null : { roots: Buffer.alloc(32 * files.length, 1), layers: Buffer.alloc(32 * layers, 1) },
      };
      const progress = () => ({ bytes, fileIndex: 0, queued: 0 });
      return { done: Promise.resolve(digests), progress, cancel: () => {} };
    },
  };
  return engine as unknown as Engine & { starts: number };
}

/** Sources with one byte each. */
const sourcesOf = (paths: readonly string[]) => paths.map((name) => ({ path: name, data: Buffer.from('x') }));

/** A list that collects warnings. */
function collected() {
  const warnings: Finding[] = [];
  return { warnings, onWarning: (warning: Finding) => void warnings.push(warning) };
}

const codes = (warnings: readonly Finding[]) => warnings.map(({ code }) => code);

describe('sizes known before hashing', () => {
  it('equal the sizes of the torrent', async (t) => {
    const base = await temporaryFolder(t);
    let count = 0;
    const options = fc.record({
      version: fc.constantFrom(...VERSIONS),
      padding: fc.boolean(),
      tailPad: fc.boolean(),
      padNames: fc.constantFrom('auto' as const, 'libtorrent' as const, 'unique' as const),
    });
    await fc.assert(
      fc.asyncProperty(tree, options, async (given, how) => {
        count += 1;
        const root = path.join(base, String(count));
        await writeGenerated(root, given);
        const pathRoot = given.single ? path.join(root, given.files[0]?.path ?? '') : root;
        const fields = { pathRoot, pieceLength: given.pieceLength, comment: 'ü', trackers: ['udp://a.example/x'] };
        const draft = new TorrentCreate({ ...fields, info: { name: 'té', private: true } });
        const torrent = await draft.generate({ ...how, onWarning: () => {} });
        const { pieceLength, length } = torrent.info as InfoDictHybridCreate;
        const isSingleFile = torrent.torrentVersion === 'v2' ? false : length != null;
        const files = torrent.files.map((file) => ({
          ...file,
          attr: file.attr ?? undefined,
          path: file.path.split('/'),
        }));
        const otherFields = withoutContent(torrent as Torrent);
        const shape = {
          version: how.version,
          isSingleFile,
          name: 'té',
          pieceLength: pieceLength as number,
          padding: how.version === 'hybrid' || (how.version === 'v1' && how.padding) ? how : null,
          files: new FileTable(files),
          otherFields,
        };
        const sizes = sizesOf(shape, await measureFiles(shape, 100));
        // Files of equal content share one layer.
        const roots = files.filter((one) => one.length > (pieceLength as number)).map((one) => String(one.piecesRoot));
        if (new Set(roots).size < roots.length) return;
        const bytes = torrent.bencode();
        assert.equal(sizes.bytes, bytes.length);
        const { items, depth } = sizes;
        decode(bytes, { limits: { items, depth } });
        for (const limits of [{ items: items - 1 }, { depth: depth - 1 }])
          assert.throws(() => decode(bytes, { limits }), LimitError);
        assert.equal(sizes.pieces, torrent.nPieces);
      }),
      { numRuns: runs(60) },
    );
  });
});

describe('a torrent beyond the default limits of readers', () => {
  const FOLDER = `${'d/'.repeat(90)}`;
  const FILES = 27_000;
  const fields = { info: { name: 'large' }, pieceLength: 16 * KIB };
  const draftOf = () =>
    new TorrentCreate({ ...fields, sources: sourcesOf(Array.from({ length: FILES }, (_, i) => `${FOLDER}${i}`)) });
  const limits = { items: 4_000_000 };

  it('gets a warning before the first file is hashed', async () => {
    for (const version of ['hybrid', 'v1'] as const) {
      const engine = idleEngine();
      const { warnings, onWarning } = collected();
      const told = (warning: Finding) => {
        assert.equal(engine.starts, 0);
        onWarning(warning);
      };
      const torrent = await draftOf().generate({ version, engine, onWarning: told, padNames: 'libtorrent' });
      assert.equal(torrent.nFiles, FILES);
      const bytes = torrent.bencode();
      const text = warnings.map(({ message }) => message).join('\n');
      if (version === 'v1') {
        assert.equal(text, '');
        Torrent.fromBytes(bytes);
        continue;
      }
      assert.match(
        text,
        /has (3\d{6}) bencoded values: metainfo reads at most 3000000, and more with limits: \{ items: N \}/,
      );
      assert.match(text, /has 3\d{6} bencoded values: libtorrent \(qBittorrent, Deluge\) loads at most 3000000\./);
      assert.deepEqual([...new Set(codes(warnings))], ['reader_limit', 'pad_names']);
      assert.throws(() => Torrent.fromBytes(bytes), {
        code: 'ERR_LIMIT',
        message: /raise it with limits: \{ items: N \}/,
      });
      const read = Torrent.fromBytes(bytes, { limits });
      assert.equal(edit(read, { comment: 'x' }).infohashV2, torrent.infohashV2);
    }
  });

  it('fails with the error of onWarning before anything is hashed', async () => {
    const engine = idleEngine();
    const stop = new Error('too large');
    const onWarning = () => Promise.reject(stop);
    await assert.rejects(draftOf().generate({ engine, onWarning }), (error) => error === stop);
    assert.equal(engine.starts, 0);
  });

  it('can be verified, updated and upgraded to, also with the maker libtorrent', async (t) => {
    const root = path.join(await temporaryFolder(t), 'large');
    await mkdir(path.join(root, FOLDER), { recursive: true });
    for (let i = 0; i < FILES; i += 1) writeFileSync(path.join(root, FOLDER, String(i)), 'x');
    const draft = new TorrentCreate({ ...fields, pathRoot: root });
    const quiet = { onWarning: () => {}, padNames: 'libtorrent' as const };
    const hybrid = await draft.generate(quiet);
    assert.equal((await verify(hybrid, root)).ok, true);
    const { warnings, onWarning } = collected();
    const updated = await update(hybrid, root, { onWarning, since: new Date(0) });
    assert.deepEqual(updated.torrent.bencode(), hybrid.bencode());
    assert.deepEqual([...new Set(codes(warnings))], ['reader_limit', 'pad_names']);
    const again = collected();
    const upgraded = await upgrade(await draft.generate({ version: 'v1' }), root, {
      onWarning: again.onWarning,
      padNames: 'libtorrent',
    });
    assert.equal(upgraded.torrent.infohashV2, hybrid.infohashV2);
    assert.deepEqual(codes(again.warnings), codes(warnings));
    if (engineMissing()) return;
    const theirs = collected();
    const bytes = await draft.generateExt({ bencode: true, onWarning: theirs.onWarning });
    assert.deepEqual(codes(theirs.warnings), codes(warnings));
    assert.equal(Torrent.fromBytes(bytes, { limits }).infohashV2, hybrid.infohashV2);
  });

  it('may be one file with more pieces than the limit', async (t) => {
    const pieceLength = 16 * KIB;
    const pathRoot = await sparseFile(await temporaryFolder(t), 'film', 10_000_001 * pieceLength);
    const { warnings, onWarning } = collected();
    const draft = new TorrentCreate({ pathRoot, pieceLength });
    const torrent = await draft.generate({ version: 'v1', engine: idleEngine(), onWarning });
    assert.equal(torrent.nPieces, 10_000_001);
    const text = warnings.map(({ message }) => message).join('\n');
    assert.match(text, /10000001 pieces: metainfo reads at most 10000000, and more with limits: \{ pieces: N \}/);
    assert.match(text, /10000001 pieces: libtorrent \(qBittorrent, Deluge\) loads at most 2097152\./);
    assert.match(text, /200000\d\d\d bytes: qBittorrent loads at most 104857600\./);
    assert.throws(() => Torrent.fromBytes(torrent.bencode()), {
      code: 'ERR_LIMIT',
      message: /raise it with limits: \{ pieces: N \}/,
    });
    assert.equal(Torrent.fromBytes(torrent.bencode(), { limits: { pieces: 10_000_001 } }).nPieces, 10_000_001);
  });

  it('may be as deep as the limits of a reader allow, and no deeper', async () => {
    const made = async (components: number, version: (typeof VERSIONS)[number] = 'v2') => {
      const { warnings, onWarning } = collected();
      const draft = new TorrentCreate({ ...fields, sources: sourcesOf(['a', `${'d/'.repeat(components - 1)}b`]) });
      const engine = idleEngine();
      const torrent = await draft.generate({ version, engine, onWarning }).finally(() => {
        if (components > 996 && version !== 'v1') assert.equal(engine.starts, 0);
      });
      return { torrent, messages: warnings.map(({ message }) => message) };
    };
    assert.deepEqual((await made(95)).messages, []);
    for (const components of [96, 996]) {
      const { torrent, messages } = await made(components);
      assert.equal(messages.length, 2);
      assert.throws(() => Torrent.fromBytes(torrent.bencode()), {
        code: 'ERR_LIMIT',
        message: /raise it with limits: \{ depth: N \}/,
      });
      assert.equal(Torrent.fromBytes(torrent.bencode(), { limits: { depth: components + 4 } }).nFiles, 2);
    }
    for (const version of ['v2', 'hybrid'] as const)
      await assert.rejects(made(997, version), {
        code: 'ERR_NAME',
        message: /997 components, but .+ at most 996: make a v1 torrent/,
      });
    assert.deepEqual((await made(5000, 'v1')).messages, []);
  });

  it('gets warnings of lengths that libtorrent does not support', async () => {
    const shape: TorrentShape = {
      version: 'v2',
      isSingleFile: true,
      name: 'a',
      pieceLength: 2 ** 29,
      padding: null,
      files: new FileTable([{ path: ['a'], length: 2 ** 44 }]),
      otherFields: new Map(),
    };
    const messages = (await limitFindings(new SizesOf(shape))).map(({ message }) => message);
    assert.equal(messages.length, 2);
    assert.match(messages[0] ?? '', /536870912 bytes in a piece: libtorrent .+ at most 536854528\./);
    assert.match(messages[1] ?? '', /17592186044416 bytes in one file: libtorrent .+ at most 17592186028032\./);
    const files = new FileTable([{ path: ['a'], length: 2 ** 43 }]);
    assert.deepEqual(await limitFindings(new SizesOf({ ...shape, pieceLength: 2 ** 28, files })), []);
  });

  it('warns through process.emitWarning by default, once of each kind', async (t) => {
    const emit = t.mock.method(process, 'emitWarning', () => {});
    for (let i = 0; i < 3; i += 1)
      await new TorrentCreate({ ...fields, sources: sourcesOf(['a', 'b']) }).generate({
        engine: idleEngine(),
        padNames: 'libtorrent',
      });
    assert.equal(emit.mock.callCount(), 1);
    const [message, options] = (emit.mock.calls[0] as { arguments: unknown[] }).arguments as [string, object];
    assert.deepEqual(options, { type: 'MetainfoWarning', code: 'pad_names' });
    assert.match(
      message,
      /^Several pad files have the same path, such as \.pad\/16383 \(1 repeat among 2 pad files\): Transmission 4\.1\.1 and later refuse/,
    );
  });
});

describe('a file named like a pad file of BitComet', () => {
  const NAME = '_____padding_file_0_if you see this file, please update to BitComet 0.85 or above____';
  const sizes = { a: 10_000, [NAME]: 6_384, z: 16_384 };
  const sources = Object.entries(sizes).map(([name, size]) => ({ path: name, data: Buffer.alloc(size, name) }));
  const draft = new TorrentCreate({ info: { name: 't' }, pieceLength: 16 * KIB, sources });

  for (const version of VERSIONS) {
    for (const padding of version === 'v1' ? [false, true] : [true]) {
      it(`is an ordinary file in ${version}${padding ? ' with pad files' : ''}`, async () => {
        const { warnings, onWarning } = collected();
        const torrent = await draft.generate({ version, padding, onWarning });
        const read = Torrent.fromBytes(torrent.bencode());
        assert.deepEqual(read.files.map(({ path: name }) => name).sort(), [NAME, 'a', 'z']);
        assert.equal(read.totalSize, 32_768);
        const named = warnings.filter(({ code }) => code === 'named_like_pad');
        assert.equal(named.length, version === 'v2' ? 0 : 1);
        const effect = version === 'v1' ? /treat it as padding and never download it/ : /refuse the torrent/;
        if (version !== 'v2') assert.match(named[0]?.message ?? '', effect);
      });
    }
  }

  it('is treated as a pad file by libtorrent, as the warning says', { skip: libtorrentMissing() }, async (t) => {
    const folder = await temporaryFolder(t);
    const oracle = new LibtorrentOracle();
    t.after(() => oracle.close());
    for (const version of VERSIONS) {
      const file = path.join(folder, `${version}.torrent`);
      await (await draft.generate({ version, onWarning: () => {} })).write(file);
      if (version === 'hybrid') await assert.rejects(oracle.load(file), /does not match|mismatch/);
      else assert.equal((await oracle.load(file)).files >= 3, true);
    }
  });
});

describe('a v2 folder with a single file', () => {
  it('gets one warning', async () => {
    const made = async (name: string, version: (typeof VERSIONS)[number], root = 'folder') => {
      const { warnings, onWarning } = collected();
      const draft = new TorrentCreate({ info: { name: root }, pieceLength: 16 * KIB, sources: sourcesOf([name]) });
      await draft.generate({ version, onWarning });
      return codes(warnings);
    };
    assert.deepEqual(await made('a', 'v2'), ['single_file_folder']);
    assert.deepEqual(await made('a', 'v2', 'a'), []);
    // The folder stays.
    assert.deepEqual(await made('b/a', 'v2'), []);
    for (const version of ['v1', 'hybrid'] as const) assert.deepEqual(await made('a', version), []);
  });
});

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import { isPadFile } from '../../src/layout/padding.ts';
import type { FileItem } from '../../src/model/file-item.ts';
import type { InfoDictHybrid } from '../../src/model/info-dict.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { verify } from '../../src/verify/verify.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const PIECE = 16_384;

describe('content in the folder of pad files', () => {
  // 300 files are laid out by native code.
  for (const count of [1, 300])
    it(`gets a warning, and pad files another folder: ${count} more files`, async (t) => {
      const root = path.join(await temporaryFolder(t), 'd');
      const more = Object.fromEntries(Array.from({ length: count }, (_, i) => [`z/${i}`, 10 + i]));
      await writeTree(root, { a: 1000, '.pad/15384': 15_384, '.pad/9': 9, ...more });
      const draft = new TorrentCreate({ pathRoot: root, pieceLength: PIECE });
      const { findings } = await draft.plan();
      const found = findings.filter(({ code }) => code === 'pad_folder');
      assert.deepEqual(
        found.map(({ severity, path: at }) => [severity, at]),
        [['warning', '.pad/15384']],
      );
      const warned: string[] = [];
      const torrent = await draft.generate({ onWarning: ({ code }) => warned.push(code) });
      assert.ok(warned.includes('pad_folder'));
      const files = (torrent.info as InfoDictHybrid).files as FileItem[];
      const pads = files.filter(isPadFile).map(({ path: parts }) => parts[0]);
      assert.deepEqual(new Set(pads), new Set(['.pad_']));
      const paths = files.filter((file) => !isPadFile(file)).map(({ path: parts }) => parts.join('/'));
      assert.equal(new Set(paths).size, paths.length);
      assert.ok(Torrent.fromBytes(torrent.bencode(), { context: { profile: 'strict' } }));
    });

  it('is refused by strict where a pad file has its path', async (t) => {
    const root = path.join(await temporaryFolder(t), 'd');
    await writeTree(root, { a: 1000, 'xpad/15384': 1, z: 5 });
    const torrent = await new TorrentCreate({ pathRoot: root, pieceLength: PIECE }).generate({
      version: 'v1',
      padding: true,
    });
    const bytes = Buffer.from(torrent.bencode());
    bytes.write('.pad', bytes.indexOf('xpad'));
    assert.ok(Torrent.fromBytes(bytes));
    const { issues } = Torrent.inspect(bytes, { context: { profile: 'strict' } });
    assert.deepEqual(
      issues.map(({ code }) => code),
      ['duplicate_path'],
    );
  });
});

describe('normalize', () => {
  it('writes composed names of files, folders, links and the torrent', async (t) => {
    const root = path.join(await temporaryFolder(t), 'Cafe\u0301');
    await writeTree(root, { 'u\u0308/e\u0301': 9, plain: 8 });
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      const torrent = await new TorrentCreate({ pathRoot: root, normalize: 'nfc' }).generate({ version });
      assert.deepEqual(
        [torrent.name, torrent.files.map((file) => file.path)],
        ['Caf\u00e9', ['plain', '\u00fc/\u00e9']],
      );
      const { ok, files } = await verify(torrent, root);
      assert.deepEqual([ok, files[1]?.foundAs], [true, 'u\u0308/e\u0301']);
      const { findings } = await new TorrentCreate({ pathRoot: root, normalize: 'nfc' }).plan({ version });
      assert.ok(!findings.some(({ code }) => code === 'unicode_form'));
    }
    const { findings } = await new TorrentCreate({ pathRoot: root }).plan();
    assert.equal(findings.filter(({ code }) => code === 'unicode_form').length, 3);
  });

  it('refuses two names with one composed form', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { 'e\u0301': 9, '\u00e9': 8 });
    assert.equal((await readdir(root)).length, 2);
    await assert.rejects(new TorrentCreate({ pathRoot: root, normalize: 'nfc' }).generate({ version: 'v1' }), {
      code: 'ERR_DUPLICATE_PATH',
    });
  });
});

/** Takes each key of src/model/keys.ts through creating, reading, editing, JSON, printing, the command and its configuration. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FIELD_OF_OPTION, FLAG_OF_FIELD } from '../../src/cli/options/key-options.ts';
import { flagText } from '../../src/cli/terminal/messages.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { TorrentCreateFields } from '../../src/create/draft-fields.ts';
import { differences } from '../../src/edit/differences.ts';
import { edit } from '../../src/edit/edit.ts';
import { IN_INFO, KEYS, type Kind } from '../../src/model/keys.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { TorrentFields } from '../../src/model/torrent/torrent-fields.ts';
import { formatTorrent } from '../../src/print/print-torrent.ts';
import { folderWith } from './config/folder.ts';
import { metainfo, read } from './run.ts';

const HASH = 'ab'.repeat(20);

/** A value of each kind: for the library, as JSON, as a word of the command, and in printed lines. */
const SAMPLES: { readonly [K in Kind]: { value: unknown; json: unknown; word: string; printed: string } } = {
  text: { value: 'some text', json: 'some text', word: 'some text', printed: 'some text' },
  flag: { value: true, json: true, word: '', printed: 'yes' },
  date: { value: new Date(86_400_000), json: '1970-01-02T00:00:00.000Z', word: '@86400', printed: '1970-01-02' },
  url: {
    value: 'https://a.example/x',
    json: 'https://a.example/x',
    word: 'https://a.example/x',
    printed: 'a.example/x',
  },
  urls: {
    value: ['https://a.example/x'],
    json: ['https://a.example/x'],
    word: 'https://a.example/x',
    printed: 'a.example/x',
  },
  texts: { value: ['some text'], json: ['some text'], word: 'some text', printed: 'some text' },
  infohashes: { value: [HASH], json: [HASH], word: HASH, printed: HASH },
  nodes: {
    value: [['a.example', 6881]],
    json: [['a.example', 6881]],
    word: 'a.example:6881',
    printed: 'a.example:6881',
  },
};

const ROWS = Object.entries(KEYS);
const jsonName = (name: string) => (name === 'urlList' ? 'webseeds' : name);
const jsonOf = (torrent: Torrent, name: string) =>
  (torrent.toJSON() as unknown as Record<string, unknown>)[jsonName(name)];
const plain = { name: 'some text', createdBy: null };

/** A torrent of one short source, which the short path makes, or of two. */
const make = (fields: object, count: number) =>
  new TorrentCreate({
    ...plain,
    ...fields,
    sources: ['some text', 'b'].slice(0, count).map((path) => ({ path, data: Buffer.from('hello') })),
  }).generate({ version: 'v1' });

describe('every key', () => {
  for (const [name, { key, kind, label }] of ROWS) {
    const { value, json, printed } = SAMPLES[kind];
    const isInInfo = name in IN_INFO;

    for (const count of [1, 2])
      it(`${name} is created, read, printed and removed by an edit (${count} files)`, async () => {
        const made = await make({ [name]: value }, count);
        const torrent = Torrent.fromBytes(made.bencode());
        assert.deepEqual(torrent, made);
        assert.deepEqual([jsonOf(torrent, name), jsonOf(made, name)], [json, json]);
        const inInfo = { name: null, info: { name: plain.name, [name]: value } };
        if (isInInfo) assert.deepEqual((await make(inInfo, count)).bencode(), made.bencode());
        const lines = [...formatTorrent(torrent, { verbose: 1 })];
        const word = name === 'urlList' ? 'webseed' : (label ?? key);
        assert.ok(
          lines.some((line) => line.startsWith(word) && line.includes(printed)),
          lines.join('\n'),
        );

        const without = await make({}, count);
        assert.deepEqual(edit(without, { [name]: value }).bencode(), made.bencode());
        const changed = differences(without, made).map((difference) => difference.key);
        assert.deepEqual(changed, name === 'name' ? [] : [isInInfo ? `info.${key}` : key]);
        if (name !== 'name') assert.deepEqual(edit(made, { [name]: null }).bencode(), without.bencode());
      });

    it(`${name} has a struct and an option, which messages name`, () => {
      assert.ok(name in TorrentCreateFields.schema);
      assert.ok(isInInfo || name in TorrentFields.schema);
      assert.ok([...FIELD_OF_OPTION.values()].includes(name));
      assert.equal(flagText(name), FLAG_OF_FIELD[name]);
    });
  }

  const optionsOf = (names: readonly string[]) =>
    names.map((name): [string, string] => [
      (FLAG_OF_FIELD[name] as string).slice(2),
      SAMPLES[KEYS[name as keyof typeof KEYS].kind].word,
    ]);
  const all = optionsOf(ROWS.map(([name]) => name));
  const words = all.flatMap(([option, word]) => [`--${option}`, word].filter((one) => one !== ''));

  it('is set by create, by edit, and by a preset of the configuration', async (t) => {
    const settings = all
      .filter(([option]) => option !== 'name')
      .map(([option, word]) => `${option} = ${word === '' ? true : JSON.stringify(word)}`);
    const run = await folderWith(t, `[presets.all]\n${settings.join('\n')}\n`);
    const runs = [
      ['create', 'album', '-o', 'a.torrent', ...words],
      ['create', 'album', '-o', 'b.torrent', '--preset', 'all', '--name', 'some text'],
      ['create', 'album', '-o', 'c.torrent'],
      ['edit', 'c.torrent', ...words],
      ['create', 'album', '-o', 'd.torrent', '--name', 'some text'],
      ['edit', 'd.torrent', '--preset', 'all'],
    ];
    for (const args of runs) {
      const { code, stdout, stderr } = await metainfo([...args, '-q'], run);
      assert.equal(code, 0, stdout + stderr);
    }
    for (const file of ['a.torrent', 'b.torrent', 'c.torrent', 'd.torrent']) {
      const torrent = await read(run.cwd as string, file);
      for (const [name, { kind }] of ROWS)
        assert.deepEqual(jsonOf(torrent, name), SAMPLES[kind].json, `${file} ${name}`);
    }
    const { stdout } = await metainfo(['show', 'a.torrent', '--json'], run);
    for (const [name, { kind }] of ROWS) assert.deepEqual(JSON.parse(stdout)[jsonName(name)], SAMPLES[kind].json);
  });
});

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { HintingCommand } from '../../../src/cli/options/hints.ts';
import { withWildcards } from '../../../src/cli/options/wildcards.ts';
import { temporaryFolder } from '../../support/tree.ts';

const NAMES = ['b.torrent', 'a.torrent', 'A2.TORRENT', '.hidden.torrent', '[x] {a,b} 1.mkv', '!n 1.mkv', 'c.txt'];

/** A folder with files, and the folder `sub1` with one. */
async function setUp(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const name of NAMES) await writeFile(path.join(folder, name), '');
  await mkdir(path.join(folder, 'sub1'));
  await writeFile(path.join(folder, 'sub1', 'd.torrent'), '');
  return folder;
}

describe('withWildcards', () => {
  const cases: [pattern: string, names: string[]][] = [
    ['*.torrent', ['A2.TORRENT', 'a.torrent', 'b.torrent']],
    ['?.torrent', ['a.torrent', 'b.torrent']],
    ['.*.torrent', ['.hidden.torrent']],
    ['*', ['!n 1.mkv', 'A2.TORRENT', '[x] {a,b} 1.mkv', 'a.torrent', 'b.torrent', 'c.txt', 'sub1']],
    // Only * and ? are wildcards there.
    ['[x] {a,b} ?.mkv', ['[x] {a,b} 1.mkv']],
    ['[ab].torren?', ['[ab].torren?']],
    ['!n ?.mkv', ['!n 1.mkv']],
    ['sub?/*.torrent', ['sub1/d.torrent']],
    ['*/*.torrent', ['sub1/d.torrent']],
    ['sub1/**', ['sub1/d.torrent']],
    ['**', ['!n 1.mkv', 'A2.TORRENT', '[x] {a,b} 1.mkv', 'a.torrent', 'b.torrent', 'c.txt', 'sub1']],
    ['*.nothing', ['*.nothing']],
    ['nowhere/*', ['nowhere/*']],
    ['a.torrent', ['a.torrent']],
    ['c.txt/*', ['c.txt/*']],
  ];
  for (const [pattern, names] of cases)
    it(`expands ${pattern}, in any letter case, without hidden files`, async (t) => {
      const folder = await setUp(t);
      const below = (name: string) => `${folder}/${name}`;
      assert.deepEqual(withWildcards([below(pattern), '-']), [...names.map(below), '-']);
    });

  it('keeps a file whose name has a wildcard', async (t) => {
    const folder = await setUp(t);
    await writeFile(path.join(folder, 'a*'), '');
    assert.deepEqual(withWildcards([`${folder}/a*`]), [`${folder}/a*`]);
  });

  it('keeps links and standard input, and takes a long argument', () => {
    const tracker = `&tr=https://a.example/${'x'.repeat(5000)}`;
    const links = [`magnet:?xt=urn:btih:39fe2490c2f99dfc67e946a77a1b3242c1ff632e${tracker}`, 'https://host/x?y=*'];
    const words = [...links, '-', '', `${'x'.repeat(3000)}*`];
    assert.deepEqual(withWildcards(words), words);
  });

  it('expands arguments and not the values of options', async (t) => {
    const folder = await setUp(t);
    const seen: unknown[] = [];
    const program = new HintingCommand('metainfo');
    program.expand = withWildcards;
    program
      .command('verify <file> [path...]')
      .option('--files <glob>')
      .option('-q')
      .action((...args) => void seen.push(...args.slice(0, 3)));
    const words = ['verify', '-q', `${folder}/?.torrent`, '--files', `${folder}/*`, `${folder}/sub1/*`];
    await program.parseAsync(words, { from: 'user' });
    const options = { q: true, files: `${folder}/*` };
    assert.deepEqual(seen, [`${folder}/a.torrent`, [`${folder}/b.torrent`, `${folder}/sub1/d.torrent`], options]);
  });
});

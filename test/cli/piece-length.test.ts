import assert from 'node:assert/strict';
import { stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { entries, metainfo, read, workFolder } from './run.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** A work folder with a file of 40 MiB, which has 32 KiB pieces by default. */
async function folderWithFilm(t: TestContext): Promise<string> {
  const cwd = await workFolder(t);
  await writeFile(path.join(cwd, 'film'), '');
  await truncate(path.join(cwd, 'film'), 40 * MIB);
  return cwd;
}

describe('metainfo create by limits about the piece length', () => {
  it('takes the piece length as bytes, in units and as an exponent', async (t) => {
    const cwd = await folderWithFilm(t);
    for (const [text, pieceLength] of [
      ['auto', 32 * KIB],
      ['20', MIB],
      ['14', 16 * KIB],
      ['16', 64 * KIB],
      ['31', 2 ** 31],
      ['16384', 16 * KIB],
      ['2M', 2 * MIB],
    ] as const) {
      const { code, stderr } = await metainfo(['create', 'film', '-l', text, '-q', '--force'], { cwd });
      assert.equal(code, 0, stderr);
      assert.equal((await read(cwd, 'film.torrent')).info.pieceLength, pieceLength, text);
    }
  });

  it('chooses what satisfies all limits, and plans the same', async (t) => {
    const cwd = await folderWithFilm(t);
    for (const [args, pieceLength] of [
      [['--max-piece-length', '16KiB'], 16 * KIB],
      [['--max-piece-length', '14'], 16 * KIB],
      [['--target-pieces', '10'], 4 * MIB],
      [['--target-pieces', '10', '--max-piece-length', '20'], MIB],
      [['--target-pieces', '10', '--max-piece-length', '1M'], MIB],
      [['--max-torrent-size', '2KiB'], 2 * MIB],
      [['--max-torrent-size', '2KiB', '-l', 'auto', '-k', 'v1'], 512 * KIB],
      [['--max-torrent-size', '2KiB', '-l', '2M'], 2 * MIB],
    ] as const) {
      const planned = await metainfo(['plan', 'film', ...args, '--json'], { cwd });
      assert.equal((JSON.parse(planned.stdout) as { pieceLength: number }).pieceLength, pieceLength, args.join(' '));
      const { code, stderr } = await metainfo(['create', 'film', ...args, '-q', '--force'], { cwd });
      assert.equal(code, 0, stderr);
      assert.equal((await read(cwd, 'film.torrent')).info.pieceLength, pieceLength, args.join(' '));
      if (args.includes('2KiB' as never)) assert.ok((await stat(path.join(cwd, 'film.torrent'))).size <= 2 * KIB);
    }
  });

  it('says which two limits contradict each other, and writes nothing', async (t) => {
    const cwd = await folderWithFilm(t);
    for (const [args, message] of [
      [
        ['--max-torrent-size', '2KiB', '--max-piece-length', '64KiB'],
        '--max-torrent-size 2 KiB needs pieces of at least 2 MiB, but --max-piece-length is 64 KiB.',
      ],
      [['-l', '20', '--max-piece-length', '512KiB'], '--piece-length is 1 MiB, but --max-piece-length is 512 KiB.'],
      [
        ['-l', '1MiB', '--max-torrent-size', '2KiB'],
        '--max-torrent-size 2 KiB needs pieces of at least 2 MiB, but --piece-length is 1 MiB.',
      ],
    ] as const) {
      const { code, stderr } = await metainfo(['create', 'film', ...args], { cwd });
      assert.equal(code, 2);
      assert.ok(stderr.includes(`error: ${message}`), stderr);
      const planned = await metainfo(['plan', 'film', ...args], { cwd });
      assert.equal(planned.code, 1);
      assert.ok(planned.stdout.includes(`error: ${message} [ERR_PIECE_LENGTH]`), planned.stdout);
      assert.ok(!(await entries(cwd)).includes('film.torrent'));
    }
  });

  it('refuses wrong values as wrong usage', async (t) => {
    const cwd = await folderWithFilm(t);
    for (const args of [
      ['-l', '13'],
      ['-l', '8', '-k', 'v1'],
      ['-l', '32K5'],
      ['--target-pieces', '0'],
      ['--target-pieces', '1e3'],
      ['--target-pieces', '-5'],
      ['--max-torrent-size', 'small'],
      ['--max-piece-length', '1KiB'],
    ]) {
      const { code, stderr } = await metainfo(['create', 'film', ...args], { cwd });
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
      assert.doesNotMatch(stderr, /maxPieceLength|maxTorrentSize|targetPieces/);
    }
  });
});

describe('pieces shorter than a block', () => {
  it('bring a warning that names what other programs mean by the number', async (t) => {
    const cwd = await folderWithFilm(t);
    const findings = async (length: string) => {
      const { code, stdout } = await metainfo(['plan', 'film', '-k', 'v1', '-l', length, '--json'], { cwd });
      assert.equal(code, 0);
      return JSON.parse(stdout).findings.filter(({ code: one }: { code: string }) => one === 'short_pieces');
    };
    const [finding] = await findings('4096');
    assert.match(finding.message, /Pieces of 4096 bytes are shorter than a block/);
    assert.match(finding.advice, /^4096 is 4 KiB: did you mean 4MiB\? \(--piece-length 4MiB\)/);
    assert.deepEqual(await findings('16384'), []);
    assert.match((await findings('8KiB'))[0].advice, /8192 is 8 KiB: did you mean 8MiB\?/);
  });
});

describe('padding', () => {
  it('brings a hint where shorter pieces avoid it', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`set/${i}`, 300_000])));
    const hints = async (...args: string[]) => {
      const { stdout } = await metainfo(['plan', 'set', '--json', ...args], { cwd });
      return JSON.parse(stdout).findings.filter(({ code }: { code: string }) => code === 'much_padding');
    };
    const [hint] = await hints('-l', '1MiB');
    assert.deepEqual([hint.severity, hint.advice], ['hint', 'Use a piece length of 64 KiB (--piece-length 64KiB).']);
    assert.match(hint.message, /^71 % of the torrent is padding/);
    for (const args of [
      ['-l', '64KiB'],
      ['-l', '1MiB', '-k', 'v1'],
      ['-l', '1MiB', '-k', 'v2'],
    ])
      assert.deepEqual(await hints(...args), [], args.join(' '));
  });
});

describe('the findings of metainfo plan about sizes and clients', () => {
  it('name the options that avoid a limit', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'film'), '');
    await truncate(path.join(cwd, 'film'), 2 ** 34);
    const { code, stdout } = await metainfo(['plan', 'film', '-l', '14'], { cwd });
    assert.equal(code, 0);
    assert.match(
      stdout,
      /warning: The torrent has \d+ bytes: libtorrent loads files of at most 10000000, .+ \[reader_limit\]\n/,
    );
    assert.match(stdout, /\n {2}Use a piece length of 128 KiB \(--piece-length 128KiB\)\.\n/);
    const advised = await metainfo(['plan', 'film', '-l', '128KiB', '--json'], { cwd });
    assert.deepEqual((JSON.parse(advised.stdout) as { findings: object[] }).findings, []);
    const before = await metainfo(['plan', 'film', '-l', '64KiB', '--json'], { cwd });
    assert.equal((JSON.parse(before.stdout) as { findings: object[] }).findings.length, 1);
  });

  it('hint at clients that cannot read a private hybrid, and at none for v1', async (t) => {
    const cwd = await workFolder(t);
    const args = ['plan', 'album', '--private', '-t', 'http://tracker.example/announce'];
    const hybrid = await metainfo(args, { cwd });
    assert.match(
      hybrid.stdout,
      /hint: Transmission 3 cannot parse a hybrid .+ \[old_clients\]\n {2}Make a v1 torrent if such clients must read it \(-k v1\)\.\n/,
    );
    const v1 = await metainfo([...args, '-k', 'v1'], { cwd });
    assert.doesNotMatch(v1.stdout, /old_clients/);
  });
});

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { notRoot } from '../support/unprivileged.ts';
import { command, entries, metainfo, read, workFolder } from './run.ts';

/** Adds entries that no torrent can hold. */
async function addObstacles(cwd: string): Promise<void> {
  await symlink('nowhere', path.join(cwd, 'album/broken'));
  await symlink('/etc/hosts', path.join(cwd, 'album/outside'));
  await symlink('.', path.join(cwd, 'album/loop'));
  execFileSync('mkfifo', [path.join(cwd, 'album/b/fifo')]);
}

const OBSTACLES = ['ERR_BROKEN_LINK', 'ERR_LINK_LOOP', 'ERR_LINK_OUTSIDE', 'ERR_NOT_A_FILE'];

interface PlanJson {
  torrent: string;
  infohash: null;
  files: number;
  pieces: number;
  torrentSize: number;
  pieceLength: number;
  seconds: number;
  leftOut: string[];
  findings: { code: string; severity: string; path: string; message: string; advice: string }[];
}

const planOf = (stdout: string) => JSON.parse(stdout) as PlanJson;

describe('metainfo plan', () => {
  it('agrees with the torrent that create makes', async (t) => {
    const cwd = await workFolder(t);
    for (const version of ['v1', 'v2', 'hybrid']) {
      const planned = await metainfo(['plan', 'album', '-k', version, '--json'], { cwd });
      assert.equal(planned.code, 0, planned.stderr);
      assert.deepEqual(await entries(cwd), ['album']);
      const plan = planOf(planned.stdout);
      await metainfo(['create', 'album', '-k', version, '-q'], { cwd });
      const torrent = await read(cwd, 'album.torrent');
      assert.deepEqual(
        [plan.files, plan.pieces, plan.pieceLength, plan.infohash, plan.torrent],
        [torrent.nFiles, torrent.nPieces, torrent.info.pieceLength, null, 'album.torrent'],
      );
      const size = torrent.bencode().length;
      assert.ok(Math.abs(plan.torrentSize - size) <= size / 100, `${plan.torrentSize} is about ${size}`);
      assert.ok(plan.seconds > 0);
      await rm(path.join(cwd, 'album.torrent'));
    }
  });

  it('counts the time of opening many files, however small', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(path.join(cwd, 'many'), Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`f${i}`, 1])));
    const { stdout } = await metainfo(['plan', 'many', '--json'], { cwd });
    const { seconds, bytesPerSecond, totalSize } = JSON.parse(stdout) as Record<string, number>;
    assert.ok((seconds as number) > (100 * (totalSize as number)) / (bytesPerSecond as number), `${seconds} s`);
  });

  it('lists every obstacle in one pass, each with advice, and exits with 1', async (t) => {
    const cwd = await workFolder(t);
    await addObstacles(cwd);
    const { code, stdout } = await metainfo(['plan', 'album', '--json'], { cwd });
    assert.equal(code, 1);
    const { findings, files } = planOf(stdout);
    assert.deepEqual(findings.map((finding) => finding.code).sort(), OBSTACLES);
    assert.ok(findings.every(({ advice, severity }) => advice !== '' && severity === 'error'));
    assert.equal(files, 2);
    const text = await metainfo(['plan', 'album'], { cwd });
    for (const obstacle of OBSTACLES) assert.match(text.stdout, new RegExp(`error: .*\\[${obstacle}\\]`));
  });

  it('lists URLs, a piece length and a name that no torrent can have, beside all other problems', async (t) => {
    const cwd = await workFolder(t);
    await addObstacles(cwd);
    const args = ['album', '-t', 'foo', '-t', 'http://', '-w', 'bar', '--httpseed', 'x', '--update-url', 'y'];
    const plan = await metainfo(['plan', ...args, '-l', '8KiB', '--exclude', '*.zip', '--json'], { cwd });
    assert.equal(plan.code, 1);
    const found = planOf(plan.stdout);
    assert.deepEqual(
      found.findings.map(({ code }) => code).sort(),
      [...OBSTACLES, 'ERR_PIECE_LENGTH', ...Array(5).fill('ERR_VALIDATION'), 'pattern_unmatched'].sort(),
    );
    assert.equal(found.files, 2);
    assert.ok(found.findings.every(({ advice }) => advice !== ''));
    const text = await metainfo(['plan', ...args], { cwd });
    assert.match(text.stdout, /^error: The tracker "foo" has no scheme\. \[ERR_VALIDATION\]$/m);
    const allowed = await metainfo(['plan', 'album/a.txt', '-t', 'foo', '--allow', 'tracker_url'], { cwd });
    assert.equal(allowed.code, 1);
    const create = await metainfo(['create', ...args], { cwd });
    assert.equal(create.code, 2);
    for (const option of ['--tracker', '--webseed', '--httpseed', '--update-url'])
      assert.match(create.stderr, new RegExp(`${option}: expected a URL`));
    assert.deepEqual(await entries(cwd), ['album']);
  });

  it('advises for a FIFO, and for a --name that no torrent can have, without another problem', async (t) => {
    const cwd = await workFolder(t);
    execFileSync('mkfifo', [path.join(cwd, 'album/fifo')]);
    const fifo = await metainfo(['plan', 'album'], { cwd });
    assert.match(
      fifo.stdout,
      /is a FIFO, not a file: leave it out\. \[ERR_NOT_A_FILE\]\n {2}Move it away, or leave it out \(--exclude\)\.\n$/,
    );
    await rm(path.join(cwd, 'album/fifo'));
    const message = 'a name with a slash cannot be the name of a torrent: "a/b".';
    const { code, stdout } = await metainfo(['plan', 'album', '--name', 'a/b', '--json'], { cwd });
    assert.equal(code, 1);
    assert.deepEqual(planOf(stdout).findings, [
      { code: 'ERR_NAME', severity: 'error', path: null, message, advice: 'Choose another name.' },
    ]);
    const created = await metainfo(['create', 'album', '--name', 'a/b'], { cwd });
    assert.deepEqual([created.code, created.stderr], [1, `error: ${message} [ERR_NAME]\n`]);
    assert.deepEqual(await entries(cwd), ['album']);
  });

  it('is the same as create --dry-run', async (t) => {
    const cwd = await workFolder(t);
    const [plan, dryRun] = await Promise.all([
      metainfo(['plan', 'album', '--json'], { cwd }),
      metainfo(['create', 'album', '--dry-run', '--json'], { cwd }),
    ]);
    const known = ({ seconds: _, bytesPerSecond: __, ...rest }: Record<string, unknown>) => rest;
    assert.deepEqual(known(JSON.parse(dryRun.stdout)), known(JSON.parse(plan.stdout)));
    assert.deepEqual(await entries(cwd), ['album']);
  });

  it('reports an output that exists or has no folder, beside the problems of the files', async (t) => {
    const cwd = await workFolder(t);
    await addObstacles(cwd);
    await writeFile(path.join(cwd, 'album.torrent'), 'x');
    const existing = await metainfo(['plan', 'album', '--json'], { cwd });
    assert.deepEqual(
      planOf(existing.stdout)
        .findings.map((finding) => finding.code)
        .sort(),
      [...OBSTACLES, 'ERR_OUTPUT_EXISTS'].sort(),
    );
    const missing = await metainfo(['plan', 'album', '-o', 'no/x.torrent', '--json'], { cwd });
    assert.deepEqual(
      planOf(missing.stdout)
        .findings.map((finding) => finding.code)
        .sort(),
      [...OBSTACLES, 'ERR_NOT_FOUND'].sort(),
    );
  });

  it('reports a folder of the output that cannot be written, as create does', { skip: notRoot() }, async (t) => {
    const cwd = await workFolder(t);
    await mkdir(path.join(cwd, 'closed'));
    await metainfo(['create', 'album', '-k', 'v1', '-o', 'old.torrent'], { cwd });
    await chmod(path.join(cwd, 'closed'), 0o555);
    await chmod(cwd, 0o777);
    const asNobody = (...words: string[]) => {
      const [program, ...args] = command(words);
      return spawnSync(program, args, { cwd, encoding: 'utf8', uid: 65_534, gid: 65_534 });
    };
    const plan = asNobody('plan', 'album', '-o', 'closed/', '--json');
    assert.deepEqual(
      planOf(plan.stdout).findings.flatMap(({ code }) => (code.startsWith('ERR_') ? [code] : [])),
      ['ERR_WRITE'],
    );
    // A file that cannot be read shows that nothing was hashed.
    await chmod(path.join(cwd, 'album/a.txt'), 0);
    for (const args of [
      ['create', 'album', '-o', 'closed/'],
      ['create', 'album', '--link-file', 'closed/link'],
      ['upgrade', 'old.torrent', 'album', '-o', 'closed/new.torrent'],
    ])
      assert.match(
        asNobody(...args).stderr,
        /^error: closed\/\S+: no permission to write in its folder\. \[ERR_WRITE\]\n$/,
        args[0],
      );
  });

  it('reports a missing path and an empty folder as findings', async (t) => {
    const cwd = await workFolder(t);
    await mkdir(path.join(cwd, 'empty'));
    for (const [name, code] of [
      ['missing', 'ERR_NOT_FOUND'],
      ['empty', 'ERR_NO_FILES'],
    ] as const) {
      const result = await metainfo(['plan', name, '--json'], { cwd });
      assert.equal(result.code, 1);
      assert.deepEqual(
        planOf(result.stdout).findings.map((finding) => finding.code),
        [code],
      );
    }
  });

  it('names the system files that were left out', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'album/.DS_Store'), 'x');
    await writeFile(path.join(cwd, 'album/b/Thumbs.db'), 'x');
    const { stdout } = await metainfo(['plan', 'album', '--json'], { cwd });
    const { leftOut, findings } = planOf(stdout);
    assert.deepEqual(leftOut, ['.DS_Store', 'b/Thumbs.db']);
    assert.match(findings[0]?.message ?? '', /^2 entries .* unfinished outputs of metainfo, .*\.DS_Store, Thumbs\.db/);
    const quiet = await metainfo(['plan', 'album'], { cwd });
    assert.doesNotMatch(quiet.stdout, /^left out/m);
    const verbose = await metainfo(['plan', 'album', '-v'], { cwd });
    assert.match(verbose.stdout, /^not included +b\/Thumbs\.db$/m);
  });

  it('warns of names that other systems cannot store', async (t) => {
    const cwd = await workFolder(t);
    const names = ['con.txt', 'a:b?.txt', 'end.', 'A.txt', `${'ü'.repeat(127)}x`];
    for (const name of names) await writeFile(path.join(cwd, 'album', name), 'x');
    const { code, stdout } = await metainfo(['plan', 'album', '--json', '-k', 'v2'], { cwd });
    assert.equal(code, 0);
    const { findings } = planOf(stdout);
    assert.deepEqual(findings.map((finding) => [finding.code, finding.severity]).sort(), [
      ...['client_name', 'similar_names', 'windows_name', 'windows_name', 'windows_name'].map((found) => [
        found,
        'warning',
      ]),
    ]);
    assert.ok(findings.every(({ advice }) => advice !== ''));
  });

  it('counts the names that it does not list', async (t) => {
    const cwd = await workFolder(t);
    await writeTree(cwd, Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`album/x:${i}`, 0])));
    const text = await metainfo(['plan', 'album'], { cwd });
    assert.equal(text.stdout.match(/\[windows_name\]/g)?.length, 5);
    assert.match(text.stdout, /^ {2}and 125 more of these \(--json lists the first 100\)\. Rename it/m);
    const { findings } = planOf((await metainfo(['plan', 'album', '--json'], { cwd })).stdout);
    assert.deepEqual(findings.at(-1), {
      ...findings[0],
      path: null,
      message: '30 more names that Windows cannot store.',
      count: 30,
    });
    assert.equal(findings.length, 101);
  });

  it('reports each pattern that matches nothing', async (t) => {
    const cwd = await workFolder(t);
    const globs = ['--exclude', '*.nfo', '--exclude', '*.zip', '--include', '*.txt', '--include', 'b/x*'];
    const { code, stdout } = await metainfo(['plan', 'album', '--json', ...globs], { cwd });
    assert.equal(code, 0);
    assert.deepEqual(
      planOf(stdout).findings.map(({ code: found, path: pattern }) => [found, pattern]),
      [
        ['pattern_unmatched', '*.zip'],
        ['pattern_unmatched', 'b/x*'],
      ],
    );
  });
});

describe('metainfo create', () => {
  it('prints warnings, hashes nothing with --strict, and accepts a code with --allow', async (t) => {
    const cwd = await workFolder(t);
    const args = ['create', 'album', '--exclude', '*.zip'];
    const strict = await metainfo([...args, '--strict'], { cwd });
    assert.equal(strict.code, 1);
    assert.match(strict.stderr, /error: --exclude \*\.zip matches nothing\. \[pattern_unmatched\]/);
    assert.match(strict.stderr, /--allow pattern_unmatched/);
    assert.deepEqual(await entries(cwd), ['album']);
    const allowed = await metainfo([...args, '--strict', '--allow', 'pattern_unmatched'], { cwd });
    assert.equal(allowed.code, 0);
    assert.match(allowed.stderr, /warning: --exclude \*\.zip matches nothing/);
    assert.deepEqual(await entries(cwd), ['album', 'album.torrent']);
  });

  it('gives the findings that end it in the JSON of its error', async (t) => {
    const cwd = await workFolder(t);
    const { code, stdout } = await metainfo(['create', 'album', '-p', '--strict', '--json'], { cwd });
    assert.equal(code, 1);
    const { error } = JSON.parse(stdout);
    assert.equal(error.code, 'ERR_FINDINGS');
    assert.deepEqual(
      error.findings.map((finding: Record<string, unknown>) => [finding['code'], finding['severity']]),
      [['private_without_tracker', 'error']],
    );
  });

  it('refuses --allow with a code that is unknown or that ends every creation', async (t) => {
    const cwd = await workFolder(t);
    const cases: [string, RegExp][] = [
      ['ERR_UNREADABLE', /every creation fail/],
      ['patern_unmatched', /did you mean pattern_unmatched\?/],
      ['x', /metainfo plan shows the codes/],
    ];
    for (const [code, message] of cases) {
      const result = await metainfo(['create', 'album', '--allow', code], { cwd });
      assert.equal(result.code, 2);
      assert.match(result.stderr, message);
    }
    assert.deepEqual(await entries(cwd), ['album']);
  });

  it('gives the findings in its JSON', async (t) => {
    const cwd = await workFolder(t);
    const { stdout } = await metainfo(['create', 'album', '--exclude', '*.zip', '--json'], { cwd });
    const { warnings } = JSON.parse(stdout);
    assert.deepEqual([warnings.length, warnings[0].code, warnings[0].severity], [1, 'pattern_unmatched', 'warning']);
  });
});

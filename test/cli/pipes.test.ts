import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Torrent } from '../../src/index.ts';
import { noise } from '../hash/reference.ts';
import { sparseFile } from '../support/tree.ts';
import { bytesOf, command, entries, metainfo, metainfoUnread, read, workFolder } from './run.ts';

const MIB = 2 ** 20;

/** Runs the command with bytes on standard input. */
function piped(cwd: string, input: Buffer | string, ...args: string[]) {
  const [program, ...all] = command(args);
  const { SOURCE_DATE_EPOCH: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(program, all, { cwd, env, input });
  return { code: status, bytes: stdout, stdout: String(stdout), stderr: String(stderr) };
}

/** Runs a shell command, in which `metainfo` is the built command. */
function shell(cwd: string, script: string) {
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['-c', `metainfo() { ${command([]).join(' ')} "$@"; }; ${script}`],
    {
      cwd,
      encoding: 'utf8',
    },
  );
  return { code: status, stdout, stderr };
}

/** Runs the command in a terminal. */
function inTerminal(cwd: string, ...args: string[]) {
  return spawnSync('script', ['-qec', command(args).join(' '), '/dev/null'], { cwd, encoding: 'utf8', stdio: 'pipe' });
}

const TORRENT_COMMANDS = [
  ['show'],
  ['validate'],
  ['magnet'],
  ['verify'],
  ['edit', '--comment', 'x', '--dry-run'],
] as const;

describe('magnet links from standard input', () => {
  it('are decoded, one per line', async (t) => {
    const cwd = await workFolder(t);
    const [a, b] = ['a', 'b'].map((digit) => `magnet:?xt=urn:btih:${digit.repeat(40)}`);
    const one = piped(cwd, Buffer.from(` ${a}\r\n`), 'magnet', '-');
    assert.deepEqual([one.code, one.stdout], [0, `infohash v1  ${'a'.repeat(40)}\n`]);
    const two = piped(cwd, Buffer.from(`${a}\n\n${b}\n`), 'magnet', '-', '--json').stdout;
    const infohashes = two.match(/[^\n]+/g)?.map((line) => JSON.parse(line).infohashV1);
    assert.deepEqual(infohashes, ['a'.repeat(40), 'b'.repeat(40)]);
    // A link that is not valid fails alone.
    const bad = piped(cwd, Buffer.from(`${a}\nmagnet:?dn=x\n${b}\n`), 'magnet', '-');
    assert.deepEqual([bad.code, bad.stdout.match(/([ab])\1{39}/g)], [2, infohashes]);
    assert.match(bad.stderr, /^error: [^\n]*xt=urn:btih[^\n]*\[ERR_VALIDATION\]\n$/);
  });
});

describe('a torrent from standard input', () => {
  it('gives the same output as the file', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const input = await bytesOf(cwd, 'album.torrent');
    for (const args of [['show'], ['show', '-v'], ['magnet']]) {
      const { stdout } = await metainfo([...args, 'album.torrent'], { cwd });
      assert.deepEqual(piped(cwd, input, ...args, '-'), { code: 0, bytes: Buffer.from(stdout), stdout, stderr: '' });
    }
    for (const args of [
      ['show', '--json'],
      ['validate', '--json'],
      ['magnet', '--json'],
      ['edit', '--comment', 'x', '--dry-run', '--json'],
    ]) {
      const { stdout } = await metainfo([...args, 'album.torrent'], { cwd });
      const expected = stdout.replace('"album.torrent"', '"-"');
      assert.notEqual(expected, stdout);
      assert.equal(piped(cwd, input, ...args, '-').stdout, expected, args.join(' '));
    }
    assert.match(piped(cwd, input, 'validate', '-').stdout, /^standard input: valid hybrid/);
    const verified = piped(cwd, input, 'verify', '-', 'album');
    assert.equal(verified.code, 0, verified.stderr);
    assert.match(verified.stdout, /^album: complete/);
  });

  it('can stand between files', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const input = await bytesOf(cwd, 'album.torrent');
    const { code, stdout } = piped(cwd, input, 'show', 'album.torrent', '-', '--json');
    assert.equal(code, 0);
    assert.deepEqual(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).torrent),
      ['album.torrent', '-'],
    );
    assert.match(piped(cwd, input, 'show', 'album.torrent', '-').stdout, /\n\nstandard input\nname +album\n/);
  });

  it('can be read only once', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const input = await bytesOf(cwd, 'album.torrent');
    for (const name of ['show', 'validate', 'magnet']) {
      const { code, stdout, stderr } = piped(cwd, input, name, '-', '-');
      assert.deepEqual([code, stdout], [2, ''], name);
      assert.match(
        stderr,
        /^error: Standard input can be read only once: give - only once\. \[ERR_INVALID_ARGUMENT\]\n$/,
      );
    }
    for (const other of ['-', 'album.torrent']) {
      const { code, stdout, stderr } = piped(cwd, input, 'edit', '-', other, '--comment', 'x');
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /cannot be edited together with other torrents/);
    }
    assert.ok(input.equals(await bytesOf(cwd, 'album.torrent')));
  });

  it('is not the file -, which is ./-', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-o', './-'], { cwd });
    const { code, stdout } = piped(cwd, 'nonsense', 'show', './-');
    assert.equal(code, 0);
    assert.match(stdout, /^name +album\n/);
  });

  for (const args of TORRENT_COMMANDS) {
    const [name, ...options] = args;
    it(`that is empty, endless, nonsense or a folder gets a clear error: ${name}`, async (t) => {
      const cwd = await workFolder(t);
      const run = (input: string) => {
        const { code, stdout, stderr } = piped(cwd, input, name, '-', ...options, '--json');
        assert.deepEqual([code, stderr], [1, '']);
        const json = JSON.parse(stdout);
        // validate gives a result with issues instead of an error.
        assert.equal(json.error?.path ?? json.torrent, '-');
        return json.error ?? json.issues[0];
      };
      const empty = run('');
      assert.equal(empty.code, 'ERR_NO_DATA');
      assert.equal(empty.message, 'standard input: it is empty: pipe a torrent to it.');
      const nonsense = run('d4:infoi1e');
      assert.equal(nonsense.code, 'ERR_BENCODE');
      assert.match(nonsense.message, /byte 10/);
      const long = shell(cwd, `yes | metainfo ${name} - ${options.join(' ')} --limit bytes=3M`);
      assert.equal(long.code, 1);
      assert.match(long.stdout + long.stderr, /limit of 3145728 bytes exceeded/);
      const folder = shell(cwd, `metainfo ${name} - ${options.join(' ')} < album`);
      assert.equal(folder.code, 1);
      assert.match(folder.stdout + folder.stderr, /standard input.*cannot be read, because it is a folder/);
      const closed = shell(cwd, `metainfo ${name} - ${options.join(' ')} <&-`);
      assert.equal(closed.code, 1);
      assert.match(closed.stdout + closed.stderr, /standard input.*it is empty/);
    });

    it(`that is a terminal gets a hint: ${name}`, async (t) => {
      const { status, stdout } = inTerminal(await workFolder(t), name, '-', ...options);
      assert.equal(status, 2);
      assert.match(
        stdout,
        /Standard input \(-\) is a terminal: pipe the output of another program to it, as in cat a\.torrent \| metainfo show -/,
      );
    });
  }

  it('reports an invalid torrent with its issues', async (t) => {
    const cwd = await workFolder(t);
    const { code, stdout } = piped(cwd, 'd4:infod6:lengthi-1eee', 'validate', '-');
    assert.equal(code, 1);
    assert.match(stdout, /^standard input: invalid/);
    const shown = piped(cwd, 'd4:infod6:lengthi-1eee', 'show', '-');
    assert.equal(shown.code, 1);
    assert.match(shown.stderr, /^error: standard input: This torrent is not valid: /);
  });
});

describe('edit -', () => {
  it('writes the edited torrent to standard output, also if nothing changes', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const input = await bytesOf(cwd, 'album.torrent');
    const edited = piped(cwd, input, 'edit', '-', '--comment', 'new');
    assert.equal(edited.code, 0, edited.stderr);
    assert.equal(Torrent.fromBytes(edited.bytes).comment, 'new');
    assert.match(edited.stderr, /^standard input -> standard output: same infohash\n/);
    const same = piped(cwd, input, 'edit', '-', '--no-comment');
    assert.ok(same.bytes.equals(input));
    assert.equal(same.stderr, 'standard input: no changes\n');
    assert.deepEqual(await entries(cwd), ['album', 'album.torrent']);
  });

  it('writes to the file of -o, and refuses a folder, --json and an existing file', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    await mkdir(path.join(cwd, 'folder'));
    const input = await bytesOf(cwd, 'album.torrent');
    const run = (...args: string[]) => piped(cwd, input, 'edit', '-', '--comment', 'new', ...args);
    assert.equal(run('-o', 'new.torrent').code, 0);
    assert.equal((await read(cwd, 'new.torrent')).comment, 'new');
    assert.match(run('-o', 'new.torrent').stderr, /output file exists: new\.torrent/);
    assert.match(run('-o', 'folder').stderr, /has no file name: name the output file in folder/);
    const json = run('--json');
    assert.equal(json.code, 2);
    assert.match(JSON.parse(json.stdout).error.message, /^--json and -o - both write to standard output/);
    assert.equal(JSON.parse(run('--json', '-o', 'json.torrent').stdout).torrent, '-');
    assert.deepEqual(await entries(cwd), ['album', 'album.torrent', 'folder', 'json.torrent', 'new.torrent']);
  });
});

describe('update - and upgrade -', () => {
  it('update needs the time of a file; upgrade writes to standard output', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-k', 'v1'], { cwd });
    const input = await bytesOf(cwd, 'album.torrent');
    const updated = piped(cwd, input, 'update', '-', 'album');
    assert.deepEqual([updated.code, updated.stdout], [2, '']);
    assert.match(
      updated.stderr,
      /cannot come from standard input \(-\), because update reads only files that are newer/,
    );
    const upgraded = piped(cwd, input, 'upgrade', '-', 'album');
    assert.equal(Torrent.fromBytes(upgraded.bytes).torrentVersion, 'hybrid', upgraded.stderr);
    assert.match(upgraded.stderr, /^standard output: hybrid/);
  });
});

describe('create -', () => {
  it('makes the torrent of the same file', async (t) => {
    const cwd = await workFolder(t);
    for (const [version, size] of [
      ['v1', 3 * MIB + 1],
      ['v2', 16 * 1024],
      ['hybrid', 5 * MIB],
    ] as const) {
      const content = noise(size);
      await writeFile(path.join(cwd, 'x.tar'), content);
      const options = ['-k', version, '--piece-length', '64KiB', '--comment', 'c', '-w', 'https://a.example/x.tar'];
      await metainfo(['create', 'x.tar', '--force', ...options], { cwd });
      const expected = await bytesOf(cwd, 'x.tar.torrent');
      const { code, stdout, stderr } = piped(cwd, content, 'create', '-', '--name', 'x.tar', '--force', ...options);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^x\.tar\.torrent: /);
      assert.ok(expected.equals(await bytesOf(cwd, 'x.tar.torrent')), version);
    }
  });

  it('takes pieces of 1 MiB, because the size is unknown', async (t) => {
    const cwd = await workFolder(t);
    const { code, stdout } = piped(cwd, noise(3 * MIB), 'create', '-', '--name', 'x', '--json');
    assert.equal(code, 0);
    const { pieceLength, totalSize, name, files, torrent, path: from } = JSON.parse(stdout);
    assert.deepEqual([pieceLength, totalSize, name, files], [MIB, 3 * MIB, 'x', 1]);
    assert.deepEqual([torrent, from], ['x.torrent', '-']);
  });

  it('works between pipes', async (t) => {
    const cwd = await workFolder(t);
    const chain = 'cat album/a.txt | metainfo create - --name a.txt -q -o - | metainfo verify - album/a.txt';
    const { code, stdout } = shell(cwd, chain);
    assert.equal(code, 0);
    assert.match(stdout, /^a\.txt: complete/);
    assert.deepEqual(await entries(cwd), ['album']);
  });

  for (const [what, args, code, message] of [
    ['no name', [], 2, /needs a name: add --name NAME/],
    ['a name with a slash', ['--name', 'a/b'], 1, /a name with a slash cannot be the name of a torrent: "a\/b"/],
    ['a name of dots', ['--name', '..'], 1, /^error: a name of dots cannot be the name of a torrent: "\.\."/],
    ['another path', ['album', '--name', 'x'], 2, /Standard input \(-\) must be the only input/],
    ['a second -', ['-', '--name', 'x'], 2, /must be the only input/],
    ['--exclude', ['--name', 'x', '--exclude', '*.nfo'], 2, /--exclude works only with files on disk: omit it/],
    ['--target-pieces', ['--name', 'x', '--target-pieces', '9'], 2, /need a size, which standard input \(-\) lacks/],
    ['a wrong field', ['--name', 'x', '--similar', 'zz'], 2, /--similar/],
    ['no content', ['--name', 'x'], 1, /All sources are empty: there is nothing to hash/],
  ] as const)
    it(`refuses ${what}, and writes nothing`, async (t) => {
      const cwd = await workFolder(t);
      const result = piped(cwd, '', 'create', '-', ...args);
      assert.equal(result.code, code, result.stderr);
      assert.match(result.stderr, message);
      assert.deepEqual(await entries(cwd), ['album']);
    });

  it('refuses a terminal and a folder', async (t) => {
    const cwd = await workFolder(t);
    const { status, stdout } = inTerminal(cwd, 'create', '-', '--name', 'x');
    assert.equal(status, 2);
    assert.match(stdout, /is a terminal: .* as in tar c album \| metainfo create - --name album\.tar/);
    const folder = shell(cwd, 'metainfo create - --name x < album');
    assert.equal(folder.code, 1);
    assert.match(folder.stderr, /cannot be read, because it is a folder/);
    assert.deepEqual(await entries(cwd), ['album']);
  });

  it('is cancelled by Ctrl-C, and leaves nothing', async (t) => {
    const cwd = await workFolder(t);
    const [program, ...args] = command(['create', '-', '--name', 'x']);
    const child = spawn(program, args, { cwd, stdio: ['pipe', 'ignore', 'pipe'] });
    child.stdin.on('error', () => {});
    // A pipe holds less, so the command has read some of it by then.
    child.stdin.write(Buffer.alloc(MIB), () => child.kill('SIGINT'));
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 130);
    assert.match(stderr, /cancelled: nothing was written\n$/);
    assert.deepEqual(await entries(cwd), ['album']);
  });

  it('shows progress without a total', async (t) => {
    const cwd = await workFolder(t);
    const { stderr } = shell(
      cwd,
      '(head -c 60000000 /dev/zero; sleep 2; head -c 10 /dev/zero) | metainfo create - --name x --progress bar',
    );
    assert.match(stderr, /^( *[\d.]+ MiB {2}[\d.]+ [KM]iB\/s\n)+$/);
  });

  it('is planned without reading it', async (t) => {
    const cwd = await workFolder(t);
    const { code, stdout } = shell(cwd, 'yes | metainfo plan - --name x');
    assert.equal(code, 0);
    assert.match(stdout, /\ncontent +1 file, size unknown\npiece length +1 MiB\n/);
  });
});

describe('create --batch -', () => {
  it('reads the list from a pipe, which is the content of no job, and from a socket', async (t) => {
    const cwd = await workFolder(t);
    const list = JSON.stringify([{ paths: ['album'] }, { paths: ['-'], name: 'x' }]);
    const { code, stdout, stderr } = piped(cwd, list, 'create', '--batch', '-', '--json');
    assert.equal(code, 2, stderr);
    assert.match(stdout, /job 1: Standard input \(-\) cannot be the content of one job among many/);
    assert.deepEqual(await entries(cwd), ['album']);
    const empty = piped(cwd, '', 'create', '--batch', '-');
    assert.match(empty.stderr, /standard input: it is empty: pipe a list of jobs to it/);
  });
});

describe('closed pipes', () => {
  const CLOSED_EARLY = /^error: standard output was closed before the whole torrent was written \[ERR_WRITE\]\n$/;

  it('end create -o - and edit - with an error, and leave nothing behind', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    for (const args of [
      ['create', 'album', '-q', '-o', '-'],
      ['edit', 'album.torrent', '--comment', 'x'.repeat(100_000), '-o', '-'],
    ]) {
      const { code, stderr } = await metainfoUnread(args, { cwd });
      assert.equal(code, 1);
      assert.match(stderr, CLOSED_EARLY);
    }
    // The torrent is larger than the buffer of a pipe.
    await sparseFile(cwd, 'large', 128 * MIB);
    const { code, stdout, stderr } = shell(
      cwd,
      'set -o pipefail; metainfo create large -k v1 -l 16KiB -q -o - | head -c 10',
    );
    assert.equal(code, 1);
    assert.match(stdout, /^d/);
    assert.match(stderr, CLOSED_EARLY);
    const text = shell(cwd, 'set -o pipefail; metainfo show album.torrent | true');
    assert.deepEqual([text.code, text.stderr], [0, '']);
    await rm(path.join(cwd, 'large'));
    assert.deepEqual(await entries(cwd), ['album', 'album.torrent']);
  });

  it('a chain of commands works', async (t) => {
    const cwd = await workFolder(t);
    const chain =
      'metainfo create album -q -o - | metainfo edit - --comment chained 2> /dev/null | metainfo show - --json';
    const { code, stdout } = shell(cwd, chain);
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).comment, 'chained');
  });
});

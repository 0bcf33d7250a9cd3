import assert from 'node:assert/strict';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { sparseFile } from '../../support/tree.ts';
import { command, entries, finish, metainfo, read, startProgram } from '../run.ts';
import { folderWith, plan, shownBy } from './folder.ts';

const TWO = `[create]
output = "../../out/{name}-{tracker}.torrent"
[presets.a]
tracker = ["main", "udp://other.example:1/x"]
[presets.b]
tracker = ["udp://[2001:db8::1]:6969/x"]
output = "../../{preset}/{version}/"
[presets.folder]
output = "../../album"
[trackers]
main = "https://A.example/key/announce"
`;

describe('an output in a configuration', () => {
  it('is a template that starts at the file, and gives two trackers two torrents', async (t) => {
    const run = await folderWith(t, TWO);
    for (const preset of ['a', 'b', 'folder']) {
      const { code, stderr } = await metainfo(['create', 'album', '--preset', preset, '-q'], run);
      assert.deepEqual([code, stderr], [0, ''], preset);
    }
    assert.deepEqual(await entries(path.join(run.cwd, 'out')), ['album-a.example.torrent']);
    assert.deepEqual(await entries(path.join(run.cwd, 'b', 'hybrid')), ['album.torrent']);
    assert.deepEqual(await entries(path.join(run.cwd, 'album')), ['a.txt', 'album.torrent', 'b']);
    const again = await metainfo(['create', 'album', '--preset', 'a'], run);
    assert.match(again.stderr, /output file exists: .*album-a\.example\.torrent \(use --force/);
    const named = await metainfo(
      ['create', 'album', '--preset', 'b', '-o', '{preset}-{version}.torrent', '-k', 'v1', '-q'],
      run,
    );
    assert.deepEqual([named.code, named.stderr], [0, '']);
    assert.equal((await read(run.cwd, 'b-v1.torrent')).torrentVersion, 'v1');
    const planned = await plan(run, '--preset', 'b', '-k', 'v2');
    assert.deepEqual(
      [planned.code, JSON.parse(planned.stdout).torrent],
      [0, path.join(run.cwd, 'b', 'v2', 'album.torrent')],
    );
    assert.ok(!(await entries(path.join(run.cwd, 'b'))).includes('v2'), 'a plan makes no folder');
    const parts = await metainfo(['plan', 'album', '--preset', 'a', '--part-size', 'auto', '-q'], run);
    assert.equal(parts.code, 0, parts.stderr);
    assert.ok((await entries(run.cwd)).includes('album.plan.json'), 'the output is for torrents');
  });

  it('is refused for a torrent without a value, and where two torrents would have one output', async (t) => {
    const run = await folderWith(t, TWO);
    const none = await metainfo(['create', 'album'], run);
    assert.equal(none.code, 2);
    assert.match(
      none.stderr,
      /\{tracker\} in the output .* needs a tracker with a host \(-t\): add that, or name another/,
    );
    const same = await metainfo(['create', '--each', 'album', '-o', 'x-{version}.torrent'], run);
    assert.equal(same.code, 2);
    assert.match(same.stderr, /album\/a\.txt and album\/b would both be written to x-hybrid\.torrent/);
    const unknown = await metainfo(['create', 'album', '-o', '{nmae}.torrent'], run);
    assert.equal(unknown.code, 2);
    assert.match(
      unknown.stderr,
      /Unknown placeholder \{nmae\}: expected \{name\}, \{tracker\}, \{version\}, \{preset\}/,
    );
    assert.deepEqual(await entries(run.cwd), ['album', 'xdg']);
    const each = await metainfo(
      ['create', '--each', 'album', '--preset', 'a', '-o', 'new/{tracker}/{name}.torrent', '-q'],
      run,
    );
    assert.deepEqual([each.code, each.stderr], [0, '']);
    assert.deepEqual(await entries(path.join(run.cwd, 'new', 'a.example')), ['a.txt.torrent', 'b.torrent']);
  });
});

describe('piece-lengths', () => {
  const LENGTHS = `[create]
piece-lengths = { "2MiB" = "64KiB", "1MiB" = 32768, "8 MiB" = "128 KiB" }
[presets.fixed]
piece-length = "16KiB"
[presets.table]
piece-lengths = "1GiB=1MiB"
[presets.wish]
target-pieces = 1
[hosts."a.example"]
max-piece-length = "48KiB"
`;

  it('give the length of the smallest size that the content fits in, unless something above them decides', async (t) => {
    const run = await folderWith(t, LENGTHS);
    const lengthOf = async (size: number, ...args: string[]) => {
      await writeFile(path.join(run.cwd, 'film'), '');
      await truncate(path.join(run.cwd, 'film'), size);
      const { code, stdout, stderr } = await metainfo(['plan', 'film', '--json', ...args], run);
      assert.equal(code, 0, stdout + stderr);
      return JSON.parse(stdout).pieceLength / 1024;
    };
    const MIB = 2 ** 20;
    assert.equal(await lengthOf(1), 32);
    assert.equal(await lengthOf(MIB), 32);
    assert.equal(await lengthOf(MIB + 1), 64);
    assert.equal(await lengthOf(2 * MIB), 64);
    assert.equal(await lengthOf(8 * MIB), 128);
    // Above the last size, the automatic choice.
    assert.equal(await lengthOf(8 * MIB + 1), 16);
    assert.equal(await lengthOf(MIB, '-l', '256KiB'), 256);
    assert.equal(await lengthOf(MIB, '-l', 'auto'), 16);
    assert.equal(await lengthOf(MIB, '--preset', 'fixed'), 16);
    assert.equal(await lengthOf(MIB, '--preset', 'table'), 1024);
    assert.equal(await lengthOf(MIB, '--preset', 'wish'), 1024);
    assert.equal(await lengthOf(8 * MIB, '--max-piece-length', '100KiB'), 64);
    assert.equal(await lengthOf(8 * MIB, '-t', 'https://a.example/x'), 32);
    assert.equal(await lengthOf(8 * MIB, '--piece-lengths', '8MiB=16KiB,1MiB=auto'), 16);
    const planned = await metainfo(['plan', 'film', '-w', 'nonsense', '-c', 'x'], run);
    assert.match(planned.stdout, /^piece length +128 KiB$/m);
    assert.match(planned.stdout, /^error: /m);
    const piped = await finish(
      startProgram(['sh', '-c', 'exec "$@" < film', 'sh', ...command(['create', '-', '--name', 'piped', '-q'])], run),
    );
    assert.deepEqual([piped.code, piped.stderr], [0, '']);
    assert.equal((await read(run.cwd, 'piped.torrent')).info.pieceLength, MIB);
    const { stdout } = await metainfo(['config', '--preset', 'table'], run);
    assert.match(stdout, /^piece-lengths +1 MiB up to 1 GiB of content +preset table, /m);
    const created = await metainfo(['create', 'film', '-q'], run);
    assert.equal(created.code, 0, created.stderr);
    assert.equal((await read(run.cwd, 'film.torrent')).info.pieceLength, 128 * 1024);
  });

  it('are refused beside a piece length, on the command line and in one table', async (t) => {
    const run = await folderWith(t, '[presets.both]\npiece-length = "1MiB"\npiece-lengths = "1GiB=1MiB"\n');
    const configured = await metainfo(['plan', 'album', '--preset', 'both'], run);
    assert.equal(configured.code, 1);
    assert.match(
      configured.stderr,
      /:3: presets\.both\.piece-lengths: sets the same value as piece-length: use only one/,
    );
    const given = await metainfo(['plan', 'album', '--no-config', '-l', '1MiB', '--piece-lengths', '1GiB=1MiB'], run);
    assert.equal(given.code, 2);
    assert.match(given.stderr, /'--piece-lengths <sizes>' cannot be used with option '-l, --piece-length <size>'/);
  });

  it('are refused with what is expected', async (t) => {
    const run = await folderWith(
      t,
      '[create]\npiece-lengths = { "1GiB" = "3MiB" }\n[presets.a]\npiece-lengths = ["x"]\n[presets.b]\npiece-lengths = { "1GiB" = "1MiB", "1024MiB" = "2MiB" }\n[presets.c]\npiece-lengths = {}\n',
    );
    const { code, stderr } = await metainfo(['config'], run);
    assert.equal(code, 1);
    for (const problem of [
      /:2: create\.piece-lengths: 1GiB=3MiB: Expected a power of two/,
      /:4: presets\.a\.piece-lengths: expected a table such as \{ "1GiB" = "1MiB" \}, or text, got a list of 1/,
      /:6: presets\.b\.piece-lengths: Expected one piece length for content of 1 GiB/,
      /:8: presets\.c\.piece-lengths: Expected SIZE=LENGTH/,
    ])
      assert.match(stderr, problem);
  });
});

describe('rules about piece lengths', () => {
  it('go on to longer pieces for a small torrent, and to the target within the limits', async (t) => {
    const rules = (more: string) => `[hosts."a.example"]\n${more}\n[create]\ntracker = "http://a.example/x"\n`;
    const lengthOf = async (rule: string, ...args: string[]) => {
      const run = await folderWith(t, rules(rule));
      await sparseFile(run.cwd, 'film', 2 ** 20);
      const { code, stdout } = await metainfo(['plan', 'film', '-k', 'v1', '--json', ...args], run);
      const { pieceLength, findings } = JSON.parse(stdout);
      return [code, pieceLength / 1024, findings.filter(({ severity }: { severity: string }) => severity === 'error')];
    };
    const small = 'max-torrent-size = "400"\n';
    const [, needed] = await lengthOf(small);
    assert.ok(Number(needed) > 32, String(needed));
    for (const rule of ['min-piece-length = "32KiB"', 'piece-lengths = "1GiB=32KiB"'])
      assert.deepEqual(await lengthOf(small + rule), [0, needed, []], rule);
    const least = 'min-piece-length = "64KiB"';
    assert.deepEqual(await lengthOf(least, '--target-pieces', '1000'), [0, 64, []]);
    assert.deepEqual(await lengthOf(least, '--target-pieces', '8'), [0, 128, []]);
    const [code] = await lengthOf('', '--piece-lengths', '1GiB=64KiB', '--target-pieces', '1000');
    assert.equal(code, 1, 'lengths by size are not the target');
  });
});

describe('a rule about torrent versions', () => {
  const RULES = `[hosts."v1.example"]
torrent-version = "v1"
[hosts."some.example"]
torrent-version = ["v2", "v1"]
[hosts."any.example"]
torrent-version = []
[presets.v2]
torrent-version = "v2"
`;
  const on = (...hosts: string[]) => hosts.flatMap((host) => ['-t', `https://${host}.example/x`]);

  it('chooses a version that the trackers take, and refuses another one before hashing', async (t) => {
    const run = await folderWith(t, RULES);
    for (const [args, version] of [
      [on('v1'), 'v1'],
      [on('some'), 'v2'],
      [on('some', 'v1'), 'v1'],
      [on('any'), 'hybrid'],
      [[...on('some'), '-k', 'v1'], 'v1'],
    ] as const) {
      const planned = await plan(run, ...args);
      assert.deepEqual([planned.code, planned.version, planned.rules], [0, version, []], args.join(' '));
    }
    const wrong = await plan(run, ...on('v1', 'some'), '--preset', 'v2');
    assert.equal(wrong.code, 1);
    assert.match(
      wrong.rules[0]?.message ?? '',
      /^v1\.example wants v1 torrents, but this one is v2 \(the rule is in .*config\.toml:2\)\.$/,
    );
    assert.equal(wrong.rules.length, 1);
    const refused = await metainfo(['create', 'album', ...on('some'), '-k', 'hybrid'], run);
    assert.match(refused.stderr, /some\.example wants v2 or v1 torrents, but this one is hybrid .*\[tracker_rule\]/);
    assert.deepEqual(await entries(run.cwd), ['album', 'xdg']);
  });

  it('keeps the version of [create] if the tracker takes it, and refuses other words', async (t) => {
    const kept = await folderWith(t, `[create]\ntorrent-version = "v1"\n${RULES}`);
    assert.equal((await plan(kept, ...on('some'))).version, 'v1');
    const wrong = await folderWith(t, '[hosts.a]\ntorrent-version = ["v1", "v3"]\n[hosts.b]\ntorrent-version = 1\n');
    const { stderr } = await metainfo(['config'], wrong);
    assert.match(stderr, /:2: hosts\.a\.torrent-version: Allowed choices are v1, v2, hybrid\./);
    assert.match(stderr, /:4: hosts\.b\.torrent-version: expected text or a list of texts, got 1/);
  });
});

describe('metainfo config', () => {
  it('prints every size in one form, which the options read again', async (t) => {
    const run = await folderWith(
      t,
      '[create]\nmax-piece-length = 20\nmax-torrent-size = 10485760\nmemory-limit = "1G"\nread-size = "1001b"\n[hosts.a]\nmax-piece-length = "16384KiB"\n[presets.a]\npiece-length = "4m"\n',
    );
    const { stdout } = await metainfo(['config'], run);
    const sizes = new Map(
      [...stdout.matchAll(/^([\w-]+) {2,}(\d+ \w+) /gm)].map(([, key = '', size = '']) => [key, size]),
    );
    assert.deepEqual(
      [...sizes],
      [
        ['max-piece-length', '1 MiB'],
        ['max-torrent-size', '10 MiB'],
        ['memory-limit', '1 GiB'],
        ['read-size', '1001 bytes'],
      ],
    );
    assert.match(stdout, /^ {2}a {2}max-piece-length 16 MiB$/m);
    assert.match((await metainfo(['config', '--preset', 'a'], run)).stdout, /^piece-length +4 MiB /m);
    const pasted = [...sizes].map(([key, size]) => `${key} = "${size}"`).join('\n');
    await writeFile(path.join(run.cwd, 'pasted.toml'), `[create]\n${pasted}\n`);
    const again = (await metainfo(['config', '--config', 'pasted.toml'], run)).stdout;
    for (const [key, size] of sizes) assert.match(again, new RegExp(`^${key} +${size} `, 'm'));
    assert.equal((await shownBy(run)).create['max-torrent-size']?.value, 10_485_760);
  });

  it('has the names of presets and aliases for the completion: none of a file that is broken, large or no file', async (t) => {
    const run = await folderWith(
      t,
      '[presets."my films"]\n[presets."$(touch pwned)"]\n[presets."a\\nb"]\n[presets.x]\n[trackers]\nmain = "udp://a.example:1/x"\n',
    );
    const names = async (what: string, ...args: string[]) => {
      const { code, stdout, stderr } = await metainfo(['config', '--names', what, ...args], run);
      assert.deepEqual([code, stderr], [0, '']);
      return stdout.split('\n').filter(Boolean);
    };
    assert.deepEqual(await names('presets'), ['my films', '$(touch pwned)', 'x']);
    assert.deepEqual(await names('aliases'), ['main']);
    assert.deepEqual(await names('presets', '--no-config'), []);
    await writeFile(path.join(run.cwd, 'broken.toml'), '[presets.a]\n[create]\nprivate = 1\n');
    await writeFile(path.join(run.cwd, 'large.toml'), `[presets.a]\n${'#\n'.repeat(100_000)}`);
    await mkdir(path.join(run.cwd, 'folder.toml'));
    for (const file of ['broken.toml', 'large.toml', 'folder.toml', 'missing.toml'])
      assert.deepEqual(await names('presets', '--config', file), [], file);
  });
});

describe('metainfo edit', () => {
  it('takes the aliases of trackers', async (t) => {
    const run = await folderWith(t, '[trackers]\nmain = ["udp://a.example:1/x", "udp://b.example:1/x"]\n');
    const edit = (...args: string[]) => metainfo(['edit', 'a.torrent', ...args], run);
    assert.equal(
      (await metainfo(['create', 'album', '-o', 'a.torrent', '-q', '-t', 'udp://c.example:1/x'], run)).code,
      0,
    );
    assert.equal((await edit('--add-tracker', 'main')).code, 0);
    assert.deepEqual((await read(run.cwd, 'a.torrent')).announceList, [
      ['udp://c.example:1/x'],
      ['udp://a.example:1/x'],
      ['udp://b.example:1/x'],
    ]);
    assert.equal((await edit('--remove-tracker', 'main')).code, 0);
    assert.equal((await edit('-t', 'main,udp://d.example:1/x')).code, 0);
    assert.deepEqual((await read(run.cwd, 'a.torrent')).announceList, [
      ['udp://a.example:1/x', 'udp://b.example:1/x', 'udp://d.example:1/x'],
    ]);
    // A name that is no alias is a host.
    assert.equal((await edit('--remove-tracker', 'd.example')).code, 0);
    assert.equal((await read(run.cwd, 'a.torrent')).flatTrackers.length, 2);
    const wrong = await edit('-t', 'mian');
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /mian is neither a URL nor an alias of a tracker: did you mean main\?/);
  });
});

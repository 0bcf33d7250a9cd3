import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withHint } from '../../../src/cli/options/hints.ts';
import { program } from '../../../src/cli/program.ts';
import { metainfo, workFolder } from '../run.ts';

describe('verify --find before the torrent', () => {
  it('gets a hint that --find takes all words after it', async (t) => {
    const cwd = await workFolder(t);
    const args = ['verify', '--find', '/srv', 'a.torrent', 'album'];
    const hint =
      "missing required argument 'file': --find takes all words after it, so put it last: metainfo verify FILE PATH --find DIR";
    const { code, stderr } = await metainfo(args, { cwd });
    assert.equal(code, 2);
    assert.ok(stderr.startsWith(`error: ${hint}\n`), stderr);
    assert.equal(JSON.parse((await metainfo([...args, '--json'], { cwd })).stdout).error.message, hint);
    for (const other of [['verify'], ['verify', '--find', '/srv'], ['verify', '--find', '/srv', '--fast']])
      assert.match((await metainfo(other, { cwd })).stderr, /^error: missing required argument 'file'$/m);
  });
});

describe('words of other torrent programs', () => {
  const CASES: [args: string[], hint: RegExp][] = [
    [['modify', 'x.torrent'], /^error: unknown command 'modify': use metainfo edit$/m],
    [['inspect', 'x.torrent'], /: use metainfo show$/m],
    [['check', 'x.torrent'], /: use metainfo validate \(the torrent file\) or verify \(the content\)$/m],
    [['create', 'album', '--piece-size', '1M'], /^error: unknown option '--piece-size': use --piece-length$/m],
    [['create', 'album', '--web-seed', 'http://a/'], /: use --webseed$/m],
  ];

  it('get a hint, and exit with 2', async (t) => {
    const cwd = await workFolder(t);
    for (const [args, hint] of CASES) {
      const { code, stderr, stdout } = await metainfo(args, { cwd });
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, hint);
      const json = await metainfo([...args, '--json'], { cwd });
      assert.match(`error: ${JSON.parse(json.stdout).error.message}`, hint);
    }
  });

  it('keep the suggestion for a misspelled word', async (t) => {
    const cwd = await workFolder(t);
    const { stderr } = await metainfo(['vreify'], { cwd });
    assert.match(stderr, /Did you mean verify\?/);
  });

  it('are not commands of ours, and stand for commands and options that exist', () => {
    const commands = program().commands.map((command) => command.name());
    const create = program().commands.find((command) => command.name() === 'create');
    const options = (create?.options ?? []).map(({ long }) => long);
    for (const word of ['info', 'make', 'tree', 'rehash', 'link', 'recheck']) {
      assert.ok(!commands.includes(word));
      const [, command] = /: use metainfo ([\w-]+)/.exec(withHint(`unknown command '${word}'`)) ?? [];
      assert.ok(commands.includes(command as string), word);
    }
    for (const word of ['--out', '--xseed', '--protocol', '--dht-node', '--creator', '--link', '--url-list']) {
      assert.ok(!options.includes(word));
      const [, option] = /: use (--[\w-]+)$/.exec(withHint(`unknown option '${word}'`)) ?? [];
      assert.ok(options.includes(option as string), word);
    }
    assert.equal(withHint("unknown command 'constructor'"), "unknown command 'constructor'");
  });
});

import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { scopeOf, Transmission } from './support/clients.ts';
import { clientMissing, missing } from './support/external.ts';
import { examplesOf, pages, pageText, parsePage, requireTypes, runPage, sourcesWithExamples } from './support/pages.ts';
import { QBittorrent, qbittorrentMissing } from './support/qbittorrent.ts';
import { s3Server } from './support/s3.ts';
import { temporaryFolder } from './support/tree.ts';
import { folderServer } from './support/web-server.ts';

const curlMissing = () => missing('curl', 'curl', ['--version']);
const gpgMissing = () =>
  ['gpg', 'gpg-agent', 'gpgv'].map((name) => missing(name, name, ['--version'])).find(Boolean) ?? false;

/** The programs that pages need. */
const NEEDS: Readonly<Record<string, () => string | false>> = {
  'docs/guides/cookbook.md': () => curlMissing() || gpgMissing(),
  'docs/guides/parts.md': () => missing('GNU parallel', 'parallel', ['--version']),
  'docs/guides/switching.md': () => missing('jq', 'jq', ['--version']) || missing('yq', 'yq', ['--version']),
  'docs/guides/verifying.md': curlMissing,
  'docs/guides/seeding.md': () => curlMissing() || qbittorrentMissing() || clientMissing('transmission-daemon'),
};

/** Starts the servers that a page needs, and returns the variables that name them. The page runs in `work` in the folder. */
const SERVERS: Readonly<Record<string, (t: TestContext, folder: string) => Promise<Record<string, string>>>> = {
  'docs/guides/parts.md': async (t) => (await s3Server(t)).env,
  'docs/guides/verifying.md': async (t, folder) => ({
    MIRROR: (await folderServer(t, path.join(folder, 'work'))).origin,
  }),
  'docs/guides/seeding.md': async (t) => {
    const scope = scopeOf(t);
    const [qBittorrent, transmission] = [await QBittorrent.start(scope), await Transmission.startEmpty(scope)];
    return { QBITTORRENT: qBittorrent.address, TRANSMISSION: transmission.rpc };
  },
};

/** The program of the front page. */
async function frontPage(): Promise<string> {
  const { href } = new URL('../site/home.mjs', import.meta.url);
  const { PROGRAM } = (await import(href)) as { PROGRAM: string };
  return PROGRAM;
}

describe('code on pages', { concurrency: 2 }, () => {
  for (const name of pages()) {
    const skip = NEEDS[name]?.() ?? false;
    it(`${name}: every block runs and prints what the page shows`, { skip }, async (t) => {
      const folder = await temporaryFolder(t);
      const env = (await SERVERS[name]?.(t, folder)) ?? {};
      await runPage(parsePage(pageText(name)), folder, { env });
    });
  }

  for (const name of sourcesWithExamples()) {
    it(`${name}: the examples of its docstrings run`, async (t) => {
      const page = parsePage(examplesOf(pageText(name)));
      assert.ok(page.steps.length > 0);
      await runPage(page, await temporaryFolder(t), { torrents: true });
    });
  }

  it('the front page: its program of eight lines runs', async (t) => {
    const code = await frontPage();
    assert.equal(code.trim().split('\n').length, 8);
    const output = '01 fifth.wav\n02 third.wav\nnotes/empty.txt\nnotes/readme.txt\ntrue magnet:...';
    await runPage({ steps: [{ kind: 'ts', line: 1, text: code, output }], notRun: [] }, await temporaryFolder(t));
  });

  it('has no type errors', async (t) => {
    const folder = await temporaryFolder(t);
    await requireTypes(folder, [
      ...pages().map((name) => [name, pageText(name)] as const),
      ['home.md', `\`\`\`ts\n${await frontPage()}\`\`\`\n`] as const,
      ...sourcesWithExamples().map((name) => [name, examplesOf(pageText(name))] as const),
    ]);
  });

  it('has few blocks that are not run', () => {
    const reasons = pages().flatMap((name) => parsePage(pageText(name)).notRun);
    assert.ok(reasons.length <= 3, reasons.join('\n'));
  });
});

describe('runPage', () => {
  const fence = (kind: string, text: string) => `\`\`\`${kind}\n${text}\n\`\`\`\n`;

  for (const [what, text, expected] of [
    ['a failing script', fence('sh', 'false\ntrue'), /line 1/],
    ['a throwing program', fence('ts', "import 'metainfo';\nthrow new Error('so');"), /so/],
    ['a program with other output', fence('ts', "import 'metainfo';\nconsole.log(1);") + fence('text', '2'), /line 1/],
    ['a session with other output', fence('console', '$ echo a.c; echo b\nabc\nb'), /echo a.c/],
    ['a session with a failing command', fence('console', '$ echo 1\n1\n\n$ false'), /status of false/],
    ['a session that ends early', fence('console', '$ exit 0\n$ echo 1\n1'), /ended early/],
    ['a block of unknown kind', fence('js', 'true'), /of kind "js"/],
    ['a program without an import', fence('ts', 'true;'), /no program before it/],
    ['an unclosed fence', '```sh\ntrue\n', /every fence/],
  ] as const) {
    it(`rejects ${what}`, async (t) => {
      const folder = await temporaryFolder(t);
      await assert.rejects(async () => runPage(parsePage(text), folder), { message: expected });
    });
  }

  it('accepts placeholders, shown failures and programs in several blocks', async (t) => {
    const session = '$ echo 1; echo 2; echo 3\n1\n...\n\n$ echo took 3.1 s\ntook ... s\n\n$ false\n$ echo $?\n1';
    const program =
      fence('ts', "import 'metainfo';\nconst a = 1;") + fence('ts', 'console.log(a);') + fence('text', '1');
    const page = parsePage(`${fence('console', session)}${program}<!-- not run: so -->\n${fence('sh', 'false')}`);
    assert.deepEqual(page.notRun, ['so']);
    await runPage(page, await temporaryFolder(t));
  });
});

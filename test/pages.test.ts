import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { finish, startProgram } from './cli/run.ts';
import { linkPackage, pages, pageText, parsePage, ROOT, runPage } from './support/pages.ts';
import { temporaryFolder } from './support/tree.ts';

describe('the pages with code', { concurrency: 2 }, () => {
  for (const name of pages()) {
    it(`${name}: every block does what it says`, async (t) => {
      await runPage(parsePage(pageText(name)), await temporaryFolder(t));
    });
  }

  it('have programs without an error of type', async (t) => {
    const folder = await temporaryFolder(t);
    await linkPackage(folder);
    for (const name of pages()) {
      const place = path.join(folder, path.basename(name, '.md'));
      await mkdir(place);
      for (const { kind, line, text } of parsePage(pageText(name)).steps)
        if (kind === 'ts') await writeFile(path.join(place, `line-${line}.mts`), text);
    }
    const config = { extends: path.join(ROOT, 'tsconfig.json'), include: ['*/*.mts'] };
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const { code, stdout } = await finish(startProgram([process.execPath, tsc, '-p', folder], { cwd: folder }));
    assert.equal(code, 0, stdout);
  });

  it('have few blocks that are not run', () => {
    const reasons = pages().flatMap((name) => parsePage(pageText(name)).notRun);
    assert.ok(reasons.length <= 3, reasons.join('\n'));
  });
});

describe('a page', () => {
  const fence = (kind: string, text: string) => `\`\`\`${kind}\n${text}\n\`\`\`\n`;

  for (const [what, text, expected] of [
    ['a script that fails', fence('sh', 'false\ntrue'), /line 1/],
    ['a program that throws', fence('ts', "import 'metainfo';\nthrow new Error('so');"), /so/],
    [
      'a program that prints something else',
      fence('ts', "import 'metainfo';\nconsole.log(1);") + fence('text', '2'),
      /line 1/,
    ],
    ['a session that prints something else', fence('console', '$ echo a.c; echo b\nabc\nb'), /echo a.c/],
    ['a session that fails', fence('console', '$ echo 1\n1\n\n$ false'), /status of false/],
    ['a session that ends early', fence('console', '$ exit 0\n$ echo 1\n1'), /ended early/],
    ['a kind of block that nobody runs', fence('js', 'true'), /of kind "js"/],
    ['a program without a beginning', fence('ts', 'true;'), /no program is before it/],
    ['a fence that is not closed', '```sh\ntrue\n', /every fence/],
  ] as const) {
    it(`fails by ${what}`, async (t) => {
      const folder = await temporaryFolder(t);
      await assert.rejects(async () => runPage(parsePage(text), folder), { message: expected });
    });
  }

  it('may leave out what differs, show failures, and go on with a program', async (t) => {
    const session = '$ echo 1; echo 2; echo 3\n1\n...\n\n$ echo took 3.1 s\ntook ... s\n\n$ false\n$ echo $?\n1';
    const program =
      fence('ts', "import 'metainfo';\nconst a = 1;") + fence('ts', 'console.log(a);') + fence('text', '1');
    const page = parsePage(`${fence('console', session)}${program}<!-- not run: so -->\n${fence('sh', 'false')}`);
    assert.deepEqual(page.notRun, ['so']);
    await runPage(page, await temporaryFolder(t));
  });
});

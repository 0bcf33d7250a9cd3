import assert from 'node:assert/strict';
import { readFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type S3Server, s3Server } from '../support/s3.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { bytesOf, metainfo, metainfoProcess } from './run.ts';

const KIB = 1024;

/** A working folder with content, its plan of four parts, the torrent that `create` makes, and a bucket. */
async function setUp(t: TestContext) {
  const s3 = await s3Server(t);
  const cwd = await temporaryFolder(t);
  await writeTree(cwd, { 'set/a': 150 * KIB, 'set/b c/d+é': 60 * KIB, 'set/empty': 0, 'aws/.keep': 0 });
  const env = { ...s3.env, HOME: path.join(cwd, 'aws') };
  const run = (...args: string[]) => metainfo(args, { cwd, env });
  const planned = await run('plan', 'set', '-o', 'plan.json', '--part-size', '64KiB', '-l', '16KiB');
  assert.deepEqual([planned.code, planned.stderr], [0, '']);
  await run('create', 'set', '-l', '16KiB', '-o', 'created.torrent');
  return { s3, cwd, env, run };
}

async function upload(s3: S3Server, cwd: string) {
  for (const file of ['a', 'b c/d+é', 'empty'])
    await s3.upload(
      `content/set/${file.split('/').map(encodeURIComponent).join('/')}`,
      await readFile(path.join(cwd, 'set', file)),
    );
}

describe('hash-part and join with an object store', () => {
  it('make the same torrent as create, in processes at the same time, through a store that fails 5 % of all calls', async (t) => {
    const { s3, cwd, run } = await setUp(t);
    s3.handle = ({ index, response, pass }) =>
      index % 20 !== 2 ? void pass() : index % 40 === 2 ? response.destroy() : response.writeHead(503).end();
    const hash = (index: number) =>
      run('hash-part', 'plan.json', '--index', String(index), '--parts', 's3://jobs/parts');
    const join = () => run('join', 'plan.json', '--parts', 's3://jobs/parts', '-o', 'joined.torrent');
    const two = await Promise.all([0, 1].map(hash));
    for (const { code, stderr, stdout } of two) assert.deepEqual([code, stderr, /hashed/.test(stdout)], [0, '', true]);
    const early = await join();
    assert.equal(early.code, 75);
    assert.match(early.stderr, /2 of 4 parts are missing \(2, 3\)/);
    await Promise.all([2, 3].map(hash));
    assert.match((await hash(3)).stdout, /part 3: it is there already/);
    const joined = await join();
    assert.deepEqual([joined.code, joined.stderr], [0, '']);
    assert.ok((await bytesOf(cwd, 'joined.torrent')).equals(await bytesOf(cwd, 'created.torrent')));
  });

  it('hashes a damaged part again', async (t) => {
    const { s3, cwd, run } = await setUp(t);
    const { id } = JSON.parse(String(await bytesOf(cwd, 'plan.json')));
    const hash = () => run('hash-part', 'plan.json', '--index', '1', '--parts', 's3://jobs/parts');
    for (const damage of ['short', 'x'.repeat(100_000)]) {
      await s3.upload(`parts/${id}/1.part`, Buffer.from(damage));
      assert.match((await hash()).stdout, /part 1: hashed/);
    }
    assert.match((await hash()).stdout, /part 1: it is there already/);
  });

  it('reads the planned files below --content-url, in S3', async (t) => {
    const { s3, cwd, run } = await setUp(t);
    await upload(s3, cwd);
    await rm(path.join(cwd, 'set'), { recursive: true });
    const content = ['--parts', 's3://jobs/parts', '--content-url', 's3://jobs/content/set/'];
    for (const index of ['0', '1', '2', '3']) {
      const { code, stderr } = await run('hash-part', 'plan.json', '--index', index, ...content);
      assert.deepEqual([code, stderr], [0, '']);
    }
    const joined = await run('join', 'plan.json', ...content, '-o', 'joined.torrent');
    assert.deepEqual([joined.code, joined.stderr], [0, '']);
    assert.ok((await bytesOf(cwd, 'joined.torrent')).equals(await bytesOf(cwd, 'created.torrent')));
    await s3.upload('content/set/a', Buffer.alloc(5));
    const changed = await run(
      'hash-part',
      'plan.json',
      '--index',
      '0',
      '--parts',
      'other',
      '--content-url',
      's3://jobs/content/set',
    );
    assert.equal(changed.code, 1);
    assert.match(
      changed.stderr,
      /a changed after it was planned: its size went from 153600 to 5 bytes.*\[ERR_FILE_CHANGED\]/,
    );
  });

  it('notices an object that is replaced while it is read', async (t) => {
    const { s3, cwd, run } = await setUp(t);
    await upload(s3, cwd);
    let reads = 0;
    s3.handle = async ({ request, pass }) => {
      if (/content\/set\/a$/.test(request.url ?? '')) reads += 1;
      if (reads === 2) await s3.upload('content/set/a', Buffer.alloc(150 * KIB, 'new'));
      await pass();
    };
    const args = ['--index', '0', '--parts', 'parts', '--content-url', 's3://jobs/content/set'];
    const { code, stderr } = await run('hash-part', 'plan.json', ...args);
    assert.equal(code, 1);
    assert.match(stderr, /s3:\/\/jobs\/content\/set\/a: the file was replaced while it was read.*\[ERR_FILE_CHANGED\]/);
  });

  it('names the package that signs requests if it is missing, and the variables of the keys', async (t) => {
    const { cwd, env, run } = await setUp(t);
    const text = `const { Module } = require('node:module');
      const resolve = Module._resolveFilename;
      Module._resolveFilename = (name, ...rest) => resolve(name === process.env.HIDDEN ? 'not-installed' : name, ...rest);`;
    await writeFile(path.join(cwd, 'hide.cjs'), text);
    const args = ['hash-part', 'plan.json', '--index', '0', '--parts', 's3://jobs/parts'];
    const hidden = { ...env, NODE_OPTIONS: `--require=${path.join(cwd, 'hide.cjs')}`, HIDDEN: 'aws4fetch' };
    const missing = await metainfoProcess(args, { cwd, env: hidden });
    assert.equal(missing.code, 2);
    assert.match(
      missing.stderr,
      /S3 needs a package that is not installed: npm install aws4fetch.*\[ERR_INVALID_ARGUMENT\]/,
    );
    const sdk = '@aws-sdk/credential-providers';
    const noKeys = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_EC2_METADATA_DISABLED: 'true' };
    const without = await metainfoProcess(args, { cwd, env: { ...hidden, ...noKeys, HIDDEN: sdk } });
    assert.deepEqual([without.code, without.stderr.includes(`npm install ${sdk}, beside metainfo`)], [2, true]);
    const keyless = await metainfo(args, { cwd, env: { ...env, ...noKeys } });
    assert.deepEqual([keyless.code, /set AWS_ACCESS_KEY_ID and/.test(keyless.stderr)], [2, true]);
    assert.equal((await run(...args)).code, 0);
  });

  it('needs a URL as --content-url, and a known scheme of the store', async (t) => {
    const { run } = await setUp(t);
    const args = ['hash-part', 'plan.json', '--index', '0'];
    const folder = await run(...args, '--parts', 'parts', '--content-url', 'set');
    assert.equal(folder.code, 2);
    for (const url of [
      'set',
      'https://h/set#x',
      'https://h/set?x',
      'https:///set',
      'data:,x',
      'https:h/set',
      's3://',
    ]) {
      const { code, stderr } = await run(...args, '--parts', 'parts', '--content-url', url);
      assert.equal(code, 2, url);
      assert.match(stderr, /--content-url needs a URL that paths can be appended to|s3:\/\/BUCKET/, url);
    }
    const secret = await run(...args, '--parts', 'ftp://me:geheim@host/');
    assert.equal(secret.code, 2);
    assert.match(secret.stderr, /a part store cannot have the scheme ftp/);
    assert.ok(!secret.stderr.includes('geheim'));
    const keys = await run(...args, '--parts', 's3://me:geheim@host/');
    assert.deepEqual([keys.code, keys.stderr.includes('geheim')], [2, false]);
    const nobody = await run(...args, '--parts', 'http://me:geheim@127.0.0.1:9/');
    assert.deepEqual([nobody.code, nobody.stderr.includes('geheim')], [75, false]);
  });
});

describe('metainfo store', () => {
  const ID = 'ab'.repeat(32);
  const OTHER = 'cd'.repeat(32);
  const OLD = new Date(Date.now() - 10 * 86_400_000);

  it('lists and prunes a folder, and leaves everything else', async (t) => {
    const cwd = await temporaryFolder(t);
    const mine = [
      `${ID}/plan.json`,
      `${ID}/0.part`,
      `${ID}/12.part`,
      `${OTHER}/items-0.json`,
      `${OTHER}/results-0.json`,
    ];
    const others = [`${ID}/note.txt`, `${ID}/01.part`, 'x/0.part', `${'AB'.repeat(32)}/0.part`, 'plan.json'];
    await writeTree(cwd, Object.fromEntries([...mine, ...others].map((file) => [`store/${file}`, 1024])));
    await rm(path.join(cwd, 'store', ID, 'note.txt'));
    await writeFile(path.join(cwd, 'store', ID, 'note.txt'), 'x');
    for (const file of [...mine, ...others]) await utimes(path.join(cwd, 'store', file), OLD, OLD);
    // The last result of the batch is new: the batch is in progress.
    await utimes(path.join(cwd, 'store', OTHER, 'results-0.json'), new Date(), new Date());
    const run = (...args: string[]) => metainfo(['store', ...args, '--store', 'store'], { cwd });
    const listed = await run('ls');
    assert.deepEqual([listed.code, listed.stderr], [0, '']);
    assert.equal(
      listed.stdout.replace(/\d+ s\n/, '0 s\n'),
      `id${' '.repeat(64)}what                     size   age\n` +
        `${ID}  plan, 2 parts           3 KiB  10 d\n` +
        `${OTHER}  batch: 1 job, 1 result  2 KiB   0 s\n` +
        'store: 2 plans, 5 objects, 5 KiB\n',
    );
    const dry = await run('prune', '--older', '7d', '--dry-run');
    assert.deepEqual([dry.code, dry.stdout], [0, 'store: would delete 1 plan, 3 objects, 3 KiB\n']);
    const wrong = await run('prune', '--older', '7 days');
    assert.deepEqual([wrong.code, /Expected a duration such as/.test(wrong.stderr)], [2, true]);
    const bare = await run('prune', '--older', '7');
    assert.deepEqual([bare.code, /Expected a duration with its unit/.test(bare.stderr)], [2, true]);
    const pruned = await run('prune', '--older', '7d', '--json');
    const { deleted, ...rest } = JSON.parse(pruned.stdout);
    assert.deepEqual(rest, { store: 'store', dryRun: false, plans: 1, objects: 3, size: 3072, kept: 1 });
    assert.deepEqual([deleted.length, deleted[0].id, deleted[0].what], [1, ID, 'plan, 2 parts']);
    for (const file of [...others, `${OTHER}/items-0.json`]) await readFile(path.join(cwd, 'store', file));
    await assert.rejects(readFile(path.join(cwd, 'store', ID, '0.part')), { code: 'ENOENT' });
    assert.equal((await run('prune', '--older', '7d')).stdout, 'store: deleted 0 plans, 0 objects, 0 B\n');
    assert.equal((await run('prune', '--older', '0s')).stdout, 'store: deleted 1 plan, 2 objects, 2 KiB\n');
  });

  it('fails for a folder that is missing, and for a web server', async (t) => {
    const cwd = await temporaryFolder(t);
    const missing = await metainfo(['store', 'ls', '--store', 'none'], { cwd });
    assert.deepEqual([missing.code, /none: no such file or folder.*\[ERR_NOT_FOUND\]/.test(missing.stderr)], [1, true]);
    const early = await metainfo(['store', 'prune', '--older', '7d', '--store', 'none'], { cwd });
    assert.deepEqual([early.code, early.stdout], [0, 'none: no store yet\n']);
    await writeTree(cwd, { file: 'x' });
    const file = await metainfo(['store', 'ls', '--store', 'file'], { cwd });
    assert.deepEqual([file.code, /file: it is not a folder/.test(file.stderr)], [1, true]);
    for (const store of ['https:/me:geheim@host/a', 'S3:me:geheim', 'https://h:99999/x']) {
      const { code, stdout, stderr } = await metainfo(['store', 'ls', '--store', store], { cwd });
      assert.deepEqual([code, stdout, /https:\/\/HOST\/PATH\//.test(stderr)], [2, '', true]);
      assert.doesNotMatch(stderr, /geheim|x\/x/);
    }
    const web = await metainfo(['store', 'ls', '--store', 'https://me:geheim@host/a'], { cwd });
    assert.equal(web.code, 2);
    assert.match(web.stderr, /A web server cannot list its objects/);
    const usage = await metainfo(['store', 'prune', '--store', 'x'], { cwd });
    assert.equal(usage.code, 2);
  });

  it('lists and prunes a bucket, and reports what it could not delete', async (t) => {
    const { s3, run } = await setUp(t);
    for (const key of [`${ID}/plan.json`, `${ID}/0.part`, `${OTHER}/0.part`, 'other'])
      await s3.upload(`a b/${key}`, Buffer.alloc(1024));
    const store = ['--store', 's3://jobs/a b'];
    const { plans, objects, size } = JSON.parse((await run('store', 'ls', '--json', ...store)).stdout);
    assert.deepEqual([plans.length, objects, size], [2, 3, 3072]);
    s3.handle = ({ request, response, pass }) =>
      request.method === 'DELETE' && request.url?.includes(OTHER) ? response.writeHead(403).end() : void pass();
    const failed = await run('store', 'prune', '--older', '0s', ...store);
    assert.equal(failed.code, 75);
    assert.match(
      failed.stderr,
      /1 object of s3:\/\/jobs\/a b could not be deleted \(1 plan, 2 objects, 2 KiB were deleted\)/,
    );
    s3.handle = null;
    assert.equal(
      (await run('store', 'prune', '--older', '0s', ...store)).stdout,
      's3://jobs/a b: deleted 1 plan, 1 object, 1 KiB\n',
    );
    assert.ok(s3.requests.every((line) => !/^DELETE .*other$/.test(line)));
  });

  it('keeps a plan that was written anew since it was listed, and each new object', async (t) => {
    const { s3, run } = await setUp(t);
    const deleted: string[] = [];
    let looks = 0;
    s3.handle = ({ request, response }) => {
      const { searchParams, pathname } = new URL(`http://x${request.url}`);
      if (request.method === 'DELETE') {
        deleted.push(pathname);
        response.writeHead(204).end();
        return;
      }
      const prefix = searchParams.get('prefix') ?? '';
      const isNew = prefix.startsWith(OTHER) || prefix === `${ID}/1.part`;
      if (prefix === `${ID}/`) looks += 1;
      const keys = [`${ID}/0.part`, `${ID}/1.part`, `${OTHER}/plan.json`].filter((key) => key.startsWith(prefix));
      const time = `20${isNew ? 99 : 20}-01-01T00:00:00Z`;
      const entries = keys.map(
        (key) => `<Contents><Key>${key}</Key><LastModified>${time}</LastModified><Size>4</Size></Contents>`,
      );
      response.end(`<ListBucketResult>${entries.join('')}</ListBucketResult>`);
    };
    const { stdout } = await run('store', 'prune', '--older', '7d', '--store', 's3://jobs', '--json');
    const { deleted: plans, objects, kept } = JSON.parse(stdout);
    assert.deepEqual([plans, objects, kept, looks], [[], 1, 2, 1]);
    assert.deepEqual(deleted, [`/jobs/${ID}/0.part`]);
  });

  it('lists a bucket of several pages with several requests at once', async (t) => {
    const { s3, run } = await setUp(t);
    const waiting: (() => void)[] = [];
    s3.handle = ({ request, response }) => {
      const prefix = new URL(`http://x${request.url}`).searchParams.get('prefix') ?? '';
      const ids = [...'0123456789abcdef'].map((digit) => digit.repeat(64)).filter((id) => id.startsWith(prefix));
      const about = '<LastModified>2026-01-01T00:00:00Z</LastModified><Size>4</Size>';
      const entries = ids.map((id) => `<Contents><Key>${id}/0.part</Key>${about}</Contents>`).join('');
      const others = '<Contents><Key>of others</Key></Contents>'.repeat(1000);
      const more = prefix === '' ? `${others}<NextContinuationToken>x</NextContinuationToken>` : '';
      waiting.push(() => response.end(`<ListBucketResult>${entries}${more}</ListBucketResult>`));
      // Nothing is answered before all have asked.
      if (prefix === '' || waiting.length === 16) for (const answer of waiting.splice(0)) answer();
    };
    const { stdout } = await run('store', 'ls', '--store', 's3://jobs');
    assert.match(stdout, /s3:\/\/jobs: 16 plans, 16 objects, 64 B\n$/);
  });

  it('lists more plans than the arguments of a function', async (t) => {
    const { s3, run } = await setUp(t);
    const [pages, each] = [16, 8192];
    const about = '<LastModified>2026-01-01T00:00:00Z</LastModified><Size>4</Size>';
    s3.handle = ({ request, response }) => {
      const { searchParams } = new URL(`http://x${request.url}`);
      const page = Number(searchParams.get('continuation-token') ?? 0);
      const isAsked = (id: string) => id.startsWith(searchParams.get('prefix') ?? '');
      const ids = Array.from({ length: each }, (_, i) => (page * each + i).toString(16).padStart(64, '0'));
      const entries = ids
        .filter(isAsked)
        .map((id) => `<Contents><Key>${id}/0.part</Key>${about}</Contents>`)
        .join('');
      const next = page + 1 < pages ? `<NextContinuationToken>${page + 1}</NextContinuationToken>` : '';
      response.end(`<ListBucketResult>${entries}${next}</ListBucketResult>`);
    };
    const { code, stderr, stdout } = await run('store', 'ls', '--store', 's3://jobs');
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(stdout.endsWith('s3://jobs: 131072 plans, 131072 objects, 512 KiB\n'), stdout.slice(-200));
  });
});

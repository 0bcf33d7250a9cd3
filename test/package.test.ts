import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import ts from 'typescript';
import { pageText, ROOT } from './support/pages.ts';
import { temporaryFolder } from './support/tree.ts';

/** Returns the paths that `npm pack` would ship from a folder. */
function packed(folder: string): string[] {
  const args = ['pack', '--dry-run', '--ignore-scripts', '--json'];
  const said = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [{ files }] = JSON.parse(said) as [{ files: { path: string }[] }];
  return files.map((file) => file.path);
}

describe('the package', () => {
  it('ships every file that README.md links to, every diagram of its pages, and no build files', async (t) => {
    const folder = await temporaryFolder(t);
    const places = readdirSync(ROOT).filter((name) =>
      /\.(md|json|gyp)$|^(deploy|docs|examples|man|native)$/.test(name),
    );
    for (const place of places) cpSync(path.join(ROOT, place), path.join(folder, place), { recursive: true });
    // node-gyp writes this folder for native/libtorrent, which uses a package of the root.
    for (const stray of ['native/node_modules/node-addon-api/x.stamp', 'native/libtorrent/build/x.node']) {
      mkdirSync(path.dirname(path.join(folder, stray)), { recursive: true });
      writeFileSync(path.join(folder, stray), '');
    }
    const files = packed(folder);
    const links = [...pageText('README.md').matchAll(/\]\(([^)\s#]+)/g)].map(([, link = '']) => link);
    const relative = links.filter((link) => !/^[a-z]+:|\.webp$/.test(link));
    assert.ok(relative.length > 20);
    for (const file of ['docs/config.schema.json', 'man/metainfo.1']) assert.ok(files.includes(file), file);
    assert.deepEqual(
      relative.filter((link) => !files.includes(link)),
      [],
    );
    const images = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) => {
        // npm's page takes screenshots, which are large, from the repository.
        const sources = [...pageText(file).matchAll(/!\[[^\]]*\]\(([^)\s]+(?<!\.webp))\)/g)].map(
          ([, source = '']) => source,
        );
        return sources.map((source) => path.posix.join(path.posix.dirname(file), source));
      });
    assert.ok(images.length > 5);
    assert.deepEqual(
      images.filter((image) => !files.includes(image)),
      [],
    );
    assert.deepEqual(
      files.filter((file) => /(^|\/)(node_modules|build)\//.test(file)),
      [],
    );
  });

  it('resolves with every moduleResolution of TypeScript, including node10', async (t) => {
    const folder = await temporaryFolder(t);
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(ROOT, path.join(folder, 'node_modules', 'metainfo'), 'junction');
    const { ModuleResolutionKind: kind, ModuleKind: module } = ts;
    for (const options of [
      { moduleResolution: kind.NodeNext, module: module.NodeNext },
      { moduleResolution: kind.Bundler, module: module.ESNext },
      { moduleResolution: kind.Node10, module: module.ESNext },
      { moduleResolution: kind.Node10, module: module.CommonJS },
    ]) {
      const from = path.join(folder, 'x.mts');
      const { resolvedModule } = ts.resolveModuleName('metainfo', from, options, ts.sys);
      assert.equal(resolvedModule?.resolvedFileName, path.join(ROOT, 'dist', 'index.d.ts'), JSON.stringify(options));
    }
  });

  it('gets repository, homepage and bugs only in the release workflow', async (t) => {
    const folder = await temporaryFolder(t);
    const manifest = JSON.parse(pageText('package.json'));
    assert.deepEqual([manifest.repository, manifest.homepage, manifest.bugs], [undefined, undefined, undefined]);
    cpSync(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
    const script = /run: \|\n((?: {10}.*\n)*? {10}npm pkg set .*\n)/.exec(pageText('.github/workflows/release.yml'));
    assert.ok(script);
    const env = { ...process.env, GITHUB_SERVER_URL: 'https://example.com', GITHUB_REPOSITORY: 'owner/name' };
    execFileSync('sh', ['-ec', script[1] as string], { cwd: folder, env });
    const { repository, homepage, bugs } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    assert.deepEqual(repository, { type: 'git', url: 'git+https://example.com/owner/name.git' });
    assert.deepEqual(
      [homepage, bugs],
      ['https://example.com/owner/name#readme', { url: 'https://example.com/owner/name/issues' }],
    );
  });
});

describe('npm ci', () => {
  it('runs only install scripts that download nothing', () => {
    const { packages } = JSON.parse(pageText('package-lock.json')) as {
      packages: Record<string, { hasInstallScript?: boolean }>;
    };
    const scripts = Object.keys(packages).filter((place) => place !== '' && packages[place]?.hasInstallScript);
    const known = ['esbuild', 'lmdb', 'msgpackr-extract'];
    assert.deepEqual(
      scripts.filter((place) => !known.includes(place.replace(/^.*node_modules\//, ''))),
      [],
    );
  });
});

describe('npm start', () => {
  it('runs its tour in a temporary folder and leaves nothing there or in the clone', async (t) => {
    const folder = await temporaryFolder(t);
    const own = path.join(ROOT, 'album.torrent');
    const modified = () => statSync(own, { throwIfNoEntry: false })?.mtimeMs;
    const before = modified();
    const env = { ...process.env, TMPDIR: folder, TEMP: folder, INIT_CWD: folder };
    const said = execFileSync(process.execPath, [path.join(ROOT, 'scripts', 'start.mjs')], { env, encoding: 'utf8' });
    assert.match(said, /\$ metainfo create album\nalbum\.torrent: hybrid, .*\$ metainfo verify .*album: complete;/s);
    assert.equal(modified(), before);
    assert.deepEqual(readdirSync(folder), []);
  });
});

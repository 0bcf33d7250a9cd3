// `npm run docs`: builds the site in build/site from README.md, docs, the API and site/inspect, and checks its links.
// With --preview it then serves the site.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'vitepress';
import { generate, root } from '../scripts/setup.mjs';
import { QUEUES, writeApi } from './api.mjs';
import { TASKS } from './api-tasks.mjs';
import { homePage } from './home.mjs';
import { buildInspect, writeWorker } from './inspect.mjs';

const PAGES = path.join(root, 'build', 'pages');
const PUBLIC = path.join(PAGES, 'public');
const INDEX = 'docs/README.md';

/** The text of a file. On the site it links to files that git ignores, and that would be broken links in the repository. */
function read(file) {
  const linkTo = (target, label) => `[${label}](${path.posix.relative(path.posix.dirname(file), target)})`;
  const commands = () =>
    readdirSync(path.join(root, 'docs/commands'))
      .map((name) => linkTo(`docs/commands/${name}`, name.replace('.md', '')))
      .join(', ');
  return readFileSync(path.join(root, file), 'utf8')
    .replace('<!-- commands -->', commands)
    .replace(/`(docs\/config\.schema\.json)`/, (_, schema) => linkTo(schema, path.basename(schema)));
}

generate();
const { version, homepage } = JSON.parse(read('package.json'));
const repository = homepage?.replace(/#.*/, '');
const titleOf = (text) => /^# (.+)$/m.exec(text)[1].replaceAll('\\', '');

/** The place of a file of the repository on the site: `docs/guides/creating.md` is `guides/creating.md`. */
function placeOf(file) {
  if (file === 'README.md') return 'start.md';
  return file === INDEX ? 'contents.md' : file.replace(/^docs\//, '').replace(/README\.md$/, 'index.md');
}

/** The sections of docs/README.md with their pages. */
function sections() {
  const parts = read(INDEX).split(/^## /m).slice(1);
  return parts.map((part) => {
    const files = [...part.matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, link]) => path.posix.join('docs', link));
    return { title: part.split('\n', 1)[0], files };
  });
}

/** A page for the site: links lead to pages of the site, and other files become downloads. */
function onSite(file, pages) {
  const folder = path.posix.dirname(file);
  const place = placeOf(file);
  const toFile = (link) => {
    const [target, anchor = ''] = link.split(/(?=#)/);
    const found = path.posix.normalize(path.posix.join(folder, target));
    if (pages.has(found)) return path.posix.relative(path.posix.dirname(place), placeOf(found)) + anchor;
    if (!existsSync(path.join(root, found))) throw new Error(`${file}: no ${link}`);
    // A release knows the address of its repository, which has the sources.
    if (!/\.(svg|webp|json)$|^examples\/.*\.mjs$/.test(found))
      return repository ? `${repository}/blob/v${version}/${found}` : '';
    mkdirSync(path.dirname(path.join(PUBLIC, 'files', found)), { recursive: true });
    cpSync(path.join(root, found), path.join(PUBLIC, 'files', found));
    return `/files/${found}`;
  };
  const rewritten = (text) =>
    text.replace(/(!?)\[([^\]]*)\]\(((?![a-z]+:|#)[^)\s]+)\)/g, (_, image, label, link) => {
      const target = toFile(link);
      return target === '' ? label : `${image}[${label}](${target})`;
    });
  // Blocks of code stay as they are. The page of README.md has the name that the navigation gives it.
  const text = read(file)
    .replace(/^# metainfo$/m, file === 'README.md' ? '# Getting started' : '$&')
    .split(/^(```[\s\S]*?^```)$/m)
    .map((part) => (part.startsWith('```') ? part : rewritten(part)))
    .join('');
  const target = path.join(PAGES, place);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, file === 'docs/errors.md' ? withAnchors(text) : text);
  return { text: titleOf(text), link: `/${place.replace(/(index)?\.md$/, '')}` };
}

/** The API reference and /inspect link to the rows of the codes. An issue has the anchor of a code that bencode has too. */
function withAnchors(text) {
  const seen = new Set();
  return text.replace(/^\| (?=`(\w+)`)/gm, (row, code) => {
    if (seen.has(code)) return row;
    seen.add(code);
    return `| <a id="${code}"></a>`;
  });
}

rmSync(PAGES, { recursive: true, force: true });
mkdirSync(PUBLIC, { recursive: true });
const listed = sections();
const pages = new Set(['README.md', INDEX, ...listed.flatMap(({ files }) => files)]);
const entries = new Map([...pages].map((file) => [file, onSite(file, pages)]));
const api = await writeApi(path.join(PAGES, 'api'));
writeFileSync(path.join(PAGES, 'index.md'), homePage(JSON.parse(read('bench/results.json'))));

/** The pages of the API by task: functions and classes in the order of api-tasks.mjs, then types by name. */
const tasks = [...Object.keys(TASKS), QUEUES].map((task) => {
  const order = ({ name }) => TASKS[task]?.indexOf(name) ?? 0;
  const ofTask = api.filter((page) => page.task === task);
  const exports = ofTask.filter(({ isType }) => !isType).sort((a, b) => order(a) - order(b));
  const types = ofTask.filter(({ isType }) => isType).sort((a, b) => a.name.localeCompare(b.name));
  return { text: task, exports, types };
});
const linkTo = ({ task, name }) => `[${name}](./${task}/${name}.md)`;
const overview = tasks.map(({ text, exports, types }) => {
  const rows = exports.map((page) => `| ${linkTo(page)} | ${page.summary.replaceAll('|', '\\|')} |`);
  return `## ${text}\n\n| name | what it does |\n| --- | --- |\n${rows.join('\n')}\n\nTypes: ${types.map(linkTo).join(' · ')}`;
});
writeFileSync(
  path.join(PAGES, 'api/index.md'),
  `# API\n\nThe functions, classes and types of the library, by task. The [guides](../contents.md) show how they work together.\n\n${overview.join('\n\n')}\n`,
);
writeFileSync(path.join(root, 'build/sidebar.json'), JSON.stringify(sidebars()));

/** The sidebars by the address where they begin. No group is collapsible: the buttons of VitePress for that stand in each other. */
function sidebars() {
  const groups = listed.map(({ title, files }) => ({ text: title, items: files.map((file) => entries.get(file)) }));
  const decisions = groups.find(({ text }) => text === 'Decisions');
  const up = { text: 'Documentation', link: '/contents' };
  const allTasks = tasks.map(({ text }) => ({ text, link: `/api/#${text.toLowerCase()}` }));
  const item = ({ task, name }) => ({ text: name, link: `/api/${task}/${name}` });
  const ofTasks = tasks.map(({ text, exports, types }) => [
    `/api/${text}/`,
    [
      { text, items: exports.map(item) },
      { text: 'Types', items: types.map(item) },
      { text: 'API by task', link: '/api/', items: allTasks.filter((task) => task.text !== text) },
    ],
  ]);
  return {
    ...Object.fromEntries(ofTasks),
    '/api/': [{ text: 'API by task', items: allTasks }, up],
    '/decisions/': [decisions, up],
    '/': [
      { text: 'Getting started', link: '/start' },
      ...groups.filter((group) => group !== decisions),
      up,
      { text: 'API', link: '/api/' },
    ],
  };
}
await buildInspect(PUBLIC);
await build(path.join(root, 'site'));
writeWorker(path.join(root, 'build/site'));

const links = spawnSync(
  'npx',
  ['linkinator', '**/*.html', '--server-root', 'build/site', '--check-fragments', '--skip', '^https?://(?!localhost)'],
  { cwd: root, encoding: 'utf8' },
);
if (links.status !== 0) process.stdout.write(links.stdout);
process.exitCode = links.status;

// The settings of VitePress. site/build.mjs writes the pages and the sidebar first.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withSearchWords } from '../search.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version, homepage } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const sidebar = JSON.parse(readFileSync(path.join(root, 'build/sidebar.json'), 'utf8'));
/** Only a release knows where its repository is. */
const repository = homepage?.replace(/#.*/, '');

/** The first paragraph of a page, as plain text of at most 160 characters. */
function firstParagraph(file) {
  const text = readFileSync(file, 'utf8')
    .replace(/^---[\s\S]*?^---$/m, '')
    .replace(/^(```)[\s\S]*?^```$/gm, '');
  const paragraph = text.split(/\n{2,}/).find((part) => /^(?!Status:)[A-Z`*[]/.test(part.trim())) ?? '';
  const plain = paragraph
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*\\]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  if (plain.length <= 160) return plain;
  return `${plain.slice(0, 160).replace(/\s+\S*$/, '')} …`;
}

/** Tables of many columns take the place of the outline. */
const hasWideTable = (file) => /^\|(?: :?-+:? \|){6,}$/m.test(readFileSync(file, 'utf8'));

/**
 * The weight of a search result: guides and commands come before the API and the records of decisions, and the page of an export with a
 * compound name has the weight of a reference. VitePress sends the text of this function to the browser, so it uses nothing outside.
 */
function boostDocument(id, term, { title, titles }) {
  if (/^\/api\//.test(id) && titles.length === 0 && /[a-z][A-Z]/.test(title) && title.toLowerCase() === term)
    return 1.5;
  if (/^\/(guides|commands)\//.test(id)) return 2;
  if (/^\/(start|versions|errors|validation|interop|piece-length|environment)\b/.test(id)) return 1.5;
  return /^\/(api|decisions|bench|native)\/|^\/[A-Z]+\b/.test(id) ? 0.3 : 1;
}

/** Sessions have no colours of a language: only commands stand out from their output. */
const plainConsole = {
  name: 'plain-console',
  line(node, number) {
    if (this.options.lang !== 'console') return;
    const lines = this.source.split('\n');
    let first = number - 1;
    while (first > 0 && lines[first - 1].endsWith('\\')) first -= 1;
    const isCommand = lines[first].startsWith('$ ');
    node.properties.class = isCommand ? 'line command' : 'line';
    node.children = [{ type: 'text', value: lines[number - 1] }];
  },
};

/** A word of code with hyphens, such as an option. Longer ones may break, because a phone has no room for them. */
const WORD = /(?<![\w./:@&-])(?=[\w-]{2,32}(?![\w./:@-]))(?:--?\w[\w-]*|\w+(?:-\w+)+)/g;

/** Marks the words in inline code that no line may break. */
function keepWords(md) {
  const render = md.renderer.rules.code_inline;
  md.renderer.rules.code_inline = (...args) =>
    render(...args).replace(/(?<=>)[^<]+(?=<)/g, (text) => text.replace(WORD, '<span class="word">$&</span>'));
}

export default {
  title: 'metainfo',
  description: 'Create, read, verify and edit BitTorrent metainfo files of all versions: v1, v2 and hybrid.',
  lang: 'en',
  srcDir: '../build/pages',
  outDir: '../build/site',
  cacheDir: '../build/vitepress',
  metaChunk: true,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    codeTransformers: [plainConsole],
    config: keepWords,
  },
  transformPageData(page, { siteConfig }) {
    const file = path.join(siteConfig.srcDir, page.relativePath);
    page.description ||= firstParagraph(file);
    if (hasWideTable(file)) Object.assign(page.frontmatter, { aside: false, pageClass: 'wide' });
    else page.frontmatter.pageClass ??= /^(api|commands)(?=\/)/.exec(page.relativePath)?.[0];
  },
  themeConfig: {
    nav: [
      { text: 'Getting started', link: '/start' },
      { text: 'Documentation', link: '/contents' },
      { text: 'API', link: '/api/' },
      { text: 'Inspect', link: '/inspect/', target: '_self' },
      { text: `Changelog ${version}`, link: '/CHANGELOG' },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: {
        miniSearch: { searchOptions: { boostDocument } },
        _render: (text, env, md) => withSearchWords(md.render(text, env), env.relativePath.replace(/\.md$/, '')),
      },
    },
    ...(repository && { socialLinks: [{ icon: 'github', link: repository, ariaLabel: 'Repository' }] }),
    footer: { message: 'MIT licence' },
  },
};

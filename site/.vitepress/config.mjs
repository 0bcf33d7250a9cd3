// The settings of VitePress. site/build.mjs writes the pages and the sidebar first.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

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

export default {
  title: 'metainfo',
  description: 'Create, read, verify and edit BitTorrent metainfo files of all versions: v1, v2 and hybrid.',
  lang: 'en',
  srcDir: '../build/pages',
  outDir: '../build/site',
  cacheDir: '../build/vitepress',
  metaChunk: true,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: { theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' } },
  transformPageData(page, { siteConfig }) {
    const file = path.join(siteConfig.srcDir, page.relativePath);
    page.description ||= firstParagraph(file);
    if (hasWideTable(file)) Object.assign(page.frontmatter, { aside: false, pageClass: 'wide' });
  },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Guides', link: '/contents' },
      { text: 'API', link: '/api/' },
      { text: version, link: '/CHANGELOG' },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    ...(repository && { socialLinks: [{ icon: 'github', link: repository, ariaLabel: 'Repository' }] }),
    footer: { message: 'MIT licence' },
  },
};

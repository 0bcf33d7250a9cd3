// The site of `npm run docs`: README.md, the pages that docs/README.md lists, in its order, and the API.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Converter, KindRouter, OptionDefaults } from 'typedoc';

const INDEX = 'docs/README.md';
const links = readFileSync(new URL(INDEX, import.meta.url), 'utf8').matchAll(/\]\(([^)]+\.md)\)/g);
const pages = new Set([INDEX, ...Array.from(links, ([, link]) => path.posix.join('docs', link))]);

/** Where the navigation has the pages of these folders. */
const SECTIONS = { 'docs/guides': 'Guides', 'docs/decisions': 'Decisions', 'docs/commands': 'Commands', docs: 'Reference' };

/** Pages go by their headings; their addresses are those of their files. */
function pagesByHeading({ converter, renderer }) {
  const addresses = new Map();
  converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, page) => {
    const [, title] = /^# (.+)$/m.exec(page.content[0].text);
    addresses.set(page, page.name);
    page.frontmatter.group = SECTIONS[path.posix.dirname(page.name)] ?? 'Project';
    page.name = title;
  });
  class Router extends KindRouter {
    getIdealBaseName(reflection) {
      return addresses.get(reflection) ?? super.getIdealBaseName(reflection);
    }
  }
  renderer.defineRouter('pages', Router);
}

/** @type {Partial<import('typedoc').TypeDocOptions>} */
export default {
  name: 'metainfo',
  entryPoints: ['src/index.ts', 'src/bullmq/index.ts'],
  tsconfig: 'tsconfig.build.json',
  out: 'build/site',
  plugin: [pagesByHeading],
  router: 'pages',
  readme: 'README.md',
  projectDocuments: [...pages],
  customCss: 'scripts/docs.css',
  headings: { readme: false },
  highlightLanguages: [...OptionDefaults.highlightLanguages, 'mermaid'],
  groupOrder: ['Guides', 'Commands', 'Reference', 'Project', 'Classes', 'Functions', 'Variables', 'Enumerations', '*'],
  navigation: { includeGroups: true },
  hideGenerator: true,
  excludeInternal: true,
  excludeProtected: true,
  // What only tests pass, the fields of Torrent under a name of their own, and types that are read where they stand.
  intentionallyNotExported: [
    ...['Addon', 'ModelFields', 'FieldStructs', 'Exposed', 'Draft'],
    ...['ExtraInput', 'HashesInput', 'LayersInput', 'src/model/flat-tree.ts:FileTree'],
  ],
  validation: { notDocumented: true },
  // Members of an enum are those of a constant, whose values say what they mean.
  requiredToBeDocumented: [
    ...['Enum', 'Variable', 'Function', 'Class', 'Interface', 'TypeAlias'],
    ...['Constructor', 'Property', 'Method', 'Accessor'],
  ],
  treatWarningsAsErrors: true,
  treatValidationWarningsAsErrors: true,
};

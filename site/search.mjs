// Words that people search for and that a page does not say, or says in passing: each leads to one section of a page of the site.

/** The section by the words of the search. site/check.mjs requires each as the first result. */
export const SEARCH_WORDS = {
  stdin: 'guides/creating#pipes-and-urls',
  minio: 'guides/parts#an-object-store',
  multer: 'guides/servers#untrusted-uploads',
  dedupe: 'guides/updating#hashes-of-other-torrents',
  migrate: 'guides/switching#coming-from-another-program',
  troubleshooting: 'guides/errors#handling-errors',
  tutorial: 'start#getting-started',
  jest: 'guides/install#jest',
  commonjs: 'guides/install#commonjs',
  deno: 'guides/install#deno-and-bun',
  offline: 'guides/install#without-a-network',
  inspect: 'start#in-the-browser',
  'man page': 'guides/install#manual-pages',
};

/** A word that stands several times in a section comes before pages that say it once. */
const TIMES = 5;

/** Adds the words of a page to its sections, for the index of the search only. */
export function withSearchWords(html, page) {
  let found = html;
  for (const [words, target] of Object.entries(SEARCH_WORDS)) {
    const [name, anchor] = target.split('#');
    if (name !== page) continue;
    const heading = new RegExp(`<h[1-6] id="${anchor}".*?</h[1-6]>`);
    if (!heading.test(found)) throw new Error(`site/search.mjs: ${page} has no section ${anchor}`);
    found = found.replace(heading, (text) => `${text}<p>${`${words} `.repeat(TIMES)}</p>`);
  }
  return found;
}

// The rules of what may import what in src and packages. `npm run check` runs dependency-cruiser with them.

/** The layers from the top down: each imports only from itself and from the layers below it. */
const LAYERS = [
  'cli',
  'browser',
  'edit',
  'parts',
  'verify',
  'create',
  'sources',
  'print',
  'hashers',
  'model',
  'jobs',
  'disk',
  'hash',
  'magnet',
  'layout',
  'bencode',
  'errors',
  'text',
  'platform',
];
/** Neighbours of equal rank, which may not import each other. */
const APART = [
  ['create', 'hashers'],
  ['sources', 'hashers'],
  ['verify', 'hashers'],
  ['print', 'verify'],
  ['print', 'create'],
  ['print', 'sources'],
  ['print', 'hashers'],
  ['cli', 'browser'],
  ['magnet', 'layout'],
];
/** The packages that only the command may load. */
const COMMAND_ONLY = ['commander', 'picocolors', 'brace-expansion', 'toml-eslint-parser'];
/** The one file that loads the addon. */
const LOADER = '^src/hash/addon\\.ts$';

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });
const layer = (...names) => `^src/(${names.join('|')})/`;

module.exports = {
  forbidden: [
    ...LAYERS.slice(1).map((name, i) =>
      rule(
        `${name}-imports-down`,
        `${name} imports only from the layers below it.`,
        { path: layer(name) },
        {
          path: layer(...LAYERS.slice(0, i + 1)),
        },
      ),
    ),
    ...APART.flatMap(([a, b]) =>
      [
        [a, b],
        [b, a],
      ].map(([from, to]) =>
        rule(`${from}-without-${to}`, `${from} does not import ${to}.`, { path: layer(from) }, { path: layer(to) }),
      ),
    ),
    rule(
      'known-layers',
      'Every file of src is in a layer; src/index.ts is the only other one.',
      {},
      {
        path: '^src/',
        pathNot: [layer(...LAYERS), '^src/index\\.ts$'],
      },
    ),
    rule(
      'no-index',
      'No file imports the index: it is for users, and for packages.',
      { path: '^src/' },
      { path: '^src/index\\.ts$' },
    ),
    rule(
      'packages-public',
      'A package imports nothing of metainfo but its public entry.',
      { path: '^packages/[^/]+/src/' },
      { path: '^src/', pathNot: '^src/index\\.ts$' },
    ),
    rule(
      'queues-late',
      'The command loads the package of queues only when it is used.',
      { path: '^src/' },
      { path: '^packages/', dependencyTypesNot: ['dynamic-import', 'type-import', 'type-only'] },
    ),
    // The bundle for browsers fails for every other module of Node that it would have.
    rule(
      'browser-without-node',
      'Browsers have no modules of Node.',
      { path: '^src/(browser/|platform/(sha|web)\\.ts$)' },
      { dependencyTypes: ['core'], dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'no-cycles',
      'No cycles at run time; type imports leave nothing behind.',
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
    rule(
      'command-only',
      'Only the command loads these packages.',
      { path: '^src/', pathNot: '^src/cli/' },
      { path: `^node_modules/(${COMMAND_ONLY.join('|')})/` },
    ),
    rule(
      'bullmq-alone',
      'metainfo works without bullmq.',
      { path: '^src/' },
      { path: '^node_modules/(bullmq|ioredis|pg|prom-client)/' },
    ),
    rule(
      'create-without-config',
      'A creation gets its options settled, wherever they come from.',
      { path: '^src/cli/create/' },
      { path: '^src/cli/config/' },
    ),
    rule(
      'one-loader',
      'One file loads the addon.',
      { path: '^src/', pathNot: LOADER },
      { path: 'node-gyp-build|\\.node$' },
    ),
    rule('resolvable', 'Every import is found.', {}, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: 'specify',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
  },
};

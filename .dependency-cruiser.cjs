// The rules of what may import what in src. `npm run check` runs dependency-cruiser with them.

/** The layers from the top down: each imports only from itself and from the layers below it. */
const LAYERS = [
  'cli',
  'bullmq',
  'browser',
  'edit',
  'parts',
  'verify',
  'create',
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
  ['verify', 'hashers'],
  ['print', 'verify'],
  ['print', 'create'],
  ['print', 'hashers'],
  ['cli', 'browser'],
  ['bullmq', 'browser'],
  ['bullmq', 'edit'],
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
      'Only bullmq imports the index.',
      { path: '^src/', pathNot: layer('bullmq') },
      { path: '^src/index\\.ts$' },
    ),
    rule(
      'bullmq-public',
      'bullmq is an adapter: it imports nothing of src but the public index.',
      { path: layer('bullmq') },
      { path: '^src/', pathNot: [layer('bullmq'), '^src/index\\.ts$'] },
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
      'The library works without bullmq.',
      { path: '^src/', pathNot: '^src/bullmq/' },
      { path: '^node_modules/(bullmq|ioredis|pg)/' },
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

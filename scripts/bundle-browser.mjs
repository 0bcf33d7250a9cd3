// Bundles metainfo/browser into one module: with src/platform/web.ts, without what opens files, and so that bundlers of users take
// only what they use.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, transform } from 'esbuild';
import ts from 'typescript';
import { COMPACT } from './compact.mjs';
import { licensesOf } from './licenses.mjs';
import { root } from './setup.mjs';

const NO_DISK = 'src/browser/no-disk.ts';
/** The files that replace modules, by the paths of these below src. */
const REPLACED = [
  [/^platform\/node\.ts$/, 'src/platform/web.ts'],
  [/^hash\/default-engine\.ts$/, 'src/browser/default-engine.ts'],
  [/^jobs\/track\.ts$/, 'src/browser/track.ts'],
  [/^(create|jobs)\/load\.ts$/, 'src/browser/load.ts'],
  [/^disk\//, NO_DISK],
  [/^hash\/(addon|open-without-links|read|system-path)\.ts$/, NO_DISK],
  [
    /^create\/(disk-attrs|generate-short|known\/(cache|known)|findings\/(hash-rate|scan-findings|secret-findings))\.ts$/,
    NO_DISK,
  ],
  [/^errors\/system-error\.ts$/, NO_DISK],
];

const forBrowsers = {
  name: 'for-browsers',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\./ }, ({ path: name, resolveDir }) => {
      const below = path.relative(path.join(root, 'src'), path.resolve(resolveDir, name)).replaceAll(path.sep, '/');
      const [, other] = REPLACED.find(([pattern]) => pattern.test(below)) ?? [];
      return other && { path: path.join(root, other) };
    });
    // There is no addon: esbuild then leaves out what only it needs.
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path: file }) => ({
      contents: readFileSync(file, 'utf8').replace(
        /const addon = [^;]*\baddon(?:OrNull|For)\([^;]*;\s*if \((!?)addon\)/g,
        (_, not) => `if (${not}false)`,
      ),
      loader: 'ts',
    }));
  },
};

/** Marks what runs when the module is loaded as free of effects, as every module of src is: bundlers then leave out unused constants. */
function withoutEffects(text) {
  const source = ts.createSourceFile('bundle.js', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const isStatic = ({ modifiers }) => modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword);
  const hasNoEffect = (node) => {
    if (ts.isFunctionLike(node)) return true;
    // Terser keeps every class with a parent or with static members.
    if (ts.isClassLike(node)) return !node.heritageClauses && !node.members.some(isStatic);
    const isLiteral = ts.isLiteralExpression(node) || ts.isIdentifier(node) || ts.isPrefixUnaryExpression(node);
    const isList = ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node);
    const isEntry = ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node);
    const isWord = node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword;
    if (!(isLiteral || isList || isEntry || isWord || node.kind === ts.SyntaxKind.NullKeyword)) return false;
    return !ts.forEachChild(node, (child) => !hasNoEffect(child));
  };
  /** Texts in place of what is between two offsets. */
  const edits = [];
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement))
      for (const { name, initializer } of statement.declarationList.declarations)
        if (ts.isIdentifier(name) && initializer && !hasNoEffect(initializer)) {
          const [start, end] = [initializer.getStart(source), initializer.end];
          edits.push([start, start, '/* @__PURE__ */ (() => ('], [end, end, '))()']);
        }
  }
  let [out, from] = ['', 0];
  for (const [start, end, other] of edits.sort(([a], [b]) => a - b)) {
    out += text.slice(from, start) + other;
    from = end;
  }
  return out + text.slice(from);
}

/** Globals that no browser has. */
const OF_NODE = ['Buffer', 'process', 'global', 'setImmediate', 'clearImmediate', 'require'];

/** Fails for a use of a global of Node. */
function requireNoNode(text) {
  const source = ts.createSourceFile('bundle.js', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const visit = (node) => {
    const { parent } = node;
    // Properties and methods may have such names.
    if (ts.isIdentifier(node) && OF_NODE.includes(node.text) && parent.name !== node)
      throw new Error(
        `the bundle for browsers uses ${parent.getText(source)}: src/platform has what Node and browsers share`,
      );
    ts.forEachChild(node, visit);
  };
  visit(source);
}

const folder = path.join(root, 'dist', 'browser');
const { metafile, outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['src/browser/index.ts'],
  outdir: folder,
  bundle: true,
  platform: 'browser',
  ...COMPACT,
  // Shortened below.
  minifyIdentifiers: false,
  format: 'esm',
  tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
  plugins: [forBrowsers],
  // A name that src/browser/no-disk.ts lacks.
  logOverride: { 'import-is-undefined': 'error' },
  logLevel: 'warning',
  metafile: true,
  write: false,
});
requireNoNode(outputFiles[0].text);
// Only names in functions: bundlers of pages shorten those of the module better when they are unique.
const { code } = await transform(outputFiles[0].text, COMPACT);
// tsc has made a file of each module of the bundle.
for (const name of readdirSync(folder)) if (name.endsWith('.js')) rmSync(path.join(folder, name));
writeFileSync(path.join(folder, 'index.js'), withoutEffects(code));
writeFileSync(path.join(folder, 'licenses.txt'), licensesOf(metafile));

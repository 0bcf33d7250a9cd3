// Transpiles TypeScript with esbuild and keeps the JavaScript in build/js, so that tests and tools start without a compiler.
// A module hook serves it for the URL of its source, so nothing else differs from running the source.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.dirname(import.meta.dirname);
// Loaded late, because setup.mjs imports this file before it installs packages.
const esbuild = () => createRequire(import.meta.url)('esbuild');
const OPTIONS = { target: 'node20.19', sourcemap: 'inline', sourcesContent: false };

const placeOf = (file) => path.join(root, 'build', 'js', `${path.relative(root, file)}.js`);

/** Whether a file is in this clone: the JavaScript of others is not kept. */
const isOurs = (file) => file.startsWith(root + path.sep);

/** Unlike mtime, ctime also changes when an older file takes another's place. */
const isKept = (file) =>
  isOurs(file) && (statSync(placeOf(file), { throwIfNoEntry: false })?.mtimeMs ?? 0) > statSync(file).ctimeMs;

function keep(file, code) {
  const place = placeOf(file);
  // Another process may read or write the same file now.
  const temporary = `${place}.${process.pid}`;
  mkdirSync(path.dirname(place), { recursive: true });
  writeFileSync(temporary, code);
  renameSync(temporary, place);
}

/** Transpiles those of the files that are out of date, all at once. */
export function transpile(files) {
  const entryPoints = files.map((file) => path.join(root, file)).filter((file) => !isKept(file));
  // Nothing is written here; the names make the paths in source maps relative to their source.
  const out = { outdir: root, outbase: root, outExtension: { '.js': '.ts.js' }, write: false };
  const { outputFiles } = esbuild().buildSync({ ...OPTIONS, ...out, entryPoints });
  for (const { path: name, text } of outputFiles) keep(name.slice(0, -'.js'.length), text);
}

/** Takes src/platform/web.ts in place of node.ts, as the bundle for browsers does. */
function asWeb(resolved) {
  const url = resolved.url.replace(/\/src\/platform\/node\.ts$/, '/src/platform/web.ts');
  return url === resolved.url ? resolved : { ...resolved, url };
}

/** The source of the library, which packages import by its name. */
const SOURCE = pathToFileURL(path.join(root, 'src', 'index.ts')).href;

/**
 * A module hook: TypeScript that imports metainfo gets its source instead of what was built of it. METAINFO_PLATFORM=web runs the
 * library as in browsers.
 */
export function resolve(specifier, context, nextResolve) {
  const isOfPackage = specifier === 'metainfo' && context.parentURL?.endsWith('.ts');
  const found = nextResolve(isOfPackage ? SOURCE : specifier, context);
  if (process.env.METAINFO_PLATFORM !== 'web') return found;
  return found instanceof Promise ? found.then(asWeb) : asWeb(found);
}

/** A module hook. */
export function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
  const file = fileURLToPath(url);
  const answer = (source) => ({ format: 'module', shortCircuit: true, source });
  if (isKept(file)) return answer(readFileSync(placeOf(file), 'utf8'));
  const more = { loader: 'ts', sourcefile: path.basename(file) };
  const { code } = esbuild().transformSync(readFileSync(file, 'utf8'), { ...OPTIONS, ...more });
  try {
    if (isOurs(file)) keep(file, code);
  } catch {
    // Some tests run as a user who may not write here, or limit the size of files.
  }
  return answer(code);
}

/** Counts the memory that malloc has allocated in a process. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { missing } from './external.ts';

const SOURCE = fileURLToPath(new URL('malloc.c', import.meta.url));

/** Returns why tests that count allocated memory must skip. */
export function mallocMissing(): string | false {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime
    ? missing('a C compiler (cc)', 'cc', ['--version'])
    : 'malloc is not that of glibc';
}

/** Builds the addon for {@link loadMalloc} into a folder. */
export function buildMalloc(folder: string): string {
  const addon = path.join(folder, 'malloc.node');
  const flags = ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror'];
  const { status, stderr, error } = spawnSync('cc', [...flags, SOURCE, '-o', addon], { encoding: 'utf8' });
  if (error || status !== 0) throw error ?? new Error(stderr);
  return addon;
}

/** Loads a function that returns the bytes that malloc has allocated in this process. */
export function loadMalloc(addon: string): () => number {
  const module = { exports: () => Number.NaN };
  process.dlopen(module, addon);
  return module.exports;
}

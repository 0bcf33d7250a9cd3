/** The files to which sources are saved while they are hashed: their options, and the begin of saving. */
import path from 'node:path';
import { shown } from '../errors/errors.ts';
import { absolutePath, pathOrNull } from '../errors/guard.ts';
import type { SaveGroup, SaveTarget } from './save-files.ts';

/** The options of a source. */
interface SaveOptions {
  saveTo?: string | URL | null | undefined;
  force?: boolean | undefined;
}

/** A problem of the options, after the field that has it. */
export function saveProblem({ saveTo, force }: SaveOptions): [field: string, problem: string] | null {
  const target = pathOrNull(saveTo);
  if (saveTo != null && !target) return ['saveTo', `expected a path or a file: URL, got ${shown(saveTo)}`];
  if (target?.endsWith('/') || target?.endsWith(path.sep))
    return ['saveTo', `expected the path of a file, got one that ends with a slash: ${shown(saveTo)}`];
  if (force === undefined || typeof force === 'boolean') return null;
  return ['force', `expected true or false, got ${shown(force)}`];
}

/** The options of a source, once they are checked: with an absolute path. */
export function frozenSave({ saveTo, force }: SaveOptions): SaveOptions {
  return saveTo == null ? {} : { saveTo: absolutePath(saveTo) as string, force };
}

/** The target of frozen options. */
export function saveTarget({ saveTo, force = false }: SaveOptions): { saveTo?: SaveTarget } {
  return saveTo == null ? {} : { saveTo: { path: saveTo as string, force } };
}

/** The paths to which sources are saved. */
export function savePaths(sources: readonly { saveTo?: SaveTarget }[]): string[] {
  return sources.flatMap(({ saveTo }) => (saveTo ? [saveTo.path] : []));
}

/** Loads the code that saves; null if no file has a target. */
export function loadSaves(
  files: readonly { saveTo?: object }[],
  beneath: string | undefined,
): Promise<SaveGroup> | null {
  if (!files.some(({ saveTo }) => saveTo)) return null;
  return import('./save-files.ts').then(({ SaveGroup }) => new SaveGroup(beneath));
}

/** Names of the server and the folders of a queue: as its workers know them, and as people may see them. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { isWithin } from '../../disk/path-within.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { throwSystemError } from '../../errors/system-error.ts';

/** A path without links. */
export function realPath(file: string): Promise<string> {
  return realpath(file).catch(throwSystemError(file, 'read'));
}

/** Named folders without links. */
export async function realRoots(roots: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const entries = Object.entries(roots).map(async ([name, folder]) => [name, await realPath(folder)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * The place of a path of this machine beneath one of its roots: the closest one.
 *
 * @throws {MetainfoError} `ERR_PATH_OUTSIDE` for a path beneath none
 */
export function placeWithin(roots: Readonly<Record<string, string>>, file: string): string {
  const target = path.resolve(file);
  const within = Object.entries(roots).filter(([, folder]) => isWithin(folder, target));
  const [closest] = within.sort(([, a], [, b]) => b.length - a.length);
  if (!closest) {
    const message = `${target} is beneath no root of the workers: name one that contains it.`;
    throw new MetainfoError('ERR_PATH_OUTSIDE', message, { path: target });
  }
  const [name, folder] = closest;
  const below = path.relative(folder, target).split(path.sep).join('/');
  return below === '' ? name : `${name}/${below}`;
}

/** A server for people: without credentials. */
export function nameOfConnection(connection: string | object): string {
  const text = connection instanceof URL ? connection.href : connection;
  if (typeof text !== 'string' || !URL.canParse(text)) return 'the queue';
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

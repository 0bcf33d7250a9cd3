/** Turns errors of the operating system into errors of this library. */
import { errnoName } from '../platform/node.ts';
import type { MetainfoErrorCode } from './codes.ts';
import { MetainfoError } from './errors.ts';

const TOO_MANY_OPEN_FILES = {
  EMFILE:
    'too many files are open in this process (EMFILE): run fewer jobs or threads at once, or raise the limit (ulimit -n)',
  ENFILE:
    'too many files are open on this system (ENFILE): close other programs, or raise the limit (sysctl fs.file-max)',
};

/** Hints for errors of the system. */
const HINTS: Readonly<Record<string, string>> = {
  EIO: 'the disk, its cable or its file server failed; look at the system log (dmesg) and the health of the disk (smartctl)',
  ESTALE: 'it was replaced or deleted on its file server, so try again',
};

/** Returns the code of a system error. libuv has no name for some, such as EDQUOT: `Unknown system error -122`. */
export function systemCode({ code, errno }: NodeJS.ErrnoException): string | undefined {
  // The code of a DOMException is a number.
  if (typeof code !== 'string') return undefined;
  return code.startsWith('Unknown') && errno !== undefined ? errnoName(-errno) : code;
}

/** Whether the permissions that Node or Deno gave this process forbid a call. The errors of Deno have a name and no code. */
export function isDenied(error: unknown): boolean {
  const { code, name } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'ERR_ACCESS_DENIED' || name === 'NotCapable';
}

/** Turns the error of a failed system call into a {@link MetainfoError} that names the path. */
export function fromSystemError(error: unknown, path: string, doing: 'read' | 'write'): MetainfoError {
  if (error instanceof MetainfoError) return error;
  const options = { path, cause: error };
  const code = isDenied(error) ? 'ERR_ACCESS_DENIED' : systemCode(error as NodeJS.ErrnoException);
  const isRead = doing === 'read';
  const known: Readonly<Record<string, readonly [MetainfoErrorCode, problem: string]>> = {
    ENOENT: ['ERR_NOT_FOUND', `no such file or folder.${encodingHint(path)}`],
    ENOTDIR: ['ERR_NOT_FOUND', `no such file or folder.${encodingHint(path)}`],
    // Outputs are made and renamed in their folder, so it is the folder that lacks the permission.
    EACCES: isRead
      ? ['ERR_UNREADABLE', 'no permission to read it.']
      : ['ERR_WRITE', 'no permission to write in its folder.'],
    EPERM: [isRead ? 'ERR_UNREADABLE' : 'ERR_WRITE', `no permission to ${doing} it.`],
    // Outputs are looked at too.
    ERR_ACCESS_DENIED: isRead
      ? ['ERR_UNREADABLE', 'this process has no permission to read it (Node: --allow-fs-read, Deno: --allow-read).']
      : ['ERR_WRITE', 'this process needs permission to read and write it (Node: --allow-fs-read, --allow-fs-write).'],
    EISDIR: [
      isRead ? 'ERR_NOT_A_FILE' : 'ERR_WRITE',
      `cannot be ${isRead ? 'read' : 'written'}, because it is a folder.`,
    ],
    ENAMETOOLONG: [isRead ? 'ERR_UNREADABLE' : 'ERR_WRITE', 'its name or path is longer than this system supports.'],
    ELOOP: ['ERR_LINK_LOOP', 'its symbolic links lead back to themselves.'],
    EROFS: [isRead ? 'ERR_READ' : 'ERR_WRITE', 'its file system is read-only (EROFS).'],
    ENOSPC: ['ERR_NO_SPACE', 'the disk is full.'],
    EDQUOT: ['ERR_NO_SPACE', 'your disk quota is used up.'],
    EMFILE: ['ERR_NO_DESCRIPTORS', `cannot ${doing} it, ${TOO_MANY_OPEN_FILES.EMFILE}.`],
    ENFILE: ['ERR_NO_DESCRIPTORS', `cannot ${doing} it, ${TOO_MANY_OPEN_FILES.ENFILE}.`],
  };
  const hint = code && Object.hasOwn(HINTS, code) ? `: ${HINTS[code]}` : '';
  const [errorCode, problem] = known[code ?? ''] ?? [
    isRead ? 'ERR_READ' : 'ERR_WRITE',
    `cannot ${doing} it (${code ?? (error as Error).message})${hint}.`,
  ];
  return new MetainfoError(errorCode, `${path}: ${problem}`, options);
}

/** A handler for the rejection of a system call: throws what {@link fromSystemError} makes of it. */
export function throwSystemError(path: string, doing: 'read' | 'write'): (error: unknown) => never {
  return (error) => {
    throw fromSystemError(error, path, doing);
  };
}

/** Node reads each byte of a path that is not UTF-8 as U+FFFD, and so cannot open the file. */
function encodingHint(path: string): string {
  if (!path.includes('\ufffd')) return '';
  return ' If the \ufffd in it stands for bytes that are not UTF-8, metainfo cannot open it: rename it.';
}

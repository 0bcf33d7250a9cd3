import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import { update } from '../../src/edit/update.ts';
import { upgrade } from '../../src/edit/upgrade.ts';
import { AbortError } from '../../src/errors/cancel.ts';
import type { MetainfoErrorCode } from '../../src/errors/codes.ts';
import { MetainfoError, ValidationError } from '../../src/errors/errors.ts';
import { fromSystemError } from '../../src/errors/system-error.ts';
import { iterBlocks } from '../../src/hashers/records.ts';
import { infodictDiscriminator } from '../../src/model/discriminator.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { verify } from '../../src/verify/verify.ts';

describe('fromSystemError', () => {
  const CASES: [code: string, read: MetainfoErrorCode, write: MetainfoErrorCode, text: RegExp][] = [
    ['ENOENT', 'ERR_NOT_FOUND', 'ERR_NOT_FOUND', /no such file or folder/],
    ['ENOTDIR', 'ERR_NOT_FOUND', 'ERR_NOT_FOUND', /no such file or folder/],
    ['EACCES', 'ERR_UNREADABLE', 'ERR_WRITE', /no permission/],
    ['EPERM', 'ERR_UNREADABLE', 'ERR_WRITE', /no permission/],
    ['EROFS', 'ERR_READ', 'ERR_WRITE', /read-only/],
    ['ENAMETOOLONG', 'ERR_UNREADABLE', 'ERR_WRITE', /longer than this system/],
    ['EISDIR', 'ERR_NOT_A_FILE', 'ERR_WRITE', /because it is a folder/],
    ['ELOOP', 'ERR_LINK_LOOP', 'ERR_LINK_LOOP', /links lead back to themselves/],
    ['ENOSPC', 'ERR_NO_SPACE', 'ERR_NO_SPACE', /disk is full/],
    ['EDQUOT', 'ERR_NO_SPACE', 'ERR_NO_SPACE', /your disk quota is used up/],
    ['EMFILE', 'ERR_NO_DESCRIPTORS', 'ERR_NO_DESCRIPTORS', /process \(EMFILE\): run fewer jobs .* limit \(ulimit -n\)/],
    ['ENFILE', 'ERR_NO_DESCRIPTORS', 'ERR_NO_DESCRIPTORS', /system \(ENFILE\): close other .* limit \(sysctl .*\)/],
    ['ESTALE', 'ERR_READ', 'ERR_WRITE', /\(ESTALE\): it was replaced or deleted on its file server, so try again/],
    ['EIO', 'ERR_READ', 'ERR_WRITE', /cannot (read|write) it \(EIO\): the disk, its cable or its file server failed/],
  ];
  for (const [code, read, write, text] of CASES) {
    it(`turns ${code} into ${read === write ? read : `${read} or ${write}`}, with the path and a hint`, () => {
      const cause = Object.assign(new Error('on purpose'), { code });
      for (const [doing, expected] of Object.entries({ read, write })) {
        const error = fromSystemError(cause, '/some/file', doing as 'read' | 'write');
        assert.ok(error instanceof MetainfoError);
        assert.deepEqual([error.code, error.path, error.cause], [expected, '/some/file', cause]);
        assert.match(error.message, /^\/some\/file: .*[^.]\.$/);
        assert.match(error.message, text);
      }
    });
  }

  it('uses the message of an error without a code', () => {
    const error = fromSystemError(new Error('out of luck'), 'a', 'read');
    assert.deepEqual([error.code, error.message], ['ERR_READ', 'a: cannot read it (out of luck).']);
  });

  it('returns a MetainfoError unchanged', () => {
    const original = new MetainfoError('ERR_NO_DATA', 'x');
    assert.equal(fromSystemError(original, 'a', 'read'), original);
  });
});

describe('an invalid path', () => {
  const torrentOf = (version: 'v1' | 'v2') =>
    new TorrentCreate({ info: { name: 'a' }, sources: [{ path: 'a', data: Buffer.from('a') }] }).generate({ version });
  const ENTRY_POINTS: Record<string, (path: string) => Promise<unknown>> = {
    'Torrent.read': (path) => Torrent.read(path),
    'torrent.write': async (path) => (await torrentOf('v2')).write(path),
    verify: async (path) => verify(await torrentOf('v2'), path),
    update: async (path) => update(await torrentOf('v2'), path),
    upgrade: async (path) => upgrade(await torrentOf('v1'), path),
    iterBlocks: (path) => iterBlocks(path).next(),
  };
  for (const [name, call] of Object.entries(ENTRY_POINTS)) {
    it(`is rejected by ${name}`, async () => {
      for (const wrong of [
        undefined,
        null,
        5,
        {},
        Buffer.from('/'),
        new URL('http://x/'),
        new URL('file:///a%2Fb'),
        new URL('file:///a%00b'),
        'a\0b',
      ]) {
        // It takes bytes as a source.
        if (name === 'verify' && wrong instanceof Buffer) continue;
        await assert.rejects(call(wrong as string), {
          code: 'ERR_INVALID_ARGUMENT',
          message:
            name === 'verify'
              ? /^the content must be a path, a source or a list of sources, not .+\.$/
              : /^A path must be a string without NUL bytes or a file: URL, not .+\.$/,
        });
      }
    });
  }
});

describe('ValidationError', () => {
  it('rejects anything but a list of issues', () => {
    for (const wrong of [null, undefined, 5, 'x', {}, [null], [{ severity: 'error' }]])
      assert.throws(() => new ValidationError(wrong as never), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('ends its message with one mark', () => {
    const messageOf = (message: string) =>
      new ValidationError([{ code: 'misspelled', severity: 'error', path: ['key'], message }], 'draft').message;
    assert.equal(messageOf('is wrong'), 'This draft is not valid: key: is wrong.');
    assert.equal(messageOf('did you mean keys?'), 'This draft is not valid: key: did you mean keys?');
  });
});

describe('AbortError', () => {
  it('tolerates a missing signal', () => assert.equal(new AbortError(null as never).code, 'ERR_ABORTED'));
});

describe('infodictDiscriminator', () => {
  it('reports the cause when reading the info dictionary throws', () => {
    const cause = new Error('mine');
    const hostile = {
      get pieces() {
        throw cause;
      },
    };
    assert.throws(() => infodictDiscriminator(hostile), { code: 'ERR_INVALID_ARGUMENT', cause });
  });
});

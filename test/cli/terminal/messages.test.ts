import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageOf, toPlain } from '../../../src/cli/terminal/messages.ts';
import type { Finding } from '../../../src/create/findings/findings.ts';
import { MetainfoError, ValidationError } from '../../../src/errors/errors.ts';

describe('messageOf', () => {
  it('prints the option that an error carries, but not a path with the same text', () => {
    const path = '/force: true/limits: { files: N }/pieceLength';
    for (const [option, message, expected] of [
      [{ force: true }, `${path}: exists (use force: true)`, `${path}: exists (use --force)`],
      [{ limits: 'files' }, `${path}: raise limits: { files: N }.`, `${path}: raise --limit files=N.`],
      [{ padNames: 'unique' }, `${path}: padNames: 'unique' helps.`, `${path}: --pad-names unique helps.`],
      [undefined, `${path}: no such file or folder.`, `${path}: no such file or folder.`],
    ] as const)
      assert.equal(messageOf(new MetainfoError('ERR_NOT_FOUND', message, { path, option })), expected);
  });

  it('prints two options that contradict each other', () => {
    const message = 'maxTorrentSize 1 KiB needs pieces of at least 4 MiB, but pieceLength is 1 MiB.';
    const error = new MetainfoError('ERR_PIECE_LENGTH', message, {
      option: { maxTorrentSize: null, pieceLength: null },
    });
    const expected = '--max-torrent-size 1 KiB needs pieces of at least 4 MiB, but --piece-length is 1 MiB.';
    assert.equal(messageOf(error), expected);
  });

  it('prints the fields of a draft as options', () => {
    const issue = { code: 'type', severity: 'error', message: 'expected text' } as const;
    const issues = [
      { ...issue, path: ['info', 'updateUrl'] },
      { ...issue, path: ['urlList', 0] },
    ];
    assert.equal(
      messageOf(new ValidationError(issues, 'draft')),
      '--update-url: expected text; --webseed: expected text.',
    );
  });
});

describe('toPlain', () => {
  const finding: Finding = {
    code: 'reader_limit',
    severity: 'warning',
    path: null,
    message: 'Too many.',
    advice: 'Act.',
  };

  it('replaces an option in the message or the advice, and adds one that neither names', () => {
    for (const [option, message, advice, expected] of [
      [{ limits: 'files' }, 'Use limits: { files: N }.', 'Act.', ['Use --limit files=N.', 'Act.']],
      [{ padNames: 'unique' }, 'Shared.', "padNames: 'unique' helps.", ['Shared.', '--pad-names unique helps.']],
      [
        { version: 'v2', pieceLength: 2 ** 16 },
        'Too large.',
        'Make a v2 torrent with a piece length of 64 KiB.',
        ['Too large.', 'Make a v2 torrent with a piece length of 64 KiB (-k v2, --piece-length 64KiB).'],
      ],
    ] as const) {
      const plain = toPlain({ ...finding, option, message, advice });
      assert.deepEqual([plain.message, plain.advice], expected);
      assert.equal('option' in plain, false);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandAdvice, commandNames, messageOf, messageOfWarning } from '../../src/cli/messages.ts';
import { MetainfoError } from '../../src/errors/errors.ts';

describe('commandNames', () => {
  it('keeps only the option of the command when a message names an option of the library too', () => {
    const cases: [message: string, expected: string][] = [
      ['a bad length (profile compat, --compat, accepts it)', 'a bad length (--compat accepts it)'],
      [
        '/x gives the torrent no name: give one (info.name, --name).',
        '/x gives the torrent no name: give one (--name).',
      ],
      ['build it (npm run build:libtorrent)', 'build it (npm run build:libtorrent)'],
      ['a (b, c) and (--force)', 'a (b, c) and (--force)'],
    ];
    for (const [message, expected] of cases) assert.equal(commandNames(message), expected);
  });
});

describe('messageOf', () => {
  it('translates the advice of the library, but not a path with the same text', () => {
    const path = '/force: true/`exclude`';
    for (const [code, message, expected] of [
      ['ERR_OUTPUT_EXISTS', `${path}: exists (use force: true)`, `${path}: exists (use --force)`],
      ['ERR_BROKEN_LINK', `${path}: skip it with \`exclude\`.`, `${path}: skip it with --exclude.`],
      ['ERR_NOT_FOUND', `${path}: no such file or folder.`, `${path}: no such file or folder.`],
      ['ERR_LIMIT', `${path}: raise it with limits: { files }.`, `${path}: raise it with --limit files=N.`],
      [
        'ERR_SIZE_UNKNOWN',
        'The size of targetPieces must be given: targetPieces needs the size of all files.',
        'The size of targetPieces must be given: --target-pieces needs the size of all files.',
      ],
    ] as const) {
      assert.equal(messageOf(new MetainfoError(code, message, { path })), expected);
    }
  });

  it('translates two lengths that contradict each other, in errors and in findings', () => {
    const message = 'maxTorrentSize 1 KiB needs pieces of at least 4 MiB, but pieceLength is 1 MiB.';
    const expected = '--max-torrent-size 1 KiB needs pieces of at least 4 MiB, but --piece-length is 1 MiB.';
    assert.equal(messageOf(new MetainfoError('ERR_PIECE_LENGTH', message)), expected);
    assert.equal(messageOfWarning({ code: 'ERR_PIECE_LENGTH', message }), expected);
  });

  it('translates the options of the library in messages without a path', () => {
    const message = 'readSize must be a power of two, memoryLimit at least 1.';
    const expected = '--read-size must be a power of two, --memory-limit at least 1.';
    assert.equal(messageOf(new MetainfoError('ERR_INVALID_ARGUMENT', message)), expected);
  });
});

describe('messageOfWarning', () => {
  it('translates the advice of the library', () => {
    const message = "clients refuse this; limits: { files: N } or padNames: 'unique' helps";
    assert.equal(
      messageOfWarning({ code: 'reader_limit', message }),
      'clients refuse this; --limit files=N or --pad-names unique helps',
    );
  });
});

describe('commandAdvice', () => {
  it('names the options of the command', () => {
    for (const [advice, expected] of [
      ['Use a piece length of 8 MiB.', 'Use --piece-length 8MiB.'],
      ['Make a v2 torrent with a piece length of 64 KiB.', 'Make a v2 torrent (-k v2) with --piece-length 64KiB.'],
      ["padNames: 'unique' avoids that.", '--pad-names unique avoids that.'],
    ] as const)
      assert.equal(commandAdvice(advice), expected);
  });
});

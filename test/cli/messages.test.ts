import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandNames, messageOf, messageOfWarning } from '../../src/cli/messages.ts';

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

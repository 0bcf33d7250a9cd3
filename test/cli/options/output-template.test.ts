import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { filledOutput, hasPlaceholders, placeholderProblem } from '../../../src/cli/options/output-template.ts';

const OPTIONS = {
  torrentVersion: 'v1',
  pieceLength: 'auto',
  preset: 'films',
  tracker: [['https://Tracker.Example.org.:8443/0123/announce', 'udp://b.example:1/x'], ['udp://c.example:1/x']],
} as const;
const filled = (output: string, name = 'album', options: object = {}) =>
  filledOutput(output, name, { ...OPTIONS, ...options } as never);

describe('an output template', () => {
  it('has placeholders for what is known of a torrent', () => {
    assert.equal(
      filled('/srv/{tracker}/{name}-{version}-{preset}.torrent'),
      '/srv/tracker.example.org/album-v1-films.torrent',
    );
    assert.equal(filled('{name}{name}/'), 'albumalbum/');
    assert.equal(filled('plain'), 'plain');
  });

  it('takes braces around anything else as text, and doubled braces around a word', () => {
    for (const output of ['Film {tt-0111161} {edition-Extended}', 'a{}b', '{2020}', '{', '}{', '{{', '{na me}']) {
      assert.equal(hasPlaceholders(output), false, output);
      assert.equal(placeholderProblem(output), undefined, output);
      assert.equal(filled(output), output);
    }
    assert.equal(filled('{{name}}-{name}'), '{name}-album');
    assert.equal(placeholderProblem('{{anything}}'), undefined);
  });

  it('names all unknown placeholders, and the known ones', () => {
    for (const output of ['{nmae}', '{Name}', '{torrent_version}'])
      assert.match(
        placeholderProblem(`x/${output}`) ?? '',
        /^Unknown placeholder .*: expected \{name\}, \{tracker\}, \{version\}, \{preset\}\. Write/,
      );
    assert.match(placeholderProblem('{a}{name}{b}{a}') ?? '', /^Unknown placeholder \{a\}, \{b\}: /);
  });

  it('adds no folders, leaves no folder and is never standard output', () => {
    assert.equal(filled('out/{name}.torrent', '../../etc/x'), 'out/.._.._etc_x.torrent');
    assert.equal(filled('out/{name}', '..'), 'out/_');
    assert.equal(filled('out/{name}', 'a\u0000b\nc\u202ed'), 'out/a_b_cd');
    assert.equal(filled('out/{preset}/x', 'a', { preset: 'a/b' }), 'out/a_b/x');
    assert.equal(filled('{name}', '-'), './-');
    assert.equal(filled('{name}', '{tracker}'), '{tracker}');
    assert.equal(filled('{name}', '$&$1'), '$&$1');
    assert.ok(Buffer.byteLength(filled('{name}', 'ä'.repeat(500))) <= 240);
  });

  it('refuses a torrent that has no value for a placeholder, and says what to add', () => {
    for (const tracker of [undefined, [], [['nonsense']]])
      assert.throws(() => filled('{tracker}.torrent', 'a', { tracker }), {
        code: 'ERR_INVALID_ARGUMENT',
        message:
          /\{tracker\} in the output \{tracker\}\.torrent needs a tracker with a host \(-t\): add that, or name another file with -o/,
      });
    assert.throws(() => filled('{preset}/', 'a', { preset: undefined }), /needs --preset: add that/);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { edit } from '../../../src/edit/edit.ts';
import type { ValidationContext } from '../../../src/model/profile.ts';
import { Torrent } from '../../../src/model/torrent/torrent.ts';
import padding from '../../fixtures/v1-padding.ts';
import { noise } from '../../hash/reference.ts';
import { build, PIECE } from '../build.ts';

const FOLDER = { a: noise(PIECE + 1, 2), 'b/c': noise(7, 3), 'b/d': noise(PIECE, 4) };

describe('a validation context', () => {
  const { bytes } = build({ version: 'hybrid', content: FOLDER });
  const ENTRY_POINTS: Record<string, (context: ValidationContext) => unknown> = {
    fromBytes: (context) => Torrent.fromBytes(bytes, { context }),
    inspect: (context) => Torrent.inspect(bytes, { context }),
    fromDecoded: (context) => Torrent.fromDecoded(Torrent.fromBytes(bytes).modelDumpTorrent(), { context }),
    edit: (context) => edit(Torrent.fromBytes(bytes), { comment: 'x' }, { context }),
  };
  for (const [name, call] of Object.entries(ENTRY_POINTS)) {
    it(`is rejected with an unknown name or value: ${name}`, () => {
      const misspelt: [context: unknown, message: RegExp][] = [
        [{ profile: 'Strict' }, /^context\.profile must be default, strict or compat, not "Strict"\.$/],
        [{ padding: true }, /^context\.padding must be default, ignore, strict or forbid, not true\.$/],
        [{ paddingPath: 'ignore' }, /^context\.paddingPath must be default or strict, not "ignore"\.$/],
        [{ profile: null }, /not null\.$/],
        [{ padding_path: 'strict' }, /^unknown key "padding_path" in context: did you mean paddingPath\?$/],
        [{ toString: 'strict' }, /^unknown key "toString" in context: expected one of /],
        ...[null, 'strict', new Map([['profile', 'strict']]), ['strict']].map((value): [unknown, RegExp] => [
          value,
          /^context must be an object such as/,
        ]),
      ];
      for (const [context, message] of misspelt)
        assert.throws(() => call(context as ValidationContext), { code: 'ERR_INVALID_ARGUMENT', message });
      for (const context of [{}, { profile: undefined }, { profile: 'strict', padding: 'ignore' } as const])
        assert.ok(call(context as ValidationContext));
    });
  }

  it('checks names of pad files by the profile unless paddingPath is strict', () => {
    const isValid = (context: ValidationContext) =>
      Torrent.inspect(padding['v1-pad-name'].bytes, { context }).torrent !== null;
    const names = { default: { paddingPath: 'default' }, strict: { paddingPath: 'strict' } } as const;
    assert.deepEqual([isValid({}), isValid(names.default), isValid(names.strict)], [true, true, false]);
    const profile = 'strict';
    assert.deepEqual([isValid({ profile }), isValid({ profile, ...names.default })], [false, false]);
  });
});

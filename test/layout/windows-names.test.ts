import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeviceName, windowsProblem } from '../../src/layout/safe-path.ts';

describe('windowsProblem', () => {
  it('says why Windows cannot store a name', () => {
    const problems: [name: string, problem: string][] = [
      ['a:b?.txt', "contains ':', '?'"],
      ['a<>"|*\\b', `contains '<', '>', '"', '|', '*', '\\'`],
      ['a\x01', 'contains a control character'],
      ['\x1f', 'contains a control character'],
      ['CON', 'is that of a device'],
      ['nul.tar.gz', 'is that of a device'],
      ['LPT\u00b9', 'is that of a device'],
      ['conin$', 'is that of a device'],
      ['con .txt', 'is that of a device'],
      ['a.', 'ends with a dot'],
      ['...', 'ends with a dot'],
      ['a ', 'ends with a space'],
    ];
    for (const [name, problem] of problems) assert.equal(windowsProblem(name), problem, JSON.stringify(name));
  });

  it('accepts all other names', () => {
    for (const name of [
      'a',
      '.a',
      ' a',
      'a.b',
      'console',
      'com',
      'com10',
      'comic 1',
      'null',
      'a-nul',
      'é',
      '\x7f',
      '\u0085',
      "'$%",
    ])
      assert.equal(windowsProblem(name), null, JSON.stringify(name));
  });

  it('knows every device', () => {
    const ports = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '\u00b9', '\u00b2', '\u00b3'];
    const names = ['CON', 'PRN', 'AUX', 'NUL', 'CONIN$', 'CONOUT$', ...ports.flatMap((n) => [`COM${n}`, `LPT${n}`])];
    for (const name of names)
      for (const form of [name, name.toLowerCase(), `${name}.txt`, `${name} .x`]) assert.ok(isDeviceName(form), form);
  });
});

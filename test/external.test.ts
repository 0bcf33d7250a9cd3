// Tests that need other programs skip where those are absent or too old, with the reason.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { clientMissing, missing } from './support/external.ts';
import { temporaryFolder } from './support/tree.ts';

describe('a program that a test needs', () => {
  // As each prints it.
  const CASES: [name: string, printed: string, reason: string | false][] = [
    [
      'transmission-daemon',
      'echo "transmission-daemon 3.00 (bb6b5a062e)" >&2',
      'transmission-daemon is 3.00, older than 4.0',
    ],
    ['transmission-daemon', 'echo "transmission-daemon 4.1.0-beta.2 (b11bfd9712)" >&2', false],
    ['aria2c', 'echo "aria2 version 1.36.0"', 'aria2c is 1.36.0, older than 1.37'],
    ['aria2c', 'echo "aria2 version 1.37.0"', false],
    ['qbittorrent-nox', 'echo "qBittorrent v4.5.2"', 'qbittorrent-nox is 4.5.2, older than 5.0'],
    ['qbittorrent-nox', 'echo "qBittorrent v10.0.1"', false],
    ['qbittorrent-nox', 'echo "qBittorrent"', 'qbittorrent-nox is of an unknown version, older than 5.0'],
    ['aria2c', 'exit 1', 'aria2c is not installed'],
  ];
  for (const [name, script, reason] of CASES) {
    it(`${reason || 'is recent enough'}: ${script}`, async (t) => {
      const folder = await temporaryFolder(t);
      await writeFile(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const { METAINFO_CLIENTS: clients, CI: ci } = process.env;
      t.after(() => {
        for (const [key, value] of Object.entries({ METAINFO_CLIENTS: clients, CI: ci }))
          if (value === undefined) delete process.env[key];
          else process.env[key] = value;
      });
      process.env['METAINFO_CLIENTS'] = folder;
      delete process.env['CI'];
      assert.equal(clientMissing(name), reason);
      process.env['CI'] = 'true';
      if (reason) assert.throws(() => clientMissing(name), { message: `${reason}, and tests are not skipped in CI` });
      else assert.equal(clientMissing(name), false);
    });
  }

  it('needs no version where none is asked for', () => {
    assert.equal(missing('sh', 'sh', ['-c', 'true']), false);
  });
});

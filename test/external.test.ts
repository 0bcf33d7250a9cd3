import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { clientMissing, missing } from './support/external.ts';
import { temporaryFolder } from './support/tree.ts';

describe('clientMissing', () => {
  // The scripts print what each program prints.
  const CASES: [name: string, printed: string, reason: string | false][] = [
    [
      'transmission-daemon',
      'echo "transmission-daemon 3.00 (bb6b5a062e)" >&2',
      'transmission-daemon is 3.00, but the test needs 4.0 or newer',
    ],
    ['transmission-daemon', 'echo "transmission-daemon 4.1.0-beta.2 (b11bfd9712)" >&2', false],
    ['aria2c', 'echo "aria2 version 1.36.0"', 'aria2c is 1.36.0, but the test needs 1.37 or newer'],
    ['aria2c', 'echo "aria2 version 1.37.0"', false],
    ['qbittorrent-nox', 'echo "qBittorrent v4.5.2"', 'qbittorrent-nox is 4.5.2, but the test needs 5.0 or newer'],
    ['qbittorrent-nox', 'echo "qBittorrent v10.0.1"', false],
    [
      'qbittorrent-nox',
      'echo "qBittorrent"',
      'qbittorrent-nox is of an unknown version, but the test needs 5.0 or newer',
    ],
    ['aria2c', 'exit 1', 'aria2c is not installed'],
    ['rtorrent', 'echo "BitTorrent client version 0.9.8."; exit 1', false],
    [
      'rtorrent',
      'echo "BitTorrent client version 0.9.6."; exit 1',
      'rtorrent is 0.9.6, but the test needs 0.9.8 or newer',
    ],
    ['rtorrent', 'exit 127', 'rtorrent is not installed'],
    ['mktorrent', 'echo "mktorrent 1.1 (c) 2007, 2009 Emil Renner Berthing"', false],
    ['buildtorrent', 'echo "buildtorrent 0.8"', false],
  ];
  for (const [name, script, reason] of CASES) {
    it(`returns ${reason || 'false'} for ${name}: ${script}`, async (t) => {
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

  it('throws for a program without requirements', () => {
    assert.throws(() => clientMissing('sh'), /sh is not in the list of client programs/);
  });
});

describe('missing', () => {
  it('does not look for a version if none is needed', () => {
    assert.equal(missing('sh', 'sh', ['-c', 'true']), false);
  });
});

import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { userConfigFile } from '../../src/cli/config/load.ts';
import { cacheFolder } from '../../src/create/known/cache.ts';
import { homeFolder } from '../../src/disk/home-folder.ts';

describe('homeFolder', { skip: process.platform === 'win32' }, () => {
  it('never takes an empty or relative HOME, which would name the current folder', (t) => {
    const { HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME } = process.env;
    t.after(() => {
      for (const [name, value] of Object.entries({ HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME }))
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    });
    process.env['XDG_CONFIG_HOME'] = '';
    process.env['XDG_CACHE_HOME'] = '';
    delete process.env['HOME'];
    const known = homedir();
    for (const home of ['', 'relative', '.']) {
      process.env['HOME'] = home;
      assert.equal(homeFolder(), known);
      assert.equal(userConfigFile(), path.join(known, '.config', 'metainfo', 'config.toml'));
      assert.ok(path.isAbsolute(cacheFolder()), cacheFolder());
    }
    process.env['HOME'] = '/home/me';
    assert.equal(userConfigFile(), '/home/me/.config/metainfo/config.toml');
  });
});

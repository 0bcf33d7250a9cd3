// Makes V8's code cache of the command for this Node (see src/cli/main.cts): it runs the command, so that the cache holds the
// code that a small torrent needs and little else. Runs after a build and when the package is installed. It never fails,
// because the command also works without a cache, only a little more slowly.
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../dist/cli/main.cjs', import.meta.url));

// A fresh clone has no build yet.
if (existsSync(main)) {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-'));
  const file = path.join(folder, 'file');
  writeFileSync(file, 'a few bytes');
  process.argv = [process.execPath, main, 'create', file, '-o', folder, '--quiet'];
  const { script, cache } = createRequire(import.meta.url)(main);
  process.on('exit', (code) => {
    rmSync(folder, { recursive: true });
    process.exitCode = 0;
    if (code !== 0) return;
    try {
      // Renamed when it is complete: a command may start meanwhile.
      writeFileSync(`${cache}.tmp`, script.createCachedData());
      renameSync(`${cache}.tmp`, cache);
    } catch (error) {
      process.stderr.write(`metainfo: no code cache was made: ${error.message}\n`);
    }
  });
}

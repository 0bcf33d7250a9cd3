#!/usr/bin/env node
// Starts the command: runs its single bundled file with the V8 code cache that scripts/code-cache.mjs wrote next to it.
// Compilation takes half of the time for a small torrent. If there is no cache for this Node, or V8 rejects it, V8 compiles
// the file. This is CommonJS, because Node takes longer to set up its loader of ES modules.
import fs = require('node:fs');
import path = require('node:path');
import vm = require('node:vm');

type ModuleWrapper = (
  exports: object,
  require: NodeJS.Require,
  module: object,
  filename: string,
  folder: string,
) => void;

const command = path.join(__dirname, 'command.cjs');

function start(): { script: InstanceType<typeof vm.Script>; cache: string } {
  // A function with the parameters of a module. esbuild writes ASCII, and latin1 needs no decoding.
  const source = fs.readFileSync(command, 'latin1');
  // V8 checks its version and flags, but only the length of the source. The bundle starts with a hash of itself.
  const id = source.slice(3, 19);
  const cache = path.join(__dirname, `command-${id}-${process.version}-${process.arch}.cache`);
  const script = new vm.Script(source, { filename: command, ...readCache(cache) });
  (script.runInThisContext() as ModuleWrapper)({}, require, {}, command, __dirname);
  return { script, cache };
}

function readCache(cache: string): { cachedData?: Buffer } {
  try {
    return { cachedData: fs.readFileSync(cache) };
  } catch {
    return {};
  }
}

function started(): Partial<ReturnType<typeof start>> {
  try {
    return start();
  } catch (error) {
    // Node would print the line that threw, which is the whole bundle.
    process.stderr.write(`error: metainfo cannot start: ${(error as Error).message} (${command})\n`);
    process.exitCode = 1;
    return {};
  }
}

/** Programs ask for the version before they use the command: that takes as long as starting Node. After an error, the command tries too. */
function printedVersion(): boolean {
  const [, , flag = '', ...rest] = process.argv;
  if (rest.length > 0 || !/^(-V|--version)$/.test(flag)) return false;
  try {
    fs.writeSync(1, `${require('../../package.json').version}\n`);
    return true;
  } catch {
    return false;
  }
}

// For scripts/code-cache.mjs.
export = printedVersion() ? {} : started();

#!/usr/bin/env node
// Runs the command, which is in one file beside this one, with the code cache that scripts/code-cache.mjs made of it:
// compiling is half of what a small torrent takes. Where there is none for this Node, or V8 refuses it, V8 compiles as
// ever. CommonJS, because Node takes longer to set up its loader of ES modules.
import fs = require('node:fs');
import nodeModule = require('node:module');
import path = require('node:path');
import vm = require('node:vm');

type Wrapped = (exports: object, require: NodeJS.Require, module: object, filename: string, folder: string) => void;

const command = path.join(__dirname, 'command.cjs');
// esbuild writes ASCII: as latin1 nothing has to be decoded.
const source = fs.readFileSync(command, 'latin1');
// V8 tells its version and flags, but of the source only the length.
const id = source.slice(3, 19);
const cache = path.join(__dirname, `command-${id}-${process.version}-${process.arch}.cache`);

function cached(): { cachedData?: Buffer } {
  try {
    return { cachedData: fs.readFileSync(cache) };
  } catch {
    return {};
  }
}

const script = new vm.Script(nodeModule.wrap(source), { filename: command, ...cached() });
(script.runInThisContext() as Wrapped)({}, require, {}, command, __dirname);

// For scripts/code-cache.mjs.
export = { script, cache };

// Runs TypeScript: `node --import ./scripts/ts.mjs FILE`. See scripts/transpile.mjs.
import module from 'node:module';
import { load, resolve } from './transpile.mjs';

process.setSourceMapsEnabled(true);
// Node 20 has only hooks that run in a thread of their own.
if (module.registerHooks) module.registerHooks({ load, resolve });
else module.register('./transpile.mjs', import.meta.url);

// Runs test files in lanes at the same time, and prints one report: `node scripts/test-lanes.mjs JSON`, where JSON is a list of
// lanes, `{ "files": [...], "concurrency": 2 }`. Each lane starts its files in the order of the list. The files of a list in it share a process.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';

const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-tests-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
let entries = 0;

/** A module that runs the tests of several files. */
function entryOf(files) {
  entries += 1;
  const entry = path.join(folder, `${entries}.mjs`);
  writeFileSync(entry, files.map((file) => `await import(${JSON.stringify(pathToFileURL(file))});\n`).join(''));
  return entry;
}

const totals = new Map();
const started = performance.now();
const report = new spec();
report.pipe(process.stdout);
const say = (message) => report.write({ type: 'test:diagnostic', data: { nesting: 0, message } });

/** Passes on the events of a lane, a whole suite at a time, and adds up its totals. */
async function runLane({ files, concurrency }) {
  const modules = files.map((one) => (Array.isArray(one) ? entryOf(one) : one));
  let events = [];
  for await (const event of run({ files: modules, concurrency })) {
    const { type, data } = event;
    const said = type === 'test:diagnostic' && data.nesting === 0 ? data.message : '';
    const [, name, count] = /^(tests|suites|pass|fail|cancelled|skipped|todo) (\d+)$/.exec(said) ?? [];
    if (name) totals.set(name, (totals.get(name) ?? 0) + Number(count));
    else if (!said.startsWith('duration_ms ')) events.push(event);
    if (data.nesting !== 0 || !/^test:(pass|fail)$/.test(type)) continue;
    for (const one of events) report.write(one);
    events = [];
  }
  for (const one of events) report.write(one);
}

await Promise.all(JSON.parse(process.argv[2]).map(runLane));
for (const [name, count] of totals) say(`${name} ${count}`);
say(`seconds ${Math.round((performance.now() - started) / 1000)}`);
report.end();
process.exitCode = totals.get('fail') === 0 && totals.get('cancelled') === 0 && totals.get('tests') > 0 ? 0 : 1;

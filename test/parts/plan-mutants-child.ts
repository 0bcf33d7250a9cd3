/** Reads hostile plans of torrents and of engines, and reports the outcomes. plan-mutants.test.ts runs it with a small heap. */

import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pick, seedRandom } from '../../fuzz/engine/random.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { MetainfoError } from '../../src/errors/errors.ts';
import { hashPart } from '../../src/parts/hash-part.ts';
import { joinParts } from '../../src/parts/join-parts.ts';
import { partsEngine } from '../../src/parts/parts-engine.ts';
import { type PartsPlan, withId } from '../../src/parts/plan.ts';
import { parsePlan } from '../../src/parts/read-plan.ts';
import { planParts } from '../../src/parts/torrent-plan.ts';

type Json = Record<string, unknown>;

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const KIB = 1024;
const [folder] = process.argv.slice(2) as [string];

/** Objects of small sizes. Nobody has larger ones. */
const open = ({ length: size }: { length: number }) => {
  if (size > 2 ** 20) throw new MetainfoError('ERR_SOURCE', 'there is no such object.');
  return { size, etag: '"x"', read: async (_: number, length: number) => new Uint8Array(length) };
};

/** Valid plans: of folders, with and without objects, links and flags, and of single files; of all versions and both kinds. */
async function validPlans(): Promise<PartsPlan[]> {
  const plans: PartsPlan[] = [];
  const source = { path: 'object', data: open({ length: 40 * KIB }) };
  for (const version of VERSIONS) {
    const fields = { pieceLength: 16 * KIB, attributes: true, symlinks: 'store' as const };
    const draft = new TorrentCreate({ ...fields, pathRoot: folder, paths: ['a', 'b', 'link'], sources: [source] });
    plans.push(await planParts(draft, { version, partSize: 48 * KIB }));
    const plain = new TorrentCreate({ pathRoot: path.join(folder, 'b'), pieceLength: 16 * KIB });
    plans.push(await planParts(plain, { version, partSize: 48 * KIB }));
    const single = new TorrentCreate({ pathRoot: path.join(folder, 'a'), pieceLength: 16 * KIB });
    plans.push(await planParts(single, { version }));
    const run = (plan: PartsPlan, index: number) => {
      if (index === 0) plans.push(plan);
      return hashPart(plan, index);
    };
    await plain.generate({ version, engine: partsEngine({ run, partSize: 32 * KIB }) });
  }
  return plans.map((plan) => structuredClone(plan));
}

function deep(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 0;
  for (let i = 0; i < levels; i += 1) value = wrap(value);
  return value;
}

const NUMBERS = [0, 1, -1, 1.5, 16 * KIB, 2 ** 31, 2 ** 32, 2 ** 40, 2 ** 52, 2 ** 53 - 1, 2 ** 53, 1e300];
const HOSTILE: unknown[] = [
  ...NUMBERS,
  ...[Number.NaN, Infinity, null, undefined, true, 5n],
  ...['', '0', '-1', '..', 'a/b', '__proto__', '\0', '\ud800', '9'.repeat(32), 'ZGU=', 'x'.repeat(2 ** 16)],
  ...['x/'.repeat(2 ** 16).concat('x'), `${Buffer.from('l'.repeat(2 ** 16)).toString('base64')}`],
  ...[[], {}, [null], { length: 2 ** 52 }, Array.from({ length: 2 ** 13 }, () => 0)],
  ...[Array.from({ length: 2 ** 13 }, () => 'x'), { 0: {} }, { 4294967295: 'x' }, JSON.parse('{"__proto__":{"0":1}}')],
  ...[deep(2 ** 14, (inner) => [inner]), deep(2 ** 14, (inner) => ({ listed: inner }))],
];
/** Values that no JSON text of their size has: one whose text doubles with every level, and an array of holes. */
const HUGE = [deep(40, (inner) => [inner, inner]), new Array(2 ** 32 - 1)];

const kindOf = ({ torrent }: PartsPlan) => (torrent ? 'torrent' : 'engine');

/** All places in a plan. */
function* placesOf(value: unknown, place: string[] = []): Generator<string[]> {
  if (place.length > 0) yield place;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* placesOf(inner, [...place, key]);
}

/** A copy of a plan with other values at some places. Large values are shared. */
function mutant(plan: PartsPlan, changes: readonly (readonly [place: readonly string[], value: unknown])[]): Json {
  const copy = structuredClone(plan) as unknown as Json;
  for (const [place, value] of changes) {
    const parent = place.slice(0, -1).reduce((one, key) => Object(one)[key] as Json, copy);
    // An earlier change may have put an array there, which takes no such length.
    if (typeof parent !== 'object' || parent === null || (Array.isArray(parent) && place.at(-1) === 'length')) continue;
    if (value === undefined) delete parent[place.at(-1) as string];
    else parent[place.at(-1) as string] = value;
  }
  return copy;
}

/** Gives a plan the id that belongs to it, if it can have one. */
async function withItsId(plan: Json): Promise<Json> {
  try {
    plan['id'] = (await withId(plan as never)).id;
  } catch {}
  return plan;
}

const outcomes: Record<string, number> = {};
const problems: string[] = [];

async function outcomeOf(work: () => unknown): Promise<string> {
  try {
    await work();
    return 'ok';
  } catch (error) {
    if (error instanceof MetainfoError) return error.code;
    return `untyped: ${(error as Error)?.stack ?? error}`;
  }
}

/** Reads a plan in all ways. */
async function read(plan: Json, about: string): Promise<string[]> {
  const found = [
    await outcomeOf(() => hashPart(plan as never, 0, { open })),
    await outcomeOf(() => hashPart(plan as never, 1, { open })),
    await outcomeOf(() => joinParts(plan as never, (index) => hashPart(plan as never, index, { open }), { open })),
  ];
  for (const outcome of found) {
    if (outcome.startsWith('untyped')) problems.push(`${about}: ${outcome}`.slice(0, 2000));
    else outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return found;
}

const last = path.join(folder, '..', 'last');
const plans = await validPlans();
const valid: string[][] = [];
for (const plan of plans) valid.push(await read(await withItsId(mutant(plan, [])), 'a valid plan'));

// One value: of each kind of plan in one version.
const some = plans.filter(({ version }, i) => version === VERSIONS[i % VERSIONS.length]);
for (const plan of some)
  for (const place of placesOf(plan))
    for (const [i, value] of HOSTILE.entries()) {
      const about = `${plan.version} ${kindOf(plan)} ${place.join('.')} ${i}`;
      writeFileSync(last, about);
      await read(await withItsId(mutant(plan, [[place, value]])), about);
    }
for (const plan of some)
  for (const place of placesOf(plan))
    for (const [i, value] of HUGE.entries()) {
      const about = `${plan.version} ${kindOf(plan)} ${place.join('.')} huge ${i}`;
      writeFileSync(last, about);
      await read(mutant(plan, [[place, value]]), about);
    }

// Sizes that fit together.
for (const plan of plans) {
  if (plan.files.length.length !== 1) continue;
  for (const length of NUMBERS)
    for (const pieceLength of [1, 16 * KIB, 2 ** 31, 2 ** 40, 2 ** 52])
      for (const partSize of [pieceLength, 2 ** 52])
        for (const parts of [1, 2, Math.ceil(length / partSize), 2 ** 53 - 1]) {
          const about = `${plan.version} ${kindOf(plan)} ${length} ${pieceLength} ${partSize} ${parts}`;
          writeFileSync(last, about);
          const sizes = { pieceLength, partSize, parts, totalSize: length };
          const changes: [string[], unknown][] = Object.entries(sizes).map(([key, value]) => [[key], value]);
          const columns: [string[], unknown][] = [[['files', 'length'], [length]]];
          await read(await withItsId(mutant(plan, [...changes, ...columns])), about);
        }
}

// Several values.
seedRandom(30);
for (let i = 0; i < 1000; i += 1) {
  const plan = pick(plans);
  const places = [...placesOf(plan)];
  const changes = Array.from({ length: 3 }, () => [pick(places), pick(HOSTILE)] as const);
  const about = `${i}: ${changes.map(([place, value]) => `${place.join('.')} ${HOSTILE.indexOf(value)}`).join(', ')}`;
  writeFileSync(last, about);
  await read(await withItsId(mutant(plan, changes)), about);
}

// Text whose values would not fit into memory.
const values = Buffer.alloc(2 ** 27, '{},');
const text = await outcomeOf(() => parsePlan(values));
rmSync(last);
process.stdout.write(JSON.stringify({ valid, outcomes, problems, text, maxRss: process.resourceUsage().maxRSS }));

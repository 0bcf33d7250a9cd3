import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fuzz } from '../fuzz/engine/loop.ts';
import { mutate, shrink } from '../fuzz/engine/mutate.ts';
import type { Target } from '../fuzz/engine/target.ts';
import { latin1 } from './support/build.ts';
import { temporaryFolder } from './support/tree.ts';

const ROOT = fileURLToPath(new URL('../fuzz/', import.meta.url));
const TARGETS = readdirSync(ROOT).flatMap((file) => /^(\w+)\.ts$/.exec(file)?.[1] ?? []);

// A script in plain JavaScript, which has no types.
const { storedInputs, lineOf } = (await import('../scripts/fuzz-inputs.mjs' as string)) as {
  storedInputs(target: string): Map<string, Buffer>;
  lineOf(name: string, input: Buffer): string;
};

describe('a stored fuzz input', () => {
  for (const name of TARGETS) {
    it(`passes: ${name}`, async () => {
      const { check } = (await import(`../fuzz/${name}.ts`)) as Target;
      const inputs = storedInputs(name);
      assert.ok(inputs.size > 10, `${inputs.size} inputs`);
      for (const [stored, input] of inputs) {
        try {
          await check(input);
        } catch (cause) {
          throw new Error(`npm run fuzz -- ${name} ${stored}`, { cause });
        }
      }
    });
  }

  it('is one line of printable ASCII, whatever its bytes', () => {
    const input = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const line = lineOf('all', input);
    assert.match(line, /^all [ -~]+$/);
    assert.ok(line.includes('%0a') && line.includes('%25&') && line.includes('~%7f%80'));
    const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex').slice(0, 16);
    for (const target of TARGETS) {
      for (const [name, bytes] of storedInputs(target))
        if (/^[0-9a-f]{16}$/.test(name)) assert.equal(sha1(bytes), name);
    }
  });
});

describe('every export', () => {
  it('returns a result or throws a documented error for hostile arguments', async () => {
    const { check, every } = (await import('../fuzz/api.ts')) as Target & { every(): Iterable<Buffer> };
    let calls = 0;
    for (const input of every()) {
      await check(input);
      calls += 1;
    }
    assert.ok(calls > 2500, `${calls} calls`);
  });
});

describe('the fuzzer', () => {
  it('finds, byte by byte, a crash that random inputs would miss, and minimizes the input', async (t) => {
    const folder = await temporaryFolder(t);
    const secret = latin1('d3:k');
    const s = Object.fromEntries(Array.from(secret, (_, i) => [i, 0]));
    const file: { s: Record<number, number>; f: object; b: object } = { s, f: {}, b: {} };
    (globalThis as { __coverage__?: unknown }).__coverage__ = { file };
    const target: Target = {
      check(input) {
        const known = secret.findIndex((byte, i) => input[i] !== byte);
        for (let i = 0; i < (known < 0 ? secret.length : known); i += 1) file.s[i] = (file.s[i] ?? 0) + 1;
        assert.notEqual(known, -1, 'the fault');
      },
      seeds: async () => [Buffer.from('i7e')],
      words: ['x'],
    };
    const place = (name: string) => path.join(folder, name);
    await fuzz(target, {
      seconds: 60,
      seed: 1,
      corpus: [place('corpus')],
      found: place('found'),
      current: place('current'),
    });
    const [found = ''] = readdirSync(place('found'));
    assert.deepEqual(readFileSync(path.join(place('found'), found)), secret);
    // One mutation may find two bytes at once.
    const kept = readdirSync(place('corpus')).length;
    assert.ok(kept >= 1 && kept <= secret.length - 1, `${kept} inputs are kept`);
  });

  it('changes values of inputs more often than their structure', () => {
    const input = latin1('d1:ai1e4:infod5:filesld6:lengthi5eee1:xlee1:z3:abce');
    const all = Array.from({ length: 2000 }, () => mutate(input, input, ['name']).toString('latin1'));
    const whole = all.filter((text) => /^d.*e$/s.test(text));
    assert.ok(new Set(all).size > 1000);
    assert.ok(whole.length > 1200, `${whole.length}`);
  });

  it('shrinks entries, items and bytes', async () => {
    const input = latin1('d1:ai1e4:infod5:filesld6:lengthi5eee1:xlee1:z9:abcdefghie');
    const small = await shrink(input, async (one) => one.includes('4:info') && one.includes('6:length'));
    assert.equal(small.toString('latin1'), '4:info6:length');
    const tree = await shrink(input, async (one) => /^d.*1:z\d:.*c.*e$/.test(one.toString('latin1')));
    assert.match(tree.toString('latin1'), /^d1:z\d:ce$/);
  });
});

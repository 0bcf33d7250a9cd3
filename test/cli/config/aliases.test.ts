import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseConfig } from '../../../src/cli/config/parse.ts';
import { cpuSeconds, withinCpu } from '../../support/timing.ts';

/** The message of a configuration that is refused. */
function messageOf(toml: string): string {
  try {
    parseConfig(Buffer.from(toml), 'config.toml');
  } catch (error) {
    assert.equal((error as { code: string }).code, 'ERR_CONFIG', String(error));
    return (error as Error).message;
  }
  return assert.fail('it was accepted');
}

/** The same, in processor time that does not grow with the square of its size. */
const refusal = (toml: string): string => withinCpu(3, () => messageOf(toml));

/** Asserts that four times as many lines take less than eight times as long, in one of three attempts. The square would take sixteen times. */
function assertLinear(toml: (count: number) => string, count: number): void {
  const cost = (text: string) => {
    const before = cpuSeconds();
    messageOf(text);
    return cpuSeconds() - before;
  };
  const ratios: number[] = [];
  while (ratios.length < 3 && !ratios.some((ratio) => ratio < 8))
    ratios.push(cost(toml(count)) / cost(toml(count / 4)));
  assert.ok(Math.min(...ratios) < 8, `took ${ratios.join(', ')} times as long`);
}

const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');
const chain = (count: number) => `[trackers]\n${lines(count, (i) => `a${i} = "a${i + 1}"`)}\na${count} = "udp://x:1"\n`;

describe('a configuration as long as it may be', () => {
  it('has chains of aliases up to a depth', () => {
    assert.equal(parseConfig(Buffer.from(chain(99)), 'config.toml').aliases.size, 100);
    assert.match(refusal(chain(20_000)), /:2: trackers\.a0: aliases lead to each other more than 100 times/);
  });

  it('has many unknown aliases, keys and dotted keys', () => {
    assert.match(refusal(`[trackers]\n${lines(20_000, (i) => `a${i} = "b${i}"`)}`), /:2: trackers\.a0: b0 is neither/);
    const dotted = (count: number) => `[create]\n${lines(count, (i) => `x${i}.y=1`)}`;
    assert.match(messageOf(dotted(50_000)), /:2: create\.x0: unknown key/);
    assertLinear(dotted, 50_000);
    assert.match(refusal(`${Array(50_000).fill('a').join('.')} = 1`), /:1: a: unknown key/);
    assert.match(
      refusal(`[create]\ncomment.${Array(50_000).fill('a').join('.')} = 1`),
      /expected text or false, got a table/,
    );
  });

  it('has many values of one option', () => {
    const toml = `[create]\nwebseed = [${lines(40_000, (i) => `"http://h/${i}",`)}]\n`;
    const { create } = withinCpu(3, () => parseConfig(Buffer.from(toml), 'config.toml'));
    assert.equal([create.get('webseed')?.value].flat().length, 40_000);
  });
});

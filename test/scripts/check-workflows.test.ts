import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

// A script in plain JavaScript, which has no types.
const { unpinnedActions } = (await import('../../scripts/check-workflows.mjs' as string)) as {
  unpinnedActions: (text: string) => { line: number; action: string }[];
};
const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const WORKFLOWS = new URL('../../.github/workflows/', import.meta.url);

describe('unpinnedActions', () => {
  for (const action of [
    `actions/checkout@${COMMIT} # v5.0.0`,
    `github/codeql-action/init@${COMMIT} # v3.28.1`,
    './.github/workflows/prebuild.yml',
  ])
    it(`accepts ${action}`, () => {
      assert.deepEqual(unpinnedActions(`steps:\n  - uses: ${action}\n    uses: ${action}\n`), []);
    });

  for (const action of [
    'actions/checkout@v5',
    'actions/checkout@main',
    'actions/checkout',
    `actions/checkout@${COMMIT}`,
    `actions/checkout@${COMMIT} # v5`,
    `actions/checkout@${COMMIT.slice(1)} # v5.0.0`,
    `actions/checkout@${COMMIT}0 # v5.0.0`,
    `actions/checkout@v5 # ${COMMIT} # v5.0.0`,
    'docker://alpine:3',
    '"actions/checkout@v5"',
  ])
    it(`reports ${action}`, () => {
      assert.deepEqual(unpinnedActions(`steps:\n  - uses: ${action}\n`), [{ line: 2, action }]);
      assert.deepEqual(unpinnedActions(`steps:\r\n  - name: x\r\n    "uses" : ${action}\r\n`), [{ line: 3, action }]);
    });

  it('reports nothing for the workflows of the project, which use one commit per release', () => {
    const texts = readdirSync(WORKFLOWS).map((name) => readFileSync(new URL(name, WORKFLOWS), 'utf8'));
    assert.deepEqual(texts.flatMap(unpinnedActions), []);
    const pins = new Set(texts.flatMap((text) => text.match(/\S+@[0-9a-f]{40} # v\S+/g) ?? []));
    assert.equal(pins.size, new Set([...pins].map((pin) => pin.split('@')[0])).size);
    assert.ok(pins.size >= 6, `${pins.size} actions`);
  });
});

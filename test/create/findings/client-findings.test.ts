import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { clientFindings } from '../../../src/create/findings/plan-report.ts';

const PAGE = readFileSync(new URL('../../../docs/interop.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');

/** The rows of the table of supported versions: the clients of each, and what they do with v1, v2 and hybrid. */
const rows = [...PAGE.matchAll(/\| ([^|]+) \| (yes|no) \| (yes|no) \| (yes|as v1[^|]*) \|/g)].map(
  ([, clients = '', v1, v2, hybrid]) => ({ clients: clients.trim(), v1, v2, hybrid }),
);

/** The names of clients in a text, without their versions. */
const names = (text: string) =>
  [...new Set(text.match(/libtorrent|qBittorrent|Deluge|rtorrent|Transmission|aria2|WebTorrent/gi))].sort();

describe('clientFindings', () => {
  it('names for v2 exactly the clients without v2 on the page', () => {
    const without = rows.filter(({ v2 }) => v2 === 'no').flatMap(({ clients }) => names(clients));
    assert.ok(without.length >= 4);
    const [finding, ...rest] = clientFindings('v2');
    assert.deepEqual(names(finding?.message ?? ''), [...new Set(without)].sort());
    assert.equal(rest.length, 0);
  });

  it('names for a hybrid exactly the versions that the page says fail to read one', () => {
    const [finding, ...rest] = clientFindings('hybrid');
    assert.equal(rest.length, 0);
    const [, parses] = /- (Transmission \d+ cannot parse a hybrid torrent)/.exec(PAGE) ?? [];
    const [, computes] = /(aria2 [\d.]+ computes a wrong infohash for one)/.exec(PAGE) ?? [];
    assert.equal(finding?.message, `${parses}, and ${computes}.`);
    // Every other client reads a hybrid, as one or as v1.
    for (const { clients, hybrid } of rows) assert.match(hybrid ?? '', /^(yes|as v1)/, clients);
  });

  it('has no hint for v1, which every client reads', () => {
    assert.deepEqual(clientFindings('v1'), []);
    for (const { clients, v1 } of rows) assert.equal(v1, 'yes', clients);
  });

  it('is a hint with advice', () => {
    for (const version of ['v2', 'hybrid'] as const)
      for (const { code, severity, path, advice } of clientFindings(version)) {
        assert.deepEqual([code, severity, path], ['old_clients', 'hint', null]);
        assert.match(advice, /make a v1 torrent/i);
      }
  });
});

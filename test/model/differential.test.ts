import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Profile } from '../../src/model/profile.ts';
import { libtorrentMissing } from '../support/external.ts';
import { type ContentAnswer, LibtorrentOracle } from '../support/libtorrent.ts';
import { disagreement, mutants } from '../support/mutants.ts';
import { temporaryFolder } from '../support/tree.ts';
import { DISAGREEMENTS, OTHER_DISAGREEMENTS, RARE_DISAGREEMENTS } from './disagreements.ts';

/** 30,000 also show the rare disagreements. */
const MUTANTS = Number(process.env['METAINFO_MUTANTS'] ?? 6000);
const SEED = 16;
/** The release that the list is for: other releases and binaries of other systems differ. */
const VERSION = /^2\.0\.8(\.|$)/;

const PROFILES: readonly Profile[] = ['compat', 'default', 'strict'];
const printable = (bytes: Buffer) => bytes.toString('latin1').replace(/[^ -~]/g, '.');

describe('mutants of valid torrents in libtorrent', { skip: libtorrentMissing() }, () => {
  let oracle: LibtorrentOracle;
  let version = '';
  before(async () => {
    oracle = new LibtorrentOracle();
    version = await oracle.version();
  });
  after(() => oracle.close());

  it('are the same in every run', () => {
    assert.deepEqual(mutants(100, SEED), mutants(100, SEED));
    assert.notDeepEqual(mutants(100, SEED), mutants(100, SEED + 1));
  });

  it('are accepted or refused as by libtorrent, except for the listed disagreements', async (t) => {
    if (!VERSION.test(version)) return t.skip(`the list is for libtorrent 2.0.8, installed is ${version}`);
    const torrents = mutants(MUTANTS, SEED);
    const answers = await oracle.loadAll(torrents, await temporaryFolder(t));
    assert.equal(answers.length, MUTANTS);
    const loaded = answers.filter((answer) => !('error' in answer)).length;
    assert.ok(loaded > MUTANTS / 4 && loaded < MUTANTS, `libtorrent loads ${loaded}`);

    const found = new Map<string, Buffer[]>();
    for (const [i, bytes] of torrents.entries()) {
      for (const profile of PROFILES) {
        const what = disagreement(bytes, profile, answers[i] as ContentAnswer);
        if (what) found.set(`${profile}: ${what}`, [...(found.get(`${profile}: ${what}`) ?? []), bytes]);
      }
    }
    const listed = { ...DISAGREEMENTS, ...RARE_DISAGREEMENTS };
    const known = { ...listed, ...OTHER_DISAGREEMENTS };
    const unknown: string[] = [];
    for (const [what, all] of found) {
      t.diagnostic(`${all.length} ${what}`);
      const smallest = all.toSorted((a, b) => a.length - b.length)[0] as Buffer;
      if (!Object.hasOwn(known, what)) unknown.push(`${all.length} ${what}: ${printable(smallest)}`);
    }
    assert.deepEqual(
      unknown,
      [],
      'decide which side is right; list a disagreement that stays in test/model/disagreements.ts',
    );
    const gone = Object.keys(MUTANTS < 30_000 ? DISAGREEMENTS : listed).filter((what) => !found.has(what));
    assert.deepEqual(
      gone,
      [],
      'no mutant shows these disagreements any more: remove them from test/model/disagreements.ts',
    );
  });
});

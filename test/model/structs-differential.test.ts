/** Compares the structs of the models with the reader: both must accept or refuse the same decoded dictionaries. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { create, is, StructError } from 'superstruct';
import { BencodeError, decode, LimitError, Torrent, TorrentFields } from '../../src/index.ts';
import { mutants } from '../support/mutants.ts';

const IGNORED =
  'A value that clients ignore: the reader leaves it out with a warning, too. A struct refuses it for the same reason.';
const ENTRY =
  'An invalid entry of a list beside `info`: the reader leaves it out with a warning. A struct has no warnings, and must not drop what a caller gives.';

/** The mutants on which a struct and `Torrent.inspect` disagree, with the reasons: one that no mutant shows any more fails too. */
const STRUCT_DISAGREEMENTS: Readonly<Record<string, string>> = {
  'refused: announce': IGNORED,
  'refused: announceList': ENTRY,
  'refused: createdBy': IGNORED,
  'refused: creationDate': IGNORED,
  'refused: nodes': ENTRY,
  'refused: urlList': ENTRY,
};

const MUTANTS = 10_000;
const SEED = 31;

/** Properties of a torrent that join those of two dictionaries, or are empty where the fields are null. */
const MERGED = new Set(['similar', 'collections', 'pieceLayers']);

/** The verdict of the reader, with the codes of its errors; null for bytes that no decoder gives as a dictionary. */
function readerSays(bytes: Buffer): { torrent: Torrent | null; codes: string } | null {
  try {
    const { torrent, issues } = Torrent.inspect(bytes);
    const codes = issues.filter(({ severity }) => severity === 'error' || torrent).map(({ code }) => code);
    return { torrent, codes: [...new Set(codes)].sort().join(' ') };
  } catch (error) {
    if (error instanceof BencodeError || error instanceof LimitError) return null;
    throw error;
  }
}

/** The fields that the struct makes of a dictionary, or the rule or field that it refuses. */
function structSays(value: unknown): { fields: TorrentFields } | { refused: string } {
  try {
    const fields = create(value, TorrentFields);
    assert.ok(is(fields, TorrentFields), 'a struct accepts what it creates');
    return { fields };
  } catch (error) {
    if (!(error instanceof StructError)) throw error;
    assert.ok(!/compat|[0-9]+,[0-9]+,/.test(error.message), error.message);
    return {
      refused:
        error.refinement ??
        error.path
          .filter((step) => typeof step === 'string')
          .slice(0, 2)
          .join('.'),
    };
  }
}

/** Describes how both disagree about a torrent; null if they agree. */
function disagreement(bytes: Buffer): string | null {
  const reader = readerSays(bytes);
  if (!reader) return null;
  const { value } = decode(bytes, { tolerant: true });
  const struct = structSays(value);
  if ('refused' in struct) return reader.torrent && `refused: ${struct.refused}`;
  if (!reader.torrent) return `accepted, reader: ${reader.codes}`;
  const { info, ...fields } = struct.fields;
  for (const [name, entry] of Object.entries(fields))
    if (!MERGED.has(name) && !isDeepStrictEqual(entry, reader.torrent[name as keyof Torrent])) return `other ${name}`;
  for (const [name, entry] of Object.entries(info))
    if (!isDeepStrictEqual(entry, reader.torrent.info[name as 'name'])) return `other info.${name}`;
  const dumped = structSays(reader.torrent.modelDumpTorrent());
  return 'fields' in dumped ? null : `dump refused: ${dumped.refused}`;
}

describe('the struct of a torrent', () => {
  it('accepts the decoded dictionaries that the reader accepts, except for the listed disagreements', (t) => {
    const found = new Map<string, Buffer[]>();
    let accepted = 0;
    for (const bytes of mutants(MUTANTS, SEED)) {
      const what = disagreement(bytes);
      if (what !== null) found.set(what, [...(found.get(what) ?? []), bytes]);
      else accepted += 1;
    }
    assert.ok(accepted > MUTANTS / 2);
    const unknown: string[] = [];
    for (const [what, all] of found) {
      t.diagnostic(`${all.length} ${what}`);
      const smallest = all.toSorted((a, b) => a.length - b.length)[0] as Buffer;
      if (!Object.hasOwn(STRUCT_DISAGREEMENTS, what))
        unknown.push(`${all.length} ${what}: ${smallest.toString('latin1').replace(/[^ -~]/g, '.')}`);
    }
    assert.deepEqual(unknown, [], 'make both agree, or list the reason in STRUCT_DISAGREEMENTS');
    const gone = Object.keys(STRUCT_DISAGREEMENTS).filter((what) => !found.has(what));
    assert.deepEqual(gone, [], 'no mutant shows these any more: remove them from STRUCT_DISAGREEMENTS');
  });
});

// The infodict models: structs of their fields, refined by the rules that `Torrent.inspect` runs too.
import { coerce, define, dynamic, type Infer, refine, type Struct, unknown } from 'superstruct';
import { padsIn } from '../layout/padding.ts';
import { INFO } from './codec.ts';
import { infodictDiscriminator, type TorrentVersion } from './discriminator.ts';
import { flattenTree } from './file-tree.ts';
import {
  HYBRID_CREATE_FIELDS,
  HYBRID_FIELDS,
  nullsOf,
  V1_BASE_FIELDS,
  V1_FIELDS,
  V2_BASE_FIELDS,
  V2_FIELDS,
} from './info-fields.ts';
import { fromInput, isDictionary } from './input.ts';
import { Issues, requireContext, type ValidationContext } from './issues.ts';
import { disallowed_fields, length_xor_files } from './rules.ts';
import { v1_v2_files_match } from './rules-hybrid.ts';
import { expected_n_pieces, expectedDraftPieces, padfile_alignment } from './rules-pieces.ts';
import type { Subject } from './rules-subject.ts';

type Rule = (subject: Subject) => void;
/** By the name that a failure has as its `refinement`. */
type Rules = Readonly<Record<string, Rule>>;

const V1_BASE_RULES: Rules = { disallowed_fields, expected_n_pieces, padfile_alignment };
const RULES: Readonly<Record<TorrentVersion, Rules>> = {
  v1: { length_xor_files, ...V1_BASE_RULES },
  v2: { disallowed_fields },
  hybrid: { length_xor_files, ...V1_BASE_RULES, v1_v2_files_match },
};

/**
 * A struct of infodict fields, refined by the rules of a version, whose input superstruct's `create` takes under on-disk
 * keys too. superstruct's `assign`, `omit`, `pick` and `partial` make a struct of the fields alone: this gives it the
 * rest (again). Rules add up; to check against fewer, begin with the fields: `withRules(type(InfoDictHybrid.schema), 'hybrid', { padding: 'ignore' })`.
 *
 * @example
 *   const Ours = withRules(assign(InfoDictV1, type({ source: string() })), 'v1', { padding: 'strict' });
 *   is(torrent.info, Ours);
 *
 * @param struct Its values have attribute names, as those of {@link InfoDictV1} do.
 * @param context How strict: `padding` and `profile` decide on `padfile_alignment`.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for what is no context
 */
export function withRules<T, S>(
  struct: Struct<T, S>,
  version: TorrentVersion,
  context: ValidationContext = {},
): Struct<T, S> {
  requireContext(context);
  return refined(struct, version, RULES[version], context);
}

function refined<T, S>(
  struct: Struct<T, S>,
  version: TorrentVersion,
  rules: Rules,
  context: ValidationContext = {},
): Struct<T, S> {
  const add = (before: Struct<T, S>, [name, rule]: [string, Rule]) =>
    refine(before, name, (info, { path }) => failures(rule, subjectOf(info as object, version, context), path));
  const absent = { ...nullsOf(struct), ...(version !== 'v1' && { metaVersion: 2 }) };
  const model = coerce(struct, unknown(), (value) => (isDictionary(value) ? modelOf(value, absent) : value) as T);
  return Object.entries(rules).reduce(add, model as Struct<T, S>);
}

/** The fields of input of any form. What is wrong with it, the struct finds. */
function modelOf(input: object, absent: object): object {
  const model = fromInput(input, INFO, { path: [], issues: new Issues() });
  const given = Object.entries(model).filter(([, value]) => value !== null);
  return { ...absent, ...Object.fromEntries(given) };
}

/** What the rules look at, of a model. */
export function subjectOf(info: Subject['info'], version: TorrentVersion, context: ValidationContext = {}): Subject {
  const { fileTree } = info as InfoDictHybridCreate;
  return {
    version,
    info,
    has: (key) => (info as Record<string, unknown>)[ATTRIBUTES.get(key) as string] != null,
    get isPad() {
      return padsIn(info.files ?? [], info.pieceLength ?? 0);
    },
    layers: undefined,
    // Only one rule looks at it.
    get flat() {
      return fileTree ? flattenTree(fileTree) : null;
    },
    context,
    issues: new Issues(context.profile),
  };
}

const ATTRIBUTES: ReadonlyMap<string, string> = new Map(Object.entries(INFO).map(([name, { key }]) => [key, name]));

/** What a rule finds as superstruct reports it: under attribute names. */
function failures(rule: Rule, subject: Subject, above: readonly (string | number)[]) {
  rule(subject);
  const errors = subject.issues.finish().filter(({ severity }) => severity === 'error');
  return errors.map(({ path: [, key, ...rest], message }) => {
    const at = key === undefined ? [] : [ATTRIBUTES.get(String(key)) ?? key];
    return { path: [...above, ...at, ...rest], message };
  });
}

/** A v1 infodict that may lack its name, files and hashes (BEP 3). */
export interface InfoDictV1Base extends Infer<typeof V1_BASE_FIELDS> {}
/** Checks one: `disallowed_fields`, `expected_n_pieces`, `padfile_alignment`. */
export const InfoDictV1Base: Struct<InfoDictV1Base, typeof V1_BASE_FIELDS.schema> = refined(
  V1_BASE_FIELDS,
  'v1',
  V1_BASE_RULES,
);

/** A v1 infodict under construction: its pieces may not be hashed yet. */
export type InfoDictV1Create = InfoDictV1Base;
/** Checks one: see {@link InfoDictV1Base}. */
export const InfoDictV1Create = InfoDictV1Base;

/** A whole v1 infodict (BEP 3): `length` for a single file, else `files`. */
export interface InfoDictV1 extends Infer<typeof V1_FIELDS> {}
/** Checks one: the rules of {@link InfoDictV1Base}, and `length_xor_files`. */
export const InfoDictV1: Struct<InfoDictV1, typeof V1_FIELDS.schema> = withRules(V1_FIELDS, 'v1');

/** A v2 infodict that may lack its name and tree (BEP 52). */
export interface InfoDictV2Base extends Infer<typeof V2_BASE_FIELDS> {}
/** Checks one: `disallowed_fields`. */
export const InfoDictV2Base: Struct<InfoDictV2Base, typeof V2_BASE_FIELDS.schema> = withRules(V2_BASE_FIELDS, 'v2');

/** A v2 infodict under construction. */
export type InfoDictV2Create = InfoDictV2Base;
/** Checks one: see {@link InfoDictV2Base}. */
export const InfoDictV2Create = InfoDictV2Base;

/** A whole v2 infodict (BEP 52). */
export interface InfoDictV2 extends Infer<typeof V2_FIELDS> {}
/** Checks one: `disallowed_fields`. */
export const InfoDictV2: Struct<InfoDictV2, typeof V2_FIELDS.schema> = withRules(V2_FIELDS, 'v2');

/** A hybrid infodict under construction: every field is optional. */
export interface InfoDictHybridCreate extends Infer<typeof HYBRID_CREATE_FIELDS> {}
/** Checks one: `expected_n_pieces`, where pads may be in the list of files or still be added. */
export const InfoDictHybridCreate: Struct<InfoDictHybridCreate, typeof HYBRID_CREATE_FIELDS.schema> = refined(
  HYBRID_CREATE_FIELDS,
  'hybrid',
  { disallowed_fields, expected_n_pieces: expectedDraftPieces },
);

/** A whole hybrid infodict (BEP 52): the v1 and the v2 description of the same files. */
export interface InfoDictHybrid extends Infer<typeof HYBRID_FIELDS> {}
/** Checks one: the rules of {@link InfoDictV1}, and `v1_v2_files_match`. */
export const InfoDictHybrid: Struct<InfoDictHybrid, typeof HYBRID_FIELDS.schema> = withRules(HYBRID_FIELDS, 'hybrid');

const NONE = define<never>('infodict', () => 'Expected pieces (v1), fileTree (v2) or both (hybrid), got neither');
const WHOLE = { v1: InfoDictV1, v2: InfoDictV2, hybrid: InfoDictHybrid };

/** The infodict of a torrent of any version. */
export type InfoDict = InfoDictV1 | InfoDictV2 | InfoDictHybrid;
/** Checks one against the one model that {@link infodictDiscriminator} selects: errors of others are not mixed in. */
export const InfoDict: Struct<InfoDict, null> = dynamic((value) => {
  const version = infodictDiscriminator(value);
  return (version ? WHOLE[version] : NONE) as unknown as Struct<InfoDict, null>;
});

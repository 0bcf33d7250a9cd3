/** The info dictionary models: structs of their fields, refined by the same rules that `Torrent.inspect` runs. */
import { define, dynamic, type Infer, refine, Struct } from 'superstruct';
import { checkArgument, oneOf } from '../errors/guard.ts';
import { padsIn } from '../layout/padding.ts';
import { INFO } from './codec.ts';
import { infodictDiscriminator, type TorrentVersion } from './discriminator.ts';
import {
  HYBRID_CREATE_FIELDS,
  HYBRID_FIELDS,
  nullsOf,
  V1_BASE_FIELDS,
  V1_FIELDS,
  V2_BASE_FIELDS,
  V2_FIELDS,
} from './info-fields.ts';
import { fromInput, type InputContext, isDictionary, withInput } from './input.ts';
import { Issues } from './issues.ts';
import { flattenTree } from './lazy/flat-tree.ts';
import { requireContext, type ValidationContext } from './profile.ts';
import { duplicatePaths } from './rules/duplicate-paths.ts';
import { v1V2FilesMatch } from './rules/hybrid.ts';
import { expectedDraftPieces, expectedNPieces, padfileAlignment, padPath } from './rules/pieces.ts';
import { disallowedFields, lengthXorFiles, metaVersion, safeName } from './rules/rules.ts';
import type { Subject } from './rules/subject.ts';

type Rule = (subject: Subject) => void;
/** Rules by the `refinement` of their failures. */
type Rules = Readonly<Record<string, Rule>>;

const V1_BASE_RULES: Rules = {
  meta_version: metaVersion,
  disallowed_fields: disallowedFields,
  expected_n_pieces: expectedNPieces,
  padfile_alignment: padfileAlignment,
};
const V2_BASE_RULES: Rules = { meta_version: metaVersion, disallowed_fields: disallowedFields };
const V1_RULES: Rules = {
  length_xor_files: lengthXorFiles,
  ...V1_BASE_RULES,
  unsafe_path: safeName,
  duplicate_path: duplicatePaths,
  pad_path: padPath,
};
const RULES: Readonly<Record<TorrentVersion, Rules>> = {
  v1: V1_RULES,
  v2: { ...V2_BASE_RULES, unsafe_path: safeName },
  hybrid: { ...V1_RULES, v1_v2_files_match: v1V2FilesMatch },
};

/**
 * Adds the rules of a version to a struct of info dictionary fields, and lets superstruct's `create` accept on-disk keys. Use it
 * after superstruct's `assign`, `omit`, `pick` and `partial`, which keep the fields of a model but not its rules. Rules add up:
 * to apply fewer, start from the fields, as in `withRules(type(InfoDictHybrid.schema), 'hybrid', { padding: 'ignore' })`.
 *
 * @example
 * ```ts
 * import { InfoDictV1, Torrent, withRules } from 'metainfo';
 * import { assign, is, string, type } from 'superstruct';
 *
 * const InfoWithSource = withRules(assign(InfoDictV1, type({ source: string() })), 'v1', { padding: 'strict' });
 * const { info } = await Torrent.read('album.torrent');
 * console.log(is(info, InfoWithSource) ? 'aligned, with a source tag' : 'not aligned, or without a source tag');
 * ```
 *
 * @param struct A struct of fields, such as {@link InfoDictV1}.
 * @param version The version whose rules are added.
 * @param context `padding` and `profile` decide on the rule `padfile_alignment`. Default: the `default` profile.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an unknown version or an invalid context
 */
export function withRules<T, S>(
  struct: Struct<T, S>,
  version: TorrentVersion,
  context: ValidationContext = {},
): Struct<T, S> {
  checkArgument('version', version, oneOf('v1', 'v2', 'hybrid'));
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
    refine(before, name, (info, { path: above }) =>
      failuresOfRule(rule, subjectOf(info as object, version, context), ([, ...path]) => [
        ...above,
        ...propertyPath(path),
      ]),
    );
  const nulls = nullsOf(struct);
  const model = withInput(struct, (value, at) => (isDictionary(value) ? modelOf(value, nulls, at) : value));
  const versioned = new Struct({
    ...model,
    coercer: (value, at) => withMetaVersion(model.coercer(value, at), version),
  });
  return Object.entries(rules).reduce(add, versioned as Struct<T, S>);
}

/** An absent meta version reads as 2. It is not enumerable, so that a copy of the model has the same keys on disk. */
function withMetaVersion(model: unknown, version: TorrentVersion): unknown {
  if (version !== 'v1' && isDictionary(model) && (model as { metaVersion?: unknown }).metaVersion == null)
    Object.defineProperty(model, 'metaVersion', { value: 2, enumerable: false, writable: true, configurable: true });
  return model;
}

/** Converts input of any form to properties. */
function modelOf(input: object, nulls: object, context: InputContext): object {
  const model = fromInput(input, INFO, context);
  const present = Object.entries(model).filter(([name, value]) => value !== null || !Object.hasOwn(nulls, name));
  return { ...nulls, ...Object.fromEntries(present) };
}

/** A model as the input of a rule. */
export function subjectOf(info: Subject['info'], version: TorrentVersion, context: ValidationContext = {}): Subject {
  const { fileTree } = info as InfoDictHybridCreate;
  return {
    version,
    info,
    has: (key) => (info as Record<string, unknown>)[PROPERTIES.get(key) as string] != null,
    get isPad() {
      return padsIn(info.files ?? [], info.pieceLength ?? 0);
    },
    layers: undefined,
    // A getter, because only one rule uses it.
    get flat() {
      return fileTree ? flattenTree(fileTree) : null;
    },
    context,
    issues: new Issues(context.profile, undefined, { hints: false }),
  };
}

const PROPERTIES: ReadonlyMap<string, string> = new Map(Object.entries(INFO).map(([name, { key }]) => [key, name]));

/** The failures of a rule, as superstruct expects them. @param pathOf Gives the path of an issue, with property names. */
export function failuresOfRule(
  rule: Rule,
  subject: Subject,
  pathOf: (path: readonly (string | number)[]) => (string | number)[],
) {
  rule(subject);
  return subject.issues.errors().map(({ path, message }) => ({ path: pathOf(path), message }));
}

/** A path within an info dictionary, with a property name in place of an on-disk key. */
export function propertyPath([key, ...rest]: readonly (string | number)[]): (string | number)[] {
  return key === undefined ? [] : [PROPERTIES.get(String(key)) ?? key, ...rest];
}

/** A v1 info dictionary whose name, files and pieces may be absent (BEP 3). */
export interface InfoDictV1Base extends Infer<typeof V1_BASE_FIELDS> {}
/** Checks the rules `meta_version`, `disallowed_fields`, `expected_n_pieces` and `padfile_alignment`. */
export const InfoDictV1Base: Struct<InfoDictV1Base, typeof V1_BASE_FIELDS.schema> = refined(
  V1_BASE_FIELDS,
  'v1',
  V1_BASE_RULES,
);

/** A v1 info dictionary under construction: its pieces may not be hashed yet. */
export type InfoDictV1Create = InfoDictV1Base;
/** Checks the rules of {@link InfoDictV1Base}. */
export const InfoDictV1Create = InfoDictV1Base;

/** A complete v1 info dictionary (BEP 3): `length` for a single file, else `files`. */
export interface InfoDictV1 extends Infer<typeof V1_FIELDS> {}
/** Checks the rules of {@link InfoDictV1Base}, `length_xor_files`, `unsafe_path` and `duplicate_path`. */
export const InfoDictV1: Struct<InfoDictV1, typeof V1_FIELDS.schema> = withRules(V1_FIELDS, 'v1');

/** A v2 info dictionary whose name and file tree may be absent (BEP 52). */
export interface InfoDictV2Base extends Infer<typeof V2_BASE_FIELDS> {}
/** Checks the rules `meta_version` and `disallowed_fields`; the name and the file tree may be absent. */
export const InfoDictV2Base: Struct<InfoDictV2Base, typeof V2_BASE_FIELDS.schema> = refined(
  V2_BASE_FIELDS,
  'v2',
  V2_BASE_RULES,
);

/** A v2 info dictionary under construction. */
export type InfoDictV2Create = InfoDictV2Base;
/** Checks the rules of {@link InfoDictV2Base}. */
export const InfoDictV2Create = InfoDictV2Base;

/** A complete v2 info dictionary (BEP 52). */
export interface InfoDictV2 extends Infer<typeof V2_FIELDS> {}
/** Checks the rules of {@link InfoDictV2Base} and `unsafe_path`. */
export const InfoDictV2: Struct<InfoDictV2, typeof V2_FIELDS.schema> = withRules(V2_FIELDS, 'v2');

/** A hybrid info dictionary under construction: every field is optional. */
export interface InfoDictHybridCreate extends Infer<typeof HYBRID_CREATE_FIELDS> {}
/** Checks the rule `expected_n_pieces`. The file list may have its pad files already, or they may be added later. */
export const InfoDictHybridCreate: Struct<InfoDictHybridCreate, typeof HYBRID_CREATE_FIELDS.schema> = refined(
  HYBRID_CREATE_FIELDS,
  'hybrid',
  { ...V2_BASE_RULES, expected_n_pieces: expectedDraftPieces },
);

/** A complete hybrid info dictionary (BEP 52): the v1 and the v2 description of the same files. */
export interface InfoDictHybrid extends Infer<typeof HYBRID_FIELDS> {}
/** Checks the rules of {@link InfoDictV1} and `v1_v2_files_match`. */
export const InfoDictHybrid: Struct<InfoDictHybrid, typeof HYBRID_FIELDS.schema> = withRules(HYBRID_FIELDS, 'hybrid');

const UnknownVersion = define<never>(
  'infodict',
  () => 'expected pieces (v1), fileTree (v2) or both (hybrid), got neither',
);
const BY_VERSION = { v1: InfoDictV1, v2: InfoDictV2, hybrid: InfoDictHybrid };

/** The info dictionary of a torrent of any version. */
export type InfoDict = InfoDictV1 | InfoDictV2 | InfoDictHybrid;
/** Checks an info dictionary with the model that {@link infodictDiscriminator} selects, and reports the errors of that model alone. */
export const InfoDict: Struct<InfoDict, null> = dynamic((value) => {
  const version = infodictDiscriminator(value);
  return (version ? BY_VERSION[version] : UnknownVersion) as unknown as Struct<InfoDict, null>;
});

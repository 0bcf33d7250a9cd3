/** Decodes a dictionary with a set of fields, and lists the codes and paths of its issues. */
import { decode } from '../../src/bencode/decode.ts';
import type { BencodeMap } from '../../src/bencode/value.ts';
import { decodeFields } from '../../src/model/field.ts';
import { Issues } from '../../src/model/issues.ts';
import type { Profile } from '../../src/model/profile.ts';
import { type Plain, reference } from '../bencode/reference.ts';

/** The code and the path of each issue. */
export const codesAndPaths = (issues: Issues) => issues.finish().map(({ code, path }) => [code, ...path]);

/** The model of a dictionary and its issues. */
export function decoded(dictionary: Plain, fields: object, profile?: Profile) {
  const issues = new Issues(profile);
  const model = decodeFields(decode(reference(dictionary)).value as BencodeMap, fields, issues);
  return { model, issues: codesAndPaths(issues) };
}

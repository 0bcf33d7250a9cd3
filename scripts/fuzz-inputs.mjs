// The stored inputs of fuzz targets: fuzz/inputs/TARGET.txt has a line for each, with its name, a space and its bytes.
// Bytes are ASCII; %xx stands for any other byte, for % and for line feeds.
//
// The names are hashes for inputs that reach the most code, and words for inputs that found bugs.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './setup.mjs';

const HASH = /^[0-9a-f]{16}$/;
const fileOf = (target) => path.join(root, 'fuzz', 'inputs', `${target}.txt`);

/** @param {Uint8Array} input */
export const hashOf = (input) => createHash('sha1').update(input).digest('hex').slice(0, 16);

/** Formats an input as a line of a file, without the line feed. @param {string} name @param {Buffer} input */
export const lineOf = (name, input) =>
  `${name} ${input.toString('latin1').replace(/[^ -$&-~]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`)}`;

/** Returns the stored inputs of a target by name. @param {string} target @returns {Map<string, Buffer>} */
export function storedInputs(target) {
  const lines = existsSync(fileOf(target)) ? readFileSync(fileOf(target), 'latin1').split('\n').slice(0, -1) : [];
  const entry = (line) => {
    const [, name, text] = /^(\S+) (.*)$/.exec(line);
    const bytes = text.replace(/%(..)/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
    return [name, Buffer.from(bytes, 'latin1')];
  };
  return new Map(lines.map(entry));
}

/** Writes the stored inputs into a folder, one file each: libFuzzer needs that. @param {string} target @param {string} folder */
export function unpack(target, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, input] of storedInputs(target)) writeFileSync(path.join(folder, name), input);
}

/** Stores the inputs of a folder in place of all that have no name, and returns their number. @param {string} target @param {string} folder */
export function pack(target, folder) {
  const found = [...storedInputs(target)].filter(([name]) => !HASH.test(name));
  const inputs = readdirSync(folder).map((file) => readFileSync(path.join(folder, file)));
  const entries = [...inputs.map((input) => [hashOf(input), input]), ...found];
  const lines = entries.map(([name, input]) => lineOf(name, input)).sort();
  writeFileSync(fileOf(target), lines.map((line) => `${line}\n`).join(''));
  return inputs.length;
}

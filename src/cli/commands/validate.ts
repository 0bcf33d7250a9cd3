/** `metainfo validate`: reports every problem of torrent files. */
import type { Command } from 'commander';
import type { Colors } from 'picocolors/types.js';
import type { BencodeError } from '../../bencode/bencode-error.ts';
import { type LimitError, limitsOf } from '../../bencode/limits.ts';
import { type Issue, MetainfoError } from '../../errors/errors.ts';
import { Torrent } from '../../model/torrent/torrent.ts';
import { plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { withoutSecrets } from '../../text/urls.ts';
import { readingOptions } from '../config/load.ts';
import { countsText } from '../many/run-many.ts';
import { suggestionFor } from '../options/arguments.ts';
import { type ProfileOptions, readOptionsOf } from '../options/option-values.ts';
import { eachOption, torrentsOf } from '../options/torrents-of.ts';
import { FAILED, host } from '../run.ts';
import { messageOf } from '../terminal/messages.ts';
import { colorsFor, printableJson, stdout, writeLines, writeResult } from '../terminal/output.ts';
import { nameOfInput, readInput, requireOneStdin } from '../terminal/standard-input.ts';

interface ValidateOptions extends ProfileOptions {
  json?: boolean;
}

const EXAMPLES = `
Examples:
  metainfo validate *.torrent
  metainfo validate --strict --json --each torrents   every one of a folder

--json prints { torrent, ok, version, infohash, issues }, then a summary.

Exit codes: 0 all torrents are valid, 1 at least one is invalid, 2 wrong usage.`;

export function addValidate(program: Command): void {
  const command = program
    .command('validate')
    .description('check torrents and report every problem')
    .argument('[file...]', 'torrent files, or - for standard input; with --each, folders of torrents')
    .option('--json', 'print one line per file, each a JSON object, and of several files a summary');
  readingOptions(eachOption(command)).addHelpText('after', EXAMPLES).action(validate);
}

/** Reads one file at a time, so that memory is bounded by the largest. */
async function validate(names: string[], options: ValidateOptions): Promise<void> {
  requireOneStdin(names);
  const { files, isMany } = await torrentsOf(names, options);
  const colors = await colorsFor(stdout());
  let valid = 0;
  for (const file of files) {
    const result = await check(file, options);
    if (result.ok) valid += 1;
    else host().exitCode = FAILED;
    await writeLines(options.json ? [printableJson(result)] : linesOf(result, colors));
  }
  if (!isMany) return;
  const invalid = files.length - valid;
  const summary = { event: 'summary', jobs: files.length, valid, invalid };
  await writeResult(options, summary, [`${valid} valid${countsText({ invalid })}`]);
}

/** Further properties of errors of reading. */
type ReadDetails = Partial<Pick<BencodeError, 'bencodeCode'> & Pick<LimitError, 'limit' | 'offset'>>;

type Result = Awaited<ReturnType<typeof check>>;

async function check(file: string, options: ValidateOptions) {
  try {
    const read = readOptionsOf(options);
    const bytes = await readInput(file, limitsOf(read.limits).bytes);
    const { torrent: valid, version, infohash, issues } = Torrent.inspect(bytes, read);
    return { torrent: file, ok: valid !== null, version, infohash, issues };
  } catch (error) {
    // A wrong option is not a problem of the torrent.
    if (!(error instanceof MetainfoError) || error.code === 'ERR_INVALID_ARGUMENT') throw error;
    const { code, bencodeCode, limit, offset } = error as MetainfoError & ReadDetails;
    const message = messageOf(error, file) + (await suggestionFor(file, options));
    const issue = { code, severity: 'error', path: [], message, bencodeCode, limit, offset: offset ?? undefined };
    const shown = withoutSecrets(file, /$/);
    return { torrent: shown, ok: false, version: null, infohash: { v1: null, v2: null }, issues: [issue] };
  }
}

function* linesOf({ torrent, ok, version, infohash, issues }: Result, colors: Colors): Generator<string> {
  const { green, red, yellow, dim } = colors;
  const all = issues as (Issue & { bencodeCode?: string })[];
  const errors = all.filter(({ severity }) => severity === 'error').length;
  const hash = infohash.v2 ?? infohash.v1 ?? '';
  const summary = ok ? green('valid') : red(`invalid, ${plural(errors, 'error')}`);
  yield `${printable(nameOfInput(torrent))}: ${summary}${ok ? ` ${version} ${dim(hash)}` : ''}`;
  for (const { severity, path, message, code, spec, offset } of all) {
    const field = path.length > 0 ? `${printable(path.join('.'))}: ` : '';
    const details = [code, spec, offset === undefined ? null : `byte ${offset}`].filter(Boolean).join(', ');
    yield `  ${severity === 'error' ? red('error') : yellow('warning')} ${field}${printable(message)} ${dim(`[${details}]`)}`;
  }
}

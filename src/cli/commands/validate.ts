import type { Command } from 'commander';
import type { Colors } from 'picocolors/types.js';
import { BencodeError } from '../../bencode/bencode-error.ts';
import { LimitError, limitsOf } from '../../bencode/limits.ts';
import { readWithin } from '../../disk/read-file.ts';
import { type Issue, MetainfoError } from '../../errors/errors.ts';
import { printable, printableJson } from '../../layout/text.ts';
import { plural } from '../../model/pprint.ts';
import { Torrent } from '../../model/torrent.ts';
import { colorsFor } from '../colors.ts';
import { FAILED } from '../exit.ts';
import { messageOf, ownNames } from '../messages.ts';
import { type ProfileOptions, profileOptions, readOptionsOf } from '../options.ts';
import { stdout, writeLines } from '../output.ts';

interface ValidateOptions extends ProfileOptions {
  json?: boolean;
}

/** What is said of one file. */
interface Verdict {
  file: string;
  ok: boolean;
  version: string | null;
  infohash: { v1: string | null; v2: string | null };
  issues: Pick<Issue, 'message'>[];
}

const EXAMPLES = `
Examples:
  metainfo validate *.torrent
  metainfo validate --strict --json upload.torrent

--json gives { file, ok, version, infohash, issues }.

Exit codes: 0 all are valid, 1 not all, 2 wrong usage.`;

export function addValidate(program: Command): void {
  const command = program
    .command('validate')
    .description('check torrents, and say all that is wrong with them')
    .argument('<file...>', 'torrent files')
    .option('--json', 'one JSON object a line, one line a file');
  profileOptions(command).addHelpText('after', EXAMPLES).action(validate);
}

/** One file after the other, so that memory is that of the largest. */
async function validate(files: string[], options: ValidateOptions): Promise<void> {
  const colors = await colorsFor(stdout());
  for (const file of files) {
    const verdict = await judge(file, options);
    if (!verdict.ok) process.exitCode = FAILED;
    await writeLines(options.json ? [printableJson(verdict)] : forPeople(verdict, colors));
  }
}

async function judge(file: string, options: ValidateOptions): Promise<Verdict> {
  try {
    const read = readOptionsOf(options);
    const bytes = await readWithin(file, limitsOf(read.limits).bytes);
    const { torrent, version, infohash, issues } = Torrent.inspect(bytes, read);
    const shown = issues.map((issue) => ({ ...issue, message: ownNames(issue.message) }));
    return { file, ok: torrent !== null, version, infohash, issues: shown };
  } catch (error) {
    // A wrong option says nothing of the torrent.
    if (!(error instanceof MetainfoError) || error.code === 'ERR_INVALID_ARGUMENT') throw error;
    const { code } = error;
    const message = messageOf(error);
    const place =
      error instanceof BencodeError
        ? { bencodeCode: error.bencodeCode, offset: error.offset }
        : error instanceof LimitError
          ? { limit: error.limit, ...(error.offset !== null && { offset: error.offset }) }
          : {};
    const issue = { code, severity: 'error', path: [], message, ...place };
    return { file, ok: false, version: null, infohash: { v1: null, v2: null }, issues: [issue] };
  }
}

function* forPeople({ file, ok, version, infohash, issues }: Verdict, colors: Colors): Generator<string> {
  const { green, red, yellow, dim } = colors;
  const all = issues as (Issue & { bencodeCode?: string })[];
  const errors = all.filter(({ severity }) => severity === 'error').length;
  const hash = infohash.v2 ?? infohash.v1 ?? '';
  const summary = ok ? green('valid') : red(`not valid, ${plural(errors, 'error')}`);
  yield `${printable(file)}: ${summary}${ok ? ` ${version} ${dim(hash)}` : ''}`;
  for (const { severity, path, message, code, spec, offset } of all) {
    const at = path.length > 0 ? `${printable(path.join('.'))}: ` : '';
    const place = [code, spec, offset === undefined ? null : `byte ${offset}`].filter(Boolean).join(', ');
    yield `  ${severity === 'error' ? red('error') : yellow('warning')} ${at}${printable(message)} ${dim(`[${place}]`)}`;
  }
}

/** Assembles and runs the `metainfo` command: its subcommands, general help and error output. */
import { type Command, CommanderError } from 'commander';
import { printable } from '../text/printable.ts';
import { VERSION } from '../text/version.ts';
import { addCache } from './commands/cache.ts';
import { addCompletion } from './commands/completion.ts';
import { addConfig } from './commands/config.ts';
import { addCreate } from './commands/create.ts';
import { addDiff } from './commands/diff.ts';
import { addEdit } from './commands/edit.ts';
import { addKernels } from './commands/kernels.ts';
import { addMagnet } from './commands/magnet.ts';
import { addHashPart, addJoin } from './commands/parts.ts';
import { addPlan } from './commands/plan.ts';
import { addShow } from './commands/show.ts';
import { addStore } from './commands/store.ts';
import { addUpdate, addUpgrade } from './commands/update.ts';
import { addValidate } from './commands/validate.ts';
import { addVerify } from './commands/verify.ts';
import { addWorker } from './commands/worker.ts';
import { exitCodeOf, exitCodeOfUsage, wantsJson } from './exit.ts';
import { HintingCommand, withHint } from './options/hints.ts';
import { type Host, startRun } from './run.ts';
import { fitted, stderr, stdout } from './terminal/output.ts';
import { formatItem } from './terminal/wrap.ts';

const HELP = `
Examples:
  metainfo plan album                    sizes and problems, before hashing
  metainfo create album                  write album.torrent, a hybrid
  metainfo show album.torrent
  metainfo verify album.torrent album

Run metainfo COMMAND --help for the options and examples of a command.

Environment:
  METAINFO_ENGINE     hashing engine: native, or node, which needs no addon
                      (default: native if the addon loads, else node)
  METAINFO_KERNEL     hash kernel to try first: metainfo kernels lists them
  SOURCE_DATE_EPOCH   creation date of new torrents without --date, in seconds
                      since 1970
  XDG_CONFIG_HOME     folder of metainfo/config.toml (default: ~/.config; on
                      Windows APPDATA): metainfo config shows it
  XDG_CACHE_HOME      folder of the cache of create --cache (default: ~/.cache;
                      on Windows LOCALAPPDATA; ignored on macOS)
  NO_COLOR            turn colours off

Exit codes: 0 success, 1 failure, 2 wrong usage, 130 cancelled with Ctrl-C
(143: with SIGTERM).`;

/** The subcommands in the order of the help. */
const COMMANDS: Readonly<Record<string, (command: Command) => void>> = {
  create: addCreate,
  plan: addPlan,
  'hash-part': addHashPart,
  join: addJoin,
  show: addShow,
  validate: addValidate,
  verify: addVerify,
  diff: addDiff,
  edit: addEdit,
  update: addUpdate,
  upgrade: addUpgrade,
  magnet: addMagnet,
  worker: addWorker,
  store: addStore,
  config: addConfig,
  cache: addCache,
  kernels: addKernels,
  completion: addCompletion,
};

/** Whether metainfo has a command of this name. */
const isCommand = (name: string): boolean => Object.hasOwn(COMMANDS, name) || name === 'help';

/**
 * The command, before it parses any arguments.
 *
 * @param name The first argument. If it is a subcommand, the others are left out: their options take milliseconds.
 */
export function program(name = ''): Command {
  const command = new HintingCommand('metainfo')
    .description('Create, read, check and edit torrent files: v1, v2 and hybrid.')
    .version(VERSION)
    .showHelpAfterError('(run with --help to see the options)')
    .addHelpText('after', HELP)
    .configureHelp({ formatItem })
    .configureOutput({
      getOutHelpWidth: () => stdout().columns,
      getErrHelpWidth: () => stderr().columns,
      writeOut: (text) => stdout().write(text),
      // With --json, an error is one object on standard output and nothing else.
      writeErr: (text) => {
        if (!wantsJson()) stderr().write(text);
      },
      // Commander repeats the arguments, which can be file names with control characters. Its suggestion keeps its own line.
      outputError: (text, write) => {
        const lines = withHint(text.trimEnd()).split(/\n(?=\(Did you mean )/);
        write(`${lines.map((line) => fitted(printable(line), stderr())).join('\n')}\n`);
      },
    })
    .exitOverride();
  // The completion script has all subcommands.
  const isAlone = Object.hasOwn(COMMANDS, name) && name !== 'completion';
  const names = isAlone ? [name] : Object.keys(COMMANDS);
  for (const one of names) COMMANDS[one]?.(command);
  return command;
}

/** The library's own warnings look like all others of the command. */
function onWarning({ name, message, code }: Error & { code?: string }): void {
  if (name === 'MetainfoWarning') stderr().write(`warning: ${printable(message)} [${code}]\n`);
}

/**
 * Runs the command.
 *
 * @param args The words behind its name.
 * @param of The process, or what stands in for it: see {@link Host}.
 * @returns The exit code. `of` has it too, which may still change if its standard output fails.
 */
export async function main(args: readonly string[], of: Host): Promise<number> {
  const [name = '', topic = '', ...rest] = args;
  // Commander answers `help creat` with the general help, and drops what follows the topic, as in `help create --all`.
  const isHelpOf = name === 'help' && topic !== '' && !topic.startsWith('-');
  const helpArgs = isCommand(topic) ? [topic, '--help', ...rest] : [topic];
  if (!process.listeners('warning').includes(onWarning)) process.on('warning', onWarning);
  return startRun({ args, host: of }, async () => {
    try {
      await program(name).parseAsync(isHelpOf ? helpArgs : args, { from: 'user' });
    } catch (error) {
      const code = error instanceof CommanderError ? exitCodeOfUsage(error) : await exitCodeOf(error);
      // Help has the code 0, also if standard output has failed.
      if (code > 0) of.exitCode = code;
    }
    return Number(of.exitCode ?? 0);
  });
}

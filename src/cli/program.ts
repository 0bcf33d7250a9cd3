/** Assembles and runs the `metainfo` command: its subcommands, general help and error output. */
import { type Command, CommanderError } from 'commander';
import { isWindows } from '../platform/node.ts';
import { printable } from '../text/printable.ts';
import { VERSION } from '../text/version.ts';
import { exitCodeOf, exitCodeOfUsage, wantsJson } from './exit.ts';
import { HintingCommand, withHint } from './options/hints.ts';
import { type Host, startRun } from './run.ts';
import { fitted, printableJson, stderr, stdout } from './terminal/output.ts';
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

Exit codes: 0 success, 1 failure, 2 wrong usage, 75 try again (hash-part and
join), 130 cancelled with Ctrl-C (143: with SIGTERM).`;

/** The subcommands in the order of the help. Only what a run needs is loaded: reading all takes longer than most runs. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  create: async () => (await import('./commands/create.ts')).addCreate,
  plan: async () => (await import('./commands/plan.ts')).addPlan,
  'hash-part': async () => (await import('./commands/parts.ts')).addHashPart,
  join: async () => (await import('./commands/parts.ts')).addJoin,
  show: async () => (await import('./commands/show.ts')).addShow,
  validate: async () => (await import('./commands/validate.ts')).addValidate,
  verify: async () => (await import('./commands/verify.ts')).addVerify,
  diff: async () => (await import('./commands/diff.ts')).addDiff,
  edit: async () => (await import('./commands/edit.ts')).addEdit,
  update: async () => (await import('./commands/update.ts')).addUpdate,
  upgrade: async () => (await import('./commands/update.ts')).addUpgrade,
  magnet: async () => (await import('./commands/magnet.ts')).addMagnet,
  worker: async () => (await import('./commands/worker.ts')).addWorker,
  store: async () => (await import('./commands/store.ts')).addStore,
  config: async () => (await import('./commands/config.ts')).addConfig,
  cache: async () => (await import('./commands/cache.ts')).addCache,
  kernels: async () => (await import('./commands/kernels.ts')).addKernels,
  completion: async () => (await import('./commands/completion.ts')).addCompletion,
};

/** Whether metainfo has a command of this name. */
const isCommand = (name: string): boolean => Object.hasOwn(COMMANDS, name) || name === 'help';

/**
 * The command, before it parses any arguments.
 *
 * @param name The first argument. If it is a subcommand, the others are left out.
 * @param expand Expands the wildcards of arguments.
 */
export async function program(name = '', expand: HintingCommand['expand'] = null): Promise<Command> {
  const command = Object.assign(new HintingCommand('metainfo'), { expand })
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
  if (/^(-V|--version)$/.test(name)) return command;
  for (const add of await Promise.all(names.map((one) => COMMANDS[one]?.()))) add?.(command);
  return command;
}

/** The library's own warnings look like all others of the command. */
function onWarning({ name, message, code }: Error & { code?: string }): void {
  if (name !== 'MetainfoWarning') return;
  const json = wantsJson() && printableJson({ event: 'warning', code, message });
  stderr().write(`${json || `warning: ${printable(message)} [${code}]`}\n`);
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
  const isHelpOf =
    (name === 'help' && topic !== '' && !topic.startsWith('-')) || (/^(-h|--help)$/.test(name) && isCommand(topic));
  const helpArgs = isCommand(topic) ? [topic, '--help', ...rest] : [topic];
  if (!process.listeners('warning').includes(onWarning)) process.on('warning', onWarning);
  return startRun({ args, host: of }, async () => {
    try {
      const expand = isWindows ? (await import('./options/wildcards.ts')).withWildcards : null;
      await (await program(name, expand)).parseAsync(isHelpOf ? helpArgs : args, { from: 'user' });
    } catch (error) {
      const code = error instanceof CommanderError ? exitCodeOfUsage(error) : await exitCodeOf(error);
      // Help has the code 0, also if standard output has failed.
      if (code > 0) of.exitCode = code;
    }
    return Number(of.exitCode ?? 0);
  });
}

import { Argument, type Command, type Option } from 'commander';
import { stdout } from '../output.ts';

type Shell = keyof typeof SCRIPTS;

const NOTE = `
Examples:
  metainfo completion bash    the script for bash

To have it in every shell, add a line; the script is made anew each time, so it
is that of the version that is installed:
  bash, in ~/.bashrc:
    eval "$(metainfo completion bash)"
  zsh, in ~/.zshrc, after compinit:
    eval "$(metainfo completion zsh)"
  fish, in ~/.config/fish/completions/metainfo.fish:
    metainfo completion fish | source`;

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes commands, options and their values in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', NOTE)
    .action((shell: Shell) => {
      stdout().write(SCRIPTS[shell](levelsOf(program)));
    });
}

const SCRIPTS = { bash, zsh, fish };

/** What may be typed after one command. */
interface Level {
  /** The command, as in `cache stats`; empty for what follows `metainfo`. */
  at: string;
  commands: { name: string; description: string }[];
  /** Values of its argument, where it has but these. */
  choices: readonly string[];
  takesFiles: boolean;
  options: Completable[];
}

interface Completable {
  flags: string[];
  description: string;
  /** Of its value: these words, names of files, any text; null without one. */
  value: readonly string[] | 'file' | 'text' | null;
}

/** `help` takes the names of the commands beside it, which commander does not say. */
function levelsOf(command: Command, at = '', beside: readonly string[] = []): Level[] {
  const help = command.createHelp();
  // Of what commander adds by itself too: help.
  const commands = help.visibleCommands(command);
  const names = commands.map((one) => one.name());
  const values = command.registeredArguments;
  const isHelp = command.name() === 'help';
  const level: Level = {
    at,
    commands: commands.map((one) => ({ name: one.name(), description: one.description() })),
    choices: isHelp ? beside : values.flatMap(({ argChoices = [] }) => argChoices),
    takesFiles: !isHelp && values.some(({ argChoices }) => argChoices === undefined),
    options: help.visibleOptions(command).map(completable),
  };
  return [level, ...commands.flatMap((one) => levelsOf(one, `${at} ${one.name()}`.trim(), names))];
}

function completable({ short, long, flags, argChoices, required, description }: Option): Completable {
  const plain = /<(file|folder)>/.test(flags) ? 'file' : 'text';
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    value: required ? (argChoices ?? plain) : null,
  };
}

// Each script looks for the command among the words before the cursor: what is after it may be called like a command.

/** Every command with what it follows, such as ` create` and `cache stats`. */
const steps = (levels: readonly Level[]) =>
  levels.flatMap(({ at, commands }) => commands.map(({ name }) => quoted(`${at} ${name}`)));

/** For sh, bash and zsh. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Without `compopt` and `mapfile`, which macOS' bash does not know: file names are what `-o default` adds. */
function bash(levels: readonly Level[]): string {
  const values = levels.flatMap(({ at, options }) =>
    options.flatMap(({ flags, value }) => {
      if (!Array.isArray(value)) return [];
      const cases = flags.map((flag) => quoted(`${at} ${flag}`)).join('|');
      return `    ${cases}) words=${quoted(value.join(' '))} ;;`;
    }),
  );
  const words = levels.map(({ at, commands, choices, options }) => {
    const flags = options.flatMap((option) => option.flags);
    const others = [...commands.map(({ name }) => name), ...choices];
    return `        ${quoted(at)}) words=${quoted(others.join(' '))} flags=${quoted(flags.join(' '))} ;;`;
  });
  return `_metainfo() {
  local at= word words= flags= cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  # Readline parts --torrent-version=v1 into three words.
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${steps(levels).join('|')}) at=\${at:+$at }$word ;;
    esac
  done
  case "$at $prev" in
${values.join('\n')}
    *)
      case $at in
${words.join('\n')}
      esac
      if [[ $cur == -* ]]; then words=$flags; fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _metainfo metainfo
`;
}

function zsh(levels: readonly Level[]): string {
  const text = (description: string) => description.replace(/[\\:[\]]/g, '\\$&');
  const spec = ({ flags, description, value }: Completable) =>
    flags.map((flag) => {
      const action = Array.isArray(value) ? `(${value.join(' ')})` : value === 'file' ? '_files' : ' ';
      const joined = flag.startsWith('--') ? '=' : '+';
      return quoted(`*${flag}${value ? joined : ''}[${text(description)}]${value ? `: :${action}` : ''}`);
    });
  const cases = levels.map(({ at, commands, choices, takesFiles, options }) => {
    // These are words of the shell once more.
    const names = commands.map(({ name, description }) => `${name}\\:${description.replace(/[^\w-]/g, '\\$&')}`);
    const specs = [
      ...options.flatMap(spec),
      ...(names.length > 0 ? [quoted(`1: :((${names.join(' ')}))`)] : []),
      ...(choices.length > 0 ? [quoted(`1: :(${choices.join(' ')})`)] : []),
      ...(takesFiles ? [quoted('*: :_files')] : []),
    ];
    return `    (${quoted(at)}) _arguments -s ${specs.join(' \\\n      ')} ;;`;
  });
  return `#compdef metainfo
_metainfo() {
  local at= n=1 i
  for (( i = 2; i < CURRENT; i++ )); do
    case "$at $words[i]" in
      (${steps(levels).join('|')}) at=\${at:+$at }$words[i] n=$i ;;
    esac
  done
  shift $(( n - 1 )) words
  (( CURRENT -= n - 1 ))
  case $at in
${cases.join('\n')}
  esac
}
# In a file of $fpath this is the function's own first call.
if [[ $funcstack[1] == _metainfo ]]; then _metainfo "$@"; else compdef _metainfo metainfo; fi
`;
}

function fish(levels: readonly Level[]): string {
  const literal = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const lines = levels.flatMap(({ at, commands, choices, takesFiles, options }) => {
    const here = `complete -c metainfo -n ${literal(`__metainfo_at ${literal(at)}`)}`;
    return [
      ...(takesFiles ? [] : [`${here} -f`]),
      ...commands.map(({ name, description }) => `${here} -a ${name} -d ${literal(description)}`),
      ...choices.map((choice) => `${here} -a ${choice}`),
      ...options.map(({ flags, description, value }) => {
        const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
        const values = Array.isArray(value) ? ` -x -a ${literal(value.join(' '))}` : '';
        const kind = value === 'file' ? ' -r' : value === 'text' ? ' -x' : '';
        return `${here} ${names.join(' ')}${values}${kind} -d ${literal(description)}`;
      }),
    ];
  });
  return `function __metainfo_at
    set -l at
    set -l before (commandline -opc)
    for word in $before[2..]
        switch "$at $word"
            case ${steps(levels).join(' ')}
                set at (string trim "$at $word")
        end
    end
    test "$at" = "$argv"
end
${lines.join('\n')}
`;
}

/** `metainfo completion`: prints a completion script for a shell. */
import { Argument, type Command, type Option } from 'commander';
import { stdout } from '../terminal/output.ts';

type Shell = keyof typeof SCRIPTS;

const NOTE = `
Examples:
  metainfo completion bash    print the script for bash

To enable completion, add the line for your shell. The shell then loads the
script of the installed version each time it starts:
  bash, in ~/.bashrc:
    eval "$(metainfo completion bash)"
  zsh, in ~/.zshrc, after compinit:
    eval "$(metainfo completion zsh)"
  fish, in ~/.config/fish/completions/metainfo.fish:
    metainfo completion fish | source
  PowerShell, in $PROFILE:
    metainfo completion powershell | Out-String | Invoke-Expression`;

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a completion script for bash, zsh, fish or PowerShell')
    .addArgument(new Argument('<shell>', 'name of the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', NOTE)
    .action((shell: Shell) => {
      stdout().write(SCRIPTS[shell](levelsOf(program)));
    });
}

const SCRIPTS = { bash, zsh, fish, powershell };

/** The words that can follow one command. */
interface Level {
  /** The command without `metainfo`, such as `cache stats`; empty for `metainfo` itself. */
  command: string;
  subcommands: { name: string; description: string }[];
  /** The values of an argument that accepts only these. */
  choices: readonly string[];
  takesFiles: boolean;
  options: CompletedOption[];
}

interface CompletedOption {
  flags: string[];
  description: string;
  /** The possible values: these words, file names or any text. Null if the option takes no value. */
  value: readonly string[] | 'file' | 'text' | null;
}

/**
 * Lists a command and all commands below it, without hidden options.
 *
 * @param siblings The commands that `help` takes as its argument, which commander does not declare.
 */
function levelsOf(command: Command, name = '', siblings: readonly string[] = []): Level[] {
  const help = command.createHelp();
  // Includes the `help` command, which commander adds.
  const subcommands = help.visibleCommands(command);
  const names = subcommands.map((subcommand) => subcommand.name());
  const values = command.registeredArguments;
  const isHelp = command.name() === 'help';
  const level: Level = {
    command: name,
    subcommands: subcommands.map((subcommand) => ({ name: subcommand.name(), description: subcommand.description() })),
    choices: isHelp ? siblings : values.flatMap(({ argChoices = [] }) => argChoices),
    takesFiles: !isHelp && values.some(({ argChoices }) => argChoices === undefined),
    options: help.visibleOptions(command).map(completedOption),
  };
  const below = subcommands.flatMap((subcommand) => levelsOf(subcommand, `${name} ${subcommand.name()}`.trim(), names));
  return [level, ...below];
}

function completedOption({ short, long, flags, argChoices, required, description }: Option): CompletedOption {
  const anyValue = /<(file|folder)>/.test(flags) ? 'file' : 'text';
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    value: required ? (argChoices ?? anyValue) : null,
  };
}

// Each script finds the command from the words before the cursor, one subcommand at a time, because a file can be named
// like a command.

/** Shell patterns of each subcommand after its parent, such as ` create` and `cache stats`. */
const steps = (levels: readonly Level[]) =>
  levels.flatMap(({ command, subcommands }) => subcommands.map(({ name }) => quoted(`${command} ${name}`)));

/** Quotes a word for sh, bash and zsh. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The bash of macOS has no `compopt` and no `mapfile`, so `-o default` completes file names. */
function bash(levels: readonly Level[]): string {
  const values = levels.flatMap(({ command, options }) =>
    options.flatMap(({ flags, value }) => {
      if (!Array.isArray(value)) return [];
      const cases = flags.map((flag) => quoted(`${command} ${flag}`)).join('|');
      return `    ${cases}) words=${quoted(value.join(' '))} ;;`;
    }),
  );
  const words = levels.map(({ command, subcommands, choices, options }) => {
    const flags = options.flatMap((option) => option.flags);
    const others = [...subcommands.map(({ name }) => name), ...choices];
    return `        ${quoted(command)}) words=${quoted(others.join(' '))} flags=${quoted(flags.join(' '))} ;;`;
  });
  return `_metainfo() {
  local command= word words= flags= cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  # Readline splits --torrent-version=v1 into three words.
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command $word" in
      ${steps(levels).join('|')}) command=\${command:+$command }$word ;;
    esac
  done
  case "$command $prev" in
${values.join('\n')}
    *)
      case $command in
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
  const spec = ({ flags, description, value }: CompletedOption) =>
    flags.map((flag) => {
      const action = Array.isArray(value) ? `(${value.join(' ')})` : value === 'file' ? '_files' : ' ';
      const joined = flag.startsWith('--') ? '=' : '+';
      return quoted(`*${flag}${value ? joined : ''}[${text(description)}]${value ? `: :${action}` : ''}`);
    });
  const cases = levels.map(({ command, subcommands, choices, takesFiles, options }) => {
    // zsh parses these words a second time.
    const names = subcommands.map(({ name, description }) => `${name}\\:${description.replace(/[^\w-]/g, '\\$&')}`);
    const specs = [
      ...options.flatMap(spec),
      ...(names.length > 0 ? [quoted(`1: :((${names.join(' ')}))`)] : []),
      ...(choices.length > 0 ? [quoted(`1: :(${choices.join(' ')})`)] : []),
      ...(takesFiles ? [quoted('*: :_files')] : []),
    ];
    return `    (${quoted(command)}) _arguments -s ${specs.join(' \\\n      ')} ;;`;
  });
  return `#compdef metainfo
_metainfo() {
  local command= n=1 i
  for (( i = 2; i < CURRENT; i++ )); do
    case "$command $words[i]" in
      (${steps(levels).join('|')}) command=\${command:+$command }$words[i] n=$i ;;
    esac
  done
  shift $(( n - 1 )) words
  (( CURRENT -= n - 1 ))
  case $command in
${cases.join('\n')}
  esac
}
# When zsh autoloads this file from $fpath, sourcing it is the first call.
if [[ $funcstack[1] == _metainfo ]]; then _metainfo "$@"; else compdef _metainfo metainfo; fi
`;
}

function fish(levels: readonly Level[]): string {
  const literal = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const lines = levels.flatMap(({ command, subcommands, choices, takesFiles, options }) => {
    const here = `complete -c metainfo -n ${literal(`__metainfo_command_is ${literal(command)}`)}`;
    return [
      ...(takesFiles ? [] : [`${here} -f`]),
      ...subcommands.map(({ name, description }) => `${here} -a ${name} -d ${literal(description)}`),
      ...choices.map((choice) => `${here} -a ${choice}`),
      ...options.map(({ flags, description, value }) => {
        const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
        const values = Array.isArray(value) ? ` -x -a ${literal(value.join(' '))}` : '';
        const argument = value === 'file' ? ' -r' : value === 'text' ? ' -x' : '';
        return `${here} ${names.join(' ')}${values}${argument} -d ${literal(description)}`;
      }),
    ];
  });
  return `function __metainfo_command_is
    set -l command
    set -l before (commandline -opc)
    for word in $before[2..]
        switch "$command $word"
            case ${steps(levels).join(' ')}
                set command (string trim "$command $word")
        end
    end
    test "$command" = "$argv"
end
${lines.join('\n')}
`;
}

/** Quotes a text for PowerShell. Curly apostrophes end a text too. */
const psText = (text: string) => `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`;
const psList = (words: readonly string[]) => `@(${words.map(psText).join(', ')})`;

/** Without a match, PowerShell completes file names. */
function powershell(levels: readonly Level[]): string {
  const entries = levels.map(({ command, subcommands, choices, options }) => {
    const words = [...subcommands.map(({ name }) => name), ...choices];
    const flags = options.flatMap((option) => option.flags);
    return `    ${psText(command)} = @{ Words = ${psList(words)}; Flags = ${psList(flags)} }`;
  });
  const values = levels.flatMap(({ command, options }) =>
    options.flatMap(({ flags, value }) =>
      Array.isArray(value) ? flags.map((flag) => `    ${psText(`${command} ${flag}`)} = ${psList(value)}`) : [],
    ),
  );
  return `Register-ArgumentCompleter -Native -CommandName metainfo -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $levels = @{
${entries.join('\n')}
  }
  $values = @{
${values.join('\n')}
  }
  $command = ''
  $previous = ''
  foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {
    if ($element.Extent.EndOffset -ge $cursorPosition) { break }
    $previous = "$element"
    $longer = "$command $previous".Trim()
    if ($levels.ContainsKey($longer)) { $command = $longer }
  }
  $candidates = $values["$command $previous"]
  if (-not $candidates) {
    $candidates = if ($wordToComplete -like '-*') { $levels[$command].Flags } else { $levels[$command].Words }
  }
  $candidates | Where-Object { $_.StartsWith($wordToComplete) } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;
}

/** `metainfo completion`: prints a completion script for a shell. */
import { Argument, type Command } from 'commander';
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
      const rows = rowsOf(program).map((row) => row.join('|'));
      stdout().write(SCRIPTS[shell](`\n${rows.join('\n')}\n`));
    });
}

/**
 * A word that can follow a command: the command without `metainfo`, the word, its kind, and its description. The word `*` stands for
 * arguments that are files. The kind is `<command>`, the value of an option (`<file>`, `<text>`, a list of choices, or `<presets>` or `<aliases>` of
 * the configuration), or empty. A `=` before choices means that the option needs no value.
 */
type Row = [command: string, word: string, kind: string, description: string];

/**
 * Lists the words of a command and of all commands below it, without hidden options.
 *
 * @param siblings The commands that `help` takes as its argument, which commander does not declare.
 */
function rowsOf(command: Command, name = '', siblings: readonly string[] = []): Row[] {
  const help = command.createHelp();
  // Includes the `help` command, which commander adds.
  const subcommands = help.visibleCommands(command);
  const names = subcommands.map((subcommand) => subcommand.name());
  const files: Row = [name, '*', '<file>', ''];
  const choices = (words: readonly string[]) => words.map((word): Row => [name, word, '', '']);
  return [
    ...subcommands.map((subcommand): Row => [name, subcommand.name(), '<command>', subcommand.description()]),
    ...(command.name() === 'help'
      ? choices(siblings)
      : command.registeredArguments.flatMap(({ argChoices }) => (argChoices ? choices(argChoices) : [files]))),
    ...help.visibleOptions(command).flatMap(({ short, long, flags, argChoices, required, description }) => {
      const choice = argChoices && `${required ? '' : '='}${argChoices.join(' ')}`;
      const value = choice ?? (required ? kindOf(flags) : '');
      return [short, long].flatMap((flag): Row[] => (flag ? [[name, flag, value, description]] : []));
    }),
    ...subcommands.flatMap((subcommand) => rowsOf(subcommand, `${name} ${subcommand.name()}`.trim(), names)),
  ];
}

/** The kind of an option's value without choices. */
function kindOf(flags: string): string {
  if (/<(file|folder)>/.test(flags)) return '<file>';
  if (flags.includes('--preset')) return '<presets>';
  return /--(add-|remove-)?tracker|--announce/.test(flags) ? '<aliases>' : '<text>';
}

// Each script has all rows. It finds the command from the words before the cursor, one subcommand at a time, because a file can be
// named like a command.

/** Quotes a text for sh, bash and zsh. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The bash of macOS has no `compopt` and no `mapfile`, so `-o default` completes file names. */
const bash = (rows: string) => `_metainfo_rows=${quoted(rows)}
_metainfo() {
  local command= words= flags= values= names= at word next cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  # Readline splits --torrent-version=v1 into three words.
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $_metainfo_rows == *$'\\n'"$command|$word|<command>|"* ]]; then command=\${command:+$command }$word; fi
  done
  while IFS='|' read -r at word next _; do
    if [[ $at != "$command" ]]; then continue; fi
    if [[ $word == "$prev" ]]; then
      case $next in
        '<presets>'|'<aliases>') names=\${next//[<>]/} ;;
        '<'*) ;;
        *) values=\${next#=} ;;
      esac
    fi
    if [[ $word == -* ]]; then flags+=" $word"; elif [[ $word != '*' ]]; then words+=" $word"; fi
  done <<< "$_metainfo_rows"
  COMPREPLY=()
  if [[ $names ]]; then
    # compgen -W would expand the names, which may have any characters.
    while IFS= read -r word; do
      printf -v next %q "$word"
      if [[ $word == "$cur"* || $next == "$cur"* ]]; then COMPREPLY+=("$next"); fi
    done < <(metainfo config --names "$names" 2>/dev/null < /dev/null)
    return
  fi
  if [[ $cur == -* ]]; then words=$flags; fi
  COMPREPLY=($(compgen -W "\${values:-$words}" -- "$cur"))
}
complete -o default -F _metainfo metainfo
`;

const zsh = (rows: string) => `#compdef metainfo
_metainfo_rows=${quoted(rows)}
_metainfo_names() {
  local -a names
  names=(\${(f)"$(metainfo config --names $1 2>/dev/null < /dev/null)"})
  compadd -a names
}
_metainfo_presets() { _metainfo_names presets }
_metainfo_aliases() { _metainfo_names aliases }
_metainfo() {
  setopt localoptions extendedglob
  local command= n=1 i at word next text optional
  local -a names choices files options
  for (( i = 2; i < CURRENT; i++ )); do
    if [[ $_metainfo_rows == *$'\\n'"$command|$words[i]|<command>|"* ]]; then command=\${command:+$command }$words[i] n=$i; fi
  done
  shift $(( n - 1 )) words
  (( CURRENT -= n - 1 ))
  while IFS='|' read -r at word next text; do
    if [[ $at != $command ]]; then continue; fi
    optional=
    case $next in
      # zsh parses these words a second time.
      ('<command>') names+=("$word\\:\${text//(#m)[^[:alnum:]_-]/\\\\$MATCH}"); continue ;;
      ('<file>') next=_files ;;
      ('<text>') next=' ' ;;
      ('<presets>'|'<aliases>') next=_metainfo_\${next//[<>]/} ;;
      ('='*) next="(\${next#=})" optional=: ;;
      (?*) next="($next)" ;;
    esac
    case $word in
      ('*') files=('*: :_files') ;;
      (-*) text="[\${text//(#m)[\\\\:\\[\\]]/\\\\$MATCH}]\${next:+$optional: :$next}" ;|
      (--*) options+=("*$word\${next:+=}$text") ;;
      (-*) options+=("*$word\${next:++}$text") ;;
      (?*) choices+=($word) ;;
    esac
  done <<< $_metainfo_rows
  _arguments -s $options \${names:+"1: :(($names))"} \${choices:+"1: :($choices)"} $files
}
# When zsh autoloads this file from $fpath, sourcing it is the first call.
if [[ $funcstack[1] == _metainfo ]]; then _metainfo "$@"; else compdef _metainfo metainfo; fi
`;

const fish = (rows: string) => `function __metainfo_command_is
    set -l command
    set -l before (commandline -opc)
    for word in $before[2..]
        if contains -- "$command|$word" $__metainfo_commands
            set command (string trim "$command $word")
        end
    end
    test "$command" = "$argv"
end
set -g __metainfo_commands
complete -c metainfo -f
string trim '${rows.replace(/[\\']/g, '\\$&')}' | while read -d '|' -l at word next text
    set -l rule -n "__metainfo_command_is '$at'"
    switch $word
        case '\\*'
            set -a rule -F
        case '--*'
            set -a rule -l (string sub -s 3 -- $word)
        case '-*'
            set -a rule -s (string sub -s 2 -- $word)
        case '*'
            set -a rule -a $word
    end
    switch $next
        case '<command>'
            set -a __metainfo_commands "$at|$word"
        case '<file>'
            set -a rule -r
        case '<text>'
            set -a rule -x
        case '<presets>' '<aliases>'
            set -a rule -x -a "(metainfo config --names "(string trim -c '<>' -- $next)" 2>/dev/null)"
        case '=*'
            set -a rule -r -a (string sub -s 2 -- $next)
        case '?*'
            set -a rule -x -a $next
    end
    complete -c metainfo $rule -d $text
end
`;

/** Without a match, PowerShell completes file names. */
const powershell = (rows: string) => `Register-ArgumentCompleter -Native -CommandName metainfo -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $rows = @'${rows}'@ -split '\\r?\\n'
  $command = ''
  $previous = ''
  foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {
    if ($element.Extent.EndOffset -ge $cursorPosition) { break }
    $previous = "$element"
    if ($rows.Where({ $_.StartsWith("$command|$previous|<command>|") })) { $command = "$command $previous".Trim() }
  }
  $words = @()
  $values = @()
  foreach ($row in $rows) {
    $at, $word, $next, $text = $row -split '\\|', 4
    if ($at -cne $command -or $word -eq '*') { continue }
    if ($word -ceq $previous -and $next -and $next -notlike '<*') { $values = $next.TrimStart('=') -split ' ' }
    if (($word -like '-*') -eq ($wordToComplete -like '-*')) { $words += $word }
  }
  $candidates = if ($values) { $values } else { $words }
  $candidates | Where-Object { $_ -and $_.StartsWith($wordToComplete) } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;

const SCRIPTS = { bash, zsh, fish, powershell };

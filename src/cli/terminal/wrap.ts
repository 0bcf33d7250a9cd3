/** Wraps text at words where a terminal is narrow. Pipes and files get whole lines. */
import { Help } from 'commander';

const help = new Help();
help.minWidthToWrap = 1;

/** The indentation of the parts of a line without a label. */
const INDENT = 2;
/** The label at the start of a line, with the spaces behind it, or the spaces at the start. */
const HEAD = /^(?:\S+(?: \S+)* {2,}|\s+)/;

/**
 * Breaks a line that is wider than a terminal. The parts below begin where the text behind the label begins. JSON stays whole, as
 * do words that are too long, such as hashes and paths.
 *
 * @param columns The width of the terminal; undefined for anything else.
 */
export function wrapped(line: string, columns: number | undefined): string {
  if (!columns || help.displayWidth(line) <= columns || line.startsWith('{')) return line;
  const head = HEAD.exec(line)?.[0] ?? '';
  const isLabel = head !== '' && help.displayWidth(head) === head.length && head.length <= columns / 2;
  const indent = isLabel ? head.length : INDENT;
  const start = isLabel ? head : '';
  const text = help.boxWrap(line.slice(start.length), columns - indent);
  return start + text.replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/** The indentation of descriptions that stand below their options. */
const BELOW = 6;
/** Descriptions beside their options need this many columns. */
const MIN_BESIDE = 24;

/** An option or argument of `--help`. In a narrow terminal, its description stands below it. */
export function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  const width = helper.helpWidth ?? 80;
  if (width - termWidth - BELOW >= MIN_BESIDE || description === '')
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  return `  ${term}\n${' '.repeat(BELOW)}${help.boxWrap(description, width - BELOW).replaceAll('\n', `\n${' '.repeat(BELOW)}`)}`;
}

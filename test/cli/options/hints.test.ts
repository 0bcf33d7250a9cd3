import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createOptions, manyOptions } from '../../../src/cli/create/options.ts';
import { HintingCommand, withHint } from '../../../src/cli/options/hints.ts';

const PAGE = new URL('../../../docs/guides/switching.md', import.meta.url);

/** The message for a command line of create; empty if it parses. */
function messageOf(...words: string[]): string {
  const command = new HintingCommand('create').exitOverride().configureOutput({ writeErr: () => {} });
  try {
    manyOptions(createOptions(command)).parse(['f', ...words], { from: 'user' });
    return '';
  } catch (error) {
    return withHint((error as Error).message, words);
  }
}

describe('withHint', () => {
  it('knows every option of other programs that the page of switching has', () => {
    const section = readFileSync(PAGE, 'utf8').split('## Options of create')[1]?.split('\n## ')[0] ?? '';
    const rows = section.split('\n').filter((line) => line.startsWith('| '));
    const options = rows.flatMap(
      (row) =>
        row
          .split('|')
          .slice(3)
          .join('|')
          .match(/(?<=`)-[\w-]+/g) ?? [],
    );
    assert.ok(options.length > 40);
    for (const option of new Set(options)) {
      const message = messageOf(option, 'x');
      if (message.includes('unknown option')) assert.match(message, /: use |Did you mean/, option);
    }
  });

  it('takes options with a value, and words as other programs write them', () => {
    const cases: Record<string, RegExp> = {
      '--piece-size=1MiB': /'--piece-size=1MiB': use --piece-length$/,
      '--urlList': /use --webseed$/,
      '--piece_size': /use --piece-length$/,
      '--private=false': /use --no-private, or leave it out$/,
      '-p=false': /use --no-private, or leave it out$/,
      '--private=1': /use --private without a value$/,
    };
    for (const [option, expected] of Object.entries(cases)) assert.match(messageOf(option), expected);
    assert.doesNotMatch(messageOf('--nosuch=false'), /: use /);
  });

  it('suggests an option for a misspelt one, whatever its value', () => {
    for (const value of ['x', 'http://a.example/announce', 'a=b'])
      assert.match(messageOf(`--trackr=${value}`), /^error: unknown option '--trackr'\n\(Did you mean --tracker\?\)$/);
    assert.match(messageOf('--profile', 'strict'), /--strict or --compat/);
  });
});

/** Runs the `metainfo` command with the arguments of the process, and sets the exit code. */
import { exitCodeOf } from './exit.ts';
import { main } from './program.ts';

// Warnings of Node stay hidden: they are for those who write programs.
process.removeAllListeners('warning');

// Node would print the line that threw, which is the whole bundle.
process.on('uncaughtException', (error) => {
  void exitCodeOf(error).then((code) => process.exit(code));
});

void main(process.argv.slice(2), process);

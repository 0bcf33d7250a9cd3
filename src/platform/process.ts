/** The process as the library sees it. The command gives each of its runs in one process its own. */

/** The part of the process that the library uses. */
export interface ProcessView {
  readonly env: NodeJS.ProcessEnv;
  readonly stderr: NodeJS.WriteStream;
}

let find: () => ProcessView = () => process;

/** The process of the current caller. */
export function processView(): ProcessView {
  return find();
}

/** Lets {@link processView} tell callers apart. */
export function viewProcess(as: () => ProcessView): void {
  find = as;
}

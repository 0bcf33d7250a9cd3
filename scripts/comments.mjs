// Takes the comments out of JavaScript: the .d.ts files have those that users read. esbuild keeps those within classes.
import ts from 'typescript';

const { ESNext: target } = ts.ScriptTarget;
const compilerOptions = { removeComments: true, target, module: ts.ModuleKind.ESNext };

export function withoutComments(text) {
  return ts.transpileModule(text, { compilerOptions }).outputText;
}

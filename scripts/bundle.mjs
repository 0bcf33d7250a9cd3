// Takes what only readers need out of the library's modules, and the types that no user reaches.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { compact } from './compact.mjs';
import { root } from './setup.mjs';

const dist = path.join(root, 'dist');
compact(dist);

/** The modules of declarations by their paths, once something in them is reached. */
const modules = new Map();
function moduleAt(file) {
  if (!modules.has(file)) modules.set(file, readModule(file));
  return modules.get(file);
}

/** Reads a module: what it declares, and by which names it knows something of other modules. */
function readModule(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const other = (specifier) =>
    specifier.text.startsWith('.') ? path.resolve(path.dirname(file), specifier.text.replace(/\.ts$/, '.d.ts')) : null;
  const [declared, foreign] = [new Map(), new Map()];
  for (const statement of source.statements) {
    const { importClause, exportClause, moduleSpecifier } = statement;
    const bindings = exportClause ?? importClause?.namedBindings;
    const names = bindings?.elements ?? (bindings ? [bindings] : []);
    for (const { name, propertyName } of importClause?.name ? [...names, importClause] : names)
      foreign.set(name.text, { file: moduleSpecifier && other(moduleSpecifier), name: (propertyName ?? name).text });
    for (const { name } of statement.declarationList?.declarations ?? (statement.name ? [statement] : []))
      declared.set(name.text, [...(declared.get(name.text) ?? []), statement]);
  }
  return { source, other, declared, foreign, reached: new Set() };
}

/** Marks what a name of a module leads to. */
function reach(file, name) {
  const { other, declared, foreign, reached } = moduleAt(file);
  if (reached.has(name)) return;
  const from = foreign.get(name);
  if (from || declared.has(name)) reached.add(name);
  if (from?.file) reach(from.file, from.name);
  const visit = (node) => {
    if (ts.isIdentifier(node)) reach(file, node.text);
    if (ts.isImportTypeNode(node)) {
      const target = other(node.argument.literal);
      if (target) reach(target, node.qualifier.getText());
    }
    ts.forEachChild(node, visit);
  };
  for (const statement of declared.get(name) ?? []) visit(statement);
}

/** Returns the text of a statement, or of the part of it that is reached. */
function kept({ reached }, statement) {
  const { importClause, exportClause } = statement;
  const bindings = exportClause ?? importClause?.namedBindings;
  const text = statement.getFullText();
  if (bindings?.elements) {
    const names = bindings.elements.filter(({ name }) => reached.has(name.text)).map((one) => one.getText());
    if (names.length === 0 && bindings.elements.length > 0) return '';
    const [start, end] = [bindings.getStart(), bindings.end].map((at) => at - statement.getFullStart());
    return `${text.slice(0, start)}{ ${names.join(', ')} }${text.slice(end)}`;
  }
  const declarations = statement.declarationList?.declarations ?? [bindings ?? statement];
  return declarations.some(({ name }) => !name || reached.has(name.text)) ? text : '';
}

for (const entry of ['index.d.ts', 'browser/index.d.ts']) {
  const file = path.join(dist, entry);
  for (const name of moduleAt(file).foreign.keys()) reach(file, name);
}
for (const name of readdirSync(dist, { recursive: true })) {
  const file = path.join(dist, name);
  if (!name.endsWith('.d.ts')) continue;
  const module = modules.get(file);
  if (!module) rmSync(file);
  else writeFileSync(file, module.source.statements.map((one) => kept(module, one)).join(''));
}

/** Finds the exports of a module for which its callers wait. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** A function that a caller waits for, and whether an option of it is a signal. */
export interface Waiting {
  name: string;
  takesSignal: boolean;
}

/**
 * The functions and methods of a module, by the path of its source, whose promises or iterators a caller waits for. An inherited method is that of its base.
 *
 * @param interfaces Whether to look at interfaces too: those of metainfo itself are called by it.
 */
export function waitingExports(index: string, { interfaces = false } = {}): Waiting[] {
  const config = fileURLToPath(new URL('../../tsconfig.json', import.meta.url));
  const given = ts.readConfigFile(config, ts.sys.readFile).config.compilerOptions;
  const program = ts.createProgram([index], ts.convertCompilerOptionsFromJson(given, '.').options);
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(index) as ts.SourceFile) as ts.Symbol;
  /** By their declaration. */
  const found = new Map<ts.Declaration | undefined, Waiting>();
  const add = (name: string, symbol: ts.Symbol) => {
    const [declaration] = symbol.declarations ?? [];
    const isOurs = declaration && !declaration.getSourceFile().fileName.includes('node_modules');
    if (!isOurs || symbol.name.includes('#') || ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Protected)
      return;
    // Symbol.asyncDispose is the same as close.
    if (symbol.name.startsWith('__@')) return;
    const signatures = checker.getTypeOfSymbol(symbol).getCallSignatures();
    const answers = signatures.map((one) => checker.typeToString(one.getReturnType()));
    const parameters = signatures.flatMap((one) => one.getParameters()).map((one) => checker.getTypeOfSymbol(one));
    const takesSignal = parameters.some((type) => checker.getNonNullableType(type).getProperty('signal'));
    if (answers.some((answer) => /^(Promise|AsyncGenerator|AsyncIterable)</.test(answer)) && !found.has(declaration))
      found.set(declaration, { name, takesSignal });
  };
  const exports = checker
    .getExportsOfModule(module)
    .map((symbol): [string, ts.Symbol] => [
      symbol.name,
      symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    ]);
  // Bases first.
  exports.sort(([one], [other]) => Number(other.endsWith('Base')) - Number(one.endsWith('Base')));
  for (const [name, symbol] of exports) {
    if (!symbol.valueDeclaration && !interfaces) continue;
    add(name, symbol);
    for (const type of [checker.getDeclaredTypeOfSymbol(symbol), checker.getTypeOfSymbol(symbol)])
      for (const member of type.getProperties()) add(`${name}.${member.name}`, member);
  }
  return [...found.values()];
}

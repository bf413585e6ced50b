// Prints how the sources are cut into files, names, imports and functions, beside the goal and the ceiling of each figure.
// `--lower` writes each ceiling down to today's figure; nothing writes one up.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The compiler of the user interface is the one with a parser for programs. */
const ts = createRequire(join(root, 'webui/package.json'))('typescript');

/** A function of more lines than this is long; blank lines and comments do not count, as in the linter. */
const longFunctionLines = 80;
/** A function body of fewer nodes may look like another by chance. */
const leastShapeNodes = 30;

/** The figures in the order in which they are printed. `key` names the ceiling. */
export const rows = [
  { key: 'lines', title: 'production lines', goal: 75_000 },
  { key: 'files', title: 'files', goal: 650 },
  { key: 'medianLines', title: 'median lines of a file', goal: 95, isMoreBetter: true },
  { key: 'exportedNames', title: 'exported names', goal: 1_900 },
  { key: 'singleUserPercent', title: 'of these used by one other file alone, %', goal: 30 },
  { key: 'longestImportChain', title: 'longest import chain from an entry point', goal: 22 },
  { key: 'bagInterfaces', title: 'interfaces called …Deps, …Options, …Settings, …Context', goal: 50 },
  { key: 'looseControllerFiles', title: 'loose files at the root of controller/src', goal: 2 },
  { key: 'longFunctions', title: `functions over ${longFunctionLines} lines`, goal: 0 },
  { key: 'longestFunction', title: 'lines of the longest function', goal: longFunctionLines },
  { key: 'sameShapes', title: 'functions with the same shape as another one', goal: 0 },
];

/** Text of every production source by its path: no tests, no helpers of tests, no declarations alone. */
export function readSources() {
  const paths = globSync('{controller,apiserver,webui,shared}/src/**/*.{ts,svelte}', { cwd: root })
    .map((path) => path.split('\\').join('/'))
    .filter((path) => !/\.test\.ts$|\.d\.ts$|\/testing\//.test(path));
  return new Map(paths.sort().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

/**
 * Measures sources. `doors` resolves the name of an imported package to the file it exports: `@cronjob-monitor/shared/store`.
 *
 * A name counts as used by a file that imports it, also through an `index.ts` that only passes it on.
 */
export function measure(sources, doors = new Map()) {
  const modules = new Map([...sources].map(([path, text]) => [path, parse(path, text)]));
  const lineCounts = [...sources.values()].map((text) => text.trimEnd().split('\n').length).sort((a, b) => a - b);
  const users = usersOfNames(modules, doors);
  const functions = [...modules.values()].flatMap(({ functions: found }) => found);
  const long = functions.filter(({ lines }) => lines > longFunctionLines);
  const chain = longestChain(modules, doors);
  const single = users.filter(({ by }) => by.size === 1);
  const shapes = Object.values(Object.groupBy(functions, ({ shape }) => shape ?? '')).filter(
    (same) => same.length > 1 && same[0].shape !== undefined,
  );
  return {
    figures: {
      lines: lineCounts.reduce((sum, count) => sum + count, 0),
      files: lineCounts.length,
      medianLines: lineCounts[Math.floor(lineCounts.length / 2)] ?? 0,
      exportedNames: users.length,
      singleUserPercent: users.length === 0 ? 0 : Math.round((100 * single.length) / users.length),
      longestImportChain: chain.length,
      bagInterfaces: [...modules.values()].reduce((sum, { bags }) => sum + bags, 0),
      looseControllerFiles: [...sources.keys()].filter((path) => /^controller\/src\/[^/]+$/.test(path)).length,
      longFunctions: long.length,
      longestFunction: functions.reduce((most, { lines }) => Math.max(most, lines), 0),
      sameShapes: shapes.reduce((sum, same) => sum + same.length - 1, 0),
    },
    details: {
      chain,
      longFunctions: long.toSorted((a, b) => b.lines - a.lines),
      sameShapes: shapes.map((same) => same.map(({ path, name, line }) => `${path}:${line} ${name}`)),
      singleUser: single.map(({ path, name, by }) => `${path} ${name} -> ${[...by][0]}`),
    },
  };
}

/** The file behind each package door, from `exports` of the packages. */
export function readDoors() {
  return new Map(
    ['controller', 'apiserver', 'shared'].flatMap((folder) => {
      const { name, exports } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      return Object.entries(exports).map(([door, file]) => [posix.join(name, door), posix.join(folder, file)]);
    }),
  );
}

const bagName = /(Deps|Options|Settings|Context)$/;

/** Imports, exports, functions and bags of one source. */
function parse(path, source) {
  const text = path.endsWith('.svelte') ? scriptsOf(source) : source;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found = { imports: [], exported: new Set(), passedOn: [], functions: [], bags: 0 };
  for (const statement of file.statements) readStatement(statement, found);
  const visit = (node) => {
    if (ts.isInterfaceDeclaration(node) && bagName.test(node.name.text)) found.bags++;
    if (ts.isFunctionLike(node) && node.body) found.functions.push(functionOf(path, file, node));
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments;
      if (specifier && ts.isStringLiteral(specifier)) found.imports.push({ from: specifier.text, names: ['*'] });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Scripts of a component; each other line is left empty, so that lines keep their numbers. */
function scriptsOf(source) {
  let end = 0;
  let kept = '';
  for (const match of source.matchAll(/<script[^>]*>([^]*?)<\/script>/g)) {
    const start = match.index + match[0].indexOf('>') + 1;
    kept += source.slice(end, start).replace(/[^\n]/g, '') + match[1];
    end = start + match[1].length;
  }
  return kept;
}

function readStatement(statement, found) {
  if (ts.isImportDeclaration(statement)) {
    const from = statement.moduleSpecifier.text;
    found.imports.push({
      from,
      names: importedNames(statement.importClause),
      isType: isOnlyTypes(statement.importClause),
    });
  } else if (ts.isExportDeclaration(statement)) {
    const from = statement.moduleSpecifier?.text;
    const elements =
      statement.exportClause && ts.isNamedExports(statement.exportClause) ? statement.exportClause.elements : undefined;
    if (from === undefined) for (const { name } of elements ?? []) found.exported.add(name.text);
    else {
      const names = elements?.map(({ name, propertyName }) => ({ as: name.text, of: (propertyName ?? name).text }));
      const isType = statement.isTypeOnly || elements?.every((element) => element.isTypeOnly) === true;
      found.passedOn.push({ from, names: names ?? '*', isType });
    }
  } else if (
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  ) {
    if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations) {
        if (ts.isIdentifier(name)) found.exported.add(name.text);
        else for (const element of name.elements) if (element.name) found.exported.add(element.name.text);
      }
    } else if (statement.name) found.exported.add(statement.name.text);
  }
}

function importedNames(clause) {
  if (!clause) return [];
  const { namedBindings } = clause;
  const named =
    namedBindings && ts.isNamedImports(namedBindings)
      ? namedBindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
      : [];
  return [
    ...(clause.name ? ['default'] : []),
    ...(namedBindings && ts.isNamespaceImport(namedBindings) ? ['*'] : []),
    ...named,
  ];
}

/** Nothing of such an import is left when the program runs. */
function isOnlyTypes(clause) {
  if (!clause) return false;
  if (clause.isTypeOnly) return true;
  const { namedBindings } = clause;
  if (clause.name || !namedBindings || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly);
}

function functionOf(path, file, node) {
  const lineOf = (position) => file.getLineAndCharacterOfPosition(position).line;
  const [first, last] = [lineOf(node.getStart(file)), lineOf(node.end)];
  const lines = file.text
    .split('\n')
    .slice(first, last + 1)
    .filter((line) => !/^\s*($|\/[/*]|\*)/.test(line)).length;
  const name =
    node.name?.getText(file) ??
    (ts.isVariableDeclaration(node.parent) ? node.parent.name.getText(file) : '(anonymous)');
  return { path, name, line: first + 1, lines, shape: shapeOf(node) };
}

/** Kinds of the nodes of a body in their order, with what is called by name; undefined for a small one. */
function shapeOf(node) {
  const tokens = [];
  const visit = (inner) => {
    const isName = ts.isPropertyAccessExpression(inner.parent ?? inner) && inner.parent.name === inner;
    tokens.push(isName ? inner.text : ts.isLiteralExpression(inner) ? inner.text : inner.kind);
    ts.forEachChild(inner, visit);
  };
  visit(node.body);
  return tokens.length < leastShapeNodes ? undefined : tokens.join(' ');
}

/** The source that a specifier means; undefined for a package or a part of Node. */
function resolve(path, specifier, modules, doors) {
  const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : doors.get(specifier);
  return target !== undefined && modules.has(target) ? target : undefined;
}

/** Each exported name with the files that import it. */
function usersOfNames(modules, doors) {
  const users = new Map();
  for (const [path, { exported }] of modules) {
    for (const name of exported) users.set(`${path} ${name}`, { path, name, by: new Set() });
  }
  /** Follows a name through the files that pass it on to the one that declares it. */
  const declared = (path, name, seen = new Set()) => {
    const module = modules.get(path);
    if (!module || seen.has(path)) return undefined;
    if (module.exported.has(name)) return users.get(`${path} ${name}`);
    seen.add(path);
    for (const { from, names } of module.passedOn) {
      const target = resolve(path, from, modules, doors);
      const inner = names === '*' ? name : names.find(({ as }) => as === name)?.of;
      const found = target && inner ? declared(target, inner, seen) : undefined;
      if (found) return found;
    }
    return undefined;
  };
  for (const [path, { imports }] of modules) {
    for (const { from, names } of imports) {
      const target = resolve(path, from, modules, doors);
      if (!target) continue;
      for (const name of names.includes('*') ? modules.get(target).exported : names) {
        const found = declared(target, name);
        if (found && found.path !== path) found.by.add(path);
      }
    }
  }
  return [...users.values()];
}

/** The longest row of files of which each imports values of the next, from an entry point: a file that no other source imports. */
function longestChain(modules, doors) {
  const edges = new Map(
    [...modules].map(([path, { imports, passedOn }]) => [
      path,
      new Set(
        [...imports, ...passedOn]
          .filter(({ isType }) => !isType)
          .map(({ from }) => resolve(path, from, modules, doors))
          .filter(Boolean),
      ),
    ]),
  );
  const known = new Map();
  const open = new Set();
  const longest = (path) => {
    const kept = known.get(path);
    if (kept) return kept;
    open.add(path);
    let best = [];
    for (const next of edges.get(path) ?? []) {
      if (open.has(next)) continue;
      const tail = longest(next);
      if (tail.length > best.length) best = tail;
    }
    open.delete(path);
    const chain = [path, ...best];
    known.set(path, chain);
    return chain;
  };
  const imported = new Set([...edges.values()].flatMap((targets) => [...targets]));
  const entries = [...modules.keys()].filter((path) => !imported.has(path));
  return entries.map(longest).reduce((best, chain) => (chain.length > best.length ? chain : best), []);
}

const ceilingsPath = join(root, 'scripts/house-ceilings.json');

export function readCeilings() {
  return JSON.parse(readFileSync(ceilingsPath, 'utf8'));
}

/** Where a figure is over its ceiling, a sentence each. */
export function findOverCeiling(figures, ceilings) {
  return rows.flatMap(({ key, title, isMoreBetter }) => {
    const [figure, ceiling] = [figures[key], ceilings[key]];
    if (ceiling === undefined) return [`${title} has no ceiling in scripts/house-ceilings.json`];
    const isOver = isMoreBetter ? figure < ceiling : figure > ceiling;
    return isOver ? [`${title}: ${figure}, and the ceiling is ${ceiling}`] : [];
  });
}

/** The ceilings with each one that today's figure is better than moved to it. */
export function lowered(figures, ceilings) {
  const better = (key, isMoreBetter) => {
    const known = ceilings[key] ?? figures[key];
    return isMoreBetter ? Math.max(known, figures[key]) : Math.min(known, figures[key]);
  };
  return Object.fromEntries(rows.map(({ key, isMoreBetter }) => [key, better(key, isMoreBetter)]));
}

/** The table, a line each. */
export function toTable(figures, ceilings) {
  const cells = rows.map(({ key, title, goal, isMoreBetter }) =>
    [title, figures[key], ceilings[key] ?? '', `${isMoreBetter ? '>=' : '<='} ${goal}`].map(String),
  );
  const all = [['', 'today', 'ceiling', 'goal'], ...cells];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  return all.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('  '),
  );
}

if (
  process.argv[1] !== undefined &&
  dirname(fileURLToPath(import.meta.url)) === dirname(process.argv[1]) &&
  process.argv[1].endsWith('measure-house.mjs')
) {
  const { figures, details } = measure(readSources(), readDoors());
  if (process.argv.includes('--lower'))
    writeFileSync(ceilingsPath, `${JSON.stringify(lowered(figures, readCeilings()), null, 2)}\n`);
  const ceilings = readCeilings();
  for (const line of toTable(figures, ceilings)) console.log(line);
  console.log('\nlongest import chain:');
  for (const path of details.chain) console.log(`  ${path}`);
  console.log('\nlong functions:');
  for (const { path, name, line, lines } of details.longFunctions)
    console.log(`  ${String(lines).padStart(4)}  ${path}:${line} ${name}`);
  console.log('\nfunctions of the same shape:');
  for (const same of details.sameShapes) console.log(`  ${same.join(' = ')}`);
  if (process.argv.includes('--names')) {
    console.log('\nexported names that one other file uses:');
    for (const line of details.singleUser) console.log(`  ${line}`);
  }
  const problems = findOverCeiling(figures, ceilings);
  for (const problem of problems) console.log(`FAILED ${problem}`);
  process.exit(problems.length === 0 ? 0 : 1);
}

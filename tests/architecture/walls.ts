import { posix } from 'node:path';
import { listFiles, readProjectFile } from './project-files.ts';
import { allowedImports, packageEdge, separateInside, sharedRooms } from './rooms.ts';
import { importsOf, scriptOf, type SourceImport } from './source-imports.ts';

const sourceFiles = new Set(listFiles('{controller,apiserver,shared}/src/**/index.ts'));

/** The verbs of the store's functions that change something. */
const writes =
  /^(record|claim|take|settle|insert|upsert|update|delete|prune|raise|open|run|migrate|fenced|transaction|keep|mark|put|save|copy)/;

/** What crosses a wall in one source, a line each. */
export function findWallProblems(path: string, source: string): string[] {
  return importsOf(scriptOf(path, source)).flatMap((one) => {
    const target = resolveImport(path, one.specifier);
    const problem = target === undefined ? undefined : judge(path, target, one);
    return problem === undefined ? [] : [`${path} imports ${one.specifier}: ${problem}`];
  });
}

/** The file of ours that an import means; undefined for a package or a part of Node. */
export function resolveImport(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(path), specifier);
  const [, name, door] = /^@cronjob-monitor\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const folder = name === 'simcluster' || name === 'tests' ? `tests/${name === 'tests' ? '' : name}` : name;
  return posix.join(folder, 'src', door ?? '', 'index.ts');
}

/** The room of a file: `shared/store`, `apiserver/errors.ts`, `webui`, or the package for its wiring. */
function roomOf(path: string): string {
  const [packageName = '', src, first = '', ...deeper] = path.split('/');
  if (packageName === 'tests' || packageName === 'webui' || src !== 'src') return packageName;
  const room = `${packageName}/${first}`;
  if (deeper.length === 0) return room in allowedImports ? room : packageName;
  return first === 'bin' ? packageName : room;
}

function judge(path: string, target: string, one: SourceImport): string | undefined {
  const [from, to] = [roomOf(path), roomOf(target)];
  const isTest = path.endsWith('.test.ts') || from.endsWith('/testing');
  if (path.startsWith('tests/simcluster/')) {
    return target.startsWith('tests/simcluster/') ? undefined : 'the simulated cluster imports nothing of ours';
  }
  if (to === 'tests') return isTest && target.startsWith('tests/simcluster/') ? undefined : 'only tests import tests';
  if (to.endsWith('/testing') && !isTest) return 'only tests import what is for tests';
  if (specifierLeavesPackage(path, target, one)) return 'another package is imported by its name';
  if (from === to) return insideProblem(path, target);
  if (isTest && (packageOf(from) === packageOf(to) || to === 'shared/testing')) return undefined;
  // What a test sets up (rows of the store, a cluster that answers) is made by the rooms below its own.
  if (isTest && packageOf(to) === 'shared' && from !== 'webui')
    return isDoor(path, target) ? undefined : `${to} is entered by its door`;
  if (path === packageEdge.from && target === packageEdge.to) return undefined;
  if (!isDoor(path, target)) return `${to} is entered by its door`;
  return isAllowed(from, to, one) ? undefined : `${from} may not import ${one.isType ? 'types of ' : ''}${to}`;
}

function packageOf(room: string): string {
  return room.split('/', 1)[0] ?? room;
}

function specifierLeavesPackage(path: string, target: string, one: SourceImport): boolean {
  return one.specifier.startsWith('.') && packageOf(path) !== packageOf(target);
}

/** Rooms inside a room that know nothing of one another. */
function insideProblem(path: string, target: string): string | undefined {
  const room = separateInside.find((each) => roomOf(path) === each);
  if (room === undefined) return undefined;
  const inner = (file: string) => (file.split('/').length > 4 ? file.split('/')[3] : undefined);
  const [here, there] = [inner(path), inner(target)];
  return there === undefined || here === undefined || here === there
    ? undefined
    : `${room}/${here} may not import ${room}/${there}`;
}

/**
 * Rooms of another package are entered by what it exports; inside a package, a folder that has an index is entered by it. A
 * room of one file is its own door.
 */
function isDoor(path: string, target: string): boolean {
  if (roomOf(target).endsWith('.ts')) return true;
  if (packageOf(path) !== packageOf(target) || packageOf(path) === 'shared') return isExported(target);
  const folders = target.split('/').slice(0, -1);
  return folders.every((_, index) => {
    const folder = folders.slice(0, index + 1).join('/');
    if (path.startsWith(`${folder}/`) || !sourceFiles.has(`${folder}/index.ts`)) return true;
    return target === `${folder}/index.ts`;
  });
}

/** `exports` of the packages. */
function isExported(target: string): boolean {
  const manifest: unknown = JSON.parse(readProjectFile(`${packageOf(target)}/package.json`));
  const { exports } = manifest as { exports: Readonly<Record<string, string>> }; // A package without doors would be no package of ours.
  return Object.values(exports).some((door) => posix.join(packageOf(target), door) === target);
}

function isAllowed(from: string, to: string, one: SourceImport): boolean {
  if (one.isType && isOpenType(from, to)) return true;
  const allowed = allowedImports[from];
  if (allowed === undefined) {
    return sharedRooms.some((room) => room === to) || packageOf(from) === packageOf(to);
  }
  return allowed.some((entry) => {
    const [room, part] = entry.split(':');
    return room === to && (part === undefined || isPartOpen(part, one));
  });
}

function isOpenType(from: string, to: string): boolean {
  if (from === 'webui') return false;
  if (to === 'shared/contract') return true;
  if (to === 'shared/domain') return from !== 'shared/contract';
  if (to === 'shared/process' || to === 'shared/config') return from !== 'shared/contract' && from !== 'shared/domain';
  return to === packageOf(from);
}

function isPartOpen(part: string, one: SourceImport): boolean {
  if (one.isType) return true;
  if (part === 'types') return false;
  if (part === 'reads') return one.names.every((name) => !writes.test(name) && name !== '*' && name !== 'import()');
  return one.names.every((name) => name === part);
}

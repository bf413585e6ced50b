import { importsOf, scriptOf, type SourceImport } from './source-imports.ts';
import { readSource } from './source-text.ts';

/** Where a package may be imported: paths of files, or of folders with all that is in them. */
const packageDoors: Readonly<Record<string, readonly string[]>> = {
  knex: ['shared/src/store'],
  'better-sqlite3': ['shared/src/store/dialect'],
  pg: ['shared/src/store/dialect'],
  mysql2: ['shared/src/store/dialect'],
  '@kubernetes/client-node': ['shared/src/kube'],
  undici: ['shared/src/kube'],
  bunyan: ['shared/src/process/logger.ts'],
  '@peculiar/x509': ['shared/src/process/certificate-source.ts'],
  'prom-client': ['shared/src/process/metrics', 'controller/src/metrics', 'apiserver/src/metrics.ts'],
  nodemailer: ['controller/src/channels/email'],
  re2js: ['shared/src/domain/fixes/regex.ts'],
  diff: ['shared/src/domain/changes/side-by-side.ts', 'shared/src/domain/preview/patch.ts'],
  yaml: [
    'shared/src/config/read-file.ts',
    'shared/src/kube/credentials.ts',
    'shared/src/domain/preview/patch.ts',
    'controller/src/commands',
  ],
  cronstrue: ['webui/src/format'],
  'bits-ui': ['webui/src/kit'],
  uplot: ['webui/src/charts'],
};

/** yup stands where the API reads input: queries with their common parameters, bodies. */
const yupDoors = /^apiserver\/src\/middleware\/(validate|parameters)\.ts$/;

/** koa and its parts: the pages of the application, and the order of its middleware. */
const koaDoors = /^apiserver\/src\/(app|static|context)\.ts$|^apiserver\/src\/(middleware|auth|routes|openapi)\//;
const koaPackage = /^(koa|koa-.+|@koa\/.+|swagger-jsdoc|swagger-ui-dist)$/;

/** Svelte draws the user interface, and its parts are nowhere else. */
const sveltePackage = /^(svelte|vite|tailwindcss)(\/|$)/;

/** A piece of the world: how it looks in a source without comments and strings, and where it may be used. */
interface World {
  readonly name: string;
  readonly looks: RegExp;
  readonly doors: readonly string[];
}

const world: readonly World[] = [
  {
    name: 'the clock',
    looks: /\bDate\.now\b|\bnew Date\(\s*\)|\bnew Date\b(?!\s*\()|(?<!new )\bDate\(|\bperformance\.now\b|\bhrtime\b/,
    // The watchdog's own thread, which nothing of the process may be asked for, has a clock of its own.
    doors: ['shared/src/process/clock.ts', 'controller/src/leadership/watchdog.ts', 'webui/src/state'],
  },
  {
    name: 'a timer',
    looks: /(?<![.\w$])(globalThis\.|window\.)?(setTimeout|setInterval)\b|\bAbortSignal\.timeout\b/,
    doors: ['shared/src/process/clock.ts', 'webui/src/state'],
  },
  {
    name: 'the environment',
    looks: /\bprocess\s*(\?\.|\.)\s*env\b|\bprocess\s*\[\s*"/,
    // The command line hands its environment on: a token has no key in the configuration.
    doors: ['shared/src/config/load.ts', 'controller/src/bin/cronjob-monitor.ts'],
  },
  {
    name: 'an outgoing request',
    looks: /(?<![.\w$])(globalThis\.|window\.)?(fetch\s*\(|new\s+(WebSocket|EventSource|XMLHttpRequest)\b)/,
    doors: [
      'controller/src/channels/outbound-http.ts',
      'controller/src/commands/ask-service.ts',
      'shared/src/kube',
      'webui/src/api',
    ],
  },
];

/** Node's modules for requests: beside the doors they may serve and check words, and send nothing. */
const requestModules = /^(node:)?(http|https|http2|undici)$/;
const requestDoors = ['controller/src/channels/outbound-http.ts', 'shared/src/kube'];
const silentNames = new Set([
  'createServer',
  'createSecureServer',
  'Server',
  'IncomingMessage',
  'ServerResponse',
  'STATUS_CODES',
  'METHODS',
  'validateHeaderName',
  'validateHeaderValue',
]);

/** Node's modules of timers have no door, for the Clock is built of what is global; to give others a turn is no time. */
const clockModules = /^(node:)?timers(\/promises)?$/;

/** What is used beside its door in one source, a line each. Tests and what is for them alone are free. */
export function findDoorProblems(path: string, source: string): string[] {
  if (path.endsWith('.test.ts') || /^(tests|[^/]+\/src\/testing)\//.test(path)) return [];
  const code = scriptOf(path, source);
  const imports = importsOf(code).flatMap((one) => {
    const problem = judgeImport(path, one);
    return problem === undefined ? [] : [`${path} imports ${one.specifier}: ${problem}`];
  });
  const text = readSource(code).code;
  const uses = world
    .filter(({ doors, looks }) => !isBehind(path, doors) && looks.test(text))
    .map(({ name, doors }) => `${path} uses ${name}: only ${doors.join(', ')} may`);
  return [...imports, ...uses];
}

function judgeImport(path: string, { specifier, isType, names }: SourceImport): string | undefined {
  const doors = packageDoors[packageOf(specifier)];
  if (doors) return isBehind(path, doors) ? undefined : `only ${doors.join(', ')} may`;
  if (packageOf(specifier) === 'yup') return yupDoors.test(path) ? undefined : 'only where input is read';
  if (koaPackage.test(packageOf(specifier))) return koaDoors.test(path) ? undefined : 'only where the API is served';
  if (sveltePackage.test(specifier)) return path.startsWith('webui/') ? undefined : 'only webui may';
  if (clockModules.test(specifier)) {
    return names.every((name) => name === 'setImmediate') ? undefined : 'time comes from the injected Clock';
  }
  if (requestModules.test(specifier) && !isType && !isBehind(path, requestDoors)) {
    return names.every((name) => silentNames.has(name))
      ? undefined
      : `only ${requestDoors.join(', ')} may send requests`;
  }
  if (specifier === 'node:process' || specifier === 'process')
    return 'the global process is the same, and seen by this test';
  return isOurs(specifier) ? undefined : 'this package has no door yet';
}

/** `@scope/name` or `name` of a specifier. */
function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** Our own files and packages, and the parts of Node. */
function isOurs(specifier: string): boolean {
  return /^(\.|node:|@cronjob-monitor\/)/.test(specifier);
}

function isBehind(path: string, doors: readonly string[]): boolean {
  return doors.some((door) => path === door || path.startsWith(`${door}/`));
}

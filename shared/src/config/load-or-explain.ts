import { describeSource, type EntryPoint, type LoadedConfig, withoutUser } from './config-view.ts';
import { loadConfig, type LoadRequest } from './load.ts';
import { type AcceptedKey, configKeys, idleKeys, rowOf, variableOf } from './keys.ts';
import type { Reader } from './shapes.ts';
import type { Given } from './value-kinds.ts';

/** Where the words go; a test collects them. */
interface Output {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

/** Either a configuration to start with, or everything is said and the process ends with this status. */
type Start = { readonly loaded: LoadedConfig } | { readonly exitStatus: 0 | 2 };

const standardOutput: Output = {
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
};

/**
 * What an entry point does first: answers `--help`, `--version` and `--print-config`, explains a configuration that cannot
 * work on standard error, a line for each problem, or hands out the configuration.
 */
export function loadOrExplain(request: LoadRequest, output: Output = standardOutput): Start {
  const { wants, loaded, problems, machineProblems } = loadConfig(request);
  if (wants === 'help' || wants === 'version') {
    output.out(wants === 'help' ? helpText(request.entryPoint) : versionText(request.entryPoint));
    return { exitStatus: 0 };
  }
  if (wants === 'print-config' && loaded) {
    // The configuration may be printed on another machine than the one that starts: missing files are told, and do not stop it.
    for (const line of machineProblems) output.error(`${line}\n`);
    for (const warning of loaded.warnings) output.error(`configuration: warning: ${warning}\n`);
    output.out(printConfig(loaded));
    return { exitStatus: 0 };
  }
  if (loaded && problems.length === 0) return { loaded };
  for (const line of problems) output.error(`${line}\n`);
  return { exitStatus: 2 };
}

/** The log of a process. */
interface ConfigLog {
  info(message: string, facts: Readonly<Record<string, unknown>>): void;
  warn(message: string, facts: Readonly<Record<string, unknown>>): void;
}

/** The lines of each start: every key that is not at its default, with its source, and the warnings. */
export function logConfig(loaded: LoadedConfig, logger: ConfigLog): void {
  const changed: Record<string, string> = {};
  for (const [key, { source }] of loaded.settings) {
    if (source.from !== 'default') changed[key] = `${String(safeValue(key, loaded))} (${describeSource(source)})`;
  }
  logger.info('configuration read', { changed });
  for (const warning of loaded.warnings) logger.warn('configuration warning', { warning });
}

/** The version of the product, as in the root package.json; a test holds the two together. */
export const version = '0.1.0';

const duties: Readonly<Record<EntryPoint, string>> = {
  controller: 'Watches CronJobs, records their runs, finds what should have run and did not, sends messages.',
  apiserver: 'Serves the REST API and the user interface from the database.',
  standalone: 'Controller and apiserver in one process; the only one that may use SQLite.',
};

/** `cronjob-monitor controller v0.1.0`, with a line end. */
function versionText(entryPoint: EntryPoint): string {
  return `cronjob-monitor ${entryPoint} v${version}\n`;
}

/** How to call this entry point, then each key: flag, variable, type, default and what it is for. */
function helpText(entryPoint: EntryPoint): string {
  return `Usage: cronjob-monitor ${entryPoint} [--config FILE] [--KEY VALUE]...

${duties[entryPoint]}

  --config FILE    read FILE instead of /etc/cronjob-monitor/config.yaml or ./config.yaml
  --print-config   print the effective configuration with the source of each value, and end
  --help           print this text, and end
  --version        print the version, and end

A value is taken from its flag, else its variable, else the file, else the default.
Durations: 90s, 1h30m, 7d, 2w. Lists: items between commas.

${configKeys.map((key) => helpOf(key, entryPoint)).join('\n')}`;
}

function helpOf(key: AcceptedKey, entryPoint: EntryPoint): string {
  const { kind, by, doc } = rowOf(key);
  const allowed = kind.allowed === '' ? '' : ` (${kind.allowed})`;
  const elsewhere = isUsedBy(by, entryPoint) ? '' : ` Not used by the ${entryPoint}.`;
  return `  --${key}  ${variableOf(key)}
      ${kind.name}${allowed}, default ${defaultText(key)}
      ${doc}${elsewhere}
`;
}

function isUsedBy(by: Reader, entryPoint: EntryPoint): boolean {
  if (entryPoint === 'standalone') return true;
  return by.includes(entryPoint === 'controller' ? 'C' : 'A');
}

/** The default in words: `none`, `own` for our own namespace, `empty` for a list without items. */
export function defaultText(key: AcceptedKey): string {
  const { default: text, kind, ownNamespace } = rowOf(key);
  if (ownNamespace) return 'own';
  if (text === null) return 'none';
  return text === '' && kind.isList ? 'empty' : text.replaceAll(',', ', ');
}

/** The effective configuration in the form of a file, secrets as `***`, each line with its source behind it. */
export function printConfig(loaded: LoadedConfig): string {
  const lines: string[] = [];
  let block: readonly string[] = [];
  for (const key of configKeys) {
    // The table keeps the keys of one block together.
    const path = key.split('.');
    const name = path.pop() ?? key;
    let shared = 0;
    while (shared < path.length && path[shared] === block[shared]) shared += 1;
    for (let depth = shared; depth < path.length; depth += 1) lines.push(`${indent(depth)}${path[depth]}:`);
    block = path;

    const source = loaded.settings.get(key)?.source ?? { from: 'default' };
    const value = yamlOf(safeValue(key, loaded), rowOf(key).kind.name === 'string' || rowOf(key).kind.name === 'list');
    lines.push(`${indent(path.length)}${name}: ${value} # ${describeSource(source)}`);
  }
  return `${lines.join('\n')}\n`;
}

function indent(depth: number): string {
  return '  '.repeat(depth);
}

/** Text that YAML reads back as it stands; all else goes between quotes. */
const plain = /^[A-Za-z0-9/.][A-Za-z0-9/._@%+:-]*$/;
const otherwiseRead = /^(null|true|false|~)$/i;

function yamlOf(value: SafeValue, isText: boolean): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return isText || value === '***' ? quoteIfNeeded(value) : value;
  if (typeof value === 'object') return `[${value.map((item) => quoteIfNeeded(item)).join(', ')}]`;
  return String(value);
}

function quoteIfNeeded(text: string): string {
  return plain.test(text) && !text.endsWith(':') && !otherwiseRead.test(text) ? text : JSON.stringify(text);
}

/** A value as it may be shown: bool and int as such, the rest as text; null = not set. */
type SafeValue = boolean | number | string | readonly string[] | null;

/** Keys nested at their dots. */
interface NestedConfig {
  readonly [name: string]: SafeValue | NestedConfig;
}

/**
 * The body of `GET /api/v1/config`: keys nested at their dots, durations as text, secrets as `***`, URLs without user and
 * query, null for what is not set. `sources` names each key that is not at its default. Reserved keys are among them.
 */
export function presentConfig(loaded: LoadedConfig): NestedConfig & {
  readonly sources: Readonly<Record<string, 'flag' | 'environment' | 'file'>>;
} {
  const sources: Record<string, 'flag' | 'environment' | 'file'> = {};
  const shown = [...configKeys, ...idleKeys.reserved];
  for (const key of shown) {
    const from = loaded.settings.get(key)?.source.from ?? 'default';
    if (from !== 'default') sources[key] = from;
  }
  return { ...nest(new Map(shown.map((key) => [key, safeValue(key, loaded)]))), sources }; // No key is called `sources`.
}

/** What may be shown of a value. */
function safeValue(key: AcceptedKey, loaded: LoadedConfig): SafeValue {
  const given = loaded.settings.get(key)?.given;
  const { kind, sensitive } = rowOf(key);
  if (given === undefined) return null;
  if (sensitive) return '***';
  const parsed = kind.parse(given);
  const value = 'value' in parsed ? parsed.value : undefined;
  if (typeof value === 'boolean' || (kind.name === 'int' && typeof value === 'number')) return value;
  if (kind.isList) return Array.isArray(value) ? value.map(String) : [];
  return textOf(given);
}

function textOf(given: Given): string {
  return typeof given === 'string' ? withoutUser(given) : given.join(',');
}

/** `{a: {b: 1}}` of `a.b = 1`. */
function nest(values: ReadonlyMap<string, SafeValue>): NestedConfig {
  const root: Record<string, SafeValue | NestedConfig> = {};
  for (const [key, value] of values) {
    const path = key.split('.');
    const last = path.pop() ?? key;
    let block = root;
    for (const name of path) block = (block[name] ??= {}) as typeof block; // A block never has the name of a key.
    block[last] = value;
  }
  return root;
}

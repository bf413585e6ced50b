import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findConfigProblems } from './check.ts';
import {
  type ConfigView,
  describeSetting,
  type EntryPoint,
  type Found,
  isApiserver,
  isController,
  type LoadedConfig,
  problemLine,
  type Setting,
  settingOf,
  shownText,
  type Surroundings,
} from './config-view.ts';
import {
  type AcceptedKey,
  acceptedKeys,
  type Config,
  type ConfigKey,
  configKeys,
  idleKeys,
  isAcceptedKey,
  rowOf,
  variableOf,
} from './keys.ts';
import { readConfigFile } from './read-file.ts';
import type { Problem } from './value-kinds.ts';
import { findNearest } from '../domain/index.ts';
import { isLoopback } from './shapes.ts';

export interface LoadRequest {
  readonly entryPoint: EntryPoint;
  /** The arguments behind the script; absent: those of this process. */
  readonly argv?: readonly string[];
  /** Absent: that of this process. */
  readonly environment?: Environment;
  /** Where a file is looked for when none is named; the first that exists is read. */
  readonly filePaths?: readonly string[];
}

/**
 * `problems` stop a start; without any, `loaded` is there. `machineProblems` are the part of them that speaks of files and
 * folders of this machine: with those alone `loaded` is there too, to be shown and not to be started with.
 */
interface LoadResult {
  readonly wants: Arguments['wants'];
  readonly loaded: LoadedConfig | undefined;
  readonly problems: readonly string[];
  readonly machineProblems: readonly string[];
}

/** The paths of the file when `--config` names none. */
const defaultFilePaths: readonly string[] = ['/etc/cronjob-monitor/config.yaml', './config.yaml'];

/** Values from flags, then environment, then file, then default, each key alone; all that is wrong at once. */
export function loadConfig(request: LoadRequest): LoadResult {
  const environment = request.environment ?? process.env;
  const flags = readFlags(request.argv ?? process.argv.slice(2));
  const fromEnvironment = readEnvironment(environment);
  const file = readConfigFile(flags.configPath, request.filePaths ?? defaultFilePaths);

  const sources = [flags, fromEnvironment, file];
  const settings = settle(sources);
  const { values, problems: wrongValues } = parseAll(settings);
  const surroundings = surroundingsOf(environment);
  const view = { entryPoint: request.entryPoint, values, settings, surroundings };
  // A file that could not be read leaves defaults behind, and rules between keys would only complain about those.
  const betweenKeys = file.broken ? [] : findConfigProblems(view);
  const machineProblems = file.broken ? [] : findMachineProblems(view);

  const problems = [...sources.flatMap((source) => source.problems), ...wrongValues, ...betweenKeys];
  const loaded = {
    entryPoint: request.entryPoint,
    config: values as Config, // Complete, for no key has a problem where this is handed out.
    settings,
    surroundings,
    warnings: [...sources.flatMap((source) => source.warnings), ...findWarnings(view)],
  };
  return {
    wants: flags.wants,
    loaded: problems.length === 0 ? loaded : undefined,
    problems: [...problems, ...machineProblems],
    machineProblems,
  };
}

/** Of each key the value of the highest source. */
function settle(sources: readonly Found[]): Map<AcceptedKey, Setting> {
  const settings = new Map<AcceptedKey, Setting>();
  for (const key of acceptedKeys) {
    const given = sources.find((source) => source.settings.has(key))?.settings.get(key);
    settings.set(key, given ?? { given: rowOf(key).default ?? undefined, source: { from: 'default' } });
  }
  return settings;
}

/** Values by key; a key whose text is wrong has none, and its line is among the problems. */
function parseAll(settings: ReadonlyMap<AcceptedKey, Setting>): { values: Partial<Config>; problems: string[] } {
  const values: Partial<Record<AcceptedKey, unknown>> = {};
  const problems: string[] = [];
  for (const [key, setting] of settings) {
    if (setting.given === undefined) {
      values[key] = undefined;
      continue;
    }
    const parsed = rowOf(key).kind.parse(setting.given);
    if ('value' in parsed) values[key] = parsed.value;
    else problems.push(problemLine(`${describeSetting(key, setting)} ${explain(key, setting, parsed)}`));
  }
  return { values: values as Partial<Config>, problems }; // Each value comes from the parser of its own row.
}

function explain(key: AcceptedKey, { given, source }: Setting, { problem, example }: Problem): string {
  if (source.from === 'environment' && typeof given === 'string' && isServiceUrl(given) && key.endsWith('port')) {
    return `${problem}; a Service link? set enableServiceLinks: false`;
  }
  const { allowed } = rowOf(key).kind;
  if (allowed === '') return problem;
  return `${problem}; allowed: ${allowed}${example ? `, ${example}` : ''}`;
}

function surroundingsOf(environment: Environment): Surroundings {
  const host = environment['KUBERNETES_SERVICE_HOST'];
  const port = environment['KUBERNETES_SERVICE_PORT'];
  return {
    kubeconfig: environment['KUBECONFIG'] || undefined,
    apiServer: host && port ? { host, port } : undefined,
  };
}

/**
 * Files and folders that this process will need and this machine does not have, a line each. Only the keys that the process
 * acts by are looked at: one file of configuration serves processes with different volumes.
 */
function findMachineProblems(view: ConfigView): string[] {
  const { values, entryPoint } = view;
  const type = values['storage.type'];
  const problems: string[] = [];
  const report = (key: ConfigKey, text: string | undefined) => {
    if (text !== undefined) problems.push(problemLine(`${describeSetting(key, settingOf(view, key))}: ${text}`));
  };

  const sqlite = values['storage.sqlite.path'];
  if (type === 'sqlite' && entryPoint === 'standalone' && sqlite !== undefined) {
    report(
      'storage.sqlite.path',
      isFolder(sqlite) ? 'this is a folder; allowed: a file' : folderProblem(dirname(sqlite)),
    );
  }
  if (type === 'postgres' || type === 'mysql') {
    for (const key of [`storage.${type}.password-file`, `storage.${type}.ssl-ca`] as const) {
      const path = values[key];
      if (path !== undefined) report(key, fileProblem(path));
    }
  }
  const spool = values['storage.spool-path'];
  if (spool !== undefined && isController(entryPoint)) report('storage.spool-path', folderProblem(spool));

  const folder = values['metrics.cert-path'];
  if (folder !== undefined && values['metrics.secure'] && values['metrics.bind-address'] !== 'off') {
    for (const key of ['metrics.cert-name', 'metrics.cert-key'] as const) {
      const name = values[key];
      if (name !== undefined) report('metrics.cert-path', fileProblem(join(folder, name)));
    }
  }
  const actionsKey = values['cluster.actions-key-file'];
  if (actionsKey !== undefined && entryPoint !== 'controller') {
    report('cluster.actions-key-file', fileProblem(actionsKey) ?? keyProblem(actionsKey));
  }
  const kubeconfig = values['cluster.kubeconfig'];
  if (kubeconfig !== undefined) report('cluster.kubeconfig', fileProblem(kubeconfig));
  return problems;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function folderProblem(path: string): string | undefined {
  if (!isFolder(path)) return `folder ${shownText(path)} does not exist; allowed: a folder that can be written`;
  return canAccess(path, constants.W_OK | constants.X_OK)
    ? undefined
    : `folder ${shownText(path)} cannot be written; allowed: a folder that can be written`;
}

function fileProblem(path: string): string | undefined {
  const problem = isFolder(path) ? 'is a folder' : canAccess(path, constants.R_OK) ? undefined : 'cannot be read';
  return problem && `file ${shownText(path)} ${problem}; allowed: a file that can be read`;
}

function keyProblem(path: string): string | undefined {
  const { size } = statSync(path);
  return size < 32 ? `file ${shownText(path)} holds ${size} bytes; allowed: 32 or more` : undefined;
}

function canAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false; // Whatever the reason, it is not there for us.
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const keyOfVariable: ReadonlyMap<string, AcceptedKey> = new Map(acceptedKeys.map((key) => [variableOf(key), key]));

/** The names that Kubernetes gives for a Service: `X_SERVICE_HOST`, `X_SERVICE_PORT…`, `X_PORT`, `X_PORT_80_TCP…`. */
const serviceLink = /^MONITOR_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** The one such name that a person may have written; a Service's has a URL as its value. */
const barePort = /^MONITOR_((?!.*(SERVICE|TCP|UDP|SCTP)_PORT$).+_)?PORT$/;

/**
 * Reads every variable that begins with `MONITOR_`. One that is no key is a problem, except where Kubernetes gives such a
 * name to a Service; of these, one that does not look like a Service's is a warning, for a person may have written it.
 */
export function readEnvironment(environment: Environment): Found {
  const settings = new Map<AcceptedKey, Setting>();
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith('MONITOR_') || value === undefined) continue;
    const key = keyOfVariable.get(variable);
    if (key !== undefined) settings.set(key, { given: value, source: { from: 'environment', variable } });
    else if (!serviceLink.test(variable)) problems.push(unknownVariable(variable));
    else if (barePort.test(variable) && !isServiceUrl(value)) {
      warnings.push(`environment ${variable} is no key; it is taken for a Service's and ignored`);
    }
  }
  return { settings, problems, warnings };
}

/** `tcp://10.0.0.7:80`, as Kubernetes writes the address of a Service. */
function isServiceUrl(value: string): boolean {
  return /^(tcp|udp|sctp):\/\//.test(value);
}

function unknownVariable(variable: string): string {
  if (variable === 'MONITOR_CONFIG') {
    return problemLine(`${variable}: the path of the file is a flag only; use --config`);
  }
  const near = findNearest(variable, configKeys.map(variableOf));
  return problemLine(`environment ${shownText(variable)} is no key${near ? `; did you mean ${near}?` : ''}`);
}

/** What the command line asks for besides values of keys. */
interface Arguments extends Found {
  readonly wants: 'run' | 'help' | 'version' | 'print-config';
  /** `--config`; undefined without it. */
  readonly configPath: string | undefined;
}

const bareFlags = ['help', 'version', 'print-config'] as const;
const flagNames = [...configKeys, 'config', ...bareFlags];

/**
 * Reads `--key=value`, `--key value` and, for a bool, `--key` alone. The last of several flags of one key counts. A value
 * that begins with `--` needs the form with `=`.
 */
export function readFlags(argv: readonly string[]): Arguments {
  const settings = new Map<AcceptedKey, Setting>();
  const problems: string[] = [];
  const warnings: string[] = [];
  const asked = new Set<string>();
  let configPath: string | undefined;

  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const match = /^--([^=]+)(?:=(.*))?$/s.exec(argument);
    if (!match) {
      problems.push(problemLine(`argument ${shownText(argument)} is no flag; flags begin with --`));
      if (argument.startsWith('-')) skipValue(rest);
      continue;
    }
    const [, name = '', inline] = match;
    if (isBareFlag(name)) {
      if (inline === undefined) asked.add(name);
      else problems.push(problemLine(`flag --${name} takes no value`));
    } else if (name === 'config' || isAcceptedKey(name)) {
      const value = inline ?? takeValue(rest, name);
      if (value === undefined) problems.push(problemLine(`${name} (flag --${name}) needs a value`));
      else if (name === 'config') configPath = value;
      else settings.set(name, { given: value, source: { from: 'flag', flag: `--${name}` } });
    } else {
      problems.push(unknownFlag(name));
      if (inline === undefined) skipValue(rest);
    }
  }
  for (const key of settings.keys()) if (rowOf(key).sensitive) warnings.push(sensitiveFlag(key));
  return { wants: wantsOf(asked), configPath, settings, problems, warnings };
}

function isBareFlag(name: string): boolean {
  return bareFlags.some((flag) => flag === name);
}

/** A bool takes the next argument only when it is one of its words. */
function takeValue(rest: string[], name: string): string | undefined {
  const next = rest[0];
  const isBool = isAcceptedKey(name) && rowOf(name).kind.name === 'bool';
  if (isBool && next !== 'true' && next !== 'false') return 'true';
  return next === undefined || next.startsWith('--') ? undefined : rest.shift();
}

/** What follows an unknown flag may be a secret: it is not read as an argument, and so never shown. */
function skipValue(rest: string[]): void {
  if (rest[0] !== undefined && !rest[0].startsWith('-')) rest.shift();
}

function wantsOf(asked: ReadonlySet<string>): Arguments['wants'] {
  return bareFlags.find((flag) => asked.has(flag)) ?? 'run';
}

function unknownFlag(name: string): string {
  const near = findNearest(name, flagNames);
  return problemLine(
    `${shownText(name)} (flag --${shownText(name)}) is no key${near ? `; did you mean ${near}?` : ''}`,
  );
}

function sensitiveFlag(key: AcceptedKey): string {
  return `${key} (flag --${key}) is a secret, and other users of this machine can read flags; use ${variableOf(key)}`;
}

/** What is allowed and should be known, a sentence each. */
function findWarnings(view: ConfigView): string[] {
  return [...openToAll(view), ...idleInUse(view)];
}

function openToAll({ values, entryPoint, settings }: ConfigView): string[] {
  const host = values['api.host'];
  if (!isApiserver(entryPoint) || values['ui.enabled'] === false) return [];
  if (values['auth.mode'] !== 'none' || host === undefined || isLoopback(host)) return [];
  const mode = describeSetting('auth.mode', settingOf({ settings }, 'auth.mode'));
  return [`${mode}: every caller that reaches port ${values['ui.port']} of ${host} may see and do everything`];
}

/** A key that is given at what was its default is named too: its author believes that it does something. */
function idleInUse(view: ConfigView): string[] {
  return [...idleKeys.reserved, ...idleKeys.retired]
    .filter((key) => settingOf(view, key).source.from !== 'default')
    .map((key) => `${describeSetting(key, settingOf(view, key))} is accepted and does nothing`);
}

import { findConfigProblems } from './check.ts';
import { findMachineProblems } from './check-machine.ts';
import type { EntryPoint, LoadedConfig, Surroundings } from './config-view.ts';
import { configKeys, rowOf, type Config, type ConfigKey } from './keys.ts';
import { isServiceUrl, readEnvironment, type Environment } from './read-environment.ts';
import { readConfigFile } from './read-file.ts';
import { readFlags, type Arguments } from './read-flags.ts';
import { describeSetting, problemLine, type Found, type Setting } from './source.ts';
import type { Problem } from './value-kinds.ts';
import { findWarnings } from './warnings.ts';

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
export interface LoadResult {
  readonly wants: Arguments['wants'];
  readonly loaded: LoadedConfig | undefined;
  readonly problems: readonly string[];
  readonly machineProblems: readonly string[];
}

/** The paths of the file when `--config` names none. */
export const defaultFilePaths: readonly string[] = ['/etc/cronjob-monitor/config.yaml', './config.yaml'];

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
function settle(sources: readonly Found[]): Map<ConfigKey, Setting> {
  const settings = new Map<ConfigKey, Setting>();
  for (const key of configKeys) {
    const given = sources.find((source) => source.settings.has(key))?.settings.get(key);
    settings.set(key, given ?? { given: rowOf(key).default ?? undefined, source: { from: 'default' } });
  }
  return settings;
}

/** Values by key; a key whose text is wrong has none, and its line is among the problems. */
function parseAll(settings: ReadonlyMap<ConfigKey, Setting>): { values: Partial<Config>; problems: string[] } {
  const values: Partial<Record<ConfigKey, unknown>> = {};
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

function explain(key: ConfigKey, { given, source }: Setting, { problem, example }: Problem): string {
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

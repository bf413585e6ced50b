import type { Logger } from '../process/index.ts';
import type { LoadedConfig } from './config-view.ts';
import { helpText, versionText } from './help.ts';
import { loadConfig, type LoadRequest } from './load.ts';
import { printConfig } from './print-config.ts';
import { safeValues } from './redact.ts';
import { describeSource } from './source.ts';

/** Where the words go; a test collects them. */
export interface Output {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

/** Either a configuration to start with, or everything is said and the process ends with this status. */
export type Start = { readonly loaded: LoadedConfig } | { readonly exitStatus: 0 | 2 };

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
    // Whoever prints may sit at another machine than the one that starts: missing files are told, and do not stop it.
    for (const line of machineProblems) output.error(`${line}\n`);
    for (const warning of loaded.warnings) output.error(`configuration: warning: ${warning}\n`);
    output.out(printConfig(loaded));
    return { exitStatus: 0 };
  }
  if (loaded && problems.length === 0) return { loaded };
  for (const line of problems) output.error(`${line}\n`);
  return { exitStatus: 2 };
}

/** The lines of each start: every key that is not at its default, with its source, and the warnings. */
export function logConfig(loaded: LoadedConfig, logger: Logger): void {
  const values = safeValues(loaded);
  const changed: Record<string, string> = {};
  for (const [key, { source }] of loaded.settings) {
    if (source.from !== 'default') changed[key] = `${String(values.get(key))} (${describeSource(source)})`;
  }
  logger.info('configuration read', { changed });
  for (const warning of loaded.warnings) logger.warn('configuration warning', { warning });
}

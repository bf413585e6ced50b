import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isController, settingOf, type ConfigView } from './config-view.ts';
import type { ConfigKey } from './keys.ts';
import { describeSetting, problemLine, shownText } from './source.ts';

/**
 * Files and folders that this process will need and this machine does not have, a line each. Only the keys that the process
 * acts by are looked at: one file of configuration serves processes with different volumes.
 */
export function findMachineProblems(view: ConfigView): string[] {
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

function canAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false; // Whatever the reason, it is not there for us.
  }
}

import type { EntryPoint } from './config-view.ts';
import { configKeys, rowOf, variableOf } from './keys.ts';
import type { Reader } from './table-row.ts';
import { version } from './version.ts';

const duties: Readonly<Record<EntryPoint, string>> = {
  controller: 'Watches CronJobs, records their runs, finds what should have run and did not, sends messages.',
  apiserver: 'Serves the REST API and the user interface from the database.',
  standalone: 'Controller and apiserver in one process; the only one that may use SQLite.',
};

/** `cronjob-monitor controller v0.1.0`, with a line end. */
export function versionText(entryPoint: EntryPoint): string {
  return `cronjob-monitor ${entryPoint} v${version}\n`;
}

/** How to call this entry point, then each key: flag, variable, type, default and what it is for. */
export function helpText(entryPoint: EntryPoint): string {
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

function helpOf(key: (typeof configKeys)[number], entryPoint: EntryPoint): string {
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
export function defaultText(key: (typeof configKeys)[number]): string {
  const { default: text, kind, ownNamespace } = rowOf(key);
  if (ownNamespace) return 'own';
  if (text === null) return 'none';
  return text === '' && kind.isList ? 'empty' : text.replaceAll(',', ', ');
}

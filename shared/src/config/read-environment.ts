import { configKeys, variableOf, type ConfigKey } from './keys.ts';
import { findNearest } from './nearest.ts';
import { problemLine, shownText, type Found, type Setting } from './source.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const keyOfVariable: ReadonlyMap<string, ConfigKey> = new Map(configKeys.map((key) => [variableOf(key), key]));

/** The names that Kubernetes gives for a Service: `X_SERVICE_HOST`, `X_SERVICE_PORT…`, `X_PORT`, `X_PORT_80_TCP…`. */
const serviceLink = /^MONITOR_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** The one such name that a person may have written; a Service's has a URL as its value. */
const barePort = /^MONITOR_((?!.*(SERVICE|TCP|UDP|SCTP)_PORT$).+_)?PORT$/;

/**
 * Reads every variable that begins with `MONITOR_`. One that is no key is a problem, except where Kubernetes gives such a
 * name to a Service; of these, one that does not look like a Service's is a warning, for a person may have written it.
 */
export function readEnvironment(environment: Environment): Found {
  const settings = new Map<ConfigKey, Setting>();
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
export function isServiceUrl(value: string): boolean {
  return /^(tcp|udp|sctp):\/\//.test(value);
}

function unknownVariable(variable: string): string {
  if (variable === 'MONITOR_CONFIG') {
    return problemLine(`${variable}: the path of the file is a flag only; use --config`);
  }
  const near = findNearest(variable, [...keyOfVariable.keys()]);
  return problemLine(`environment ${shownText(variable)} is no key${near ? `; did you mean ${near}?` : ''}`);
}

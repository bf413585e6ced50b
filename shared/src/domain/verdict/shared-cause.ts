import type { Words } from '../../contract/index.ts';
import { quotaIn } from './waiting.ts';

const scopes: readonly (readonly [RegExp, (name: string) => Words])[] = [
  [/^node (\S+)$/, (name) => `Node ${name} ends their pods, or does not start them`],
  [/^registry (\S+)$/, (name) => `Registry ${name} does not serve their images`],
  [/^webhook (\S+)$/, (name) => `Admission webhook ${name} refuses or does not answer`],
];

/** Sentences of a cause: what is named in them stands in the namespace, or in the cluster. */
const named: readonly (readonly [RegExp, (found: string, namespace: string) => Words])[] = [
  [/\bevicted from node (\S+)/, (node) => `Node ${node} evicts their pods`],
  [/^(Image \S+ cannot be pulled)/, (says) => says],
  [/^\d+\/\d+ nodes are available: (.+)/, (says) => `No node takes their pods: ${says}`],
  [/^((?:Secret|ConfigMap|ServiceAccount|Quota|Volume) \S+ (?:is|cannot)(?: \w+)+)/, (says, at) => `${says} in ${at}`],
];

const refusals: readonly (readonly [RegExp, string])[] = [
  [/refused|ECONNREFUSED|can't connect|failed to connect/i, 'refuses connections'],
  [/no such host|ENOTFOUND|could not (?:resolve|translate)|name resolution/i, 'is not found by its name'],
  [/timed? ?out|ETIMEDOUT|no route to host|unreachable/i, 'does not answer'],
];

/** A login that a database refuses: all that use it fail by the same Secret. */
const logins: readonly RegExp[] = [
  /(?:password|\bSASL) authentication failed for (?:the )?user ["'`]([^"'`\s]{1,128})["'`]/i,
  /role ["'`]([^"'`\s]{1,128})["'`] (?:does not exist|is not permitted to log in)/i,
  /access denied for user ["'`]([^"'`\s]{1,128})["'`]/i,
  /login failed for user ["'`]([^"'`\s]{1,128})["'`]/i,
];

/** The login that a line of a log says is refused; undefined: it says no such thing. */
export function refusedLogin(line: string): string | undefined {
  return logins.map((pattern) => pattern.exec(line)?.[1]).find((found) => found !== undefined);
}

/** Where a line says that it wanted to connect to. A place in a source, `main.go:42`, and a time of day are none. */
const places: readonly RegExp[] = [
  /(?:lookup|ENOTFOUND|resolve host(?:name)?:?|host name) ["']?([\w-]+(?:\.[\w-]+)*)/i,
  /(?<![\w.:/-])((?!\d+:)(?:[\w-]+\.)*[\w-]+(?<!\.(?:go|py|js|ts|rb|java|c|cc|cpp|php|rs|kt)):\d{2,5})(?!\w|:\d|\.\d)/,
  /(?:at|on|host|to) ["']([\w.-]+)["']/,
];

/**
 * The one sentence, by cause, scope of the fault and decisive line of the log, of all CronJobs that fail by the same image, object, node, login
 * or host; undefined: what explains it is its own, or not known.
 */
export function sharedCause(
  { namespace, cause = '', scope = '' }: { namespace: string; cause: Words | undefined; scope: string | undefined },
  line = '',
): Words | undefined {
  for (const [pattern, words] of scopes) {
    const name = pattern.exec(scope)?.[1];
    if (name !== undefined) return words(name);
  }
  for (const [pattern, words] of named) {
    const found = pattern.exec(cause)?.[1];
    if (found !== undefined) return words(found, namespace);
  }
  const quota = quotaIn(cause);
  if (quota !== undefined) return `Quota ${quota} is used up in ${namespace}`;
  const login = refusedLogin(line);
  if (login !== undefined) return `The login of ${login} is refused`;
  const how = refusals.find(([pattern]) => pattern.test(line))?.[1];
  if (how === undefined) return undefined;
  const place = places.map((pattern) => pattern.exec(line)?.[1]).find((found) => found !== undefined);
  return place && `${place} ${how}`;
}

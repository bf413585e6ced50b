import type { Ref, Told, VerdictFinding, VerdictKind, VerdictStep, Words } from '../../contract/index.ts';
import { alertTypesOf, type AbsenceCause } from '../../contract/vocabulary.ts';

/** What the next step follows from. */
export interface StepFacts {
  readonly cronJob: Ref;
  readonly kind: VerdictKind;
  /** Of its monitor's rules. */
  readonly findings: readonly VerdictFinding[];
  /** What the run that failed asks for; undefined: it is about no run. */
  readonly run: VerdictStep | undefined;
  /** A Job that waits. */
  readonly waiting: { readonly jobName: string; readonly reason: string | undefined } | undefined;
  /** Of the CronJob's annotation, http or https. */
  readonly runbook: string | undefined;
  readonly isSuspended: boolean;
  /** What the cluster said as it refused the Job of a missed run; a run by hand is refused as well. */
  readonly refusal: string | undefined;
  /** Why the monitor selects no CronJob of the name, which it expects; undefined: it is about a CronJob that is there. */
  readonly absence: AbsenceCause | undefined;
  readonly told: Told | undefined;
  /** Whose rules judge it. */
  readonly monitor: Ref | undefined;
}

type Row = (facts: StepFacts) => VerdictStep | undefined;

const absences: readonly VerdictKind[] = [...alertTypesOf('absence'), 'missedLast'];
const suspensions: readonly VerdictKind[] = [...alertTypesOf('suspension'), 'suspended'];

/** The first row that fits; a rule that cannot hold comes before everything else, for nothing else ends its alerts. */
const rows: readonly Row[] = [
  ({ absence, monitor }) => absence && monitor && bringBack(absence, monitor),
  ({ findings }) => changeRule(findings),
  ({ run, runbook }) => (run?.action === 'openRun' && isPlain(run) ? (openRunbook(runbook) ?? run) : run),
  ({ waiting, cronJob }) => waiting && openRunOf(cronJob, waiting.jobName, waitingInWords(waiting.reason)),
  ({ kind, isSuspended, cronJob }) =>
    suspensions.includes(kind) || (isSuspended && absences.includes(kind)) ? resume(cronJob) : undefined,
  ({ refusal, cronJob }) => (refusal === undefined ? undefined : makeRoom(refusal, cronJob)),
  ({ kind, cronJob }) => (absences.includes(kind) ? trigger(cronJob) : undefined),
  (facts) => mendChannel(facts),
  ({ runbook }) => openRunbook(runbook),
  ({ kind, cronJob }) => (kind === 'targetMissed' ? openTrends(cronJob) : undefined),
];

/** What to do next about what is not well; undefined: nothing is known that helps. */
export function stepOf(facts: StepFacts): VerdictStep | undefined {
  if (facts.kind === 'succeeded' || facts.kind === 'deleted') return undefined;
  for (const row of rows) {
    const found = row(facts);
    if (found) return found;
  }
  return undefined;
}

const openRunWords = 'Open the run';
const isPlain = ({ words }: VerdictStep): boolean => words === openRunWords;

function step(
  action: VerdictStep['action'],
  words: string,
  { command = null, href = null }: Partial<Pick<VerdictStep, 'command' | 'href'>>,
): VerdictStep {
  return { action, words, command, href };
}

/** The run itself is the next thing to look at. */
export function openRunOf({ namespace, name }: Ref, jobName: string, words = openRunWords): VerdictStep {
  return step('openRun', words, { href: `/cronjobs/${namespace}/${name}/runs/${jobName}` });
}

/** The rule that cannot hold, with the value that would let it, where one of them has such a value; else what the CronJob itself says. */
function changeRule(findings: readonly VerdictFinding[]): VerdictStep | undefined {
  const own = findings.find(({ href, mend }) => href === null && mend);
  const ofRules = findings.filter(({ href }) => href !== null);
  const finding = ofRules.find(({ mend }) => mend) ?? ofRules[0];
  if (!finding) return own?.mend && setInCronJob(own.mend, own.words);
  const { words, href, mend } = finding;
  if (!mend) return step('openRules', `Change the rule: ${words}`, { href });
  const { path, value, command } = mend;
  const set = step('openRules', `Set ${value} in the rule: ${words}`, {
    command,
    href: `${href}?part=rules#${path}`,
  });
  // A figure alone does not say of what it is.
  return { ...set, label: /^\d/.test(value) ? `Set ${value} in rules` : `Set ${value}` };
}

function setInCronJob({ path, value, command }: NonNullable<VerdictFinding['mend']>, words: string): VerdictStep {
  const field = path.slice(path.lastIndexOf('.') + 1);
  return { ...step('copyPatch', `Set ${field} to ${value}: ${words}`, { command }), label: `Copy patch: ${value}` };
}

function waitingInWords(reason: string | undefined): string {
  return reason === undefined || reason === '' ? 'Open the run: it waits' : `Open the run: it waits (${reason})`;
}

function openRunbook(href: string | undefined): VerdictStep | undefined {
  return href === undefined ? undefined : step('openRunbook', 'Follow the runbook', { href });
}

/** Of several runs none is the one to look at: since when they are so, and which is the worst, is seen beside the others. */
function openTrends(cronJob: Ref): VerdictStep {
  const words = 'See which run it was, and when it began';
  return step('openTrends', words, { href: `${pageOf(cronJob)}?part=trends` });
}

function trigger({ namespace, name }: Ref): VerdictStep {
  // Names of Jobs end at 63 characters; those of CronJobs end at 52.
  const command = `kubectl -n ${namespace} create job ${name}-by-hand --from=cronjob/${name}`;
  return step('trigger', 'Start a run by hand', { command, href: pageOf({ namespace, name }) });
}

function makeRoom(refusal: string, { namespace }: Ref): VerdictStep | undefined {
  const quota = quotaIn(refusal);
  if (quota === undefined) return undefined;
  const command = `kubectl -n ${namespace} describe resourcequota ${quota}`;
  return { ...step('copyPatch', `Raise quota ${quota}, or make room in it`, { command }), label: 'Copy command' };
}

/** There is no CronJob of which a run could be started, or the monitor looks at none of its runs. */
function bringBack(absence: AbsenceCause, { namespace, name }: Ref): VerdictStep {
  const monitor = `monitor ${namespace}/${name}`;
  const words =
    absence === 'deselected'
      ? `Let ${monitor} select it, or name it in its expects.except`
      : `Create the CronJob, or name it in expects.except of ${monitor}`;
  return step('openRules', words, { href: `/monitors/${namespace}/${name}` });
}

function resume({ namespace, name }: Ref): VerdictStep {
  const command = `kubectl -n ${namespace} patch cronjob ${name} --patch '{"spec":{"suspend":false}}'`;
  return step('resume', 'Resume it, or delete it if it is not needed', { command, href: pageOf({ namespace, name }) });
}

const pageOf = ({ namespace, name }: Ref): string => `/cronjobs/${namespace}/${name}`;

/** Why no channel was told, as what mends it. */
function mendChannel({ told, monitor }: StepFacts): VerdictStep | undefined {
  const rules = monitor && `/monitors/${monitor.namespace}/${monitor.name}`;
  const named = monitor && `monitor ${monitor.namespace}/${monitor.name}`;
  if (told?.state === 'none' && rules !== undefined && named !== undefined) {
    if (told.reason === 'noChannel') return step('mendChannel', `Name a channel in ${named}`, { href: rules });
    if (told.reason === 'alertingDisabled') return step('mendChannel', `Turn alerting on in ${named}`, { href: rules });
    if (told.reason === 'severityNotRouted')
      return step('mendChannel', `Route this severity to a channel in ${named}`, { href: rules });
    if (told.reason === 'channelNotAllowed')
      return step('mendChannel', `Add the namespace to allowedNamespaces of the channel that ${named} names`, {
        href: rules,
      });
    if (told.reason === 'unknownChannel' || told.reason === 'channelDeleted')
      return step('mendChannel', `Create the channel that ${named} names`, { href: rules });
  }
  const stopped = told?.channels.find(({ state }) => state === 'dead' || state === 'parked');
  if (told && (told.state === 'failed' || told.reason === 'parked' || told.reason === 'invalid') && stopped)
    return step('mendChannel', `Mend the channel ${stopped.channel}`, { href: `/channels/${stopped.channel}` });
  return undefined;
}

/** Which Secret, ConfigMap, image, quota or volume a text of Kubernetes says is missing: `Secret db-password is missing`. */
export function missingIn(reason: string | undefined, text: string): string | undefined {
  const named = (kind: string): string | undefined =>
    new RegExp(`${kind}s? "([^"\\s]{1,253})" not found`, 'i').exec(text)?.[1];
  const secret = named('secret');
  if (secret !== undefined) return `Secret ${secret} is missing`;
  const configMap = named('configmap');
  if (configMap !== undefined) return `ConfigMap ${configMap} is missing`;
  const quota = quotaIn(text);
  if (quota !== undefined) return `Quota ${quota} is used up`;
  const account = named('serviceaccount');
  if (account !== undefined) return `ServiceAccount ${account} is missing`;
  const volume = /(?:MountVolume\.\S+ failed for volume|unmounted volumes=\[)\s*"?([\w.-]{1,253})/.exec(text)?.[1];
  if (volume !== undefined) return `Volume ${volume} cannot be mounted`;
  if (reason !== undefined && /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull)$/.test(reason)) {
    const image = /image "([^"\s]{1,512})"/.exec(text)?.[1];
    return image === undefined ? 'Its image cannot be pulled' : `Image ${image} cannot be pulled`;
  }
  return undefined;
}

const quotaIn = (text: string): string | undefined => /exceeded quota: ([\w.-]{1,253})/.exec(text)?.[1];

/** What registries and container runtimes say, the first that fits; a registry that refuses often says that there may be no such image. */
const pullErrors: readonly (readonly [says: RegExp, words: string])[] = [
  [/unauthorized|insufficient_scope|denied|forbidden/i, 'its registry refuses it'],
  [/not found|manifest unknown|name unknown/i, 'its registry has none of that name'],
  [/no such host|timeout|timed out|connection refused|\b50[0234]\b/i, 'its registry does not answer'],
];

/** A sentence of Kubernetes is a cause up to here, characters. */
const longestSentence = 200;

/** What a Job that cannot start waits for: what is missing by its name, else the first sentence that Kubernetes says of it. */
export function waitingCause({
  reason,
  message = '',
}: {
  readonly reason: string | undefined;
  readonly message?: string | undefined;
}): string | undefined {
  const missing = missingIn(reason, message);
  if (missing !== undefined) {
    const why = missing.endsWith('cannot be pulled') ? pullErrors.find(([says]) => says.test(message)) : undefined;
    return why ? `${missing}: ${why[1]}` : missing;
  }
  const sentence = /^(.*?)(?:\.(?:\s|$)|\n|$)/.exec(message.trim())?.[1] ?? '';
  if (sentence === '') return undefined;
  return sentence.length <= longestSentence ? sentence : `${sentence.slice(0, longestSentence - 1)}…`;
}

const scopes: readonly (readonly [RegExp, (name: string) => Words])[] = [
  [/^node (\S+)$/, (name) => `Node ${name} ends their pods, or does not start them`],
  [/^registry (\S+)$/, (name) => `Registry ${name} does not serve their images`],
  [/^webhook (\S+)$/, (name) => `Admission webhook ${name} refuses or does not answer`],
];

/** Sentences of a cause: what is named in them stands in the namespace, or in the cluster. */
const named: readonly (readonly [RegExp, (found: string, namespace: string) => Words])[] = [
  [/\bevicted from node (\S+)/, (node) => `Node ${node} evicts their pods`],
  [/^(Image \S+ cannot be pulled)/, (says) => says],
  [/^((?:Secret|ConfigMap|ServiceAccount|Quota|Volume) \S+ (?:is|cannot)(?: \w+)+)/, (says, at) => `${says} in ${at}`],
];

const refusals: readonly (readonly [RegExp, string])[] = [
  [/refused|ECONNREFUSED|can't connect|failed to connect/i, 'refuses connections'],
  [/no such host|ENOTFOUND|could not (?:resolve|translate)|name resolution/i, 'is not found by its name'],
  [/timed? ?out|ETIMEDOUT|no route to host|unreachable/i, 'does not answer'],
];

/** Where a line says that it wanted to connect to. A place in a source, `main.go:42`, and a time of day are none. */
const places: readonly RegExp[] = [
  /(?:lookup|ENOTFOUND|resolve host(?:name)?:?|host name) ["']?([\w-]+(?:\.[\w-]+)*)/i,
  /(?<![\w.:/-])((?!\d+:)(?:[\w-]+\.)*[\w-]+(?<!\.(?:go|py|js|ts|rb|java|c|cc|cpp|php|rs|kt)):\d{2,5})(?!\w|:\d|\.\d)/,
  /(?:at|on|host|to) ["']([\w.-]+)["']/,
];

/** The one sentence, by cause, scope of the fault and decisive line of the log, of all CronJobs that fail by the same image, object, node or host; undefined: what explains it is its own, or not known. */
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
  const how = refusals.find(([pattern]) => pattern.test(line))?.[1];
  if (how === undefined) return undefined;
  const place = places.map((pattern) => pattern.exec(line)?.[1]).find((found) => found !== undefined);
  return place && `${place} ${how}`;
}

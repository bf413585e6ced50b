import type { Ref, Told, VerdictFinding, VerdictKind, VerdictStep } from '../../contract/index.ts';
import { alertTypesOf, type AbsenceCause } from '../../contract/vocabulary.ts';
import { quotaIn, templateMend } from './waiting.ts';
import { refText } from '../../contract/wording.ts';

/** A Job that has not started. */
interface WaitingJob {
  readonly jobName: string;
  readonly reason: string | undefined;
  readonly message?: string | undefined;
}

/** What the next step follows from. */
export interface StepFacts {
  readonly cronJob: Ref;
  readonly kind: VerdictKind;
  /** Of its monitor's rules. */
  readonly findings: readonly VerdictFinding[];
  /** What the run that failed asks for; undefined: it is about no run. */
  readonly run: VerdictStep | undefined;
  /** A Job that waits. */
  readonly waiting: WaitingJob | undefined;
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
  ({ findings, cronJob }) => (findings.some(expectsNoRun) ? editSchedule(cronJob) : undefined),
  ({ run, runbook }) => (run?.action === 'openRun' && isPlain(run) ? (openRunbook(runbook) ?? run) : run),
  ({ waiting, cronJob }) => waiting && waitingStep(cronJob, waiting),
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

const expectsNoRun = ({ code }: VerdictFinding): boolean => code === 'ScheduleNeverFires' || code === 'ScheduleInvalid';

/** Which one it should have is not known. */
function editSchedule({ namespace, name }: Ref): VerdictStep {
  const command = `kubectl -n ${namespace} edit cronjob ${name}`;
  return { ...step('copyPatch', 'Set a schedule that has a next run', { command }), label: 'Copy kubectl edit' };
}

function setInCronJob({ path, value, command }: NonNullable<VerdictFinding['mend']>, words: string): VerdictStep {
  const field = path.slice(path.lastIndexOf('.') + 1);
  return { ...step('copyPatch', `Set ${field} to ${value}: ${words}`, { command }), label: `Copy patch: ${value}` };
}

/** A Job keeps its template: what is mended in the CronJob reaches the next one alone. */
function waitingStep(cronJob: Ref, { jobName, reason, message = '' }: WaitingJob): VerdictStep {
  const mend = templateMend(reason, message);
  if (mend === undefined)
    return openRunOf(cronJob, jobName, reason ? `Open the run: it waits (${reason})` : 'Open the run: it waits');
  const words = `${mend}; then delete the Job that waits, which keeps the old template`;
  return { ...openRunOf(cronJob, jobName, words), command: `kubectl -n ${cronJob.namespace} delete job ${jobName}` };
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
  const rules = monitor && `/monitors/${refText(monitor)}`;
  const named = monitor && `monitor ${refText(monitor)}`;
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

import { alertTypes, alertTypeTable, type MonitorPhase, type RolloutState } from '../../contract/vocabulary.ts';
import { refText } from '../../contract/wording.ts';
import type { ConditionVerdict } from './condition.ts';
import type { MonitorSpec } from './monitor-spec.ts';
import type { DecodedSpec } from './decode-monitor.ts';
import type { Reach } from './reach.ts';
import { describeProblems, specReasons } from './reading.ts';

export const monitorConditionTypes = [
  'Ready',
  'SpecValid',
  'ChannelsResolved',
  'SelectorAuthorized',
  'SchedulesUnderstood',
  'ConfigurationSound',
  'ExpectationsMet',
  'Healthy',
  'Stalled',
] as const;
type MonitorConditionType = (typeof monitorConditionTypes)[number];

/** Why a schedule of a selected CronJob is not understood; worst first. */
const scheduleFaults = {
  ScheduleInvalid: 'its schedule cannot be read',
  ZoneUnknown: 'its time zone is not known',
  ZoneMismatch: 'the cluster reads its schedule in another zone than cluster.default-time-zone says',
  ScheduleNeverFires: 'its schedule never fires',
  EveryNeverRuns: 'its startingDeadlineSeconds is shorter than the period of its schedule',
};
export type ScheduleFault = keyof typeof scheduleFaults;

/** All that the conditions of a monitor follow from. */
export interface MonitorFacts {
  readonly decoded: DecodedSpec<MonitorSpec>;
  /** `pending`: not yet; a text: why the evaluation failed. */
  readonly evaluation: 'done' | 'pending' | { readonly failed: string };
  readonly reach: Reach;
  /**
   * Of the channels referenced: `missing`, whom one does not admit, or why it is not ready; absent: ready. `annotationOf`: the CronJob whose
   * owner names it.
   */
  readonly channelFaults: readonly {
    readonly name: string;
    readonly annotationOf?: string | undefined;
    readonly fault: 'missing' | { readonly notAllowed: string } | { readonly notReady: string };
  }[];
  /** Names of all that are referenced, in their order. Absent: those of `channelRefs`. */
  readonly channelNames?: readonly string[] | undefined;
  readonly scheduleFaults: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly fault: ScheduleFault;
  }[];
  /** CronJobs that it expects, as `namespace/name`, which are not there; undefined: that was not asked yet. */
  readonly expectations?:
    | {
        readonly missing: readonly string[];
        readonly namespaceGone: readonly string[];
        /** In namespaces that the monitor may not look into: nothing is said of whether they are there. */
        readonly outOfReach: readonly string[];
      }
    | undefined;
  /**
   * How the CronJobs fare that it selects, but those that are suspended or all well; undefined: some of them were not read yet. `reason` is
   * that of the condition, while Degraded.
   */
  readonly rollouts?:
    | readonly {
        readonly namespace: string;
        readonly name: string;
        readonly state: RolloutState;
        readonly reason: string | undefined;
      }[]
    | undefined;
  readonly selected: number;
  /** Groups of Jobs that it selects and that are not watched, for there are too many in the cluster. */
  readonly refusedGroups?: { readonly count: number; readonly names: readonly string[] } | undefined;
  /** Findings of the lint: detection.md section 8. */
  readonly findings: readonly {
    readonly code: string;
    readonly level: 'error' | 'warning' | 'note';
    readonly message: string;
  }[];
}

/** The eight conditions of a monitor, in their order; a ninth, Stalled, while its spec cannot work. resources.md section 5. */
export function judgeMonitor(facts: MonitorFacts): ConditionVerdict[] {
  return [
    ready(facts),
    specValid(facts),
    channelsResolved(facts),
    selectorAuthorized(facts),
    schedulesUnderstood(facts),
    sound(facts),
    expectationsMet(facts),
    healthy(facts),
    ...stalled(facts),
  ];
}

/** The phase: the worst that a condition asks for. A monitor whose spec is no object cannot be evaluated. */
export function phaseOf(conditions: readonly Pick<ConditionVerdict, 'type' | 'status' | 'reason'>[]): MonitorPhase {
  const isAt = (type: MonitorConditionType, status: string): boolean =>
    conditions.some((condition) => condition.type === type && condition.status === status);
  if (conditions.some(({ reason }) => reason === 'EvaluationFailed' || reason === 'Undecodable')) return 'Error';
  const degrading = ['SpecValid', 'ChannelsResolved', 'SelectorAuthorized', 'SchedulesUnderstood'] as const;
  if (degrading.some((type) => isAt(type, 'False'))) return 'Degraded';
  return isAt('Ready', 'True') ? 'Active' : 'Pending';
}

function verdict(
  type: MonitorConditionType,
  status: ConditionVerdict['status'],
  reason: string,
  message: string,
): ConditionVerdict {
  return { type, status, reason, message };
}

function ready({ evaluation, decoded }: MonitorFacts): ConditionVerdict {
  if (!decoded.ok) return verdict('Ready', 'False', 'EvaluationFailed', decoded.undecodable);
  if (evaluation === 'pending') return verdict('Ready', 'Unknown', 'NotEvaluated', 'not evaluated yet');
  if (evaluation !== 'done') return verdict('Ready', 'False', 'EvaluationFailed', evaluation.failed);
  if (decoded.problems.length > 0) return verdict('Ready', 'False', 'InvalidSpec', describeProblems(decoded.problems));
  return verdict('Ready', 'True', 'Evaluated', 'the last evaluation succeeded');
}

function specValid({ decoded, refusedGroups }: MonitorFacts): ConditionVerdict {
  if (!decoded.ok) return verdict('SpecValid', 'False', 'Undecodable', decoded.undecodable);
  const { problems } = decoded;
  const reason = specReasons.find((reason) => problems.some((problem) => problem.reason === reason));
  if (reason === undefined && refusedGroups) {
    const { count, names } = refusedGroups;
    const message = `jobs selects more groups of Jobs than are watched: ${count} are not, such as ${names.slice(0, mostInHealth).join(', ')}`;
    return verdict('SpecValid', 'True', 'TooManyGroups', message);
  }
  if (reason === undefined) return verdict('SpecValid', 'True', 'Valid', 'every field can be used');
  return verdict('SpecValid', 'False', reason, describeProblems(problems));
}

function channelsResolved({ decoded, channelFaults, channelNames }: MonitorFacts): ConditionVerdict {
  const type = 'ChannelsResolved';
  const names = channelNames ?? (decoded.ok ? (decoded.spec.alerting?.channelRefs ?? []).map(({ name }) => name) : []);
  if (names.length === 0) return verdict(type, 'True', 'NoneReferenced', 'no channel is referenced');
  if (channelFaults.length === 0) return verdict(type, 'True', 'AllReady', `ready: ${fewOf(names)}`);
  const [reason = 'ChannelNotReady'] = channelFaults.map(({ fault }) => channelReasonOf(fault)).toSorted(byWorst);
  const texts = channelFaults.map(({ name, annotationOf, fault }) => {
    const named = annotationOf === undefined ? name : `${name} (annotation of ${annotationOf})`;
    if (fault === 'missing') return `${named}: there is no such channel`;
    return 'notAllowed' in fault
      ? `${named}: it does not admit ${fault.notAllowed}`
      : `${named}: not ready, ${fault.notReady}`;
  });
  return verdict(type, 'False', reason, listOf(texts));
}

const channelReasons = ['ChannelNotFound', 'ChannelNotAllowed', 'ChannelNotReady'] as const;
type ChannelReason = (typeof channelReasons)[number];

function channelReasonOf(fault: MonitorFacts['channelFaults'][number]['fault']): ChannelReason {
  if (fault === 'missing') return 'ChannelNotFound';
  return 'notAllowed' in fault ? 'ChannelNotAllowed' : 'ChannelNotReady';
}

const byWorst = (a: ChannelReason, b: ChannelReason): number => channelReasons.indexOf(a) - channelReasons.indexOf(b);

const refusalTexts = {
  NamespaceNotAuthorized: 'has not agreed to be monitored from here',
  NamespaceIgnored: 'is left out by the configuration',
  NamespaceNotFound: 'does not exist',
} as const;

function selectorAuthorized({ reach }: MonitorFacts): ConditionVerdict {
  const type = 'SelectorAuthorized';
  const first = (Object.keys(refusalTexts) as (keyof typeof refusalTexts)[]).find((reason) =>
    reach.refused.some((refusal) => refusal.reason === reason),
  );
  if (first !== undefined) {
    const texts = reach.refused.map(({ namespace, reason }) => `namespace ${namespace} ${refusalTexts[reason]}`);
    return verdict(type, 'False', first, listOf(texts));
  }
  const passed = reach.passedOver.length === 0 ? '' : `; left out: ${reach.passedOver.join(', ')}`;
  return verdict(type, 'True', 'Authorized', `every namespace asked for may be monitored${passed}`);
}

function schedulesUnderstood({ scheduleFaults: faults }: MonitorFacts): ConditionVerdict {
  const type = 'SchedulesUnderstood';
  const worst = Object.keys(scheduleFaults).find((fault) => faults.some((one) => one.fault === fault));
  if (worst === undefined) return verdict(type, 'True', 'All', 'every schedule is understood');
  return verdict(
    type,
    'False',
    worst,
    listOf(faults.map(({ namespace, name, fault }) => `${namespace}/${name}: ${scheduleFaults[fault]}`)),
  );
}

function sound({ decoded, findings }: MonitorFacts): ConditionVerdict {
  const type = 'ConfigurationSound';
  const noted = decoded.ok ? decoded.notes.map(({ code, path, message }) => `${code}: ${path} ${message}`) : [];
  const texts = [...findings.map(({ code, message }) => `${code}: ${message}`), ...noted];
  if (findings.some(({ level }) => level !== 'note')) return verdict(type, 'False', 'LintFindings', listOf(texts));
  return texts.length > 0
    ? verdict(type, 'True', 'Noted', listOf(texts))
    : verdict(type, 'True', 'Sound', 'nothing to remark');
}

/** It leaves the phase alone: the monitor itself does what it should. */
function expectationsMet({ decoded, expectations }: MonitorFacts): ConditionVerdict {
  const type = 'ExpectationsMet';
  if (!decoded.ok || decoded.spec.expects === undefined)
    return verdict(type, 'True', 'NoneExpected', 'no CronJob is expected by its name');
  if (expectations === undefined) return verdict(type, 'Unknown', 'NotEvaluated', 'not evaluated yet');
  const { missing, namespaceGone, outOfReach } = expectations;
  const message = listOf([
    ...(missing.length > 0 ? [`missing: ${fewOf(missing)}`] : []),
    ...(outOfReach.length > 0
      ? [`in a namespace that this monitor may not look into, and not judged: ${fewOf(outOfReach)}`]
      : []),
    ...(namespaceGone.length > 0 ? [`in a namespace that is not there: ${fewOf(namespaceGone)}`] : []),
  ]);
  const otherwise = outOfReach.length > 0 ? 'OutOfReach' : 'NamespaceGone';
  if (message !== '') return verdict(type, 'False', missing.length > 0 ? 'Missing' : otherwise, message);
  return verdict(type, 'True', 'AllPresent', 'every CronJob that is expected is there');
}

/** Reasons of Degraded CronJobs, the worst first. */
const healthReasons: readonly string[] = [
  ...(['critical', 'warning'] as const).flatMap((severity) =>
    alertTypes.map((type) => alertTypeTable[type]).flatMap((row) => (row.severity === severity ? [row.label] : [])),
  ),
  'LastRunFailed',
  'ScheduleProblem',
];

const mostInHealth = 5;

/** How the present job templates of its CronJobs fare: for those who wait for a rollout. It leaves the phase alone. */
function healthy({ rollouts, selected }: MonitorFacts): ConditionVerdict {
  const type = 'Healthy';
  if (selected === 0) return verdict(type, 'Unknown', 'NothingSelected', 'no CronJob is selected');
  if (!rollouts || rollouts.some(({ state }) => state === 'Unknown'))
    return verdict(type, 'Unknown', 'NotEvaluated', 'not evaluated yet');
  const degraded = rollouts
    .filter(({ state }) => state === 'Degraded')
    .map((rollout) => ({ ...rollout, rank: healthReasons.indexOf(rollout.reason ?? '') }))
    .toSorted((a, b) => a.rank - b.rank);
  const [worst] = degraded;
  if (worst)
    return verdict(
      type,
      'False',
      worst.reason ?? 'LastRunFailed',
      fewOf(
        degraded.map(({ namespace, name, reason }) => `${namespace}/${name}: ${reason}`),
        mostInHealth,
      ),
    );
  const progressing = rollouts.filter(({ state }) => state === 'Progressing');
  if (progressing.length === 0)
    return verdict(type, 'True', 'AllHealthy', 'every CronJob that is not suspended is healthy');
  const names = fewOf(progressing.map(refText), mostInHealth);
  return verdict(type, 'Unknown', 'Progressing', `no run with the present job template has ended of ${names}`);
}

/** Tools that know the conditions of Kubernetes alone wait no longer when they see it. */
function stalled(facts: MonitorFacts): ConditionVerdict[] {
  const { status, reason, message } = specValid(facts);
  return status === 'False' ? [verdict('Stalled', 'True', reason, message)] : [];
}

const mostNamed = 20;

function fewOf(names: readonly string[], most = mostNamed): string {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return names.slice(0, most).join(', ') + more;
}

function listOf(texts: readonly string[]): string {
  return texts.join('; ');
}

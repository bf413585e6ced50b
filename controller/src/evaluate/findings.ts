import type { AlertType } from '@cronjob-monitor/shared/contract';
import {
  alertSeverity,
  endsWithSuccess,
  inhibitionOf,
  toPossibleCause,
  jobNamesOf,
  jobReasonOf,
  joinsStorms,
  toHolding,
  type AlertFinding,
  type AlertRules,
  type AlertRun,
  type Execution,
  type FindingVerdict,
  type Instant,
  type Judged,
  type MessageHold,
  type PossibleCause,
  type Verdict,
} from '@cronjob-monitor/shared/domain';
import type { AlertRecord } from '@cronjob-monitor/shared/store';
import type { ToldAtOnce } from '../alerting/index.ts';
import type { Subject, Watch } from './subject.ts';

type Holding = Extract<Verdict, { readonly kind: 'holds' }>;

/** What the findings of one CronJob and monitor need besides its answers. */
export interface FindingContext {
  readonly now: Instant;
  /** A run that a verdict names; undefined: it is not known. */
  readonly runOf: (jobName: string) => AlertRun | undefined;
  /** How many failures or missed runs of an edge are new. */
  readonly occurred: (judged: Judged, open: AlertRecord | undefined) => number;
  /** The run that cleared what is quiet now. */
  readonly clearedBy: Pick<Execution, 'jobName' | 'finishedAt'> | undefined;
  /** Alerts that an earlier finding of this transaction opens, by type and subject. */
  readonly openedBefore?: ReadonlySet<string> | undefined;
  /** Set while a time that has passed is judged: from then on, and until then, the answer held. */
  readonly happenedAt?: Instant | undefined;
  readonly untilAt?: Instant | undefined;
  /** When what is quiet now ended, where that has passed. */
  readonly endedAt?: Instant | undefined;
  /** What may hold back a message of a time that has passed; absent: what is active now, and what becomes active. */
  readonly causes?: readonly PossibleCause[] | undefined;
  /** Whether it began while the service did not watch. */
  readonly isDelayed: (sinceAt: Instant) => boolean;
  /** What a monitor wants told at once of a run about which more is still being read; undefined: nothing is. */
  readonly knownOf: (
    jobUid: string,
    monitor: Pick<Watch['monitor'], 'namespace' | 'name'>,
    include: Watch['rules']['includeContext'],
  ) => ToldAtOnce | undefined;
  /** What holds back what joins storms: the one there is, or without a `ref` the question whether one begins; undefined: neither. */
  readonly stormHold: MessageHold | undefined;
  /** What holds back every message, storm or not: all that the first pass over an empty database finds is told together. */
  readonly firstHold?: MessageHold | undefined;
}

/** Turns answers into findings for `raise`. An answer that cannot be given now makes no finding. */
export function findingsOf(
  subject: Subject,
  watch: Watch,
  judged: readonly Judged[],
  context: FindingContext,
): AlertFinding[] {
  const causes = context.causes ?? causesOf(subject, watch, judged, context);
  return judged.flatMap((one) => {
    const verdict = toFindingVerdict(subject, watch, one, causes, context);
    return verdict
      ? [findingOf(subject, { monitor: watch.monitor, rules: rulesFor(verdict, watch) }, one, verdict)]
      : [];
  });
}

/** What was over before the monitor told its channels of anything is told to none. */
function rulesFor(verdict: FindingVerdict, { rules: { alerts }, silentUntilAt = -Infinity }: Watch): AlertRules {
  const overAt = verdict.kind === 'holds' ? verdict.happenedAt && verdict.untilAt : verdict.endedAt;
  return (overAt ?? Infinity) <= silentUntilAt ? { ...alerts, alerting: undefined } : alerts;
}

export function findingOf(
  { row }: Subject,
  { monitor, rules }: Pick<AlertFinding, 'monitor' | 'rules'>,
  { type, subject }: Pick<AlertFinding, 'type' | 'subject'>,
  verdict: FindingVerdict,
): AlertFinding {
  const { id, uid, namespace, name, lastSuccessAt } = row;
  const cronJob = { id, uid, namespace, name, lastSuccessAt };
  const dependent = row.isDependent ? { ranAt: row.ranAt } : undefined;
  return { monitor, cronJob, type, subject, verdict, rules, dependent };
}

function toFindingVerdict(
  subject: Subject,
  watch: Watch,
  judged: Judged,
  causes: readonly PossibleCause[],
  context: FindingContext,
): FindingVerdict | undefined {
  const { verdict } = judged;
  if (verdict.kind === 'undecided') return undefined;
  const open = openOf(subject, watch, judged);
  if (verdict.kind === 'holds') return toHoldingFinding(subject, watch, { ...judged, verdict }, open, causes, context);
  if (open === undefined && !context.openedBefore?.has(keyOf(judged))) return undefined;
  const { reason } = verdict;
  const { endedAt, clearedBy } = context;
  // Removed history ends no alert. Only a target that a running Job broke ends when that Job is gone.
  const isRemoved = judged.type !== 'slaBreached' || (subject.row.baselineAt ?? 0) >= (open?.sinceAt ?? Infinity);
  if (reason === 'noRun' && isRemoved) return undefined;
  // The alert waits for the repair of its monitor.
  if (reason === 'notConfigured' && watch.isMisread === true) return undefined;
  if (reason === 'notConfigured' || reason === 'paused' || reason === 'noRuns' || reason === 'forgotten')
    return { kind: 'gone', cause: reason, endedAt };
  const quietAt = endedAt ?? endBySuccess(judged, open, clearedBy?.finishedAt);
  return { kind: 'quiet', by: clearedBy?.jobName, byEndedAt: clearedBy?.finishedAt, endedAt: quietAt };
}

/** The end of an alert that a success ends; undefined: no success came, or this type ends in another way. */
function endBySuccess(judged: Judged, open?: AlertRecord, succeededAt?: Instant): Instant | undefined {
  return endsWithSuccess(judged) && succeededAt !== undefined
    ? Math.max(succeededAt, open?.sinceAt ?? succeededAt)
    : undefined;
}

function toHoldingFinding(
  { zone }: Subject,
  { monitor, rules }: Watch,
  judged: Judged & { readonly verdict: Holding },
  open: AlertRecord | undefined,
  causes: readonly PossibleCause[],
  context: FindingContext,
): FindingVerdict {
  const { type, subject, verdict } = judged;
  const jobName = jobNamesOf(verdict.detail)[0];
  const run = jobName === undefined ? undefined : context.runOf(jobName);
  const { severity } = alertSeverity(type, rules.alerts.severityOverrides, verdict.severity);
  const inhibition = inhibitionOf({ type, subject, severity, jobNames: jobNamesOf(verdict.detail) }, causes, {
    now: context.now,
    duplicateWindowMs: rules.alerts.suppressDuplicatesForMs,
  });
  const include = rules.includeContext;
  const told = run && wantsContext(include) ? context.knownOf(run.jobUid, monitor, include) : undefined;
  const worded = toHolding(type, subject, verdict, { timeZone: zone, run, include });
  const openingRun = open === undefined ? run : undefined;
  // An open alert is told anew as of the end of the run that it names.
  const newsAt = (open && run?.finishedAt) ?? verdict.since;
  const storm =
    context.firstHold ?? (joinsStorms({ type, subject }) ? stormHoldOf(context.stormHold, open) : undefined);
  return {
    kind: 'holds',
    severity: verdict.severity,
    ...worded,
    context: { ...told?.facts, ...worded.context },
    occurred: context.occurred(judged, open),
    delayed: context.isDelayed(newsAt) || isOld(run, context),
    beganAt: context.happenedAt ?? (type === 'jobFailed' ? openingRun?.finishedAt : heldFrom(type, verdict, rules)),
    happenedAt: context.happenedAt,
    untilAt: context.untilAt,
    hold: storm ?? (inhibition && { reason: 'inhibited', untilAt: inhibition.untilAt, ref: inhibition.cause.id }),
    awaited: told?.awaited,
  };
}

/** Only an alert that becomes active now counts for the beginning of a storm, and waits for it. */
function stormHoldOf(hold: MessageHold | undefined, open: AlertRecord | undefined): MessageHold | undefined {
  const isQuestion = hold?.ref === undefined;
  return isQuestion && open?.state === 'active' ? undefined : hold;
}

/** From when on a level held so that it could be told: a delay counts from there, and not from when the service looked. */
function heldFrom(type: AlertType, { since, detail, figures }: Holding, { detection }: Watch['rules']): Instant {
  if (type !== 'missedSchedule') return since;
  const lastSlotAt = Number(detail['lastSlotAt'] ?? since);
  return (figures.limit === 1 ? since : lastSlotAt) + detection.missedSchedule.graceMs;
}

/** A run that ended so long before it is judged is late news. */
const lateNewsMs = 5 * 60_000;

function isOld(run: AlertRun | undefined, { now }: FindingContext): boolean {
  return run?.finishedAt !== undefined && now - run.finishedAt > lateNewsMs;
}

/** A monitor that tells nothing of a run does not wait for its evidence. */
function wantsContext(include: Watch['rules']['includeContext']): boolean {
  return include === undefined || include.logs || include.events || include.podStatus || include.suggestedFixes;
}

/** What is active of this monitor, and what becomes active now. */
function causesOf(
  subject: Subject,
  watch: Watch,
  judged: readonly Judged[],
  { now, runOf }: FindingContext,
): PossibleCause[] {
  const answered = new Map(judged.map((one) => [keyOf(one), one.verdict.kind]));
  const lasting = subject.alerts
    .filter((alert) => alert.monitorId === watch.monitor.id && alert.state === 'active')
    .filter((alert) => answered.get(keyOf(alert)) !== 'quiet')
    .map((alert) => toPossibleCause(alert, now));
  const opening = judged.flatMap(({ type, subject: of, verdict }): PossibleCause[] => {
    // An alert with a delay is told later, and until then holds back no other.
    if (verdict.kind !== 'holds' || watch.rules.alerts.alertDelayMs > 0) return [];
    if (openOf(subject, watch, { type, subject: of })) return [];
    const { severity } = alertSeverity(type, watch.rules.alerts.severityOverrides, verdict.severity);
    const jobNames = jobNamesOf(verdict.detail);
    const { reason } = verdict.detail;
    const told = runOf(jobNames[0] ?? '')?.reason ?? (typeof reason === 'string' ? reason : undefined);
    const jobReason = jobReasonOf(verdict.detail);
    return [{ id: undefined, type, subject: of, severity, activatedAt: now, jobNames, reason: told, jobReason }];
  });
  return [...lasting, ...opening];
}

function openOf(subject: Subject, watch: Watch, of: Pick<Judged, 'type' | 'subject'>): AlertRecord | undefined {
  return subject.alerts.find((alert) => alert.monitorId === watch.monitor.id && keyOf(alert) === keyOf(of));
}

export const keyOf = ({ type, subject }: Pick<Judged, 'type' | 'subject'>): string => `${type}/${subject ?? ''}`;

import type { AlertSubject, AlertType, Severity } from '../../contract/index.ts';
import type { AlertRecord } from '../alert/alert.ts';
import { failureOf, toAlertFacts } from '../delivery/alert-context.ts';
import { isHopelessReason } from '../execution/hopeless-wait.ts';
import type { Instant } from '../instant.ts';

/** An active alert, or one that becomes active now, of the same CronJob and monitor. */
export interface PossibleCause {
  /** Undefined: it gets its row now. */
  readonly id: string | undefined;
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly severity: Severity;
  readonly activatedAt: Instant;
  /** The Jobs it is about. */
  readonly jobNames: readonly string[];
  /** Reason of the run it is about. */
  readonly reason: string | undefined;
  /** What ended that run, where its reason is another: one that was killed for its memory may have met its deadline too. */
  readonly jobReason?: string | undefined;
}

/** What ended the run that a verdict is about, where its reason is another. */
export function jobReasonOf(detail: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const told = detail?.['jobReason'];
  return typeof told === 'string' ? told : undefined;
}

/** An active alert as a possible cause of what is found at `now`. */
export function toPossibleCause(alert: AlertRecord, now: Instant): PossibleCause {
  const facts = toAlertFacts(alert.context);
  const { jobName } = facts;
  const { reason } = failureOf(facts);
  const { id, type, subject, severity, activatedAt = now } = alert;
  const jobReason = jobReasonOf(facts.verdict?.detail);
  return {
    id,
    type,
    subject,
    severity,
    activatedAt,
    jobNames: jobName === undefined ? [] : [jobName],
    reason,
    jobReason,
  };
}

/** What a cause may hold back. */
export type PossibleSign = Pick<PossibleCause, 'type' | 'subject' | 'severity' | 'jobNames'>;

interface Inhibition {
  readonly cause: PossibleCause;
  /** Undefined: as long as the cause is active. */
  readonly untilAt: Instant | undefined;
}

interface Rule {
  readonly causes: (cause: PossibleCause) => boolean;
  readonly holdsBack: (sign: PossibleSign) => boolean;
  /** Both must speak of one Job. */
  readonly sameJob: boolean;
  /** It holds back for one duplicate window only. */
  readonly once?: true;
}

const is =
  (type: AlertType, ...subjects: AlertSubject[]) =>
  (alert: Pick<PossibleCause, 'type' | 'subject'>): boolean =>
    alert.type === type && (subjects.length === 0 || subjects.some((subject) => subject === alert.subject));

/** detection.md section 4: what is active holds back the message of what follows from it. */
const rules: readonly Rule[] = [
  { causes: is('missedSchedule'), holdsBack: is('deadManTriggered'), sameJob: false, once: true },
  {
    causes: (cause) => is('jobFailed')(cause) || is('missedSchedule')(cause) || is('jobStuck')(cause),
    holdsBack: is('absent', 'neverSucceeded'),
    sameJob: false,
    once: true,
  },
  { causes: is('slaBreached', 'maxDuration'), holdsBack: is('jobStuck', 'overrunning'), sameJob: true },
  {
    // What could never start is ended by its deadline too, and its reason is what it waited for.
    causes: ({ type, reason, jobReason }) =>
      type === 'jobFailed' && ([reason, jobReason].includes('DeadlineExceeded') || isHopelessReason(reason)),
    holdsBack: (sign) => is('slaBreached', 'maxDuration')(sign) || is('jobStuck')(sign),
    sameJob: true,
  },
  {
    causes: is('jobStuck', 'notStarted'),
    holdsBack: (sign) => is('slaBreached', 'maxDuration')(sign) || is('jobStuck', 'overrunning')(sign),
    sameJob: true,
  },
];

/**
 * What holds back the message about `sign` now; undefined: nothing does. Only a cause of the same or a higher severity does: a warning
 * never holds back a critical page.
 */
export function inhibitionOf(
  sign: PossibleSign,
  causes: readonly PossibleCause[],
  of: { readonly now: Instant; readonly duplicateWindowMs: number },
): Inhibition | undefined {
  for (const rule of rules) {
    if (!rule.holdsBack(sign)) continue;
    const cause = causes.find(
      (candidate) =>
        rule.causes(candidate) &&
        (candidate.severity === 'critical' || sign.severity === 'warning') &&
        (!rule.sameJob || candidate.jobNames.some((name) => sign.jobNames.includes(name))) &&
        (!rule.once || of.now < candidate.activatedAt + of.duplicateWindowMs),
    );
    if (cause) return { cause, untilAt: rule.once ? cause.activatedAt + of.duplicateWindowMs : undefined };
  }
  return undefined;
}

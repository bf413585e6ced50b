import type { AlertSubject, AlertType } from '../../contract/index.ts';
import type { Figures, Verdict } from '../detect/verdict.ts';
import type { Fault } from '../execution/fault.ts';
import type { Instant } from '../instant.ts';
import { withoutAbsent, type AlertFacts, type AlertRun } from './alert-context.ts';
import type { Finding } from '../alert-types/finding.ts';
import { sentenceOf } from '../alert-types/index.ts';

export type HoldingVerdict = Extract<Verdict, { readonly kind: 'holds' }>;

/** What a sentence needs besides the verdict. */
export interface AlertSurroundings {
  /** Zone of the CronJob, else that of the cluster; IANA. */
  readonly timeZone: string;
  /** The run that `detail.jobName` of the verdict names, if it is known. */
  readonly run?: AlertRun | undefined;
  /** `includeContext` of the monitor; undefined: everything. */
  readonly include?: { readonly suggestedFixes: boolean; readonly logs: boolean; readonly events: boolean } | undefined;
}

/** A verdict that holds as an alert keeps it. */
interface WordedFinding {
  readonly sinceAt: Instant;
  readonly count: number;
  readonly message: string;
  readonly figures: Figures;
  readonly context: AlertFacts;
  readonly fault: Fault | undefined;
  readonly signature: string | undefined;
}

/** Words a verdict that holds: its sentences, its figures, and the facts that later messages are worded from. Every type and subject. */
export function toHolding(
  type: AlertType,
  subject: AlertSubject | undefined,
  verdict: HoldingVerdict,
  { timeZone, run, include }: AlertSurroundings,
): WordedFinding {
  const { reason, count, figures, detail } = verdict;
  const finding: Finding = { type, subject, reason, count, figures, detail, timeZone };
  const signature = detail['signature'];
  return {
    sinceAt: verdict.since,
    count,
    message: sentenceOf(finding, run),
    figures: withoutAbsent(figures),
    context: withoutAbsent({
      ...factsOfVerdict(detail),
      ...(run && factsOfRun(run, include)),
      verdict: { reason, count, detail: withoutAbsent(detail), timeZone },
    }),
    fault: detail['fault'] as Fault | undefined, // as the detectors put it there
    signature: typeof signature === 'string' ? signature : undefined,
  };
}

function factsOfVerdict(detail: Readonly<Record<string, unknown>>): AlertFacts {
  const { jobName, exitCode, reason } = detail;
  return {
    jobName: typeof jobName === 'string' ? jobName : undefined,
    exitCode: typeof exitCode === 'number' ? exitCode : undefined,
    reason: typeof reason === 'string' ? reason : undefined,
  };
}

function factsOfRun(run: AlertRun, include: AlertSurroundings['include']): AlertFacts {
  const { jobUid, jobName, exitCode, reason, trigger, scheduledAt, startedAt, finishedAt, durationMs, attempts } = run;
  return withoutAbsent({
    jobUid,
    jobName,
    exitCode,
    reason,
    run: withoutAbsent({ trigger, scheduledAt, startedAt, finishedAt, durationMs, attempts }),
    suggestedFix: include?.suggestedFixes === false ? undefined : run.fix,
    hasLogs: include?.logs === false ? undefined : run.hasLogs,
    hasEvents: include?.events === false ? undefined : run.hasEvents,
  });
}

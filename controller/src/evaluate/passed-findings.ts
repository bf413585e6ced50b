import {
  alertSeverity,
  expectedSlots,
  fingerprintOf,
  jobNamesOf,
  jobReasonOf,
  quiet,
  toPossibleCause,
  type AlertFinding,
  type Instant,
  type Judged,
  type PassedLevel,
  type PossibleCause,
} from '@cronjob-monitor/shared/domain';
import {
  listDueRuns,
  listSpecEpochs,
  lockLastEndedAlerts,
  type AlertRecord,
  type Tx,
} from '@cronjob-monitor/shared/store';
import { findingsOf, keyOf, type FindingContext } from './findings.ts';
import { mayHideSuccess } from './finish-by-facts.ts';
import type { RunningSources } from './running-facts.ts';
import type { Subject, Watch } from './subject.ts';

/** The levels of one watch that began and ended before now, and the answers of now. */
export interface PassedOfWatch {
  readonly subject: Subject;
  readonly watch: Watch;
  /** In the order in which they began. */
  readonly levels: readonly PassedLevel[];
  readonly judged: readonly Judged[];
}

/** A level that has passed, as far as no alert tells it yet. */
interface Untold {
  readonly level: PassedLevel;
  /** An active alert tells its beginning: only its end is news. */
  readonly isOpen: boolean;
}

/** Levels that no alert tells, and those whose alert does not know their end yet. */
export async function findUntold(
  tx: Tx,
  all: readonly PassedOfWatch[],
  { jobsOf }: Pick<RunningSources, 'jobsOf'>,
): Promise<ReadonlyMap<Watch, readonly Untold[]>> {
  const prints = all.flatMap(({ subject, watch, levels }) =>
    levels
      .filter((level) => openOf(subject, watch, level) === undefined)
      .map((level) => printOf(subject, watch, level)),
  );
  const ended = prints.length === 0 ? new Map<string, AlertRecord>() : await lockLastEndedAlerts(tx, prints);
  const untold = new Map(
    all.map(({ subject, watch, levels }) => [
      watch,
      levels.flatMap((level): Untold[] => {
        const open = openOf(subject, watch, level);
        const told = open ?? ended.get(printOf(subject, watch, level));
        if (told === undefined || (told.sinceAt <= level.beganAt && !isPartOf(told, level)))
          return [{ level, isOpen: false }];
        const isOfOpen = open !== undefined && open.sinceAt < level.endedAt;
        return isOfOpen ? [{ level, isOpen: open.state === 'active' }] : [];
      }),
    ]),
  );
  for (const { subject, watch } of all)
    for (const one of untold.get(watch) ?? [])
      if (one.level.type === 'deadManTriggered' && !one.isOpen && (await mayBeFalse(tx, subject, one.level, jobsOf)))
        untold.set(watch, untold.get(watch)?.filter((other) => other !== one) ?? []);
  return untold;
}

/** Whether a success may have come and gone unseen while the level held. */
async function mayBeFalse(
  tx: Tx,
  subject: Subject,
  { beganAt: afterAt, endedAt: untilAt }: PassedLevel,
  jobsOf: RunningSources['jobsOf'],
): Promise<boolean> {
  const { row, facts, zone } = subject;
  const epochs = (await listSpecEpochs(tx, [row.id])).get(row.id) ?? [];
  const [due] = await listDueRuns(tx, [{ cronJobId: row.id, afterAt, untilAt }]);
  const start = { afterAt, createdAt: facts?.createdAt ?? afterAt, anchorAt: undefined, defaultZone: zone };
  const { slots } = expectedSlots(epochs, start, untilAt);
  const expected = slots.flatMap(({ at, epoch }) => (epoch.suspended ? [] : at));
  return mayHideSuccess(subject, jobsOf(row.uid), { afterAt, slots: expected, known: due?.known ?? 0 });
}

/** An edit of rules ends a level by its newest cause; its alert may have begun with an earlier cause of the same level. */
function isPartOf({ endedAt }: AlertRecord, { verdict, cause }: PassedLevel): boolean {
  return (cause === 'loosened' || cause === 'notConfigured') && endedAt !== undefined && endedAt > verdict.since;
}

/** The findings of these levels, each followed by its end. */
export function findingsOfPassed(
  { subject, watch, levels, judged }: PassedOfWatch,
  untold: readonly Untold[],
  context: Omit<FindingContext, 'occurred' | 'clearedBy'>,
): AlertFinding[] {
  return untold.flatMap(({ level, isOpen }) => {
    const { type, subject: of, verdict, endedAt, by, cause } = level;
    const causes = causesAt(verdict.since, { subject, watch, levels, judged }, level);
    const during = {
      ...context,
      causes,
      now: Math.max(verdict.since, endedAt - 1),
      occurred: () => 0,
      clearedBy: by && { jobName: by.jobName, finishedAt: by.endedAt },
      openedBefore: new Set([keyOf(level)]),
      happenedAt: verdict.since,
      untilAt: endedAt,
      isDelayed: (sinceAt: Instant) => context.isDelayed(sinceAt) || context.now - sinceAt > lateNewsMs,
    };
    const ending: Judged = {
      type,
      subject: of,
      verdict: quiet(cause === undefined || cause === 'loosened' ? 'over' : cause),
    };
    return [
      ...(isOpen ? [] : findingsOf(subject, watch, [{ type, subject: of, verdict }], during)),
      ...findingsOf(subject, watch, [ending], { ...during, endedAt }),
    ];
  });
}

/** A message that comes this long after the level began says that it is late. */
const lateNewsMs = 5 * 60_000;

/** The findings that held at that instant and may hold back the message of a level that began then. */
function causesAt(at: Instant, { subject, watch, levels, judged }: PassedOfWatch, of: PassedLevel): PossibleCause[] {
  const { severityOverrides } = watch.rules.alerts;
  const passed = levels.filter((level) => level !== of && level.verdict.since <= at && level.endedAt > at);
  const present = judged.flatMap((one) =>
    one.verdict.kind === 'holds' && one.verdict.since <= at ? [{ ...one, verdict: one.verdict }] : [],
  );
  const held = [...passed, ...present].map(({ type, subject: about, verdict }): PossibleCause => {
    const { since: activatedAt, detail } = verdict;
    const { severity } = alertSeverity(type, severityOverrides, verdict.severity);
    const reason = typeof detail['reason'] === 'string' ? detail['reason'] : undefined;
    const ofJobs = { jobNames: jobNamesOf(detail), reason, jobReason: jobReasonOf(detail) };
    return { id: undefined, type, subject: about, severity, activatedAt, ...ofJobs };
  });
  const open = subject.alerts
    .filter((alert) => alert.monitorId === watch.monitor.id && alert.state === 'active' && alert.sinceAt <= at)
    .map((alert): PossibleCause => ({ ...toPossibleCause(alert, at), activatedAt: alert.sinceAt }));
  return [...open, ...held].filter((cause) => keyOf(cause) !== keyOf(of));
}

function openOf(
  { alerts }: Subject,
  { monitor }: Watch,
  of: Pick<Judged, 'type' | 'subject'>,
): AlertRecord | undefined {
  return alerts.find((alert) => alert.monitorId === monitor.id && keyOf(alert) === keyOf(of));
}

function printOf({ row }: Subject, { monitor }: Watch, { type, subject }: PassedLevel): string {
  return fingerprintOf({ monitorUid: monitor.uid, cronJobUid: row.uid, type, subject });
}

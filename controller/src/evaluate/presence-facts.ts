import {
  factsReach,
  faultOfMiss,
  nthExpectedAfter,
  slotsReach,
  suspendedSince,
  suspensionsIn,
  type CronJobFacts,
  type DetectionFacts,
  type Instant,
  type JudgedSlot,
  type Part,
  type Suspension,
} from '@cronjob-monitor/shared/domain';
import {
  countFailures,
  listRecentSlots,
  listSpecEpochs,
  measureLastDurations,
  type Tx,
} from '@cronjob-monitor/shared/store';
import type { RunningSources } from './running-facts.ts';
import type { Subject, Watch } from './subject.ts';

export interface PresenceFacts {
  readonly present: Pick<DetectionFacts, 'missedSchedule' | 'deadMan' | 'suspended'>;
  /** In the order of time; empty where no rule asks for specs. */
  readonly suspensions: readonly Suspension[];
}

/** Facts about runs that should have come, for these CronJobs at once. */
export async function gatherPresence(
  tx: Tx,
  subjects: readonly Subject[],
  parts: ReadonlySet<Part>,
  { jobsOf, defaultZone }: Pick<RunningSources, 'jobsOf'> & { readonly defaultZone: string },
): Promise<(subject: Subject, watch: Watch) => PresenceFacts> {
  const ids = subjects.map(({ row }) => row.id);
  const slots = parts.has('missedSchedule') ? await listSlots(tx, subjects) : undefined;
  const needsEpochs = parts.has('deadMan') || parts.has('suspended');
  // Epochs tell which missed runs lie before a suspension.
  const withEpochs = needsEpochs ? ids : ids.filter((id) => slots?.get(id)?.some(isUnmet));
  const epochs = withEpochs.length > 0 ? await listSpecEpochs(tx, withEpochs) : undefined;
  const automatic = subjects.filter(({ watches }) => watches.some(({ rules }) => rules.detection.deadMan?.auto));
  const durations = parts.has('deadMan')
    ? await measureLastDurations(
        tx,
        automatic.map(({ row }) => row.id),
        factsReach.durationsForP95,
      )
    : undefined;
  const unsuccessful = parts.has('deadMan')
    ? subjects
        .filter((subject) => lastSuccessOf(subject) === undefined)
        .flatMap(({ row, watches }) =>
          watches
            .filter(({ rules }) => rules.detection.deadMan?.fromCreation)
            .map(({ judgesFromAt: sinceAt }) => ({ cronJobId: row.id, sinceAt })),
        )
    : [];
  const failures = await countFailures(tx, unsuccessful);

  return (subject, watch) => {
    const { row, facts } = subject;
    const own = epochs?.get(row.id) ?? [];
    const measured = durations?.get(row.id);
    const suspended = facts?.suspended ?? false;
    const present: PresenceFacts['present'] = {
      missedSchedule: slots && {
        slots: (slots.get(row.id) ?? [])
          .filter(({ at }) => at >= watch.judgesFromAt)
          .map((slot) => ({
            ...slot,
            fault: faultOfMiss(slot.cause, slot.message, row.namespace),
            refusal: slot.cause === 'createRejected' ? slot.message : undefined,
          })),
        isCut: (slots.get(row.id)?.length ?? 0) >= slotsReachOf(subject),
        paused: suspended && watch.rules.detection.pauseMonitoring,
        pauses: watch.rules.detection.pauseMonitoring ? suspensionsIn(own) : [],
      },
      deadMan: parts.has('deadMan')
        ? {
            suspended,
            lastSuccessAt: lastSuccessOf(subject),
            originAt: watch.judgesFromAt,
            resumedAt: own.findLast((epoch) => epoch.suspended && epoch.toAt !== undefined)?.toAt,
            p95DurationMs: measured && measured.runs >= factsReach.fewestForP95 ? measured.p95Ms : undefined,
            nthSlotAfter: (after, n) =>
              facts && nthExpectedAfter(own.length > 0 ? own : [sinceEver(facts)], defaultZone, after, n),
            unsuccessful: {
              ...failures({ cronJobId: row.id, sinceAt: watch.judgesFromAt }),
              running: jobsOf(row.uid).filter(({ outcome }) => outcome === undefined).length,
            },
          }
        : undefined,
      suspended: parts.has('suspended') ? { suspendedSinceAt: suspended ? suspendedSince(own) : undefined } : undefined,
    };
    return { present, suspensions: suspensionsIn(own) };
  };
}

/** The present schedule as one epoch, for a CronJob without a known one. */
function sinceEver({ schedule, timeZone }: CronJobFacts): Parameters<typeof nthExpectedAfter>[0][number] {
  return { schedule, timeZone, fromAt: -Infinity, toAt: undefined };
}

function isUnmet({ outcome }: Pick<JudgedSlot, 'outcome'>): boolean {
  return outcome !== 'matched' && outcome !== 'late';
}

/** Reads slots together for CronJobs whose rules look equally far back. */
async function listSlots(tx: Tx, subjects: readonly Subject[]): ReturnType<typeof listRecentSlots> {
  const found: Awaited<ReturnType<typeof listRecentSlots>>[] = [];
  for (const [reach, some] of Map.groupBy(subjects, slotsReachOf)) {
    // One after the other, since the transaction has one connection.
    found.push(
      await listRecentSlots(
        tx,
        some.map(({ row }) => row.id),
        reach,
      ),
    );
  }
  return new Map(found.flatMap((some) => [...some]));
}

function slotsReachOf({ watches }: Subject): number {
  return slotsReach(watches.map(({ rules }) => rules.detection.missedSchedule));
}

/** The newest success, by the row or by the status of the CronJob: a restored CronJob names one from before it was made anew. */
function lastSuccessOf({ row, facts }: Subject): Instant | undefined {
  const told = facts?.lastSuccessAt;
  return row.lastSuccessAt === undefined || told === undefined
    ? (row.lastSuccessAt ?? told)
    : Math.max(row.lastSuccessAt, told);
}

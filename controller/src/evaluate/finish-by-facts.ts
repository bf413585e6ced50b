import {
  dailyInstants,
  expectedSlots,
  slotOf,
  type FinishByFacts,
  type Instant,
  type JobFacts,
  type SpecEpoch,
} from '@cronjob-monitor/shared/domain';
import { listDueRuns, listSpecEpochs, type SlotInterval, type Tx } from '@cronjob-monitor/shared/store';
import type { RunningSources } from './running-facts.ts';
import type { Subject, Watch } from './subject.ts';

/** One deadline of one watch, and the interval whose runs were due before it. */
interface Deadline {
  readonly subject: Subject;
  readonly watch: Watch;
  readonly interval: SlotInterval;
  readonly nextAt: Instant;
  readonly slots: readonly Instant[];
}

/** The service looks back at the deadlines of so many days at most. */
const mostDays = 40;

/**
 * Reads what became of the runs that were due before the last deadline of the day and before each deadline that no pass asked about yet.
 * `askedThroughAt` undefined: no pass ever asked.
 */
export async function gatherFinishBy(
  tx: Tx,
  subjects: readonly Subject[],
  now: Instant,
  { askedThroughAt, jobsOf }: { readonly askedThroughAt: Instant | undefined } & Pick<RunningSources, 'jobsOf'>,
): Promise<(watch: Watch) => FinishByFacts> {
  const asked = subjects.filter(({ watches }) => watches.some(({ rules }) => rules.detection.finishBy));
  const epochs = await listSpecEpochs(
    tx,
    asked.map(({ row }) => row.id),
  );
  const deadlines = asked.flatMap((subject) =>
    subject.watches.flatMap((watch) =>
      toDeadlines(subject, watch, epochs.get(subject.row.id) ?? [], { now, askedThroughAt }),
    ),
  );
  const runs = await listDueRuns(
    tx,
    deadlines.map(({ interval }) => interval),
  );
  const days = Map.groupBy(
    deadlines.map((deadline, index) => ({ ...deadline, known: 0, firstSuccessAt: undefined, ...runs[index] })),
    ({ watch }) => watch,
  );
  const facts = new Map<Watch, FinishByFacts>();
  for (const [watch, ofWatch] of days) {
    // The monitor makes no promise for deadlines before it began to judge, and calls none missed that a run may have met unseen.
    const promised = ofWatch.flatMap(({ subject, interval, slots, known, firstSuccessAt: finishedAt }) => {
      const { afterAt, untilAt: deadlineAt } = interval;
      if (deadlineAt < watch.judgesFromAt) return [];
      const isMet = finishedAt !== undefined && finishedAt <= deadlineAt;
      if (!isMet && mayHideSuccess(subject, jobsOf(subject.row.uid), { afterAt, slots, known })) return [];
      return [{ deadlineAt, expectedSlots: slots.length, finishedAt }];
    });
    const last = promised.at(-1);
    facts.set(watch, {
      last: last && last.expectedSlots > 0 ? last : undefined,
      nextDeadlineAt: ofWatch.at(-1)?.nextAt,
      days: promised,
    });
  }
  return (watch) => facts.get(watch) ?? { last: undefined, nextDeadlineAt: undefined };
}

/** Oldest first. */
function toDeadlines(
  subject: Subject,
  watch: Watch,
  epochs: readonly SpecEpoch[],
  of: { readonly now: Instant; readonly askedThroughAt: Instant | undefined },
): Deadline[] {
  const { finishBy } = watch.rules.detection;
  const { facts } = subject;
  if (!finishBy || !facts) return [];
  const askedThroughAt = (watch.wasJudged ? of.askedThroughAt : undefined) ?? -Infinity;
  const newsFromAt = Math.max(watch.judgesFromAt, Math.min(askedThroughAt, watch.newsFromAt ?? Infinity));
  const deadlines: Deadline[] = [];
  try {
    // The deadline before the first news is read as well: a run may have met it since.
    for (let at = of.now; deadlines.length < mostDays && (deadlines[0]?.interval.untilAt ?? Infinity) > newsFromAt;) {
      const { beforeLastAt, lastAt, nextAt } = dailyInstants(finishBy.time, finishBy.timeZone, at);
      const start = {
        afterAt: beforeLastAt,
        createdAt: facts.createdAt,
        anchorAt: undefined,
        defaultZone: subject.zone,
      };
      const { slots } = expectedSlots(epochs, start, lastAt);
      deadlines.unshift({
        subject,
        watch,
        interval: { cronJobId: subject.row.id, afterAt: beforeLastAt, untilAt: lastAt },
        nextAt,
        slots: slots.flatMap(({ at: slotAt, epoch }) => (epoch.suspended ? [] : slotAt)),
      });
      at = beforeLastAt;
    }
  } catch {
    return []; // told as a condition of the monitor
  }
  return deadlines;
}

/**
 * Whether a run of these slots may have succeeded and been cleared away before the service looked. The cluster clears the oldest first, so none
 * of theirs is gone while an older success is there, or fewer than the history limit; and the CronJob names its newest success. `known`: slots
 * of which the outcome is known.
 */
export function mayHideSuccess(
  { facts }: Subject,
  jobs: readonly JobFacts[],
  { afterAt, slots, known }: { readonly afterAt: Instant; readonly slots: readonly Instant[]; readonly known: number },
): boolean {
  if (facts === undefined || (facts.lastSuccessAt ?? 0) < (slots[0] ?? 0)) return false;
  const successes = jobs.filter(({ outcome }) => outcome === 'success');
  const keepsAll = facts.ttlAfterFinishedS === undefined && successes.length < facts.successLimit;
  if (keepsAll || successes.some(({ endedAt }) => endedAt !== undefined && endedAt <= afterAt)) return false;
  const running = new Set(jobs.flatMap((job) => (job.outcome === undefined ? (slotOf(job) ?? []) : [])));
  const started = slots.filter((at) => at <= (facts.lastScheduleAt ?? -Infinity) && !running.has(at));
  return started.length > known;
}

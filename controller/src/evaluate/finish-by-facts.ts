import {
  dailyInstants,
  expectedSlots,
  type FinishByFacts,
  type Instant,
  type SpecEpoch,
} from '@cronjob-monitor/shared/domain';
import { listFirstSuccessEnds, listSpecEpochs, type SlotInterval, type Tx } from '@cronjob-monitor/shared/store';
import type { Subject, Watch } from './subject.ts';

/** One deadline of one watch, and the interval whose runs were due before it. */
interface Deadline {
  readonly subject: Subject;
  readonly watch: Watch;
  readonly interval: SlotInterval;
  readonly nextAt: Instant;
  readonly expectedSlots: number;
}

/** Deadlines of more days than these are not looked back to. */
const mostDays = 40;

/**
 * What became of the runs that were due before the last deadline of the day, and before each that was not asked about yet, for these CronJobs
 * at once. `askedThroughAt` undefined: none ever was.
 */
export async function gatherFinishBy(
  tx: Tx,
  subjects: readonly Subject[],
  now: Instant,
  askedThroughAt: Instant | undefined,
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
  const ends = await listFirstSuccessEnds(
    tx,
    deadlines.map(({ interval }) => interval),
  );
  const days = Map.groupBy(
    deadlines.map((deadline, index) => ({ ...deadline, finishedAt: ends[index] })),
    ({ watch }) => watch,
  );
  const facts = new Map<Watch, FinishByFacts>();
  for (const [watch, ofWatch] of days) {
    // A deadline from before the monitor judged the CronJob is no promise of its.
    const promised = ofWatch
      .filter(({ interval }) => interval.untilAt >= watch.judgesFromAt)
      .map(({ interval, expectedSlots: count, finishedAt }) => ({
        deadlineAt: interval.untilAt,
        expectedSlots: count,
        finishedAt,
      }));
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
    // The deadline before the first that may be news as well: it may have been met since.
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
        expectedSlots: slots.filter(({ epoch }) => !epoch.suspended).length,
      });
      at = beforeLastAt;
    }
  } catch {
    return []; // told as a condition of the monitor
  }
  return deadlines;
}

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
    // A deadline from before the monitor judged the CronJob is no promise of its; one that may have been met unseen is not called missed.
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
 * Whether a run of these slots may have succeeded and left the cluster before the service looked. The cluster clears away the oldest first:
 * while a success that ended before them is there, or fewer than the history keeps, none of theirs has gone; and it names the newest success. `known`: of how many slots it
 * is known what became of them.
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

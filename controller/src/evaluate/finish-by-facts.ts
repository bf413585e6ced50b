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

/** What became of the runs that were due before the last deadline of the day, for these CronJobs at once. */
export async function gatherFinishBy(
  tx: Tx,
  subjects: readonly Subject[],
  now: Instant,
): Promise<(watch: Watch) => FinishByFacts> {
  const asked = subjects.filter(({ watches }) => watches.some(({ rules }) => rules.detection.finishBy));
  const epochs = await listSpecEpochs(
    tx,
    asked.map(({ row }) => row.id),
  );
  const deadlines = asked.flatMap((subject) =>
    subject.watches.flatMap((watch) => toDeadline(subject, watch, epochs.get(subject.row.id) ?? [], now)),
  );
  const ends = await listFirstSuccessEnds(
    tx,
    deadlines.map(({ interval }) => interval),
  );
  const facts = new Map(
    deadlines.map(({ watch, interval, nextAt, expectedSlots: count }, index): [Watch, FinishByFacts] => {
      const last = { deadlineAt: interval.untilAt, expectedSlots: count, finishedAt: ends[index] };
      // A deadline from before the monitor judged the CronJob is no promise of its.
      const isPromised = count > 0 && interval.untilAt >= watch.judgesFromAt;
      return [watch, { last: isPromised ? last : undefined, nextDeadlineAt: nextAt }];
    }),
  );
  return (watch) => facts.get(watch) ?? { last: undefined, nextDeadlineAt: undefined };
}

function toDeadline(subject: Subject, watch: Watch, epochs: readonly SpecEpoch[], now: Instant): Deadline[] {
  const { finishBy } = watch.rules.detection;
  const { facts } = subject;
  if (!finishBy || !facts) return [];
  let around: ReturnType<typeof dailyInstants>;
  try {
    around = dailyInstants(finishBy.time, finishBy.timeZone, now);
  } catch {
    return []; // told as a condition of the monitor
  }
  const { slots } = expectedSlots(
    epochs,
    {
      afterAt: around.beforeLastAt,
      createdAt: facts.createdAt,
      anchorAt: undefined,
      defaultZone: subject.zone,
    },
    around.lastAt,
  );
  return [
    {
      subject,
      watch,
      interval: { cronJobId: subject.row.id, afterAt: around.beforeLastAt, untilAt: around.lastAt },
      nextAt: around.nextAt,
      expectedSlots: slots.filter(({ epoch }) => !epoch.suspended).length,
    },
  ];
}

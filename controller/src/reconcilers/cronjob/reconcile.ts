import { instantOfChange, specSince, type CronJobFacts, type Instant } from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import type { CronJobMarks, CronJobSeen } from '@cronjob-monitor/shared/store';
import type { ComeBack } from '../../runtime/index.ts';
import type { CronJobRecords } from './record.ts';
import { toEdits } from './edits.ts';
import type { Outlook } from './schedule-problem.ts';
import type { SpecSightings } from './spec-sightings.ts';

export interface CronJobReconcilerDeps {
  readonly cronJobs: { find(uid: string): CronJobFacts | undefined };
  readonly isMonitored: (cronJobUid: string) => boolean;
  readonly records: CronJobRecords;
  /** Edits that were received and are not written down. */
  readonly sightings?: Pick<SpecSightings, 'listOf' | 'written'> | undefined;
  readonly clock: Clock;
  readonly outlookOf: (cronJob: CronJobFacts, now: Instant) => Outlook;
  /** When a leader before this one was last known to watch; undefined: there was none. */
  readonly watchedUntilAt: Instant | undefined;
  /** The CronJob has its row now: its Jobs can be recorded. */
  readonly onFirstProjected: (cronJobUids: readonly string[]) => void;
  /** Other runs are due now, or none any more. */
  readonly onRespecified: (cronJobUids: readonly string[]) => void;
}

/** Some CronJobs: from what the cluster says to their rows and epochs. A second run changes nothing. */
export async function reconcileCronJobs(
  uids: readonly string[],
  deps: CronJobReconcilerDeps,
): Promise<ReadonlyMap<string, ComeBack>> {
  const now = deps.clock.now();
  const present = uids.map((uid) => deps.cronJobs.find(uid)).filter((cronJob) => cronJob !== undefined);
  const gone = uids.filter((uid) => !deps.cronJobs.find(uid));
  const monitored = present.filter((cronJob) => deps.isMonitored(cronJob.uid));

  // Those that come while this is written wait for the next turn.
  const sightings = new Map(uids.map((uid) => [uid, deps.sightings?.listOf(uid) ?? []]));
  const marks = await deps.records.readMarks(monitored.map((cronJob) => cronJob.uid));
  const edits = monitored.map((cronJob) =>
    toEdits(sightings.get(cronJob.uid) ?? [], marks.get(cronJob.uid), (facts, at) =>
      toSeen(facts, marks.get(cronJob.uid), at, deps),
    ),
  );
  const rounds = Math.max(0, ...edits.map((list) => list.length));
  const first: string[] = [];
  const respecified: string[] = [...gone];
  const write = async (seen: readonly CronJobSeen[], lost: readonly string[]): Promise<void> => {
    const written = await deps.records.write({ seen, gone: lost, at: now });
    first.push(...written.first);
    respecified.push(...written.respecified);
  };
  for (let round = 0; round < rounds; round++) {
    // In their order: what is due between two edits follows the first.
    await write(
      edits.flatMap((list) => list[round] ?? []),
      [],
    );
  }
  const seen = monitored.map((cronJob) => toSeen(cronJob, marks.get(cronJob.uid), now, deps));
  await write(seen, gone);
  for (const [uid, list] of sightings) {
    const last = list.at(-1);
    if (last) deps.sightings?.written(uid, last);
  }
  if (first.length > 0) deps.onFirstProjected(first);
  if (respecified.length > 0) deps.onRespecified([...new Set(respecified)]);

  // The next run is shown and sorted by: it moves on when its instant has passed, also without any event.
  return new Map(uids.map((uid) => [uid, seen.find(({ facts }) => facts.uid === uid)?.nextRunAt]));
}

function toSeen(
  cronJob: CronJobFacts,
  marks: CronJobMarks | undefined,
  now: Instant,
  deps: CronJobReconcilerDeps,
): CronJobSeen {
  const { problem, nextRunAt } = deps.outlookOf(cronJob, now);
  const change = marks?.openEpoch
    ? instantOfChange({ ...marks.openEpoch, generation: marks.generation }, cronJob, {
        now,
        unwatchedSinceAt: lastSightOf(marks, deps),
      })
    : { changedAt: specSince(cronJob), uncertainFromAt: undefined };
  return {
    facts: cronJob,
    seenAt: now,
    changedAt: change?.changedAt,
    uncertainFrom: change?.uncertainFromAt,
    problem,
    nextRunAt,
  };
}

/** The row is written when it changes; while a leader lived it would have been. */
function lastSightOf(marks: CronJobMarks, deps: CronJobReconcilerDeps): Instant {
  return Math.max(marks.seenAt ?? marks.firstSeenAt, deps.watchedUntilAt ?? 0);
}

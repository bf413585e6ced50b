import type { OutputRun } from '../../domain/index.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { listRunFacts } from '../executions/run-facts.ts';
import { fullJobName } from '../executions/short-text.ts';
import { flagBits, triggerWords } from '../words.ts';
import { namesOf } from './names.ts';
import { listNewestOfEach } from './newest-of-each.ts';
import { isSuccess } from './run-conditions.ts';

/** The last `count` successes of each CronJob whose facts are known, in the order of their end; one without any is absent. */
export async function listOutputRuns(
  db: Db,
  cronJobIds: readonly number[],
  count: number,
): Promise<ReadonlyMap<number, readonly OutputRun[]>> {
  const found = await listNewestOfEach(db, cronJobIds, [
    {
      select: 'job_uid, job_name, created_at, finished_at, duration_ms, "trigger"',
      where: `${isSuccess} and finished_at is not null and (flags & ${flagBits.factsUnknown | flagBits.inferred}) = 0`,
      orderBy: 'finished_at',
      limit: count,
    },
  ]);
  const names = await namesOf(db, found);
  const facts = await listRunFacts(
    db,
    found.map((row) => ({
      cronJobId: Number(row['cronjob_id']),
      createdAt: Number(row['created_at']),
      jobUid: db.dialect.id16Text(row['job_uid']),
    })),
  );
  const runs = new Map<number, OutputRun[]>();
  for (const row of found) {
    const id = Number(row['cronjob_id']);
    const jobUid = db.dialect.id16Text(row['job_uid']);
    const run = {
      jobUid,
      jobName: fullJobName(String(row['job_name']), names.get(id) ?? ''),
      endedAt: Number(row['finished_at']),
      durationMs: optionalNumber(row['duration_ms']),
      isScheduled: triggerWords.toWord(row['trigger']) === 'scheduled',
      values: facts.get(jobUid) ?? new Map<string, number>(),
    };
    const ofOne = runs.get(id);
    if (ofOne) ofOne.push(run);
    else runs.set(id, [run]);
  }
  for (const ofOne of runs.values()) ofOne.sort((a, b) => a.endedAt - b.endedAt || (a.jobName < b.jobName ? -1 : 1));
  return runs;
}

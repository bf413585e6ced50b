import assert from 'node:assert/strict';
import { type Execution, dayMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { recordRuns } from '@cronjob-monitor/shared/store';
import { aRun, now, projected } from '../facts.ts';
import { readNumber, readRows } from '../rows.ts';
import { contract } from '../suite.ts';

import { aDay, dayCounts as counts, none } from '../expected.ts';
export const unseenRuns = contract('runs whose end was not seen', (test) => {
  const inferred = (cronJob: Parameters<typeof aRun>[0], changes: Partial<Execution> = {}): Execution =>
    aRun(cronJob, {
      jobUid: `inferred-${cronJob.uid}-${changes.finishedAt ?? now + minuteMs}`,
      inferred: true,
      startedAt: undefined,
      durationMs: undefined,
      ...changes,
    });

  test('give way when their Job appears, by its slot', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const guess = inferred(cronJob);
    await recordRuns(store, epoch, [guess]);
    const real = aRun(cronJob, { status: 'failed', exitCode: 2 });
    assert.deepEqual(await recordRuns(store, epoch, [real]), { ...none, replaced: [real.jobUid] });
    assert.deepEqual(
      await readRows(store, 'select status, exit_code, flags from executions where cronjob_id = ?', [cronJob.id]),
      [{ status: 1, exit_code: 2, flags: 0 }],
    );
    assert.deepEqual(await counts(store, cronJob.id), [aDay({ failed: 1, dirty: 1 })]);
  });

  test('give way when their Job appears, by its end', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    await recordRuns(store, epoch, [
      inferred(cronJob, { scheduledAt: undefined, createdAt: now - 5 * minuteMs, finishedAt: now }),
    ]);
    const manual = aRun(cronJob, {
      trigger: 'manual',
      scheduledAt: undefined,
      finishedAt: now,
      createdAt: now - minuteMs,
    });
    assert.deepEqual(await recordRuns(store, epoch, [manual]), { ...none, replaced: [manual.jobUid] });
    assert.deepEqual(await counts(store, cronJob.id), [aDay({ manual: 1, dirty: 1 })]);
  });

  test('give way when their Job appears, by its UID', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const lost = aRun(cronJob, {
      status: 'unobserved',
      finishedAt: undefined,
      scheduledAt: undefined,
      trigger: 'unmatched',
    });
    await recordRuns(store, epoch, [lost]);
    const real = aRun(cronJob, { jobUid: lost.jobUid });
    assert.deepEqual(await recordRuns(store, epoch, [real]), { ...none, replaced: [real.jobUid] });
    assert.deepEqual(await recordRuns(store, epoch, [lost]), { ...none, known: [lost.jobUid] });
    assert.deepEqual(await counts(store, cronJob.id), [
      aDay({
        success: 1,
        duration_n: 1,
        duration_sum: minuteMs,
        duration_min: minuteMs,
        duration_max: minuteMs,
        dirty: 1,
      }),
    ]);
  });

  test('add nothing beside a run that was seen', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const [real, guess] = [aRun(cronJob), inferred(cronJob)];
    await recordRuns(store, epoch, [real]);
    assert.deepEqual(await recordRuns(store, epoch, [guess]), { ...none, known: [guess.jobUid] });
    const next = { createdAt: now + minuteMs, scheduledAt: now + minuteMs, finishedAt: now + 2 * minuteMs };
    const together = [inferred(cronJob, next), aRun(cronJob, next)];
    const result = await recordRuns(store, epoch, together);
    assert.deepEqual(result, { ...none, inserted: [together[1]?.jobUid], known: [together[0]?.jobUid] });
    assert.equal(await readNumber(store, 'select count(*) as n from executions where cronjob_id = ?', [cronJob.id]), 2);
  });

  test('of another slot stay, although both ended in the same second', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    await recordRuns(store, epoch, [inferred(cronJob, { finishedAt: now + minuteMs })]);
    const other = aRun(cronJob, { createdAt: now - minuteMs, finishedAt: now + minuteMs });
    assert.deepEqual(await recordRuns(store, epoch, [other]), { ...none, inserted: [other.jobUid] });
  });

  test('mark a sealed day dirty, as a late run does', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    await recordRuns(store, epoch, [aRun(cronJob)]);
    await store
      .sql('rollups')
      .where({ cronjob_id: cronJob.id })
      .update({ sealed_at: now + dayMs });
    await recordRuns(store, epoch, [aRun(cronJob, { createdAt: now + minuteMs })]);
    assert.equal(await readNumber(store, 'select dirty as n from rollups where cronjob_id = ?', [cronJob.id]), 1);
  });
});

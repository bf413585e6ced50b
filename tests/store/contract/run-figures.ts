import assert from 'node:assert/strict';
import {
  countFleet,
  countOpenAlerts,
  countOutcomes,
  listOpenAlerts,
  measureDurations,
  measureDurationsOfEach,
  measureLongestFailures,
  measureLongestOfDays,
  measureLongestRuns,
  recordRuns,
} from '@cronjob-monitor/shared/store';
import { aRun, now, projected } from '../facts.ts';
import { readRows } from '../rows.ts';
import { contract } from '../suite.ts';
import { dayMs, minuteMs } from '@cronjob-monitor/shared/domain';

const midnight = Math.floor(now / dayMs) * dayMs;
const tomorrow = midnight + dayMs;

export const runFigures = contract('figures of runs', (test) => {
  test('counts outcomes by whole days and the edges by rows', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { name: 'rate' });
    const other = await projected(store, epoch, { name: 'quiet' });
    const from = now - 7 * dayMs;
    await recordRuns(store, epoch, [
      aRun(cronJob, { createdAt: from - minuteMs }), // just before the window, on its first day
      aRun(cronJob, { createdAt: from }),
      aRun(cronJob, { createdAt: from + minuteMs, status: 'failed' }),
      aRun(cronJob, { createdAt: now - 3 * dayMs }),
      aRun(cronJob, { createdAt: now - 3 * dayMs + minuteMs, status: 'failed' }),
      aRun(cronJob, { createdAt: now - 2 * dayMs, trigger: 'manual', scheduledAt: undefined, status: 'failed' }),
      aRun(cronJob, { createdAt: now - 2 * dayMs + minuteMs, status: 'replaced' }),
      aRun(cronJob, { createdAt: now - dayMs, inMaintenance: true, status: 'failed' }),
      aRun(cronJob, { createdAt: now - minuteMs }),
      aRun(other, { createdAt: now - minuteMs, status: 'deleted' }),
    ]);
    const week = { from, to: tomorrow };
    const expected = { success: 3, failed: 2, approximate: false, firstAt: from };
    assert.deepEqual((await countOutcomes(store, week, [cronJob.id])).get(cronJob.id), expected);
    const fleet = await countOutcomes(store, week);
    assert.deepEqual(fleet.get(cronJob.id), expected);
    assert.equal(fleet.has(other.id), false, 'no run that counts is no figure');
    const before = { from: from - 7 * dayMs, to: from };
    assert.deepEqual((await countOutcomes(store, before, [cronJob.id])).get(cronJob.id), {
      success: 1,
      failed: 0,
      approximate: false,
      firstAt: undefined,
    });
    const later = await countOutcomes(store, { ...week, from: from + 1 }, [cronJob.id]);
    assert.deepEqual(later.get(cronJob.id), { ...expected, success: 2, firstAt: from + minuteMs });
    const part = { from: now - 2 * minuteMs, to: now };
    assert.equal((await countOutcomes(store, part, [cronJob.id])).get(cronJob.id)?.success, 1, 'within one day');
  });

  test('knows the longest success of some days of each CronJob, of the whole fleet at once', async ({
    store,
    epoch,
  }) => {
    const cronJob = await projected(store, epoch, { name: 'long' });
    const quiet = await projected(store, epoch, { name: 'never-succeeds' });
    const took = (days: number, minutes: number, more: Parameters<typeof aRun>[1] = {}) =>
      aRun(cronJob, { createdAt: now - days * dayMs, durationMs: minutes * minuteMs, ...more });
    await recordRuns(store, epoch, [
      took(9, 90),
      took(3, 7),
      took(2, 12),
      took(1, 60, { status: 'failed' }),
      took(1.1, 60, { trigger: 'manual', scheduledAt: undefined }),
      aRun(quiet, { createdAt: now - dayMs, status: 'failed' }),
    ]);
    const today = Math.floor(now / dayMs);
    const both = [cronJob.id, quiet.id];
    const longest = await measureLongestOfDays(store, both, today - 4);
    assert.equal(longest.get(cronJob.id), 12 * minuteMs);
    assert.equal(longest.has(quiet.id), false);
    assert.equal((await measureLongestOfDays(store, both, today - 10)).get(cronJob.id), 90 * minuteMs);
    assert.equal((await measureLongestOfDays(store, [quiet.id], today - 10)).size, 0, 'others are not asked for');
    const failures = await measureLongestFailures(store, both, { from: today - 4, to: today });
    assert.deepEqual([...(failures.get(cronJob.id) ?? [])], [[today - 1, 60 * minuteMs]]);
    const many = Array.from({ length: 501 }, (_, index) => cronJob.id + index);
    assert.equal((await measureLongestOfDays(store, many, today - 4)).get(cronJob.id), 12 * minuteMs);
  });

  test('tells the longest scheduled run of a window, and since when one of them has been over a limit', async ({
    store,
    epoch,
  }) => {
    const cronJob = await projected(store, epoch, { name: 'longest' });
    const run = (createdAt: number, minutes: number, changes: object = {}) =>
      aRun(cronJob, {
        createdAt,
        finishedAt: createdAt + minutes * minuteMs,
        durationMs: minutes * minuteMs,
        ...changes,
      });
    await recordRuns(store, epoch, [
      run(now - 9 * dayMs, 50), // before the window
      run(now - 4 * dayMs, 20),
      run(now - 3 * dayMs, 12),
      run(now - 2 * dayMs, 30),
      run(now - dayMs, 90, { trigger: 'manual', scheduledAt: undefined }),
    ]);
    const longest = async (limitMinutes?: number) =>
      (
        await measureLongestRuns(
          store,
          [cronJob.id],
          { from: now - 7 * dayMs },
          limitMinutes === undefined ? undefined : limitMinutes * minuteMs,
        )
      ).get(cronJob.id);
    const durationMs = 30 * minuteMs;
    assert.deepEqual(await longest(15), { durationMs, beyondSinceAt: now - 4 * dayMs + 20 * minuteMs });
    assert.deepEqual(await longest(25), { durationMs, beyondSinceAt: now - 2 * dayMs + 30 * minuteMs });
    assert.deepEqual(await longest(30), { durationMs, beyondSinceAt: undefined });
    assert.deepEqual(await longest(), { durationMs, beyondSinceAt: undefined });
  });

  test('takes the whole first day where its rows are pruned, and says so', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { name: 'pruned' });
    const from = now - 30 * dayMs;
    const early = aRun(cronJob, { createdAt: from - 60 * minuteMs });
    await recordRuns(store, epoch, [early, aRun(cronJob, { createdAt: from + minuteMs }), aRun(cronJob)]);
    await store
      .sql('executions')
      .where({ job_uid: store.dialect.id16(early.jobUid) })
      .delete();
    assert.deepEqual((await countOutcomes(store, { from, to: tomorrow }, [cronJob.id])).get(cronJob.id), {
      success: 3,
      failed: 0,
      approximate: true,
      firstAt: undefined,
    });
  });

  test('percentiles are nearest rank over successful scheduled runs', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { name: 'durations' });
    const window = { from: now - dayMs, to: tomorrow };
    assert.equal(await measureDurations(store, cronJob.id, window), undefined);
    const lasting = (seconds: number, changes = {}) => {
      const createdAt = now - seconds * minuteMs;
      return aRun(cronJob, { createdAt, startedAt: createdAt, finishedAt: createdAt + seconds * 1000, ...changes });
    };
    await recordRuns(store, epoch, [
      ...Array.from({ length: 20 }, (_, index) => lasting(index + 1)),
      lasting(500, { status: 'failed' }),
      lasting(600, { trigger: 'manual', scheduledAt: undefined }),
      lasting(700, { startedAt: undefined }),
    ]);
    assert.deepEqual(await measureDurations(store, cronJob.id, window), {
      count: 20,
      avgMs: 10_500,
      p50Ms: 10_000,
      p95Ms: 19_000,
      p99Ms: 20_000,
    });
    const other = await projected(store, epoch, { name: 'other durations' });
    const none = await projected(store, epoch, { name: 'no durations' });
    const createdAt = now - 60 * minuteMs;
    await recordRuns(store, epoch, [aRun(other, { createdAt, startedAt: createdAt, finishedAt: createdAt + 3_000 })]);
    const asked = [cronJob, other, none].map(({ id }) => ({ cronJobId: id, rows: 30_000 }));
    const ofEach = await measureDurationsOfEach(store, asked, window);
    assert.deepEqual(
      [...ofEach].sort(([a], [b]) => a - b),
      [
        [cronJob.id, await measureDurations(store, cronJob.id, window)],
        [other.id, { count: 1, avgMs: 3_000, p50Ms: 3_000, p95Ms: 3_000, p99Ms: 3_000 }],
      ].sort(([a], [b]) => Number(a) - Number(b)),
    );
  });

  test('counts the fleet of the last day', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { namespace: 'fleet', name: 'a' });
    const from = now - dayMs;
    await recordRuns(store, epoch, [
      aRun(cronJob, { createdAt: from - 60 * minuteMs, finishedAt: from + minuteMs }), // ended within, created before
      aRun(cronJob, { createdAt: now - 60 * minuteMs, status: 'failed' }),
      aRun(cronJob, { createdAt: now - 50 * minuteMs, scheduledAt: now - 55 * minuteMs }),
      aRun(cronJob, { createdAt: now - 40 * minuteMs, trigger: 'manual', scheduledAt: undefined }),
    ]);
    await store.sql('slots').insert([
      { cronjob_id: cronJob.id, slot_at: now - 30 * minuteMs, outcome: 0, in_maintenance: 0, decided_at: now },
      { cronjob_id: cronJob.id, slot_at: from - minuteMs, outcome: 0, in_maintenance: 0, decided_at: now },
    ]);
    const asked = { from, namespaces: ['fleet'], lateAfterMs: minuteMs };
    assert.deepEqual(await countFleet(store, asked), {
      ended: 4,
      success: 1,
      failed: 1,
      slots: {
        matched: 1,
        late: 1,
        missed: 1,
        skippedForbid: 0,
        skippedDeadline: 0,
        suspended: 0,
        unobserved: 0,
        indeterminate: 0,
      },
    });
    assert.equal((await countFleet(store, { ...asked, namespaces: ['nowhere'] })).ended, 0);
    assert.ok((await countFleet(store, { ...asked, namespaces: [] })).ended >= 4);
  });

  test('counts open alerts and gives the worst first', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { namespace: 'alerts', name: 'a' });
    const alert = (byte: string, fields: object): object => ({
      id: store.dialect.id16(`00000000-0000-7000-8000-0000000000${byte}`),
      fingerprint: store.dialect.id16(`00000000-0000-7000-8000-0000000000${byte}`),
      monitor_id: 1,
      cronjob_id: cronJob.id,
      namespace: 'alerts',
      cronjob_name: 'a',
      type: 'jobFailed',
      severity: 'warning',
      severity_source: 'default',
      state: 'active',
      since_at: now,
      detected_at: now,
      last_seen_at: now,
      message: '',
      count: 1,
      ...fields,
    });
    await store.sql('alerts').insert(alert('01', {}));
    await store
      .sql('alerts')
      .insert(alert('02', { severity: 'critical', since_at: now + 1, context: '{"exitCode":3}' }));
    await store.sql('alerts').insert(alert('03', { state: 'suppressed', since_at: now - 1 }));
    await store.sql('alerts').insert(alert('04', { state: 'pending' }));
    await store.sql('alerts').insert(alert('05', { state: 'resolved' }));
    await store
      .sql('acknowledgements')
      .insert({ alert_id: store.dialect.id16('00000000-0000-7000-8000-000000000001'), by_whom: 'ana', at: now });
    assert.deepEqual(await countOpenAlerts(store, ['alerts']), {
      active: 2,
      pending: 1,
      suppressed: 1,
      acknowledged: 1,
    });
    assert.deepEqual(await countOpenAlerts(store, ['nowhere']), {
      active: 0,
      pending: 0,
      suppressed: 0,
      acknowledged: 0,
    });
    await store.sql('alerts').insert(alert('06', { type: 'slaBreached', subject: 'successRate', since_at: now - 2 }));
    const gone = { state: 'suppressed', suppressed_by: 'monitorGone', since_at: now - 3 };
    await store.sql('alerts').insert(alert('07', gone));
    const open = await listOpenAlerts(store, [cronJob.id]);
    assert.deepEqual(
      open.map(({ id, state }) => [id.slice(-2), state]),
      [
        ['02', 'active'],
        ['03', 'suppressed'],
        ['01', 'active'],
        ['04', 'pending'],
        ['06', 'active'],
        ['07', 'suppressed'],
      ],
      'a figure that runs move comes after what knows a cause, and what a monitor said that is gone after both',
    );
    assert.equal((await readRows(store, 'select 1 as one from alerts')).length, 7);
  });
});

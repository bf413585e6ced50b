import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '@cronjob-monitor/shared/process';
import { findCronJob, StoreError } from '@cronjob-monitor/shared/store';
import { aCronJobObject, startRecording, type RecordingFixture } from '../testing/recording-fixture.ts';

let fixture: RecordingFixture;
before(async () => {
  fixture = await startRecording({
    schedulers: {
      deadManSwitchMs: 500,
      slaRecalculationMs: 60_000,
      stuckJobCheckMs: 60_000,
      pruneMs: 3_600_000,
      startupGraceMs: 0,
    },
  });
});
after(() => fixture.stop());

async function until<T>(read: () => Promise<T>, isEnough: (found: T) => boolean): Promise<T> {
  const endMs = performance.now() + 15_000;
  for (;;) {
    const found = await read();
    if (isEnough(found) || performance.now() > endMs) return found;
    await systemClock.sleep(50);
  }
}

const problemOf = async (name: string): Promise<string | undefined> => {
  try {
    const cronJob = await findCronJob(fixture.store, 'prod', name);
    return cronJob && (cronJob.problem ?? 'none');
  } catch (error) {
    if (error instanceof StoreError && error.code === 'schema') return undefined; // not migrated yet
    throw error;
  }
};

/** Reason and message of the condition that tells of schedules. */
function schedulesUnderstood(): readonly [string, string] | undefined {
  const key = { apiVersion: 'cronjob-monitor.io/v1alpha1', kind: 'CronJobMonitor', namespace: 'prod', name: 'all' };
  const { conditions } = (fixture.sim.objects.find(key)?.['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  };
  const condition = conditions?.find(({ type }) => type === 'SchedulesUnderstood');
  return condition && [condition.reason, condition.message];
}

test('a zone that the starts speak against is told by the monitor and by CronJobs that name none', async () => {
  fixture.sim.objects.put(aCronJobObject('zoneless'));
  fixture.sim.objects.put(aCronJobObject('zoned', { timeZone: 'Europe/Berlin' }));
  await until(
    () => problemOf('zoned'),
    (problem) => problem !== undefined,
  );
  assert.equal(await problemOf('zoneless'), 'none');
  const value = JSON.stringify({ default: { zone: 'UTC', offsetMs: 19_800_000, since: 0 } });
  await fixture.store.sql('cluster_state').insert({ name: 'zoneOffsets', value, updated_at: 0 });
  await fixture.restart();
  assert.equal(
    await until(
      () => problemOf('zoneless'),
      (problem) => problem === 'zoneMismatch',
    ),
    'zoneMismatch',
  );
  assert.equal(await problemOf('zoned'), 'none');
  const told = await until(
    () => Promise.resolve(schedulesUnderstood()),
    (found) => found?.[0] === 'ZoneMismatch',
  );
  assert.equal(told?.[0], 'ZoneMismatch');
  assert.match(told?.[1] ?? '', /prod\/zoneless/);
  assert.doesNotMatch(told?.[1] ?? '', /zoned/);
});

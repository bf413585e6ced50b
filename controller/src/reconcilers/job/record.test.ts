import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listActiveJobs, projectCronJob } from '@cronjob-monitor/shared/store';
import { aCronJob, aJob } from '@cronjob-monitor/shared/testing';
import { anAlertingFixture } from '../../testing/alerting-fixture.ts';
import type { GatheredJob } from './gather.ts';
import { createJobRecords } from './record.ts';

/** A start sees Jobs before the rows of their CronJobs are written. */
test('a Job that goes on is written once its CronJob has a row, although nothing about it has changed', async (t) => {
  const { store, epoch, clock } = await anAlertingFixture(t);
  const records = createJobRecords(store, epoch, { judge: () => Promise.resolve(), committed: () => {} });
  const job = aJob();
  const gathered = { snapshot: { job, gone: undefined }, pods: [] } as unknown as GatheredJob;
  assert.deepEqual([...(await records.recordRunning([gathered]))], [job.uid]);

  const facts = aCronJob({ uid: job.cronJobUid });
  const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: clock.now() }));
  assert.equal((await records.recordRunning([gathered])).size, 0);
  assert.equal((await listActiveJobs(store, [id])).length, 1);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { printTime } from './schema/go-time.ts';
import { aCronJob, eventsOf, jobsOf, startTrial, trialStart } from './trial-cluster.ts';

const cronJobs = '/apis/batch/v1/namespaces/default/cronjobs';
const minuteMs = 60_000;
const dayMs = 86_400_000;
/** The slot of the minute after the start of a trial. */
const firstSlot = trialStart / minuteMs + 1;
const suspend = (is: boolean): object => ({ spec: { suspend: is } });
const merge = { 'content-type': 'application/merge-patch+json' };
const statusOf = (cluster: Parameters<typeof jobsOf>[0], name = 'report'): Record<string, unknown> =>
  cluster.objects.find({ apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'default', name })?.status as Record<
    string,
    unknown
  >;

describe('CronJobs', () => {
  test('start a Job in every slot and keep as many as their limits say', async (t) => {
    const { cluster, clock } = await startTrial(t);
    cluster.objects.put(aCronJob({ play: { outcome: 'success,success,exit:1' }, job: { backoffLimit: 0 } }));
    clock.advanceBy(10 * minuteMs + 30_000);
    const slots = Array.from({ length: 10 }, (_, index) => firstSlot + index);
    // By turns two end well and one fails; three of the former and one of the latter are kept.
    assert.deepEqual(jobsOf(cluster), [
      `report-${slots[6]} Complete`,
      `report-${slots[7]} Complete`,
      `report-${slots[8]} Failed`,
      `report-${slots[9]} Complete`,
    ]);
    assert.equal(statusOf(cluster)['lastScheduleTime'], printTime((slots[9] ?? 0) * minuteMs));
  });

  test('lose no slot, whenever the runs before end', async (t) => {
    const { cluster, clock } = await startTrial(t);
    const play = { outcome: 'success,retrythen:1', seconds: '33-75' };
    cluster.objects.put(aCronJob({ play, job: { backoffLimit: 2 } }));
    for (let minute = 1; minute <= 300; minute++) {
      const slot = trialStart + minute * minuteMs;
      clock.advanceTo(slot + 200);
      assert.equal(statusOf(cluster)['lastScheduleTime'], printTime(slot));
    }
  });

  test('with an interval run that long after the last run', async (t) => {
    const { cluster, clock } = await startTrial(t);
    cluster.objects.put(aCronJob({ schedule: '@every 90s' }));
    clock.advanceBy(5 * minuteMs);
    assert.equal(jobsOf(cluster).length, 3);
    assert.equal(statusOf(cluster)['lastScheduleTime'], '2026-11-21T08:03:30Z');
  });

  test('follow the clock of their zone over its change', async (t) => {
    const { cluster, clock } = await startTrial(t);
    cluster.objects.put(aCronJob({ schedule: '30 2 * * *', spec: { timeZone: 'Europe/Berlin' } }));
    clock.advanceTo(Date.parse('2027-03-27T12:00:00Z'));
    assert.equal(statusOf(cluster)['lastScheduleTime'], '2027-03-27T01:30:00Z');
    // On 28 March the hour after 2 does not exist in Berlin.
    clock.advanceBy(dayMs);
    assert.equal(statusOf(cluster)['lastScheduleTime'], '2027-03-27T01:30:00Z');
    clock.advanceBy(dayMs);
    assert.equal(statusOf(cluster)['lastScheduleTime'], '2027-03-29T00:30:00Z');
  });

  test('whose day never comes say so once and never run', async (t) => {
    const { cluster, clock } = await startTrial(t);
    cluster.objects.put(aCronJob({ schedule: '0 0 30 2 *' }));
    clock.advanceBy(minuteMs);
    assert.match(eventsOf(cluster).join(), /InvalidSchedule invalid schedule: 0 0 30 2 \*/);
    clock.advanceBy(30 * dayMs);
    assert.deepEqual(jobsOf(cluster), []);
  });

  test('that are resumed within their deadline catch up, and after it do not', async (t) => {
    const { cluster, clock, ask } = await startTrial(t);
    for (const [name, startingDeadlineSeconds] of [
      ['late', 600],
      ['too-late', 60],
    ] as const) {
      cluster.objects.put(aCronJob({ name, schedule: '0 * * * *', spec: { startingDeadlineSeconds, suspend: true } }));
    }
    clock.advanceBy(5 * minuteMs);
    for (const name of ['late', 'too-late']) await ask('PATCH', `${cronJobs}/${name}`, suspend(false), merge);
    clock.advanceBy(minuteMs);
    assert.deepEqual(jobsOf(cluster), [`late-${firstSlot} Complete`]);
  });

  test('that forbid a second run skip slots, and run the newest of them as soon as they may', async (t) => {
    const { cluster, clock } = await startTrial(t);
    cluster.objects.put(aCronJob({ play: { seconds: '150' }, spec: { concurrencyPolicy: 'Forbid' } }));
    clock.advanceBy(4 * minuteMs);
    assert.deepEqual(jobsOf(cluster), [`report-${firstSlot} Complete`, `report-${firstSlot + 2} runs`]);
    assert.match(eventsOf(cluster).join(), /JobAlreadyActive Not starting job because prior execution is running/);
  });

  test('that replace end the run before', async (t) => {
    const { cluster, clock } = await startTrial(t);
    cluster.objects.put(aCronJob({ play: { outcome: 'hang' }, spec: { concurrencyPolicy: 'Replace' } }));
    clock.advanceBy(3 * minuteMs + 30_000);
    assert.deepEqual(jobsOf(cluster), [`report-${firstSlot + 2} runs`]);
  });

  test('whose name is taken by a strange Job start nothing in that slot', async (t) => {
    const { cluster, clock } = await startTrial(t);
    const stranger = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: `report-${firstSlot}` },
      spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'm', image: 'i' }] } } },
    };
    cluster.objects.put(stranger);
    cluster.objects.put(aCronJob());
    clock.advanceBy(90_000);
    assert.deepEqual(jobsOf(cluster), [`report-${firstSlot} runs`]);
    assert.equal(statusOf(cluster)['active'], undefined);
  });

  test('that are deleted take their Jobs and pods with them', async (t) => {
    const { cluster, clock, ask } = await startTrial(t);
    cluster.objects.put(aCronJob({ play: { outcome: 'hang' } }));
    clock.advanceBy(90_000);
    await ask('DELETE', `${cronJobs}/report`);
    clock.advanceBy(10_000);
    assert.deepEqual(jobsOf(cluster), []);
    assert.deepEqual(cluster.objects.list({ apiVersion: 'v1', kind: 'Pod' }), []);
  });

  test('of three weeks pass within seconds', async (t) => {
    const { cluster, clock } = await startTrial(t);
    for (let index = 0; index < 10; index++) {
      cluster.objects.put(aCronJob({ name: `c${index}`, schedule: '15 * * * *', play: { seconds: '20-90' } }));
    }
    const startedAt = process.cpuUsage();
    clock.advanceBy(21 * dayMs);
    const { user } = process.cpuUsage(startedAt);
    assert.equal(jobsOf(cluster).length, 30);
    assert.ok(user < 20e6, `${user / 1e6} s of computing for 5040 runs`);
  });
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '@cronjob-monitor/shared/process';
import { deleteHistory, findUnwatched } from '@cronjob-monitor/shared/store';
import { TestServer } from '@cronjob-monitor/shared/testing';
import { aCronJobObject, aJobObject, startRecording, type RecordingFixture } from '../testing/recording-fixture.ts';

let fixture: RecordingFixture;
let receiver: TestServer;
before(async () => {
  receiver = await TestServer.start();
  fixture = await startRecording({
    heartbeatUrl: `${receiver.url}/ping`,
    schedulers: {
      deadManSwitchMs: 1_000,
      slaRecalculationMs: 500,
      stuckJobCheckMs: 60_000,
      pruneMs: 3_600_000,
      startupGraceMs: 0,
    },
  });
});
after(async () => {
  await fixture.stop();
  await receiver.stop();
});

const monitorKind = { apiVersion: 'cronjob-monitor.io/v1alpha1', kind: 'CronJobMonitor' };

/** Three scheduled runs, one of which failed. */
function putCronJobWithRuns(name: string): void {
  const { metadata } = fixture.sim.objects.put(aCronJobObject(name));
  const minute = Math.floor(Date.now() / 60_000);
  for (const [index, outcome] of ['success', 'success', 'exit:1'].entries())
    fixture.sim.objects.put(aJobObject({ uid: metadata.uid, name }, `${name}-${minute - index}`, outcome));
}

/** Lines of the scrape that name the CronJob, without the prefix, once there are as many as expected. */
async function untilLines(matching: RegExp, count: number, withinMs = 15_000): Promise<string[]> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const text = await fixture.registry.metrics();
    const lines = text.split('\n').filter((line) => !line.startsWith('#') && matching.test(line));
    if (lines.length === count || performance.now() > endMs) {
      assert.equal(lines.length, count, lines.join('\n'));
      return lines.map((line) => line.replace('cronjob_monitor_', ''));
    }
    await systemClock.sleep(50);
  }
}

const sla = (name: string): RegExp => new RegExp(`(success_rate|duration_seconds)\\{.*cronjob="${name}"`);

test('a CronJob has a rate for each of its monitors and four durations', async () => {
  fixture.sim.objects.put({ ...monitorKind, metadata: { namespace: 'prod', name: 'second' }, spec: {} });
  putCronJobWithRuns('rated');
  const endMs = performance.now() + 15_000;
  let rates: string[];
  do rates = await untilLines(/success_rate\{.*cronjob="rated"/, 2);
  while (!rates.every((line) => line.endsWith(` ${200 / 3}`)) && performance.now() < endMs);
  assert.deepEqual(rates, [
    `success_rate{namespace="prod",cronjob="rated",monitor="all"} ${200 / 3}`,
    `success_rate{namespace="prod",cronjob="rated",monitor="second"} ${200 / 3}`,
  ]);
  const durations = await untilLines(/duration_seconds\{.*cronjob="rated"/, 4);
  assert.deepEqual(
    durations.map((line) => /percentile="(\w+)"/.exec(line)?.[1]),
    ['avg', 'p50', 'p95', 'p99'],
  );
  assert.ok(durations.every((line) => Number(line.split(' ').at(-1)) >= 0));
});

test('series go at once: of a monitor that is deleted its own, of a CronJob all of them', async () => {
  putCronJobWithRuns('leaving');
  await untilLines(sla('leaving'), 6);
  fixture.sim.objects.remove({ ...monitorKind, namespace: 'prod', name: 'second' });
  await untilLines(sla('leaving'), 5, 4_000);
  fixture.sim.objects.remove({ apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'prod', name: 'leaving' });
  await untilLines(sla('leaving'), 0, 4_000);
});

test('the series of a history that is deleted end, although its CronJob stays', async () => {
  putCronJobWithRuns('cleared');
  await untilLines(sla('cleared'), 5);
  await deleteHistory(fixture.store, { namespace: 'prod', name: 'cleared' }, { budgetMs: 10_000 });
  await untilLines(sla('cleared'), 0, 8_000);
});

test('the fleet is counted as it stands', async () => {
  await untilLines(/^cronjob_monitor_(cronjobs|monitors|alerts_open)\{/, 13);
  assert.deepEqual(await untilLines(/monitors\{phase="Active"\} [12]$/, 1), ['monitors{phase="Active"} 1']);
});

test('CronJobs that no monitor selects are counted and written down, and are no more once one does', async () => {
  fixture.sim.objects.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dev' } });
  fixture.sim.objects.put({ ...aCronJobObject('alone'), metadata: { namespace: 'dev', name: 'alone' } });
  fixture.sim.objects.put({
    ...monitorKind,
    metadata: { namespace: 'dev', name: 'none' },
    spec: { selector: { matchNames: ['x'] } },
  });
  await untilLines(/coverage\{state="unwatched"\} 1$/, 1);
  assert.deepEqual(await findUnwatched(fixture.store), { total: 1, byNamespace: { dev: 1 }, names: ['dev/alone'] });
  fixture.sim.objects.put({ ...monitorKind, metadata: { namespace: 'dev', name: 'all' }, spec: {} });
  await untilLines(/coverage\{state="unwatched"\} 0$/, 1);
  assert.deepEqual(await findUnwatched(fixture.store), { total: 0, byNamespace: {}, names: [] });
});

test('a leader that is well calls its heartbeat URL, and says when', async () => {
  const [line] = await untilLines(/heartbeat_last_success/, 1);
  assert.equal(receiver.requests[0]?.path, '/ping');
  assert.ok(Math.abs(Number(line?.split(' ').at(-1)) - Date.now() / 1_000) < 60);
});

test('the clock of the API server is measured', async () => {
  const [line] = await untilLines(/clock_skew_seconds\{against="apiserver"\}/, 1);
  assert.ok(Math.abs(Number(line?.split(' ').at(-1))) < 5);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronJobList } from '@cronjob-monitor/shared/contract';
import { hourMs } from '@cronjob-monitor/shared/domain';
import { listCronJobIds } from '@cronjob-monitor/shared/store';
import { addAlert, addKilledBackup, alertsOf } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet } from '../../testing/fleet.ts';

test('a schedule that never comes says since when, and its step is the schedule before it', async () => {
  await using fleet = await startFleet();
  const schedule = '20 2 31 2 *';
  const backup = await fleet.addCronJob({ name: 'backup', schedule });
  await fleet.addMonitor({ spec: {} }, [backup]);
  const until = testNow - 3 * hourMs;
  const [id] = await listCronJobIds(fleet.store, 'prod', 'backup');
  await fleet.store.sql('cronjobs').where({ id }).update({ problem: 'neverRuns' });
  await fleet.store.sql('spec_epochs').where({ cronjob_id: id }).delete();
  const epoch = { cronjob_id: id, suspended: 0, policy: 'Allow', certain: 1, generation: 1 };
  await fleet.store.sql('spec_epochs').insert([
    { ...epoch, from_at: until - hourMs, to_at: until, schedule: '20 2 * * *' },
    { ...epoch, from_at: until, to_at: null, schedule },
  ]);
  await addAlert(fleet, {
    type: 'deadManTriggered',
    severity: 'critical',
    figures: { limit: 90_000, unit: 'seconds' },
  });
  const [alert] = await alertsOf(fleet);
  const at = `{at:${new Date(until).toISOString()}}`;
  const words = `No run is expected: 31 February does not come; until ${at} it was "20 2 * * *"`;
  assert.deepEqual(
    alert?.verdict.findings.map((finding) => finding.words),
    [words],
  );
  assert.equal(alert.verdict.step?.words, `Set schedule to 20 2 * * *: ${words}`);
  assert.equal(
    alert.verdict.step.command,
    `kubectl -n prod patch cronjob backup --type merge -p '{"spec":{"schedule":"20 2 * * *"}}'`,
  );
});

test('runs that replace each other before they are done are told to be, where none has succeeded for too long', async () => {
  await using fleet = await startFleet();
  const rollup = await fleet.addCronJob({ name: 'rollup', policy: 'Replace' });
  await fleet.addMonitor({ spec: {} }, [rollup]);
  await fleet.addRuns(rollup, { status: 'replaced', jobName: 'rollup-1', createdAt: testNow - hourMs });
  await addAlert(fleet, {
    cronJobName: 'rollup',
    type: 'deadManTriggered',
    figures: { limit: 90_000, unit: 'seconds' },
  });
  const [alert] = await alertsOf(fleet);
  assert.equal(alert?.verdict.step?.label, 'Copy patch: Forbid');
  assert.match(alert.verdict.step.words, /The next run ended the last one before it was done/);
});

test('a limit that is shorter than the schedule is told on the alert that it raises', async () => {
  await using fleet = await startFleet();
  await addKilledBackup(fleet);
  await addAlert(fleet, { type: 'deadManTriggered', figures: { measured: 100_000, limit: 90_000, unit: 'seconds' } });
  const [alert] = await alertsOf(fleet);
  assert.deepEqual(alert?.verdict.findings, [
    {
      code: 'DeadManShorterThanPeriod',
      words: 'The limit is no longer than its schedule (168 h): it fires every week',
      href: '/monitors/prod/dr',
      mend: {
        path: 'spec.deadManSwitch.maxTimeSinceLastSuccess',
        value: '8 d',
        command: `kubectl -n prod patch cronjobmonitor dr --type merge -p '{"spec":{"deadManSwitch":{"maxTimeSinceLastSuccess":"192h"}}}'`,
      },
    },
  ]);
  assert.equal(alert.verdict.step?.label, 'Set 8 d in rules');
  const list = (await fleet.ask('/api/v1/cronjobs')).json() as CronJobList;
  assert.equal(list.items[0]?.verdict.findings.length, 1);
  assert.equal(list.items[0].verdict.words, alert.verdict.words, 'one sentence');
});

test('one limit that is too short for one of several CronJobs is to follow the schedule of each', async () => {
  await using fleet = await startFleet();
  const weekly = await fleet.addCronJob({ name: 'backup', schedule: '0 5 * * 0' });
  const hourly = await fleet.addCronJob({ name: 'sync', schedule: '0 * * * *' });
  await fleet.addMonitor({ spec: {} }, [weekly, hourly]);
  await addAlert(fleet, { type: 'deadManTriggered', figures: { measured: 100_000, limit: 90_000, unit: 'seconds' } });
  const [alert] = await alertsOf(fleet);
  assert.equal(alert?.verdict.step?.label, 'Set by schedule');
  assert.equal(
    alert.verdict.step.command,
    `kubectl -n prod patch cronjobmonitor dr --type merge -p '{"spec":{"deadManSwitch":{"maxTimeSinceLastSuccess":null,"autoFromSchedule":{"enabled":true}}}}'`,
  );
});

test('a limit that is too short is no reason once a run was due and failed: the run is what to mend', async () => {
  await using fleet = await startFleet();
  await addKilledBackup(fleet);
  const sinceAt = testNow - 8 * 24 * hourMs;
  await addAlert(fleet, { type: 'deadManTriggered', sinceAt, figures: { limit: 90_000, unit: 'seconds' } });
  const [alert] = await alertsOf(fleet);
  assert.deepEqual(alert?.verdict.findings, []);
  assert.equal(alert.verdict.step?.action, 'copyPatch');
});

test('a limit between the usual and the longest pause fires in the longest one alone, and says so', async () => {
  await using fleet = await startFleet();
  const workdays = await fleet.addCronJob({ name: 'backup', schedule: '0 5 * * 1-5' });
  await fleet.addMonitor({ spec: {} }, [workdays]);
  const [saturday, limit] = [Date.UTC(2026, 10, 21, 6, 5), 90_000];
  await addAlert(fleet, { type: 'deadManTriggered', sinceAt: saturday, figures: { limit, unit: 'seconds' } });
  const [alert] = await alertsOf(fleet);
  assert.deepEqual(
    alert?.verdict.findings.map(({ words }) => words),
    ['The limit is no longer than the longest pause of its schedule (72 h): it fires in each such pause'],
  );
});

test('every code of the check that concerns the rule stands on the alert as a sentence, durations in words', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup', schedule: '0 * * * *', deadlineS: 10 });
  const sla = { minSuccessRate: 95, windowDays: 1, minRuns: 50, maxDuration: '1m' };
  await fleet.addMonitor({ name: 'dr', spec: { sla } }, [backup]);
  const hourAndHalf = 1.5 * hourMs;
  const runs = [2, 4, 6].map((hours) => {
    const startedAt = testNow - hours * hourMs;
    return { createdAt: startedAt, startedAt, finishedAt: startedAt + hourAndHalf, durationMs: hourAndHalf };
  });
  await fleet.addRuns(backup, ...runs);
  await addAlert(fleet, {
    type: 'slaBreached',
    subject: 'maxDuration',
    figures: { measured: 5_400, limit: 60, unit: 'seconds' },
  });
  await addAlert(fleet, { type: 'slaBreached', subject: 'successRate' });
  await addAlert(fleet, { type: 'missedSchedule' });
  await addAlert(fleet, { type: 'jobFailed' });
  const found = (await alertsOf(fleet)).map(({ type, subject, verdict }) => [
    [type, subject].filter(Boolean).join(' '),
    verdict.findings.map(({ words }) => words),
    verdict.step?.label ?? verdict.step?.action,
  ]);
  const tooLong = 'Runs take 1 h 30 min (95th percentile) and come every 1 h';
  assert.deepEqual(Object.fromEntries(found.map(([key, ...rest]) => [key, rest])), {
    'slaBreached maxDuration': [
      [tooLong, '1 min is less than what half of its runs take (1 h 30 min)'],
      'Set 2 h 15 min in rules',
    ],
    'slaBreached successRate': [
      [tooLong, 'About 24 runs come in 1 day, and 50 are needed for a rate'],
      'Set 3 d in rules',
    ],
    missedSchedule: [
      ['A starting deadline of 10 s is shorter than starts in this cluster may take', tooLong],
      'Copy patch: 300',
    ],
    jobFailed: [[], 'openRun'],
  });
});

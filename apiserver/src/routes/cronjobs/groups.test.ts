import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  CoverageList,
  CronJobDetail,
  CronJobList,
  CronJobRoutes,
  MonitorPreview,
  Stats,
} from '@cronjob-monitor/shared/contract';
import { type CronJobFacts, dayMs, hourMs } from '@cronjob-monitor/shared/domain';
import { aGroupOfJobs } from '@cronjob-monitor/shared/testing';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';

const failed = { status: 'failed', exitCode: 3, reason: 'Error' } as const;
const one = '/api/v1/cronjobs/prod/~migrate';
const spec = {
  jobs: { hasAnnotations: ['helm.sh/hook'], forgetAfter: '24h' },
  deadManSwitch: { maxTimeSinceLastSuccess: '1h' },
  sla: { minSuccessRate: 95 },
  alerting: { channelRefs: [{ name: 'team-chat' }] },
};

/** A CronJob and a group of Jobs that one monitor selects. */
async function aFleet(fleet: TestFleet): Promise<CronJobFacts> {
  const backup = await fleet.addCronJob({ name: 'backup' });
  const group = await fleet.addCronJob(aGroupOfJobs('~migrate', {}, testNow - 30 * dayMs));
  await fleet.addMonitor({ spec }, [backup, group]);
  return group;
}

async function ask<T>(fleet: TestFleet, path: string): Promise<T> {
  const answer = await fleet.ask(path);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as T;
}

test('the list and the counts are of CronJobs, and of groups where their kind is asked for', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  const names = async (query: string): Promise<string[]> => {
    const { items, summary } = await ask<CronJobList>(fleet, `/api/v1/cronjobs${query}`);
    const { healthy, warning, critical, unknown } = summary;
    assert.equal(healthy + warning + critical + unknown, items.length);
    return items.map(({ kind, name }) => `${kind} ${name}`);
  };
  assert.deepEqual(await names(''), ['CronJob backup']);
  assert.deepEqual(await names('?kind=Jobs'), ['Jobs ~migrate']);
  assert.deepEqual(await names('?kind=Jobs,CronJob&monitor=prod/dr'), ['CronJob backup', 'Jobs ~migrate']);
  assert.deepEqual(await names('?kind=Jobs&search=migr'), ['Jobs ~migrate']);
  assert.equal((await fleet.ask('/api/v1/cronjobs?kind=Pods')).status, 400);
  assert.equal((await ask<Stats>(fleet, '/api/v1/stats')).totalCronJobs, 1);
  const { summary } = await ask<CoverageList>(fleet, '/api/v1/coverage');
  assert.equal(summary.cronJobs, 1);
});

test('the page of a group has its runs and its verdict, and nothing that follows from a schedule', async () => {
  await using fleet = await startFleet();
  const group = await aFleet(fleet);
  await fleet.addRuns(group, { createdAt: testNow - 2 * hourMs, ...failed, scheduledAt: undefined });
  const found = await ask<CronJobDetail>(fleet, one);
  const { kind, schedule, nextRun, scheduleProblem, deadManDueAt, verdict, executions, sla } = found;
  assert.deepEqual(
    { kind, schedule, nextRun, scheduleProblem, deadManDueAt },
    { kind: 'Jobs', schedule: '', nextRun: null, scheduleProblem: null, deadManDueAt: null },
  );
  assert.equal(verdict.kind, 'lastRunFailed');
  assert.equal(executions.length, 1);
  assert.deepEqual([sla.minSuccessRate, sla.verdict], [null, 'off']);
});

test('a group is not started, suspended or resumed', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  for (const action of ['trigger', 'suspend', 'resume']) {
    const answer = await fleet.ask(`${one}/${action}`, { method: 'POST' });
    assert.equal(answer.status, 409);
    assert.deepEqual([answer.error().code, answer.error().message], ['CONFLICT', '~migrate is a group of Jobs']);
  }
});

test('names of groups are found in paths, other names with a tilde are not', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  for (const name of ['~other', '~', '~~migrate', '~-x', `~${'a'.repeat(253)}`])
    assert.equal((await fleet.ask(`/api/v1/cronjobs/prod/${name}`)).status, 404, name);
});

test('the route of a group: what needs a schedule is off', async () => {
  await using fleet = await startFleet();
  await aFleet(fleet);
  const { routes } = await ask<CronJobRoutes>(fleet, `${one}/route`);
  const on = routes.filter(({ state }) => state !== 'off').map(({ type }) => type);
  assert.deepEqual(on, ['jobFailed', 'durationRegression', 'jobStuck']);
});

test('a preview tells what a group would have told, each spell of its Jobs by itself', async () => {
  await using fleet = await startFleet();
  const group = await aFleet(fleet);
  await fleet.addRuns(
    group,
    { createdAt: testNow - 6 * dayMs, ...failed },
    { createdAt: testNow - 2 * dayMs - hourMs, ...failed },
    { createdAt: testNow - 2 * dayMs, status: 'success' },
    { createdAt: testNow - hourMs, ...failed },
  );
  const preview = async (of: object): Promise<MonitorPreview> => {
    const body = { namespace: 'prod', spec: of, days: 10 };
    const answer = await fleet.ask('/api/v1/monitors/preview', { method: 'POST', body });
    assert.equal(answer.status, 200, answer.text);
    return answer.json() as MonitorPreview;
  };
  const { alerts, cronJobs } = await preview({ jobs: { ...spec.jobs, only: true }, alerting: spec.alerting });
  assert.deepEqual(cronJobs.items, [{ namespace: 'prod', name: '~migrate' }]);
  assert.deepEqual(
    alerts.items.map(({ type, since, endedAt }) => [
      type,
      (testNow - Date.parse(since)) / hourMs > 24,
      endedAt === null ? null : Math.round((Date.parse(endedAt) - Date.parse(since)) / hourMs),
    ]),
    [
      ['jobFailed', false, null],
      ['jobFailed', true, 1],
      ['jobFailed', true, 24],
    ],
  );
  const other = await preview({ jobs: { ownerKinds: ['JobSet'], only: true } });
  assert.deepEqual([other.cronJobs.matched, other.findings.map(({ path }) => path)], [0, ['spec.jobs']]);
});

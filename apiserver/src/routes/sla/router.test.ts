import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronJobList, SlaList, SlaTarget } from '@cronjob-monitor/shared/contract';
import { findCronJob, findMonitor, setBrokenTargets, relistAll } from '@cronjob-monitor/shared/store';
import { addAlert } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { dayMs, hourMs } from '@cronjob-monitor/shared/domain';

const path = '/api/v1/sla';
const yesterday = Math.floor((testNow - dayMs) / dayMs);

/** Two CronJobs under one monitor: backup failed once in seven runs, etl never ran. */
async function aFleet(sla: object): Promise<TestFleet> {
  const fleet = await startFleet();
  const [backup, etl] = [await fleet.addCronJob({ name: 'backup' }), await fleet.addCronJob({ name: 'etl' })];
  await fleet.addMonitor({ spec: { sla } }, [backup, etl]);
  const at = (daysAgo: number): { createdAt: number } => ({ createdAt: testNow - daysAgo * dayMs + hourMs });
  await fleet.addRuns(
    backup,
    ...[7, 6, 5, 4, 3, 2].map((days) => at(days)),
    { ...at(1), status: 'failed', exitCode: 137 },
    ...[9, 8].map((days) => at(days)),
  );
  return fleet;
}

async function targetsOf(fleet: TestFleet, query = ''): Promise<readonly SlaTarget[]> {
  const answer = await fleet.ask(path + query);
  assert.equal(answer.status, 200, answer.text);
  return (answer.json() as SlaList).items;
}

test('tells the rate of each CronJob and how far it is from its target', async () => {
  await using fleet = await aFleet({ minSuccessRate: 95 });
  const { id } = await addAlert(fleet, { type: 'slaBreached', subject: 'successRate' });
  const { items, summary } = (await fleet.ask(path)).json() as SlaList;
  assert.deepEqual(summary, { breached: 1, pending: 0, atRisk: 0, noData: 1, met: 0 });
  const { judged, ...shown } = items[0] as SlaTarget;
  assert.deepEqual(
    [judged.state, judged.kind, judged.words],
    ['warning', 'slaBreached', '85.7 % of 7 runs succeeded in 7 d (target 95 %)'],
  );
  assert.deepEqual(shown, {
    cronjob: { namespace: 'prod', name: 'backup' },
    owner: null,
    monitor: { namespace: 'prod', name: 'dr' },
    subject: 'successRate',
    verdict: 'breached',
    target: 95,
    current: 85.71,
    unit: 'percent',
    finishBy: null,
    windowDays: 7,
    success: 6,
    runs: 7,
    previous: 100,
    previousSuccess: 2,
    previousRuns: 2,
    failuresLeft: null,
    budget: { allowed: 0.35, burnt: 1, left: -0.65, burntPercent: 285.71, daysLeft: null },
    daily: null,
    alertId: id,
  });
  assert.deepEqual([items[1]?.verdict, items[1]?.current, items[1]?.failuresLeft], ['noData', null, 0]);
});

test('counts the failures that are left, and a run that never started where the monitor does', async () => {
  await using met = await aFleet({ minSuccessRate: 50 });
  const [first] = await targetsOf(met, '?verdict=met');
  assert.deepEqual([first?.verdict, first?.failuresLeft], ['met', 5]);
  await using risky = await aFleet({ minSuccessRate: 80 });
  const [atRisk] = await targetsOf(risky, '?verdict=atRisk');
  assert.deepEqual([atRisk?.cronjob.name, atRisk?.failuresLeft], ['backup', 0]);
  await using missed = await aFleet({ minSuccessRate: 80, countMissed: true });
  const [{ id } = { id: 0 }] = (await missed.store
    .sql('cronjobs')
    .select('id')
    .where({ name: 'backup' })) as unknown as readonly { id: number }[];
  await missed.store.sql('rollups').where({ cronjob_id: id, day: yesterday }).update({ missed: 1 });
  await relistAll(missed.store);
  const [counted] = await targetsOf(missed, '?subject=successRate&search=back');
  assert.deepEqual([counted?.verdict, counted?.success, counted?.runs], ['pending', 6, 8]);
  const list = (await missed.ask('/api/v1/cronjobs?sla=pending')).json() as CronJobList;
  const [item] = list.items;
  assert.deepEqual([item?.sla.runs, item?.successRate], [8, 85.71], 'and in no other figure');
});

test('a longest run of the window over its limit is never met, and breached once it is judged', async () => {
  await using fleet = await aFleet({ minSuccessRate: 0, maxDuration: '30s' });
  const read = async (): Promise<readonly unknown[]> => {
    const [target] = await targetsOf(fleet, '?search=backup&subject=maxDuration');
    return [target?.verdict, target?.current, target?.judged.state, target?.judged.words];
  };
  const words = 'Longest run of 7 d took 1 min (limit 30 s)';
  assert.deepEqual(await read(), ['pending', 60, 'failing', words]);
  const { monitor } = await findMonitor(fleet.store, { namespace: 'prod', name: 'dr' });
  const backup = await findCronJob(fleet.store, 'prod', 'backup');
  const broken = {
    monitorId: monitor?.id ?? 0,
    subject: 'maxDuration',
    sinceAt: testNow,
    measured: 60,
    limit: 30,
    windowDays: 7,
  } as const;
  await fleet.store.fenced(fleet.epoch, (tx) =>
    setBrokenTargets(tx, [{ cronJobId: backup?.id ?? 0, broken: [broken] }]),
  );
  assert.deepEqual(await read(), ['breached', 60, 'failing', words]);
  const { items } = (await fleet.ask('/api/v1/cronjobs?state=failing')).json() as CronJobList;
  assert.deepEqual(
    items.map(({ name }) => name),
    ['backup'],
    'its last run failed; else the target would say so',
  );
});

test('tells the other subjects by their alerts', async () => {
  await using fleet = await aFleet({
    minSuccessRate: 0,
    maxDuration: '2m',
    minDuration: '10s',
    finishBy: { time: '06:00', timezone: 'Europe/Berlin' },
  });
  const { id } = await addAlert(fleet, { type: 'slaBreached', subject: 'maxDuration' });
  const told = (await targetsOf(fleet, '?search=backup&sort=name')).map((target) => [
    target.subject,
    target.verdict,
    target.target,
    target.current,
    target.unit,
    target.finishBy,
    target.alertId,
  ]);
  assert.deepEqual(told, [
    ['successRate', 'met', 0, 85.71, 'percent', null, null],
    ['maxDuration', 'breached', 120, 60, 'seconds', null, id],
    ['minDuration', 'met', 10, null, 'seconds', null, null],
    ['finishBy', 'met', null, null, null, '06:00 Europe/Berlin', null],
  ]);
  const [never] = await targetsOf(fleet, '?search=etl&subject=finishBy');
  assert.equal(never?.verdict, 'noData');
});

test('filters, sorts and pages targets', async () => {
  await using fleet = await aFleet({ minSuccessRate: 95, maxDuration: '2m' });
  const find = async (query: string): Promise<readonly string[]> =>
    (await targetsOf(fleet, query)).map(({ cronjob, subject }) => `${cronjob.name} ${subject}`);
  const all = ['backup successRate', 'etl successRate', 'etl maxDuration', 'backup maxDuration'];
  assert.deepEqual(await find(''), all, 'the worst first');
  assert.deepEqual(await find('?sort=-verdict'), [all[3], all[1], all[2], all[0]]);
  assert.deepEqual(await find('?sort=failuresLeft'), [all[1], all[0], all[3], all[2]]);
  assert.deepEqual(await find('?limit=1&offset=1'), [all[1]]);
  assert.deepEqual(await find('?namespace=data'), []);
  assert.deepEqual(await find('?monitor=prod/other'), []);
  assert.deepEqual(await find('?monitor=prod/dr&subject=maxDuration&verdict=met'), [all[3]]);
  const { summary } = (await fleet.ask(`${path}?verdict=met`)).json() as SlaList;
  assert.deepEqual(summary, { breached: 0, pending: 1, atRisk: 0, noData: 2, met: 1 }, 'whatever verdict is asked for');
});

test('tells how much of a budget is burnt and how long the rest lasts, the least margin first', async () => {
  await using fleet = await aFleet({ minSuccessRate: 50, maxDuration: '80s' });
  const told = (await targetsOf(fleet, '?sort=margin')).map(({ cronjob, subject, budget }) => [
    cronjob.name,
    subject,
    budget,
  ]);
  assert.deepEqual(told, [
    ['backup', 'maxDuration', { allowed: 80, burnt: 60, left: 20, burntPercent: 75, daysLeft: null }],
    ['backup', 'successRate', { allowed: 3.5, burnt: 1, left: 2.5, burntPercent: 28.57, daysLeft: 17.5 }],
    ['etl', 'successRate', null],
    ['etl', 'maxDuration', null],
  ]);
  await using none = await aFleet({ minSuccessRate: 100 });
  const [spent] = await targetsOf(none, '?sort=margin');
  assert.deepEqual(spent?.budget, { allowed: 0, burnt: 1, left: -1, burntPercent: null, daysLeft: null });
});

test('draws thirty days of each target of a page, with what broke it', async () => {
  await using fleet = await aFleet({ minSuccessRate: 95, maxDuration: '30s' });
  const page = await targetsOf(fleet, '?search=backup&limit=10');
  const [rate, duration] = (['successRate', 'maxDuration'] as const).map((subject) =>
    page.find((target) => target.subject === subject),
  );
  const [before, ...days] = [...(rate?.daily ?? [])].slice(-11);
  assert.deepEqual([rate?.daily?.length, before, days.at(-1)], [30, null, null]);
  assert.deepEqual(days.at(-2), { value: 0, isBroken: true });
  assert.deepEqual(
    days.slice(0, 8),
    Array.from({ length: 8 }, () => ({ value: 100, isBroken: false })),
  );
  assert.deepEqual(duration?.daily?.at(-3), { value: 60, isBroken: true });
  assert.deepEqual(duration?.daily?.at(-2), { value: 60, isBroken: true }, 'a run that failed is measured too');
  const [whole] = await targetsOf(fleet, '?search=backup');
  assert.equal(whole?.daily, null, 'only a page is asked for its days');
});

test('has no target where a monitor sets none', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({ spec: {} }, [backup]);
  assert.deepEqual(await targetsOf(fleet), []);
});

test('keeps the targets of an owner, or of a namespace, together, the group with the first of all first', async () => {
  await using fleet = await startFleet();
  const made = [
    await fleet.addCronJob({ name: 'a', notes: { owner: 'data' } }),
    await fleet.addCronJob({ name: 'b' }),
    await fleet.addCronJob({ name: 'c', namespace: 'other', notes: { owner: 'data' } }),
  ];
  await fleet.addMonitor({ spec: { sla: { minSuccessRate: 95 } } }, made);
  const named = async (query: string): Promise<string[]> =>
    (await targetsOf(fleet, query)).map(({ cronjob, owner }) => `${cronjob.name} ${owner ?? 'none'}`);
  assert.deepEqual(await named('?sort=-name'), ['c data', 'b none', 'a data']);
  assert.deepEqual(await named('?sort=-name&group=owner'), ['c data', 'a data', 'b none']);
  assert.deepEqual(await named('?sort=name&group=namespace'), ['a data', 'b none', 'c data']);
  assert.equal((await fleet.ask(`${path}?group=colour`)).status, 400);
});
